#!/usr/bin/env python3
"""check_tidy.py [--jobs N] [--folders FOLDER...] BUILD_FOLDER: clang-tidy over the sources of the library, the benchmarks,
the command line, the Python bindings, the interface in C and the PETSc plug-in, or of some of them.
Device code is left out: only nvcc compiles it."""

import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


def tidy(build, file):
    run = subprocess.run(["clang-tidy-16", "--quiet", "--warnings-as-errors=*", f"-p={build}",
                          "--extra-arg=-Wno-unknown-warning-option", file], text=True, capture_output=True)
    return run.returncode, run.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--folders", nargs="+", default=["src", "bench", "cli", "python", "c", "petsc"])
    parser.add_argument("build")
    options = parser.parse_args()
    compiled = {c["file"] for c in json.loads(pathlib.Path(options.build, "compile_commands.json").read_text())}
    files = sorted(f for f in compiled if f.endswith(".cpp") and f.startswith(tuple(f"{ROOT}/{folder}/" for folder in options.folders)))
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for status, text in pool.map(lambda file: tidy(options.build, file), files):
            if status:
                failures += 1
                print(text, flush=True)
    print(f"clang-tidy: {failures} of {len(files)} files have findings")
    return 1 if failures or not files else 0


if __name__ == "__main__":
    sys.exit(main())
