#!/usr/bin/env python3
"""Hybrid against all-MPI, overlap on and off: Tanaka's question on a virtual cluster.

usage: bench/cluster/hybrid.py [--nodes 2] [--kernels npb-cg laplace matmul radix-sort] [--rates 200 1000] [--rails 1 2]
                       [--rounds 3] [--ayatori build/release/cli/ayatori] [--markdown FILE]

Every node (bench/cluster/virtual_cluster.py, needs root) runs two ranks of one thread (all-MPI) or one rank of two threads
(hybrid), with and without overlap of messages with computing. Within a round the four take turns, so that ratios are
those of neighbours in time; tables give the median of the rounds with the least and the largest. Every run verifies
what it computes. A node has one core of this machine, which handles its packets as well.
"""

import dataclasses
import itertools
import json
import os
import pathlib
import signal
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from cluster import ports  # noqa: E402 - of the folder above
import runs  # noqa: E402
from cluster import virtual_cluster  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Kernel:
    """Words of `ayatori bench` and how its JSON gives the seconds of a run."""

    words: tuple
    plain: tuple
    overlapped: tuple
    seconds: object


def phase_seconds(result):
    return result["seconds"]["total"]["median"]


KERNELS = {
    "npb-cg": Kernel(("npb-cg", "--class", "S", "--kernel", "csr", "--reductions", "2", "--elements", "1000",
                      "--outer-iterations", "2", "--profile", "none"),
                     ("--halo", "p2p-irecv-first"), ("--halo", "p2p-irecv-first+overlap"),
                     lambda result: statistics.median(run["seconds"] for run in result["runs"])),
    "laplace": Kernel(("laplace", "--n", "640", "--sweeps", "16", "--depth", "4", "--elements", "1000"),
                      ("--form", "two-sided"), ("--form", "overlap"), phase_seconds),
    "matmul": Kernel(("matmul", "--n", "400", "--local", "own"), ("--form", "broadcast"), ("--form", "overlap"),
                     lambda result: result["products"][0]["seconds"]["total"]["median"]),
    "radix-sort": Kernel(("radix-sort", "--keys", "512K", "--no-compare"), ("--form", "two-sided"),
                         ("--form", "overlap"), phase_seconds),
}
SHAPES = {"all-MPI": (2, 1), "hybrid": (1, 2)}  # ranks of a node, threads of a rank
WAYS = list(itertools.product(SHAPES, (False, True)))


def measure(options, cluster, kernel, way):
    """Seconds of a verified run."""
    shape, overlaps = way
    ranks, threads = SHAPES[shape]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "result.json"
        words = [options.ayatori, "bench", *kernel.words, *(kernel.overlapped if overlaps else kernel.plain),
                 "--repetitions", options.repetitions, "--threads", threads, "--json", path]
        done = cluster.run([str(word) for word in words], "openmpi", ranks, capture_output=True, text=True,
                           timeout=options.time_limit)
        ports.check(done)
        return kernel.seconds(json.loads(path.read_text(encoding="utf-8")))


def collect(options, network):
    """By kernel and way: seconds of every round."""
    found = {name: {way: [] for way in WAYS} for name in options.kernels}
    with virtual_cluster.VirtualCluster(options.nodes, f"{network.megabits}mbit", network.ports, pinned=True) as cluster:
        for name in options.kernels:
            runs.say(f"{network}, {name} ...")
            for way in runs.take_turns(WAYS, options.rounds):
                found[name][way].append(measure(options, cluster, KERNELS[name], way))
    return found


def ratios(slow, fast):
    """Round by round."""
    return ports.Figure([a / b for a, b in zip(slow, fast, strict=True)])


def rows_of(network, found):
    for name, of_way in found.items():
        flat, flat_overlap = of_way["all-MPI", False], of_way["all-MPI", True]
        hybrid, hybrid_overlap = of_way["hybrid", False], of_way["hybrid", True]
        yield [network, name, ports.Figure(flat).text(1e-3), ports.Figure(hybrid).text(1e-3),
               ratios(flat, hybrid).text(1), ratios(flat, flat_overlap).text(1),
               ratios(hybrid, hybrid_overlap).text(1),
               ratios(list(map(min, flat, flat_overlap)), list(map(min, hybrid, hybrid_overlap))).text(1)]


HEADER = ["ports x rate", "kernel", "all-MPI, ms", "hybrid, ms", "hybrid gains", "overlap gains, all-MPI",
          "overlap gains, hybrid", "hybrid gains, both as they are best"]


def main():
    parser = runs.parser_of(__doc__)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--kernels", nargs="+", choices=KERNELS, default=list(KERNELS))
    parser.add_argument("--rates", nargs="+", type=int, default=[200, 1000], help="Mbit/s of a link")
    parser.add_argument("--rails", nargs="+", type=int, default=[1, 2], help="links of a node")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repetitions", type=int, default=3, help="of a run, which gives their median")
    parser.add_argument("--ayatori", default=str(runs.ROOT / "build" / "release" / "cli" / "ayatori"))
    parser.add_argument("--time-limit", type=float, default=120, help="seconds of one run")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the table here")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that `with` cleans up
    os.environ["OMP_WAIT_POLICY"] = "passive"  # threads of a node share its core
    rows = []
    try:
        for rate, rails in itertools.product(options.rates, options.rails):
            network = ports.Network(rate, rails)
            rows += rows_of(network, collect(options, network))
            if options.markdown:  # what there is, should the rest be broken off
                runs.write(options, runs.table(HEADER, rows))
    except virtual_cluster.Unavailable as reason:
        print(f"no virtual cluster: {reason}", file=sys.stderr)
        return 77
    if not options.markdown:
        runs.write(options, runs.table(HEADER, rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
