#!/usr/bin/env python3
"""Compares local matrix-vector products: `ayatori bench spmv`, Intel MKL's inspector-executor and scipy.

usage: bench/peers/spmv.py [SPEC_OR_FILE...] [--threads 1 2] [--rounds 5] [--repetitions 20]
                           [--ayatori build/release/cli/ayatori] [--venv build/peers-spmv-venv] [--json FILE]

MKL and scipy are installed from PyPI into --venv the first time (mkl, about 1 GB). Where a spec is given, the matrix is
written by `ayatori generate` in PETSc's binary format. In every round ayatori, MKL and scipy take turns (A B C, then
C B A), each in a new process with warm-up; a timed product follows an untimed one. Products are checked before they
count: ayatori checks its own against its reference, MKL's is compared with scipy's. MKL is measured with CSR handles (32-bit
indices), general and as the upper half of a symmetric matrix where the matrix is symmetric, each optimised for
100000 products with and without permission to spend memory, and the best of these is its figure;
ayatori's is its best kernel. The table gives the median of the rounds' medians, with the least and the largest of
them; the last column is the ratio of the least single products, which other load on the machine disturbs least.
"""

import argparse
import ctypes
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PACKAGES = ["mkl==2026.2.0", "numpy==2.4.6", "scipy==1.17.1"]
MATRICES = ["elliptic2d-5:n=1000", "poisson3d-7:n=128", "poisson3d-27:n=100", "elasticity3d:n=36",
            "random:n=300000"]


def python_of(venv):
    """The Python of the environment that has the peers; makes it the first time."""
    python = venv / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    return python


class Description(ctypes.Structure):
    """struct matrix_descr of MKL."""

    _fields_ = [("type", ctypes.c_int), ("mode", ctypes.c_int), ("diag", ctypes.c_int)]


GENERAL, SYMMETRIC = 20, 21
UPPER, NON_UNIT, NON_TRANSPOSE = 41, 50, 10
NO_MEMORY, MEMORY = 80, 81


class MklProduct:
    """y = A x by mkl_sparse_d_mv, optimised for many products."""

    def __init__(self, mkl, matrix, kind, memory):
        import scipy.sparse

        self.mkl = mkl
        self.matrix = matrix if kind == GENERAL else scipy.sparse.triu(matrix).tocsr()
        self.description = Description(kind, UPPER, NON_UNIT)
        self.handle = ctypes.c_void_p()
        rows, columns = self.matrix.shape
        starts = self.matrix.indptr.ctypes.data
        self.call("mkl_sparse_d_create_csr", ctypes.byref(self.handle), 0, rows, columns, ctypes.c_void_p(starts),
                  ctypes.c_void_p(starts + 4), ctypes.c_void_p(self.matrix.indices.ctypes.data),
                  ctypes.c_void_p(self.matrix.data.ctypes.data))
        self.call("mkl_sparse_set_mv_hint", self.handle, NON_TRANSPOSE, self.description, 100000)
        self.call("mkl_sparse_set_memory_hint", self.handle, memory)
        self.call("mkl_sparse_optimize", self.handle)

    def call(self, name, *arguments):
        status = getattr(self.mkl, name)(*arguments)
        if status != 0:
            raise RuntimeError(f"{name} returns {status}")

    def __call__(self, x, y):
        self.call("mkl_sparse_d_mv", NON_TRANSPOSE, ctypes.c_double(1.0), self.handle, self.description,
                  ctypes.c_void_p(x.ctypes.data), ctypes.c_double(0.0), ctypes.c_void_p(y.ctypes.data))


def time_product(product, x, y, repetitions):
    seconds = []
    for _ in range(repetitions):
        product(x, y)
        start = time.perf_counter()
        product(x, y)
        seconds.append(time.perf_counter() - start)
    return [statistics.median(seconds), min(seconds)]


def read_matrix(file):
    """A matrix in compressed sparse rows with 32-bit indices."""
    import numpy as np
    import scipy.io
    import scipy.sparse

    if file.endswith(".petsc"):
        with open(file, "rb") as stream:
            _, rows, columns, nonzeros = np.fromfile(stream, ">i4", 4)
            start = np.concatenate([[0], np.cumsum(np.fromfile(stream, ">i4", rows))]).astype(np.int32)
            index = np.fromfile(stream, ">i4", nonzeros).astype(np.int32)
            value = np.fromfile(stream, ">f8", nonzeros).astype(np.float64)
        matrix = scipy.sparse.csr_matrix((value, index, start), shape=(rows, columns))
    else:
        matrix = scipy.io.mmread(file).tocsr().astype(np.float64)
    matrix.sort_indices()
    matrix.indices = matrix.indices.astype(np.int32)
    matrix.indptr = matrix.indptr.astype(np.int32)
    return matrix


def measure_peer(peer, file, threads, repetitions):
    """In a process of its own: median and least seconds of one product, by variant."""
    import numpy as np

    matrix = read_matrix(file)
    x = np.random.default_rng(1).uniform(-1, 1, matrix.shape[1])
    y = np.zeros(matrix.shape[0])
    expected = matrix @ x
    if peer == "scipy":
        return {"scipy": time_product(lambda u, _: matrix @ u, x, y, repetitions)}
    mkl = ctypes.CDLL(next(pathlib.Path(sys.prefix, "lib").glob("libmkl_rt.so*")))
    mkl.MKL_Set_Num_Threads(threads)
    symmetric = abs(matrix - matrix.T).nnz == 0
    seconds = {}
    for kind in (GENERAL, SYMMETRIC) if symmetric else (GENERAL,):
        for memory in (NO_MEMORY, MEMORY):
            product = MklProduct(mkl, matrix, kind, memory)
            product(x, y)
            if np.abs(y - expected).max() > 1e-12 * (abs(matrix) @ np.abs(x)).max():
                sys.exit(f"MKL's product of {file} is wrong")
            name = f"mkl {'general' if kind == GENERAL else 'symmetric'}{' memory' if memory == MEMORY else ''}"
            seconds[name] = time_product(product, x, y, repetitions)
    return seconds


def measure_ayatori(options, file, threads):
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        subprocess.run([options.ayatori, "bench", "spmv", file, "--threads", str(threads), "--repetitions",
                        str(options.repetitions), "--json", result.name], check=True, stderr=subprocess.DEVNULL)
        report = json.loads(pathlib.Path(result.name).read_text())
    return {product["kernel"]: [product["seconds"][key] for key in ("median", "min")] for product in report["products"]}


def measure(options, who, file, threads):
    if who == "ayatori":
        return measure_ayatori(options, file, threads)
    environment = dict(os.environ, OMP_NUM_THREADS=str(threads))
    done = subprocess.run([options.python, __file__, "--peer", who, "--threads", str(threads), "--repetitions",
                           str(options.repetitions), file], check=True, stdout=subprocess.PIPE, text=True,
                          env=environment)
    return json.loads(done.stdout)


def best(rounds):
    """(variant, median seconds in every round, least of all) of the smallest median of medians."""
    name = min(rounds[0], key=lambda variant: statistics.median(r[variant][0] for r in rounds))
    return name, [r[name][0] for r in rounds], min(r[name][1] for r in rounds)


def compare(options, name, file, threads):
    """Prints a row; gives it as plain data."""
    peers = ["ayatori", "mkl"] + (["scipy"] if threads == 1 else [])  # which has one thread
    rounds = {who: [] for who in peers}
    for turn in range(options.rounds):
        for who in peers if turn % 2 == 0 else reversed(peers):
            rounds[who].append(measure(options, who, file, threads))
    row = {"matrix": name, "threads": threads, "rounds": rounds}
    cells = []
    for who in peers:
        variant, seconds, least = best(rounds[who])
        row[who] = {"variant": variant, "seconds": seconds, "least": least}
        cells.append(f"{variant} {1e3 * statistics.median(seconds):.3f} "
                     f"({1e3 * min(seconds):.3f} - {1e3 * max(seconds):.3f})")
    if threads > 1:
        cells.append("")
    row["median_ratio"] = statistics.median(row["mkl"]["seconds"]) / statistics.median(row["ayatori"]["seconds"])
    row["least_ratio"] = row["mkl"]["least"] / row["ayatori"]["least"]
    cells += [f"{row['median_ratio']:.2f}", f"{row['least_ratio']:.2f}"]
    print(f"| {name} | {threads} | {' | '.join(cells)} |", flush=True)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrices", nargs="*", default=MATRICES)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--ayatori", default=str(ROOT / "build" / "release" / "cli" / "ayatori"))
    parser.add_argument("--venv", type=pathlib.Path, default=ROOT / "build" / "peers-spmv-venv")
    parser.add_argument("--json")
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        print(json.dumps(measure_peer(options.peer, options.matrices[0], options.threads[0], options.repetitions)))
        return
    options.python = python_of(options.venv)
    print("| matrix | threads | ayatori, best kernel, ms | MKL, best setting, ms | scipy, ms | MKL / ayatori "
          "| of the least |")
    print("|---|---|---|---|---|---|---|")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for matrix in options.matrices:
            file = matrix
            if not os.path.exists(matrix):
                file = os.path.join(folder, "A.petsc")
                subprocess.run([options.ayatori, "generate", matrix, "-o", file], check=True, stderr=subprocess.DEVNULL)
            rows += [compare(options, os.path.basename(matrix), file, threads) for threads in options.threads]
    if options.json:
        result = {"schema": "ayatori.peers-spmv/1", "rows": rows}
        pathlib.Path(options.json).write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
