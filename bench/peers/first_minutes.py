#!/usr/bin/env python3
"""What the first minutes in Python take: import, first solve, and A\\b of three sizes, beside SciPy, PyAMG and PyPardiso.

usage: bench/peers/first_minutes.py [--rows 1000 100000 1000000] [--kinds poisson2d ...] [--rounds 3] [--time-limit 120] [--memory 6]

Run by a Python that has the package and the peers (bench/peers/requirements.txt); a peer that is not installed is left out. Every figure
is of a new process, and processes take turns. b is A x for a random x; whoever leaves more than 1e-8 of ||b|| is said to have failed. A
solve is what a user writes: assembled A in compressed sparse rows in, x out, all set-ups counted. The second solve of a process has
nothing left to load. Medians of the rounds with least and most, in seconds, one thread (OMP_NUM_THREADS changes that for all).
"""

import argparse
import importlib.util
import json
import os
import resource
import statistics
import subprocess
import sys
import time

RTOL = 1e-8


def ayatori(A, b):
    import ayatori

    return ayatori.solve(A, b, rtol=RTOL).x


def scipy(A, b):
    import scipy.sparse.linalg

    return scipy.sparse.linalg.spsolve(A.tocsc(), b)


def pyamg(A, b):
    import pyamg

    return pyamg.solve(A, b, tol=0.1 * RTOL, verb=False)


def pypardiso(A, b):
    import pypardiso

    return pypardiso.spsolve(A, b)


WAYS = {"ayatori": ayatori, "scipy": scipy, "pyamg": pyamg, "pypardiso": pypardiso}


def poisson(n, dimensions, peclet):
    """Differences on n**dimensions points; upwind convection of this cell Peclet number along the first axis."""
    import scipy.sparse as sp

    second = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(n, n))
    first = sp.diags_array([-peclet, peclet], offsets=[-1, 0], shape=(n, n))
    total = None
    for axis in range(dimensions):
        term = sp.eye_array(1)
        for k in range(dimensions):
            term = sp.kron(term, (second + first if axis == 0 else second) if k == axis else sp.eye_array(n))
        total = term if total is None else total + term
    return sp.csr_matrix(total)


def system(kind, rows):
    dimensions = 3 if "3d" in kind else 2
    return poisson(round(rows ** (1 / dimensions)), dimensions, 1.0 if "convection" in kind else 0.0)


KINDS = ("poisson2d", "poisson3d", "convection2d")


def measure(way, kind, rows):
    """In a process of its own: seconds of import, first and second solve, and the greater residual."""
    started = time.perf_counter()
    __import__("scipy.sparse.linalg" if way == "scipy" else way)
    told = {"import": time.perf_counter() - started, "residual": 0.0}
    if rows:
        import numpy as np

        A = system(kind, rows)
        b = A @ np.random.default_rng(1).uniform(-1, 1, A.shape[0])
        for name in ("first", "second"):
            started = time.perf_counter()
            x = WAYS[way](A, b)
            told[name] = time.perf_counter() - started
            told["residual"] = max(told["residual"], float(np.linalg.norm(b - A @ x) / np.linalg.norm(b)))
    print(json.dumps(told))


def in_a_process(way, kind, rows, options):
    environment = {"OMP_NUM_THREADS": "1", "AYATORI_PROFILE": "none", **os.environ}
    environment.setdefault("MKL_NUM_THREADS", environment["OMP_NUM_THREADS"])
    environment.setdefault("OPENBLAS_NUM_THREADS", environment["OMP_NUM_THREADS"])
    try:
        done = subprocess.run([sys.executable, __file__, "--measure", way, kind, str(rows)], text=True, capture_output=True,
                              timeout=options.time_limit, env=environment, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, 2 * (options.memory << 30,)))
    except subprocess.TimeoutExpired:
        return None
    if done.returncode != 0:
        print(done.stderr.strip().rpartition("\n")[2] or f"{way} ended by signal {-done.returncode}", file=sys.stderr)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else None


def cell(results, what):
    if any(result is None for result in results):
        return "failed"
    if any(result["residual"] > RTOL for result in results):
        return f"failed ({max(result['residual'] for result in results):.0e})"
    seconds = [result[what] for result in results]
    return f"{statistics.median(seconds):.3g} ({min(seconds):.3g} to {max(seconds):.3g})" if len(seconds) > 1 else f"{seconds[0]:.3g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1000, 100000, 1000000])
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--time-limit", type=float, default=120)
    parser.add_argument("--memory", type=int, default=6, help="GiB that a process may ask for (default: 6)")
    parser.add_argument("--measure", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(options.measure[0], options.measure[1], int(options.measure[2]))
    ways = [way for way in WAYS if importlib.util.find_spec(way)]
    print("| | " + " | ".join(ways) + " |\n|" + "---|" * (len(ways) + 1))
    cases = [("import", KINDS[0], 0)] + [(what, kind, rows) for kind in options.kinds for rows in options.rows for what in ("first", "second")]
    told = {}
    for what, kind, rows in cases:
        if (kind, rows) not in told:
            told[kind, rows] = {way: [] for way in ways}
            for turn in range(options.rounds):
                for way in ways if turn % 2 == 0 else reversed(ways):
                    results = told[kind, rows][way]
                    if None not in results:  # what took too long once does again
                        results.append(in_a_process(way, kind, rows, options))
        name = "import" if what == "import" else f"{kind}, {rows:,} rows, {what} solve"
        print(f"| {name} | " + " | ".join(cell(told[kind, rows][way], what) for way in ways) + " |", flush=True)
    return None


if __name__ == "__main__":
    main()
