#!/usr/bin/env python3
"""check_skips.py [--complete] STAGE BUILD_FOLDER: what the tests that ctest ran last did not check, by reason.

Most skips say that a case makes no sense on this many ranks. Others say that something is not installed: with --complete they
are failures, and so are tests that such a lack leaves out of the build. What needs a GPU may be skipped everywhere, since
not every machine has one: it is counted, and every test is named.
"""

import argparse
import collections
import pathlib
import re
import sys

# What is skipped where something is not installed -> the stages that must have it.
LACKS = {
    "built without MUMPS": {"dev", "asan", "mpich"},
    "built without KLU": {"dev", "asan", "mpich"},
    "built without complete factors": {"dev", "asan", "mpich"},
    "there is no Fortran compiler": {"dev", "mpich"},
    "no zsh": {"dev"},
    "no chromium": {"dev", "mpich", "asan"},
    "could not import": {"dev"},
    "no petsc4py": {"dev"},
    "no documentation of PETSc": {"dev"},
    "no dolfinx": {"dev"},
    "needs scipy": {"dev"},
}
NO_DEVICE = "no device"  # how the reason begins where there is no GPU
# Tests that are not even there without the packages they need.
NEEDED = {"dev": {"python_package", "python_scipy", "python_ranks.np3", "python_claims.np1", "site",
                  "petsc_linear.np1", "petsc_programs.np1", "petsc_python.np1", "petsc_finite_elements.np1",
                  "packaging_wheel", "comm_runtime_mpich.np2"},
          "mpi-abi": {"pmpi_abi.np2"}}

TEST = re.compile(r"^\d+/\d+ Test: (\S+)$", re.MULTILINE)
SKIPS = (
    re.compile(r": Skipped\n(.*)$", re.MULTILINE),  # GoogleTest
    re.compile(r"\.\.\. skipped ['\"](.*)['\"]$", re.MULTILINE),  # unittest -v
    re.compile(r"^SKIPPED \[\d+\] \S+: (.*)$", re.MULTILINE),  # pytest -rs
    re.compile(r"^SKIPPED: (.*)$", re.MULTILINE),  # a whole script, which ctest counts as skipped
)


def read_log(text):
    """(names of the tests that ran, reason -> {test: how many cases})"""
    parts = TEST.split(text)
    skips = collections.defaultdict(collections.Counter)
    for name, said in zip(parts[1::2], parts[2::2]):
        for pattern in SKIPS:
            for reason in pattern.findall(said):
                skips[reason.strip() or "no reason given"][name] += 1
    return set(parts[1::2]), skips


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--complete", action="store_true")
    parser.add_argument("stage")
    parser.add_argument("build")
    options = parser.parse_args()
    ran, skips = read_log(pathlib.Path(options.build, "Testing/Temporary/LastTest.log").read_text(errors="replace"))
    lacking = []
    without_device = collections.Counter()
    for reason in [reason for reason in skips if reason.startswith(NO_DEVICE)]:
        without_device += skips.pop(reason)
    if skips:
        print(f"-- {options.stage}: cases that were skipped")
    for reason, tests in sorted(skips.items(), key=lambda item: -item[1].total()):
        names = sorted(tests)
        print(f"{tests.total():6d}  {reason}: {', '.join(names[:4])}{', ...' if len(names) > 4 else ''}")
        if any(reason.startswith(lack) and options.stage in stages for lack, stages in LACKS.items()):
            lacking.append(f"skipped: {reason}")
    if without_device:
        print(f"-- {options.stage}: {without_device.total()} cases need a GPU and were skipped: {', '.join(sorted(without_device))}")
    lacking += [f"no test {name}" for name in sorted(NEEDED.get(options.stage, set()) - ran)]
    for lack in lacking:
        print(f"-- {options.stage}: not complete, {lack} (cmake/setup.sh --tests installs what tests need)")
    return 1 if lacking and options.complete else 0


if __name__ == "__main__":
    sys.exit(main())
