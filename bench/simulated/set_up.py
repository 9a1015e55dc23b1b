#!/usr/bin/env python3
"""What `ayatori solve` takes on simulated machines from reading to the solution, with as many rows a rank: deterministic.

usage: bench/simulated/set_up.py [--platforms fat_tree-64 fat_tree-256 ...] [--rows 512] [--before PATH] [--limit 300]
                                 [--ayatori build/simgrid/cli/ayatori] [--smpirun smpirun]

Computing takes no time here, so reading, set-up and solve take what their messages take. Multigrid with CG solves a
Poisson problem that a generator makes, with about --rows rows a rank. --before names a build to compare with, of another
version. --limit is what a simulation may compute, in seconds of a processor. Simulated ranks share one process: memory is
that of the process, over the ranks.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import runs  # noqa: E402 - of the folder above
from simulated import platforms  # noqa: E402
from simulated.collectives import MODEL, QUICK  # noqa: E402

POLLING = ["--cfg=smpi/test:1e-7", "--cfg=smpi/iprobe:1e-7"]  # what a look at messages takes; SMPI's own is 100 us
SOLVE = ["--method", "cg", "--preconditioner", "amg", "--kernel", "csr", "--halo", "p2p-irecv-first", "--threads", "1",
         "--knowledge", "none", "--quiet"]


def solved(options, platform, program, folder):
    """The result of a solve on all ranks of the platform, or None over the limit."""
    xml, hosts = platform.write(folder)
    result = folder / "result.json"
    result.unlink(missing_ok=True)
    edge = round((options.rows * platform.ranks) ** (1 / 3))
    command = ["nice", "-n", "10", "prlimit", f"--cpu={options.limit}", options.smpirun, "-np", platform.ranks,
               "-platform", xml, "-hostfile", hosts, *MODEL, *QUICK, *POLLING, program, "solve", f"poisson3d-7:n={edge}",
               *SOLVE, "--json", result]
    subprocess.run([str(word) for word in command], capture_output=True, check=False,
                   env={**os.environ, "AYATORI_PROFILE": "none", "OMP_NUM_THREADS": "1"})
    return json.loads(result.read_text(encoding="utf-8")) if result.exists() else None


def row_of(found, ranks):
    if found is None:
        return ["not done"] + 4 * ["-"]
    seconds = found["seconds"]
    milliseconds = [f"{1e3 * seconds[phase]:.2f}" for phase in ("read", "setup", "solve", "total")]
    return [*milliseconds, f"{found['memory']['peak_bytes_of_rank'] / ranks / 2**20:.1f}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--platforms", nargs="+", default=["fat_tree-64", "fat_tree-128", "fat_tree-256"])
    parser.add_argument("--rows", type=int, default=512, help="of a rank, about")
    parser.add_argument("--ayatori", type=pathlib.Path, default=runs.ROOT / "build" / "simgrid" / "cli" / "ayatori")
    parser.add_argument("--before", type=pathlib.Path)
    parser.add_argument("--limit", type=int, default=300, help="seconds of a processor for one simulation")
    parser.add_argument("--smpirun", default="smpirun")
    options = parser.parse_args()
    builds = {"before": options.before, "now": options.ayatori} if options.before else {"now": options.ayatori}
    print("| machine | build | reading, ms | set-up, ms | solve, ms | total, ms | MiB a rank |\n" + 7 * "|---" + "|")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        program = folder / "ayatori"
        for platform in map(platforms.platform, options.platforms):
            for build, path in builds.items():
                subprocess.run(["strip", "-o", program, path], check=True)  # SMPI copies the program for every rank
                cells = [platform.name, build, *row_of(solved(options, platform, program, folder), platform.ranks)]
                print("| " + " | ".join(cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
