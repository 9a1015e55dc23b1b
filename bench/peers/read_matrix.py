#!/usr/bin/env python3
"""Compares how fast Matrix Market files are read: `ayatori bench read`, fast_matrix_market and scipy.io.mmread.

usage: bench/peers/read_matrix.py [FILE] [--spec poisson3d-27:n=90] [--ayatori build/release/cli/ayatori] [--rounds 5]
                                  [--threads N] [--json FILE]

Without FILE, one is made by `ayatori generate`. The peers are installed into build/peers-venv. The readers take turns
(A B C C B A), every reading is in a new process, from the file (in the page cache) to compressed rows, and all have to
give the same matrix before a figure is printed. 1 thread and all threads.
"""

import argparse
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
VENV = ROOT / "build" / "peers-venv"
PYTHON = VENV / "bin" / "python"


def enter_venv(script=__file__):
    """Goes on with a script in the Python that has the peers; makes it the first time."""
    requirements = HERE / "requirements.txt"
    installed = VENV / requirements.name
    if not installed.exists() or installed.read_text() != requirements.read_text():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", "-r", requirements], check=True)
        installed.write_text(requirements.read_text())
    if pathlib.Path(sys.prefix) != VENV:
        os.execv(PYTHON, [str(PYTHON), str(pathlib.Path(script).resolve()), *sys.argv[1:]])


def fingerprint(matrix):
    """(nonzeros, sum, checksum) of a CSR matrix; the checksum as entry_hash() in bench/kernels/read_matrix.cpp has it."""
    import numpy as np

    rows = np.repeat(np.arange(matrix.shape[0], dtype=np.uint64), np.diff(matrix.indptr))
    values = matrix.data.astype(np.float64)
    with np.errstate(over="ignore"):
        entry = rows * np.uint64(0x9E3779B97F4A7C15) + matrix.indices.astype(np.uint64) * np.uint64(0xBF58476D1CE4E5B9)
        entry = (entry ^ values.view(np.uint64)) * np.uint64(0x94D049BB133111EB)
        checksum = int((entry ^ (entry >> np.uint64(32))).sum(dtype=np.uint64))
    return matrix.nnz, float(values.sum()), f"{checksum:016x}"


def read_with_ayatori(options, file, threads):
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        subprocess.run([options.ayatori, "bench", "read", file, "--repetitions", "1", "--threads", str(threads), "--json",
                        result.name], check=True, stderr=subprocess.DEVNULL)
        timing = json.loads(pathlib.Path(result.name).read_text())
    return timing["seconds"][0], (timing["nonzeros"], timing["sum"], timing["checksum"])


def read_in_this_process(reader, file, threads):
    """What a process started by read_with_peer() does."""
    if reader == "fast_matrix_market":
        import fast_matrix_market

        start = time.perf_counter()
        matrix = fast_matrix_market.mmread(file, parallelism=threads).tocsr()
    else:
        import scipy.io

        start = time.perf_counter()
        matrix = scipy.io.mmread(file).tocsr()
    return time.perf_counter() - start, fingerprint(matrix)


def read_with_peer(reader):
    """A reader that starts a process for every reading, as it is with ayatori: memory is new to each of them."""

    def read(_, file, threads):
        done = subprocess.run([PYTHON, __file__, "--peer", reader, "--threads", str(threads), file], check=True,
                              stdout=subprocess.PIPE, text=True)
        elapsed, found = json.loads(done.stdout)
        return elapsed, tuple(found)

    return read


READERS = {
    "ayatori": read_with_ayatori,
    "fast_matrix_market": read_with_peer("fast_matrix_market"),
    "scipy.io.mmread": read_with_peer("scipy.io.mmread"),
}


def same(a, b):
    return a[0] == b[0] and a[2] == b[2] and abs(a[1] - b[1]) <= 1e-9 * max(abs(a[1]), abs(b[1]), 1.0)


def compare(options, file, threads):
    """Seconds of every reading, by reader; exits if two readers disagree."""
    names = [name for name in READERS if threads == 1 or name != "scipy.io.mmread"]  # which has one thread
    seconds = {name: [] for name in names}
    reference = None
    for turn in range(options.rounds):
        for name in names if turn % 2 == 0 else reversed(names):
            elapsed, found = READERS[name](options, file, threads)
            reference = reference or found
            if not same(found, reference):
                sys.exit(f"{name} reads another matrix: {found}, not {reference}")
            seconds[name].append(elapsed)
    return seconds


def report(seconds, file_bytes, threads):
    """Prints a table; gives it as plain data."""
    rows = []
    ours = statistics.median(seconds["ayatori"])
    print(f"{threads} thread{'' if threads == 1 else 's'}: {'median MB/s':>26} {'max MB/s':>10} {'min MB/s':>10} "
          f"{'time / ours':>12}")
    for name, times in seconds.items():
        median = statistics.median(times)
        row = {"reader": name, "threads": threads, "seconds": times, "megabytes_per_second": 1e-6 * file_bytes / median,
               "time_over_ours": median / ours}
        rows.append(row)
        print(f"  {name:<22} {row['megabytes_per_second']:>12.0f} {1e-6 * file_bytes / min(times):>10.0f} "
              f"{1e-6 * file_bytes / max(times):>10.0f} {row['time_over_ours']:>12.2f}")
    return rows


def main():
    enter_venv()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?")
    parser.add_argument("--spec", default="poisson3d-27:n=90")
    parser.add_argument("--ayatori", default=str(ROOT / "build" / "release" / "cli" / "ayatori"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--json")
    parser.add_argument("--peer", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        print(json.dumps(read_in_this_process(options.peer, options.file, options.threads)))
        return
    with tempfile.TemporaryDirectory() as folder:
        file = options.file or os.path.join(folder, "A.mtx")
        if options.file is None:
            subprocess.run([options.ayatori, "generate", options.spec, "-o", file], check=True)
        file_bytes = os.path.getsize(file)
        print(f"{options.file or options.spec}: {1e-6 * file_bytes:.0f} MB of text")
        rows = []
        for threads in sorted({1, options.threads}):
            rows += report(compare(options, file, threads), file_bytes, threads)
    if options.json:
        result = {"schema": "ayatori.peers-read/1", "matrix": options.file or options.spec, "file_bytes": file_bytes,
                  "readers": rows}
        pathlib.Path(options.json).write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
