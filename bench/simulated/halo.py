#!/usr/bin/env python3
"""Halo exchanges on simulated machines by every strategy, and what the one that is chosen by forecasts takes over the best: deterministic.

usage: bench/simulated/halo.py [--platforms fat_tree-64x8 ...] [--matrices poisson3d-27:n=32 FILE.mtx.gz ...]
                               [--partition graph|contiguous] [--starts 0 0.5] [--halo NAME ...]

On every platform (a name as bench/simulated/platforms.py knows it) `ayatori probe` measures the machine, and `ayatori
bench halo` times the exchange before a product by every strategy, beside model and replay of those that tell their
messages, and names the one of these that takes least by the replay. Computing takes no time here. --starts: microseconds that every message
takes of the processors of both its ranks; 0 are messages that are free to start.
"""

import gzip
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import runs  # noqa: E402 - of the folder above
from simulated import platforms  # noqa: E402
from simulated.collectives import QUICK, Simulator  # noqa: E402


def settings_of(start):
    """SimGrid's, for messages that take this many microseconds of their sender and of their receiver."""
    return [f"--cfg=smpi/{side}:0:{start * 1e-6:g}:0" for side in ("os", "ois", "or")] if start else []


def unpacked(matrix, folder):
    """The same matrix in a plain file: a compressed one is parsed in OpenMP's tasks while messages are under way, which
    ranks that share one thread get mixed up."""
    if not matrix.endswith(runs.SUFFIX):
        return matrix
    path = folder / pathlib.Path(matrix).name.removesuffix(".gz")
    if not path.exists():
        path.write_bytes(gzip.decompress(pathlib.Path(matrix).read_bytes()))
    return path


def bench(options, simulator, matrix):
    """What `ayatori bench halo` finds."""
    result = simulator.folder / "halo.json"
    result.unlink(missing_ok=True)
    words = ["bench", "halo", unpacked(matrix, simulator.folder), "--partition", options.partition, "--profile", simulator.profile(),
             "--repetitions", options.repetitions, "--threads", 1, "--json", result]
    words += [word for name in options.halo for word in ("--halo", name)]
    status, said = simulator.run(words, QUICK)
    if status != 0 or not result.exists():
        raise runs.Rejected(f"{simulator.platform.name}, {matrix}: {said[-500:]}")
    return json.loads(result.read_text(encoding="utf-8"))


def excess(found):
    """How far the choice by the forecasts is above the best simulated: of those that have one, and of all."""
    seconds = {halo["halo"]: halo["seconds"] for halo in found["halos"]}
    told = [halo["seconds"] for halo in found["halos"] if "model_seconds" in halo]
    chosen = seconds[found["choice"]]
    return chosen / min(told) - 1, chosen / min(seconds.values()) - 1


def cells_of(found, told):
    """Simulated (model, replay) of those that tell their messages, the best of the others, the choice and its excess."""
    halos = {halo["halo"]: halo for halo in found["halos"]}
    others = [halo for halo in found["halos"] if "model_seconds" not in halo]
    best = min(others, key=lambda halo: halo["seconds"], default=None)
    def cell(halo):
        simulated, model, replay = (f"{1e6 * halo[key]:.3g}" for key in ("seconds", "model_seconds", "replay_seconds"))
        return f"{simulated} ({model}, {replay})"
    return [*(cell(halos[name]) for name in told),
            f"{1e6 * best['seconds']:.3g} (`{best['halo']}`)" if best else "-", f"`{found['choice']}`",
            *(f"{100 * above:.1f} %" for above in excess(found))]


def name_of(matrix):
    return pathlib.Path(matrix).name.removesuffix(".gz").removesuffix(".mtx")


def measure(options):
    """Of every platform, start and matrix: what the bench finds."""
    for start in options.starts:
        folder = options.folder / f"start-{start:g}"
        folder.mkdir(parents=True, exist_ok=True)
        for name in options.platforms:
            simulator = Simulator(options, platforms.platform(name), folder, settings_of(start))
            for matrix in options.matrices:
                yield name, matrix, start, bench(options, simulator, matrix)


def report(options):
    told = None
    for platform, matrix, start, found in measure(options):
        if told is None:
            told = [halo["halo"] for halo in found["halos"] if "model_seconds" in halo]
            print("| us of an exchange | start | " + " | ".join(f"`{name}`" for name in told)
                  + " | best of the others | forecasts' choice | over the best | of all |\n" + "|---" * (len(told) + 6) + "|")
        print("| " + " | ".join([f"{platform}, {name_of(matrix)}", f"{start:g}", *cells_of(found, told)]) + " |", flush=True)


def main():
    parser = runs.parser_of(__doc__)
    parser.add_argument("--platforms", nargs="+", default=["fat_tree-64x8", "torus-64x8", "dragonfly-64x8", "gigabit-64x8"])
    parser.add_argument("--matrices", nargs="+", default=["poisson3d-27:n=32"], help="generators' specs and files")
    parser.add_argument("--partition", default="graph", help="graph or contiguous")
    parser.add_argument("--starts", nargs="+", type=float, default=[0, 0.5])
    parser.add_argument("--halo", nargs="+", default=[], help="strategies (default: all)")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--folder", type=pathlib.Path, default=runs.ROOT / "build" / "simulated",
                        help="of platforms and profiles, which are not probed again (default: build/simulated)")
    parser.add_argument("--ayatori", default=str(runs.ROOT / "build" / "simgrid" / "cli" / "ayatori"))
    parser.add_argument("--smpirun", default="smpirun")
    parser.add_argument("--probe-ranks", type=int, default=256, help="that measure a larger machine (default: 256)")
    parser.set_defaults(time_limit=900, probe_limit=1800, memory=8, bench_options="")
    try:
        report(parser.parse_args())
    except (runs.Rejected, ValueError, subprocess.CalledProcessError) as reason:
        print(f"halo.py: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
