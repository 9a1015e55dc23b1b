#!/usr/bin/env python3
"""What the ranks of `ayatori solve` wait for on simulated machines, without and with a table of schedules: deterministic.

usage: bench/simulated/solve.py [--platforms gigabit-8x2 torus-64 ...] [--methods cg bicgstab ...]
                                [--ayatori build/simgrid/cli/ayatori] [--before PATH] [--edge 12]
                                [--selectors ompi mpich] [--choice [--probe-ranks N] [--folder FOLDER]]

Computing takes no time here, so an iteration takes what its messages take. The MPI's choice of algorithms is the best
of three (SMPI's own, and its copies of Open MPI's and MPICH's; on 256 ranks SMPI's own had not solved after ten
minutes: --selectors names others); the schedules are those of bench/golden. --before names a build to compare with,
of another version. --choice instead holds `ayatori predict`, by the profile that a probe of the simulated machine
gives, against the simulation: which of a method and its pipelined form waits less for messages. The grids of the
problems have --edge points to a side.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import runs  # noqa: E402 - of the folder above
from simulated import platforms  # noqa: E402
from simulated.collectives import GOLDEN, MODEL, Simulator  # noqa: E402

POISSON = "poisson3d-7:n={edge}"
CONVECTION = "convection3d:n={edge},peclet=20"
PROBLEMS = {"cg": POISSON, "minres": POISSON, "bicgstab": CONVECTION, "gmres": CONVECTION, "pipelined-cg": POISSON,
            "pipelined-gmres": CONVECTION}
SOLVE = ["--preconditioner", "jacobi", "--kernel", "csr", "--halo", "p2p-irecv-first", "--max-iterations", "30",
         "--threads", "1", "--quiet"]
PAIRS = (("cg", "pipelined-cg"), ("gmres", "pipelined-gmres"))
COMPUTING = ("product", "vectors", "imbalance")
TEST = "--cfg=smpi/test:1e-7"  # what asking whether a message has come takes; SMPI's own is 100 us
SELECTORS = ("default", "ompi", "mpich")


def table_of(platform):
    """The schedules of bench/golden as a table that `ayatori` reads."""
    golden = json.loads((GOLDEN / f"{platform}.ours.json").read_text(encoding="utf-8"))
    return [{**found["schedules"], "best": [{"bytes": int(size), "plan": best["plan"]["plan"]}
                                            for size, best in found["sizes"].items() if best.get("plan")]}
            for found in golden.values()]


def words_of(options, method, orthogonalization):
    """What `ayatori solve` is told of problem and method; the orthogonalization is that of gmres."""
    words = [PROBLEMS[method].format(edge=options.edge), "--method", method]
    return [*words, "--orthogonalization", orthogonalization] if method == "gmres" else words


def microseconds(options, platform, folder, program, words, selectors):
    """Of an iteration, by the best of the MPI's choices."""
    times = []
    for selector in selectors:
        result = folder / "result.json"
        result.unlink(missing_ok=True)
        command = ["nice", "-n", "10", options.smpirun, "-np", platform.ranks, "-platform",
                   folder / f"{platform.name}.xml", "-hostfile", folder / platform.name, *MODEL, TEST,
                   f"--cfg=smpi/coll-selector:{selector}", program, "solve", *words, *SOLVE, "--json", result]
        done = subprocess.run([str(word) for word in command], text=True, capture_output=True, check=False,
                              env={**os.environ, "AYATORI_PROFILE": "none", "OMP_NUM_THREADS": "1"})
        if not result.exists():  # smpirun exits with 0 even when it cannot find the program
            raise runs.Rejected(f"{platform.name}, {words}: {done.stderr[-500:]}")
        solved = json.loads(result.read_text(encoding="utf-8"))
        times.append(1e6 * solved["seconds"]["solve"] / solved["iterations"])
    return min(times)


def choices(options, platform, folder):
    """Rows: of each pair of methods what is predicted and simulated, and what the predicted choice costs over the best."""
    common = types.SimpleNamespace(smpirun=options.smpirun, ayatori=options.ayatori, time_limit=300, memory=8,
                                   bench_options="", probe_ranks=options.probe_ranks or platform.ranks, probe_limit=1800)
    simulator = Simulator(common, platform, folder)
    profile = simulator.profile()
    per_node = platform.hosts.count(platform.hosts[0])
    for pair in PAIRS:
        predicted, simulated = [], []
        for method in pair:
            path = folder / "forecast.json"
            words = ["predict", PROBLEMS[method].format(edge=options.edge), "--method", method, "--preconditioner", "jacobi",
                     "--nodes", platform.ranks // per_node, "--ranks-per-node", per_node, "--memory-bandwidth", 10 * per_node,
                     "--profile", profile, "--json", path]
            status, said = simulator.run(words, ranks=1)
            if status != 0:
                raise runs.Rejected(f"ayatori {words}: {said[-500:]}")
            point = json.loads(path.read_text(encoding="utf-8"))["points"][-1]
            predicted.append(1e6 * (point["seconds"] - sum(point["phases"][phase] for phase in COMPUTING)))
            simulated.append(microseconds(options, platform, folder, simulator.program, words_of(options, method, "cgs"),
                                          options.selectors))
        choice = predicted.index(min(predicted))
        yield [f"{platform.name}, `{pair[0]}` / `{pair[1]}`", " / ".join(f"{time:.1f}" for time in predicted),
               " / ".join(f"{time:.1f}" for time in simulated), f"`{pair[choice]}`",
               f"{100 * (simulated[choice] / min(simulated) - 1):.1f} %"]


def compare_choices(options):
    print("| us in an iteration | predicted | simulated | predicted choice | over the best |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = options.folder or pathlib.Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        for platform in map(platforms.platform, options.platforms):
            for row in choices(options, platform, folder):
                print("| " + " | ".join(row) + " |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--platforms", nargs="+", default=["gigabit-8x2", "fat_tree-16", "torus-64", "dragonfly-64"])
    parser.add_argument("--methods", nargs="+", choices=PROBLEMS, default=list(PROBLEMS))
    parser.add_argument("--ayatori", type=pathlib.Path, default=runs.ROOT / "build" / "simgrid" / "cli" / "ayatori")
    parser.add_argument("--before", type=pathlib.Path)
    parser.add_argument("--smpirun", default="smpirun")
    parser.add_argument("--choice", action="store_true")
    parser.add_argument("--probe-ranks", type=int, default=0, help="that are probed for --choice; the profile stands for all")
    parser.add_argument("--folder", type=pathlib.Path, help="of platforms and profiles, which are not probed again for --choice")
    parser.add_argument("--edge", type=int, default=12)
    parser.add_argument("--selectors", nargs="+", choices=SELECTORS, default=SELECTORS, help="the MPI's choices of algorithms")
    options = parser.parse_args()
    if options.choice:
        try:
            compare_choices(options)
        except runs.Rejected as reason:
            print(f"solve.py: {reason}", file=sys.stderr)
            return 1
        return 0
    builds = ([options.before] if options.before else []) + [options.ayatori]
    print(f"| us in an iteration | {'before | ' if options.before else ''}the MPI's | schedules |")
    print("|---|" + "---|" * (len(builds) + 1))
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            programs = [folder / f"ayatori.{number}" for number in range(len(builds))]
            for build, program in zip(builds, programs, strict=True):  # SMPI copies the program for every rank
                subprocess.run(["strip", "-o", program, build], check=True)
            for platform in map(platforms.platform, options.platforms):
                platform.write(folder)
                table = folder / f"{platform.name}.table.json"
                table.write_text(json.dumps(table_of(platform.name)), encoding="utf-8")
                for method in options.methods:
                    words = words_of(options, method, "ircgs")
                    times = [microseconds(options, platform, folder, program, words, options.selectors)
                             for program in programs]
                    times.append(microseconds(options, platform, folder, programs[-1],
                                              [*words, "--collectives", table], options.selectors[:1]))
                    print(f"| {platform.name}, `{method}` | " + " | ".join(f"{time:.1f}" for time in times) + " |",
                          flush=True)
    except runs.Rejected as reason:
        print(f"solve.py: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
