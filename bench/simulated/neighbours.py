#!/usr/bin/env python3
"""Neighbourhood collectives of libayatori_pmpi.so on simulated machines, against every block by a message of its own: deterministic.

usage: bench/simulated/neighbours.py [--platforms fat_tree-256x8 ...] [--matrices poisson3d-27:n=32 FILE.mtx.gz ...] [--starts 0 0.5]

cmake --build --preset simgrid --target simulated_neighbours makes the program. The graph is the halo exchange before a product
with the matrix, whose rows are spread in contiguous blocks; a matrix is a file or poisson3d-27:n=N. SMPI has no neighbourhood
collectives: "mpi" is what MPICH and Open MPI do, every block by a message. So is "straight", by the library; "bundled" are its
bundles for other nodes. Memory of a node is not simulated: there, too, messages go by the MPI. --starts: microseconds that every
message takes of the processors of both its ranks.
"""

import gzip
import itertools
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import runs  # noqa: E402 - of the folder above
from simulated import platforms  # noqa: E402
from simulated.collectives import MODEL, QUICK  # noqa: E402
from simulated.halo import name_of, settings_of  # noqa: E402

ROUTES = ("mpi", "straight", "bundled")
BYTES = 8  # of an element


def stencil(n):
    """The rows and columns of a stencil of 27 points on n^3."""
    near = list(itertools.product((-1, 0, 1), repeat=3))
    for place in itertools.product(range(n), repeat=3):
        row = (place[0] * n + place[1]) * n + place[2]
        for step in near:
            x, y, z = (a + b for a, b in zip(place, step))
            if 0 <= x < n and 0 <= y < n and 0 <= z < n:
                yield row, (x * n + y) * n + z


def entries_of(name):
    """The number of rows, and rows and columns of all entries."""
    if name.startswith("poisson3d-27:n="):
        n = int(name.split("=")[1])
        return n**3, stencil(n)
    text = gzip.decompress(pathlib.Path(name).read_bytes()).decode() if name.endswith(".gz") else pathlib.Path(name).read_text(encoding="utf-8")
    lines = [line.split() for line in text.splitlines()]
    is_symmetric = lines[0][4] != "general"
    lines = [line for line in lines if line and not line[0].startswith("%")]
    entries = [(int(line[0]) - 1, int(line[1]) - 1) for line in lines[1:]]
    return int(lines[0][0]), entries + [(j, i) for i, j in entries] if is_symmetric else entries


def messages_of(name, ranks):
    """(from, to) -> bytes of the halo exchange."""
    rows, entries = entries_of(name)
    owner = [min(row * ranks // rows, ranks - 1) for row in range(rows)]
    wanted = {}
    for row, column in entries:
        if owner[row] != owner[column]:
            wanted.setdefault((owner[column], owner[row]), set()).add(column)
    return {pair: BYTES * len(columns) for pair, columns in wanted.items()}


def simulate(options, platform, graph, start):
    """Route -> microseconds."""
    command = [options.smpirun, "-np", platform.ranks, "-platform", options.folder / f"{platform.name}.xml",
               "-hostfile", options.folder / platform.name, *MODEL, *QUICK, *settings_of(start), options.program, graph]
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, check=False, timeout=options.time_limit)
    times = dict(line.split() for line in done.stdout.splitlines() if line.startswith(ROUTES))
    if set(times) != set(ROUTES):
        raise runs.Rejected(f"{platform.name}: {done.stdout[-300:]}{done.stderr[-700:]}")
    return {route: float(time) for route, time in times.items()}


def report(options):
    options.folder.mkdir(parents=True, exist_ok=True)
    print("| us of an exchange | messages of a rank, at most | bytes of a message, mean | start | " + " | ".join(f"`{route}`" for route in ROUTES)
          + " |\n" + "|---" * 7 + "|")
    for name, matrix in itertools.product(options.platforms, options.matrices):
        platform = platforms.platform(name)
        platform.write(options.folder)
        messages = messages_of(matrix, platform.ranks)
        graph = options.folder / "graph.txt"
        graph.write_text("".join(f"{a} {b} {count}\n" for (a, b), count in messages.items()), encoding="utf-8")
        most = max(sum(a == rank for a, _ in messages) for rank in range(platform.ranks))
        for start in options.starts:
            times = simulate(options, platform, graph, start)
            print(f"| {name}, {name_of(matrix)} | {most} | {sum(messages.values()) / len(messages):.0f} | {start:g} | "
                  + " | ".join(f"{times[route]:.3g}" for route in ROUTES) + " |", flush=True)


def main():
    parser = runs.parser_of(__doc__)
    parser.add_argument("--platforms", nargs="+", default=["fat_tree-256x8"])
    parser.add_argument("--matrices", nargs="+", default=["poisson3d-27:n=32"])
    parser.add_argument("--starts", nargs="+", type=float, default=[0, 0.5])
    parser.add_argument("--folder", type=pathlib.Path, default=runs.ROOT / "build" / "simulated", help="of platforms (default: build/simulated)")
    parser.add_argument("--program", default=str(runs.ROOT / "build" / "simgrid" / "bench" / "simulated_neighbours"))
    parser.add_argument("--smpirun", default="smpirun")
    parser.add_argument("--time-limit", type=float, default=900, help="seconds of a simulation")
    try:
        report(parser.parse_args())
    except (runs.Rejected, ValueError, subprocess.TimeoutExpired) as reason:
        print(f"neighbours.py: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
