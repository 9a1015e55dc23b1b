"""probe.py PLATFORM SMPIRUN AYATORI: `ayatori probe` on a simulated platform, held against what its file says.

PLATFORM.xml is the platform, PLATFORM the hosts of the ranks.
"""

import dataclasses
import itertools
import json
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MODEL = ["--cfg=smpi/simulate-computation:no",  # pure latency and bandwidth, so that it is known what there is to find
         "--cfg=network/model:CM02", "--cfg=network/weight-S:0", "--cfg=network/crosstraffic:no",
         "--cfg=smpi/send-is-detached-thresh:1000000000"]


@dataclasses.dataclass(frozen=True)
class Level:
    """What the platform file says of the ranks that meet here and at no level below."""

    group_of_rank: list
    latency: float
    bandwidth: float  # of one message
    shared: dict  # (pattern, pairs): bandwidth of each of several messages at once
    short: tuple = None  # least, typical and most seconds of a short message, where they are not all the same
    fan: float = None  # bandwidth of a rank that sends to all, where it is not that of one message

    def check(self, found):
        if found["group_of_rank"] != self.group_of_rank:
            sys.exit(f"wrong groups: {found['group_of_rank']}, not {self.group_of_rank}")
        for name, seconds in zip(("least", "typical", "most"), self.short or 3 * [self.latency]):
            # All pairs of a round measure at once: even messages of 8 bytes wait for each other on a slow shared link.
            close(found[f"{name}_seconds"], seconds, f"{name} time of a short message", tolerance=0.1)
        curves = {(curve["pattern"], curve["pairs"]): curve["pieces"] for curve in found["curves"]}
        for case, bandwidth in {("one-way", 1): self.bandwidth, **self.shared}.items():
            if len(curves[case]) != 1:
                sys.exit(f"{case}: there is no protocol switch, but {len(curves[case])} pieces: {curves[case]}")
            close(1 / curves[case][0]["beta"], bandwidth, f"bandwidth of {case}")
        close(curves["one-way", 1][0]["alpha"], self.latency, "latency")
        fan = found["fan"]
        rate = fan["partners"] * fan["bytes"] / (fan["seconds"]["median"] - 2 * self.latency)
        close(rate, self.fan or self.bandwidth, "bandwidth of a fan")


def close(found, expected, what, tolerance=0.02):
    if abs(found - expected) > tolerance * expected:
        sys.exit(f"{what}: {found:.4g}, but the platform says {expected:.4g}")


def blocks(ranks, size):
    return [rank // size for rank in range(ranks)]


def round_robin(ranks, groups):
    return [rank % groups for rank in range(ranks)]


def torus(shape, latency, bandwidth):
    """No groups: near neighbours lead from everywhere to everywhere. Hops add up."""
    ranks = math.prod(shape)
    nodes = itertools.product(*map(range, shape))
    hops = [sum(min(abs(i - j), n - abs(i - j)) for i, j, n in zip(a, b, shape))
            for a, b in itertools.combinations(nodes, 2)]
    short = tuple(latency * of(hops) for of in (min, statistics.median, max))
    return Level(blocks(ranks, ranks), latency, bandwidth,
                 {("both-ways", 1): bandwidth, ("one-way", ranks // 2): bandwidth}, short,
                 # The first dimension comes first on every way, and the halfway node is reached forwards.
                 (ranks - 1) / (ranks / shape[0] * (shape[0] // 2)) * bandwidth)


PLATFORMS = {
    # A rack has one link to the core, and the core is one link, for both directions.
    "racks": [Level(round_robin(16, 4), 1e-6, 12.5e9, {("both-ways", 1): 12.5e9, ("one-way", 8): 12.5e9}),
              Level(blocks(16, 16), 21e-6, 1.25e9, {("both-ways", 1): 1.25e9 / 2, ("one-way", 4): 1.25e9 / 4})],
    # The ranks of a node share its link, which has two directions.
    "gigabit": [Level(round_robin(8, 4), 1e-6, 1.5e9, {("both-ways", 1): 1.5e9, ("one-way", 4): 1.5e9}),
                Level(blocks(8, 8), 28.71e-6, 117.7e6, {("both-ways", 1): 117.7e6, ("one-way", 2): 117.7e6 / 2})],
    # Two links to a leaf switch; two more to a spine switch and back, which two of four nodes share.
    "fat_tree": [Level(blocks(16, 4), 2e-6, 12.5e9, {("both-ways", 1): 12.5e9, ("one-way", 8): 12.5e9}),
                 Level(blocks(16, 16), 4e-6, 12.5e9, {("both-ways", 1): 12.5e9, ("one-way", 4): 12.5e9 / 2})],
    "torus": [torus((4, 2, 2), 1e-6, 5e9)],
    # Links between SHUBs, bricks and halves are shared by all that lies below, and by both directions.
    "altix": [Level(blocks(32, 2), 2.77e-6, 1.67e9, {("both-ways", 1): 1.67e9, ("one-way", 16): 1.67e9}),
              Level(blocks(32, 8), 4.05e-6, 1.05e9, {("both-ways", 1): 1.05e9 / 2, ("one-way", 2): 1.05e9 / 2}),
              Level(blocks(32, 16), 4.46e-6, 956e6, {("both-ways", 1): 956e6 / 2, ("one-way", 8): 956e6 / 8}),
              Level(blocks(32, 32), 4.96e-6, 361.5e6, {("both-ways", 1): 361.5e6 / 2, ("one-way", 16): 361.5e6 / 16})],
}


def main():
    name, smpirun, ayatori = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "profile.json"
        subprocess.run([smpirun, "-platform", HERE / f"{name}.xml", "-hostfile", HERE / name, *MODEL,
                        "--log=root.thresh:warning", ayatori, "probe", "--quick", "-o", path], check=True)
        levels = json.loads(path.read_text())["levels"]
    if len(levels) != len(PLATFORMS[name]):
        sys.exit(f"{len(PLATFORMS[name])} levels, but {len(levels)} were found")
    for expected, found in zip(PLATFORMS[name], levels):
        expected.check(found)


if __name__ == "__main__":
    main()
