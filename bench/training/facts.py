#!/usr/bin/env python3
"""Finds the facts of recorded systems anew, as the tuner has them now, and writes them into the files; what the arms did stays.

usage: bench/training/facts.py FILE ... [--all] [--solve-ayatori build/release/bench/solve_ayatori]

For when facts have changed. Without --all only systems with boundary rows, whose facts are those of the other rows. Systems that cannot be
made keep the facts that they have. The program is made by `cmake --build --preset release --target solve_ayatori`.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent / "peers")]

import petsc_files  # noqa: E402
import records  # noqa: E402
import systems  # noqa: E402

SECONDS = 20  # of a solve, whose facts are all that is kept


def facts_of(options, system):
    with tempfile.TemporaryDirectory() as folder:
        petsc_files.write_matrix(os.path.join(folder, "A.petsc"), system.matrix)
        petsc_files.write_vector(os.path.join(folder, "b.petsc"), system.b)
        done = subprocess.run([options.solve_ayatori, folder, "1e-8", str(SECONDS), "none", "1"], capture_output=True, text=True, check=True,
                              env=dict(os.environ, OMP_NUM_THREADS="1"))
    return json.loads(done.stdout.splitlines()[-1])["matrix"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--all", action="store_true", help="of all systems")
    parser.add_argument("--solve-ayatori", type=pathlib.Path, default=pathlib.Path("build/release/bench/solve_ayatori"))
    options = parser.parse_args()
    for path in options.files:
        found = records.load(path)
        for name, system in found.items():
            if not options.all and not system["facts"]["boundary_rows"]:
                continue
            try:
                made = systems.make(systems.recipe_of(name))
            except (ImportError, KeyError, OSError) as reason:
                print(f"{name}: {reason}")
                continue
            facts = facts_of(options, made)
            system["facts"] = {key: records.rounded(facts[key], 7) for key in (*system["facts"], "symmetric_inside") if key in facts}
        records.save(path, found.values())


if __name__ == "__main__":
    main()
