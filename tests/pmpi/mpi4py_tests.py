#!/usr/bin/env python3
"""Runs mpi4py's own tests of communicators and collective calls, unchanged, with libayatori_pmpi.so before the MPI and
random schedules for every size; prints how many passed, by the number of ranks.

    python3 tests/pmpi/mpi4py_tests.py --install --library build/dev/src/ayatori/collectives/pmpi/libayatori_pmpi.so

They need mpi4py and NumPy, and mpi4py's sources for the tests: --install makes an environment with both from the Python
package index. Without it, and without an environment, nothing is tested: status 77. Status 1 if a test fails that
passes without the library.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

from plans import Plans

VERSION = "4.1.2"
SUITES = ("cco", "comm", "attr", "op", "errh")
NOT_THESE = ("nb", "spawn", "dynproc", "toplevel")  # what does not block is not served; others start jobs


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=pathlib.Path, required=True, help="libayatori_pmpi.so")
    parser.add_argument("--environment", type=pathlib.Path, default=pathlib.Path("build/dev/mpi4py"),
                        help="a folder of its own (default: %(default)s)")
    parser.add_argument("--install", action="store_true", help="makes it if it is not there")
    parser.add_argument("--mpirun", default="mpirun.openmpi", help="of the MPI that the library belongs to (default: %(default)s)")
    parser.add_argument("--ranks", default="2,3,4", help="default: %(default)s")
    parser.add_argument("--seed", type=int, default=7, help="of the schedules")
    parser.add_argument("--time-limit", type=float, default=1800, help="seconds of a run (default: %(default)s)")
    return parser.parse_args()


def install(folder):
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    pip = [folder / "bin/python", "-m", "pip"]
    subprocess.run([*pip, "install", "--quiet", f"mpi4py=={VERSION}", "numpy"], check=True)
    subprocess.run([*pip, "download", "--quiet", "--no-deps", "--no-binary", "mpi4py", f"mpi4py=={VERSION}", "--dest", folder],
                   check=True)
    with tarfile.open(next(folder.glob("mpi4py-*.tar.gz"))) as sources:
        sources.extractall(folder, filter="data")


def mpi_of(mpirun):
    version = subprocess.run([mpirun, "--version"], capture_output=True, text=True, check=True).stdout
    return "openmpi" if "Open MPI" in version or "OpenRTE" in version else "mpich"


def where_mpi4py_looks(options):
    """A folder in which the MPI that the library belongs to has the name that mpi4py's wheel looks for: Debian's MPICH has
    another."""
    found = re.search(r"libmpi(?:ch)?\.so\.12 => (\S+)",
                      subprocess.run(["ldd", options.library], capture_output=True, text=True, check=True).stdout)
    folder = options.environment.resolve() / "names"
    folder.mkdir(exist_ok=True)
    link = folder / "libmpi.so.12"
    if found and not link.exists():
        link.symlink_to(found.group(1))
    return folder


def run(options, ranks, table=None):
    """(tests that rank 0 ran, skipped, names of those that failed anywhere, what the library says)"""
    settings = [f"MPI4PY_MPIABI={mpi_of(options.mpirun)}", f"LD_LIBRARY_PATH={where_mpi4py_looks(options)}"]
    if table is not None:
        settings += [f"LD_PRELOAD={options.library.resolve()}", f"AYATORI_COLLECTIVES={table}",
                     "AYATORI_COLLECTIVES_REPORT=1"]
    folder = options.environment.resolve()
    chosen = [word for name in SUITES for word in ("-i", name)] + [word for name in NOT_THESE for word in ("-e", name)]
    try:
        done = subprocess.run([options.mpirun, "-n", str(ranks), "env", *settings, folder / "bin/python",
                               folder / f"mpi4py-{VERSION}/test/main.py", *chosen],
                              capture_output=True, text=True, errors="replace", timeout=options.time_limit, check=False)
    except subprocess.TimeoutExpired:
        return 0, 0, [f"not at the end after {options.time_limit:g} s"], ""
    said = done.stdout + done.stderr
    counts = re.findall(r"Ran (\d+) tests", said)
    if len(counts) != ranks:
        return 0, 0, [f"{ranks - len(counts)} ranks have not come to the end: {said[-2000:]}"], ""
    failed = sorted(set(re.findall(r"^(?:FAIL|ERROR): (\S+ \(\S+\))", said, re.MULTILINE)))
    skipped = re.search(r"skipped=(\d+)", said)
    report = re.search(r"ayatori: (calls done by schedules: .*)", said)
    return int(counts[0]), int(skipped.group(1)) if skipped else 0, failed, report.group(1) if report else ""


def main():
    options = parse_arguments()
    if not options.environment.exists():
        if not options.install:
            print(f"{options.environment} is not there: --install makes it")
            return 77
        install(options.environment)
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
                      OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_hwloc_base_binding_policy="none")
    plans = Plans(options.seed)
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        table = pathlib.Path(folder, "table.json")
        counts = [int(word) for word in options.ranks.split(",")]
        table.write_text(json.dumps([s for ranks in range(2, max(counts) + 1) for s in plans.searches(ranks)]))
        for ranks in counts:
            tests, skipped, failed, report = run(options, ranks, table)
            ours = failed and sorted(set(failed) - set(run(options, ranks)[2]))
            print(f"{ranks} ranks: {max(tests - skipped - len(failed), 0)} pass, {len(failed)} fail, {skipped} are skipped; {report}")
            for name in failed:
                print(f"  {name}" + (" (alone it passes)" if name in ours else " (alone as well)"))
            if ours or not report or re.search(r"\b0 of", report):
                status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
