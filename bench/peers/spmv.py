#!/usr/bin/env python3
"""Compares local matrix-vector products: `ayatori bench spmv`, Intel MKL, PETSc, Eigen, librsb and scipy.

usage: bench/peers/spmv.py [SPEC_OR_FILE...] [--threads 1 2] [--rounds 5] [--repetitions 20] [--only ayatori PEER...]
                           [--ayatori build/release/cli/ayatori] [--libraries build/release/bench/spmv_libraries]
                           [--venv build/peers-spmv-venv] [--petsc-python /usr/bin/python3] [--json FILE]

MKL and scipy are installed from PyPI into --venv the first time (mkl, about 1 GB); PETSc is what the petsc4py of
--petsc-python has; Eigen and librsb are in --libraries (CMake target spmv_libraries, made where the libraries are found;
bench/peers/debian-packages.txt). What is not there is left out, and said to be. All multiply with the same matrix, in
PETSc's binary format. In every round they take turns (A B C, then C B A), each in new processes with warm-up; a timed
product follows an untimed one. Products are checked before they count: ayatori checks its own against its reference, and
so do the libraries; MKL's is compared with scipy's, PETSc's with numpy's.

Of each the best counts: of ayatori's kernels; of MKL's CSR handles (32-bit indices), general and as the upper half of a
symmetric matrix where the matrix is symmetric, each optimised for 100000 products with and without permission to spend
memory; of PETSc's formats AIJ, SELL, BAIJ (blocks of 3, where the matrix has such) and SBAIJ (where it is symmetric),
whose threads are ranks; of Eigen's compressed rows, and its selfadjoint view; of librsb's blocks with and without tuning,
all or the lower half. A cell gives the median of the rounds' medians, with the least and the largest of them. Ratios are
those of the best of all others to ayatori: of the medians, and of the least single products, which other load on the
machine disturbs least. The last two columns are ours with values, vectors and sums in float, as inside preconditioners and
refined methods (the kernels that have such a form; slices as multigrid's cycles have them), and how much longer our best in
double takes.
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

import petsc_files

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PACKAGES = ["mkl==2026.2.0", "numpy==2.4.6", "scipy==1.17.1"]
MATRICES = ["elliptic2d-5:n=1000", "poisson3d-7:n=128", "poisson3d-27:n=100", "elasticity3d:n=36",
            "random:n=300000"]
PETSC_PATH = "/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-real/lib/python3/dist-packages"
OURS, FLOAT = "ayatori", "float"
PEERS = {"mkl": "MKL", "petsc": "PETSc", "eigen": "Eigen", "librsb": "librsb", "scipy": "scipy"}
LIBRARIES = ("eigen", "librsb", FLOAT)  # all in one program


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


def petsc_from_matrix_market(file, path):
    """Writes the matrix of a file, which may be gzip'ed, in PETSc's binary format."""
    import numpy as np
    import scipy.io

    matrix = scipy.io.mmread(file).tocsr().astype(np.float64)
    matrix.sort_indices()
    petsc_files.write_matrix(path, matrix)


def measure_petsc(file, repetitions):
    """On every rank of a job: what measure_peer() gives, of rank 0."""
    import numpy as np
    import petsc4py

    petsc4py.init([])
    from petsc4py import PETSc

    start, index, value = petsc_files.read_rows(file)
    rows = len(start) - 1
    row = np.repeat(np.arange(rows), np.diff(start))
    everywhere = np.random.default_rng(1).uniform(-1, 1, rows)
    expected = np.bincount(row, value * everywhere[index], rows)
    scale = np.bincount(row, abs(value * everywhere[index]), rows).max()
    order = np.lexsort((row, index))  # of the transpose; columns of a row ascend
    symmetric = bool((row[order] == index).all() and (index[order] == row).all() and (value[order] == value).all())
    has_blocks = rows % 3 == 0 and len(np.unique(row // 3 * (rows // 3) + index // 3)) * 9 == len(value)
    del row, order
    communicator = PETSc.COMM_WORLD
    seconds = {}
    kinds = [("aij", 1), ("sell", 1)] + ([("sbaij", 1)] if symmetric else [])
    if has_blocks:
        kinds += [("baij", 3)] + ([("sbaij", 3)] if symmetric else [])
    for kind, size in kinds:
        PETSc.Options()["matload_block_size"] = size
        matrix = PETSc.Mat().create(communicator)
        # Of a symmetric format only the upper half is stored: what lies below is not to be asked about.
        PETSc.Options()["mat_ignore_lower_triangular"] = kind == "sbaij"
        matrix.setType("aij" if kind == "sell" else kind)
        matrix.setFromOptions()
        matrix.load(PETSc.Viewer().createBinary(file, "r"))
        x, y = matrix.createVecs()
        if kind == "sell":  # which makes vectors that know no ranks
            matrix = matrix.convert("sell")
        begin, end = x.getOwnershipRange()
        x.setArray(everywhere[begin:end])
        matrix.mult(x, y)
        begin, end = y.getOwnershipRange()
        if abs(y.getArray() - expected[begin:end]).max() > 1e-12 * scale:
            raise RuntimeError(f"PETSc's product of {file} by {kind} is wrong")
        times = []
        for _ in range(repetitions):
            matrix.mult(x, y)
            communicator.barrier()
            before = time.perf_counter()
            matrix.mult(x, y)
            communicator.barrier()
            times.append(time.perf_counter() - before)
        seconds[f"{kind}{f' {size}x{size}' if size > 1 else ''}"] = [statistics.median(times), min(times)]
        matrix.destroy()
    return seconds if communicator.rank == 0 else None


def measure_peer(peer, file, threads, repetitions):
    """In a process of its own: median and least seconds of one product, by variant."""
    if peer == "petsc":
        return measure_petsc(file, repetitions)
    import numpy as np
    import scipy.sparse

    start, index, value = petsc_files.read_rows(file)
    matrix = scipy.sparse.csr_matrix((value, index, start), shape=(len(start) - 1,) * 2)
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
    """By precision: what measure_peer() gives."""
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        subprocess.run([options.ayatori, "bench", "spmv", file, "--threads", str(threads), "--repetitions",
                        str(options.repetitions), "--float", "--json", result.name], check=True, stderr=subprocess.DEVNULL)
        report = json.loads(pathlib.Path(result.name).read_text())
    found = {OURS: {}, FLOAT: {}}
    for product in report["products"]:
        who = FLOAT if product["precision"] == "float" else OURS
        found[who][product["kernel"]] = [product["seconds"][key] for key in ("median", "min")]
    return found


def measure_libraries(options, file, threads):
    """By library: what measure_peer() gives."""
    done = subprocess.run([options.libraries, file, str(options.repetitions)], check=True, stdout=subprocess.PIPE, text=True,
                          env=dict(os.environ, OMP_NUM_THREADS=str(threads)))
    found = json.loads(done.stdout)
    names = {"eigen": "eigen", "librsb": "librsb", FLOAT: "sliced float"}
    return {who: {name: times for name, times in found.items() if name.startswith(prefix)} for who, prefix in names.items()}


def petsc_command(options, threads):
    """The words before this script, and the environment."""
    if threads > 1:
        launch = ["mpirun.openmpi", "--oversubscribe", "--bind-to", "core", "-n", str(threads)]
    else:
        launch = []
    root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    return [*launch, options.petsc_python], dict(os.environ, PYTHONPATH=PETSC_PATH, OMP_NUM_THREADS="1", **root)


def measure(options, who, file, threads):
    """{peer: {variant: [median, least]}} of a process."""
    if who == OURS:
        return measure_ayatori(options, file, threads)
    if who == "libraries":
        return measure_libraries(options, file, threads)
    if who == "petsc":
        before, environment = petsc_command(options, threads)
    else:
        before, environment = [options.python], dict(os.environ, OMP_NUM_THREADS=str(threads))
    done = subprocess.run([*before, __file__, "--peer", who, "--threads", str(threads), "--repetitions",
                           str(options.repetitions), file], check=True, stdout=subprocess.PIPE, text=True,
                          env=environment)
    return {who: json.loads(done.stdout)}


def best(rounds):
    """(variant, median seconds in every round, least of all) of the smallest median of medians."""
    name = min(rounds[0], key=lambda variant: statistics.median(r[variant][0] for r in rounds))
    return {"variant": name, "seconds": [r[name][0] for r in rounds], "least": min(r[name][1] for r in rounds)}


def compare(options, name, file, threads):
    """Prints a row; gives it as plain data."""
    programs = [who for who in (OURS, "mkl", "petsc", "libraries", "scipy") if who in options.programs]
    if threads > 1 and "scipy" in programs:  # which has one thread
        programs.remove("scipy")
    rounds = {}
    for turn in range(options.rounds):
        found = {}
        for who in programs if turn % 2 == 0 else reversed(programs):
            for peer, variants in measure(options, who, file, threads).items():
                found.setdefault(peer, {}).update(variants)
        for peer, variants in found.items():
            if variants:
                rounds.setdefault(peer, []).append(variants)
    row = {"matrix": name, "threads": threads, "rounds": rounds, **{peer: best(found) for peer, found in rounds.items()}}
    median = lambda peer: statistics.median(row[peer]["seconds"])  # noqa: E731
    cells = []
    for who in (OURS, *PEERS, FLOAT):
        seconds = [1e3 * s for s in row[who]["seconds"]] if who in row else []
        cells.append(f"{row[who]['variant']} {statistics.median(seconds):.3f} ({min(seconds):.3f} - {max(seconds):.3f})"
                     if seconds else "-")
    others = [peer for peer in PEERS if peer in row]
    ratios = ["-", "-"]
    if others:
        row["median_ratio"] = min(map(median, others)) / median(OURS)
        row["least_ratio"] = min(row[peer]["least"] for peer in others) / row[OURS]["least"]
        ratios = [f"{row['median_ratio']:.2f}", f"{row['least_ratio']:.2f}"]
    if FLOAT in row:
        row["float_ratio"] = median(OURS) / median(FLOAT)
    cells[-1:-1] = ratios
    cells.append(f"{row['float_ratio']:.2f}" if FLOAT in row else "-")
    print(f"| {name} | {threads} | {' | '.join(cells)} |", flush=True)
    return row


def programs_of(options):
    """Those to be run that are there; the others are named."""
    programs = [OURS]
    wanted = set(options.only)
    if wanted & {"mkl", "scipy"}:
        options.python = python_of(options.venv)
        programs += [who for who in ("mkl", "scipy") if who in wanted]
    if wanted & set(LIBRARIES):
        if options.libraries.exists():
            programs.append("libraries")
        else:
            print(f"{options.libraries} is not there: neither Eigen nor librsb, nor multigrid's slices in float", file=sys.stderr)
    if "petsc" in wanted:
        _, environment = petsc_command(options, 1)
        done = subprocess.run([options.petsc_python, "-c", "import numpy, petsc4py"], env=environment, check=False,
                              stderr=subprocess.DEVNULL)
        if done.returncode == 0:
            programs.append("petsc")
        else:
            print(f"{options.petsc_python} has no petsc4py: PETSc is left out", file=sys.stderr)
    return programs


def in_petsc_format(options, matrix, folder):
    """The file of a matrix, made in the folder where it is a spec or another format."""
    if matrix.endswith(".petsc"):
        return matrix
    file = os.path.join(folder, "A.petsc")
    if os.path.exists(matrix):
        subprocess.run([python_of(options.venv), __file__, "--peer", "convert", matrix, file], check=True)
    else:
        subprocess.run([options.ayatori, "generate", matrix, "-o", file], check=True, stderr=subprocess.DEVNULL)
    return file


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("matrices", nargs="*", default=MATRICES)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repetitions", type=int, default=20)
    parser.add_argument("--only", nargs="+", choices=[*PEERS, FLOAT], default=[*PEERS, FLOAT], help="beside ayatori")
    parser.add_argument("--ayatori", default=str(ROOT / "build" / "release" / "cli" / "ayatori"))
    parser.add_argument("--libraries", type=pathlib.Path, default=ROOT / "build" / "release" / "bench" / "spmv_libraries")
    parser.add_argument("--venv", type=pathlib.Path, default=ROOT / "build" / "peers-spmv-venv")
    parser.add_argument("--petsc-python", default="/usr/bin/python3")
    parser.add_argument("--json")
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer == "convert":
        petsc_from_matrix_market(*options.matrices)
        return
    if options.peer:
        found = measure_peer(options.peer, options.matrices[0], options.threads[0], options.repetitions)
        if found:  # not on other ranks than the first
            print(json.dumps(found))
        return
    options.programs = programs_of(options)
    heads = ["matrix", "threads", "ayatori, ms", *(f"{name}, ms" for name in PEERS.values()), "best of these / ayatori",
             "of the least", "float, ms", "ayatori / float"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for matrix in options.matrices:
            file = in_petsc_format(options, matrix, folder)
            rows += [compare(options, os.path.basename(matrix), file, threads) for threads in options.threads]
    if options.json:
        result = {"schema": "ayatori.peers-spmv/2", "rows": rows}
        pathlib.Path(options.json).write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
