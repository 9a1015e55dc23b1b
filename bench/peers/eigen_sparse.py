#!/usr/bin/env python3
"""A few pairs of sparse symmetric matrices by `ayatori eigen`, by SciPy's ARPACK (eigsh) and by SciPy's LOBPCG, by turns.

usage: bench/peers/eigen_sparse.py FOLDER [MATRIX ...] [--pairs 5] [--runs 3] [--ayatori build/release/cli/ayatori]

Wants SciPy. All find the same ends of the spectrum by products alone until ||A v - lambda v||_2 <= 1e-8 ||A||_1; LOBPCG for
the smallest by the Jacobi preconditioner, ours by what it chooses. ARPACK's tolerance is relative to the eigenvalue: it is
given ||A||_1 +- A, whose wanted eigenvalues are between once and twice ||A||_1, and whose Krylov spaces are those of A. Every result is checked: its residuals, and that no other solver
found pairs further out. Products with a vector are counted, and are the same in every run; seconds of processor time of
one thread, the least of the runs, of ours without reading. "-": not as good as asked, or longer than the time limit.
"""

import argparse
import contextlib
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import tempfile
import time
import warnings

os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402 - after the number of threads
import scipy.io  # noqa: E402
import scipy.sparse  # noqa: E402
import scipy.sparse.linalg as peer  # noqa: E402

TOLERANCE = 1e-8
MATRICES = ("1138_bus", "nos7", "bcsstk13", "bcsstk16", "wathenSmall", "brack2", "copter2", "c-62")


class Late(Exception):
    """The time limit is over."""


@contextlib.contextmanager
def limited(seconds):
    def late(*_):
        raise Late

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


class Counted:
    """Products with A, a vector each."""

    def __init__(self, A):
        self.A, self.count = A, 0

    def operator(self, factor=1.0, shift=0.0):
        """factor A + shift"""
        def times(x):
            self.count += 1 if x.ndim == 1 else x.shape[1]
            return factor * (self.A @ x) + shift * x if shift else self.A @ x

        return peer.LinearOperator(self.A.shape, matvec=times, matmat=times, dtype=float)


def processor_seconds_of_children():
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime


def ours(options, path, A, end, folder):
    """Values, vectors, products, seconds. What reading and writing take is that of a run that does nothing else."""
    def run(*words):
        before = processor_seconds_of_children()
        done = subprocess.run([options.ayatori, "eigen", path, f"--{end}", str(options.pairs), "--method", "davidson",
                               "--tolerance", str(TOLERANCE), "--threads", "1", "--quiet", "--json", folder / "ours.json",
                               "--output", folder / "ours", *words], timeout=options.time_limit, capture_output=True, text=True)
        if done.returncode not in (0, 1):
            raise RuntimeError(done.stderr.strip())
        return processor_seconds_of_children() - before

    spent = run()
    result = json.loads((folder / "ours.json").read_text())
    seconds = result["seconds"]
    share = seconds["total"] / seconds["all"]  # of the processor time, which is spent evenly
    vectors = scipy.io.mmread(folder / "ours.vectors.mtx")
    return np.array(result["values"]), vectors, result["products"], spent * share


def arpack(options, A, end):
    counted = Counted(A)
    norm, factor = abs(A).sum(axis=0).max(), 1 if end == "largest" else -1
    start = time.process_time()
    values, vectors = peer.eigsh(counted.operator(factor, norm), k=options.pairs, which="LA", tol=TOLERANCE / 2,
                                 v0=np.random.default_rng(1).standard_normal(A.shape[0]), maxiter=10**6)
    return factor * (values - norm), vectors, counted.count, time.process_time() - start


def lobpcg(options, A, end):
    counted = Counted(A)
    block = np.random.default_rng(1).standard_normal((A.shape[0], options.pairs))
    diagonal = A.diagonal()
    jacobi = scipy.sparse.diags_array(1 / diagonal) if end == "smallest" and (diagonal > 0).all() else None
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        values, vectors = peer.lobpcg(counted.operator(), block, M=jacobi, largest=end == "largest", maxiter=20000,
                                      tol=TOLERANCE * abs(A).sum(axis=0).max())
    return values, vectors, counted.count, time.process_time() - start


def worst(A, values, vectors):
    return np.linalg.norm(A @ vectors - vectors * values, axis=0).max() / abs(A).sum(axis=0).max()


def compare(options, name, end, folder):
    path = options.folder / f"{name}.mtx.gz"
    A = scipy.sparse.csr_array(scipy.io.mmread(path))
    A = scipy.sparse.csr_array(A.astype(float))
    found, cells = {}, {}
    for repeat in range(options.runs):
        solvers = [("ours", lambda: ours(options, path, A, end, folder)), ("ARPACK", lambda: arpack(options, A, end)),
                   ("LOBPCG", lambda: lobpcg(options, A, end))]
        for solver, solve in solvers if repeat % 2 == 0 else [solvers[0], solvers[2], solvers[1]]:
            if cells.get(solver) == "-":
                continue
            try:
                with limited(options.time_limit):
                    values, vectors, products, seconds = solve()
            except (Late, subprocess.TimeoutExpired, peer.ArpackError, np.linalg.LinAlgError, ValueError) as reason:
                print(f"{name}, {end}, {solver}: {type(reason).__name__} {reason}", file=sys.stderr)
                cells[solver] = "-"
                continue
            if worst(A, values, vectors) > 1.5 * TOLERANCE:
                print(f"{name}, {end}, {solver}: residual {worst(A, values, vectors):.1e}", file=sys.stderr)
                cells[solver] = "-"
                continue
            before = found.get(solver, (None, None, float("inf")))[2]
            found[solver] = (np.sort(values), products, min(before, seconds))
    norm = abs(A).sum(axis=0).max()
    outermost = [values.sum() for values, _, _ in found.values()]
    best = (min if end == "smallest" else max)(outermost, default=0)
    for solver, (values, products, seconds) in found.items():
        missed = abs(values.sum() - best) > 1e-6 * norm
        cells[solver] = f"{products}, {seconds:.2f} s" + (" (missed one)" if missed else "")
    print(f"| {name} | {A.shape[0]} | {A.nnz} | {end} | " + " | ".join(cells[s] for s in ("ours", "ARPACK", "LOBPCG")) + " |",
          flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("matrices", nargs="*", default=MATRICES)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--time-limit", type=int, default=60, help="seconds of one run")
    parser.add_argument("--ayatori", default=pathlib.Path(__file__).resolve().parents[2] / "build/release/cli/ayatori")
    options = parser.parse_args()
    print(f"| matrix | rows | nonzeros | {options.pairs} pairs | ours | ARPACK | LOBPCG |\n|" + "---|" * 7)
    with tempfile.TemporaryDirectory() as folder:
        for name in options.matrices:
            for end in ("largest", "smallest"):
                compare(options, name, end, pathlib.Path(folder))
    return 0


if __name__ == "__main__":
    sys.exit(main())
