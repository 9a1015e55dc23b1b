#!/usr/bin/env python3
"""Checks that clang-format 14 would leave every source of the repository as it is; with --fix, formats them."""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
mode = ["-i"] if "--fix" in sys.argv[1:] else ["--dry-run", "--Werror"]
folders = ("src", "bench", "cli", "python", "c", "petsc", "tests")
files = [p for folder in folders for p in sorted((ROOT / folder).rglob("*")) if p.suffix in (".cpp", ".hpp", ".c", ".h", ".cu", ".cuh")]
sys.exit(subprocess.run(["clang-format-14", *mode, *files]).returncode)
