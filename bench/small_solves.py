#!/usr/bin/env python3
"""What a solve of a small system costs in Python: the first with a matrix, and the next with the same Solver.

usage: PYTHONPATH=build/dev/python OMP_NUM_THREADS=1 bench/small_solves.py [SPEC ...] [--rounds 60]

A row of Markdown for every system: milliseconds, minimum (median). Two builds are compared by turns of this script.
"""

import argparse
import statistics
import time

import ayatori
import numpy as np


def milliseconds(rounds, act):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        act()
        times.append(1e3 * (time.perf_counter() - begin))
    return f"{min(times):.3f} ({statistics.median(times):.3f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("specs", nargs="*", metavar="SPEC", default=["poisson2d-5:n=10", "poisson2d-5:n=60"])
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    print("| system | ms, solve() | ms, Solver.solve() again |\n|---|---|---|")
    for spec in options.specs:
        A = ayatori.load(spec)
        b = np.ones(A.shape[0])
        solver = ayatori.Solver(A, profile="none")
        first = milliseconds(options.rounds, lambda: ayatori.solve(A, b, profile="none"))  # noqa: B023
        print(f"| {spec} | {first} | {milliseconds(options.rounds, lambda: solver.solve(b))} |")  # noqa: B023


if __name__ == "__main__":
    main()
