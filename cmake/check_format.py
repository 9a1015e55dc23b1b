#!/usr/bin/env python3
"""Checks that clang-format 14 would leave every source of the repository as it is; with --fix, formats them."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
mode = ["-i"] if "--fix" in sys.argv[1:] else ["--dry-run", "--Werror"]
files = [p for folder in ("src", "bench", "cli", "python", "petsc", "tests") for p in sorted((ROOT / folder).rglob("*.[ch]pp"))]
sys.exit(subprocess.run(["clang-format-14", *mode, *files]).returncode)
