"""refusals.py PROGRAM: ranks that were started, but have no MPI that knows them, are refused, each in one line."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

program = sys.argv[1]
LIBRARIES = ("libmpi.so.12", "libmpi_abi.so.1", "libmpich.so.12", "libmpi.so.40", "libmpi.so")


def run(variables):
    done = subprocess.run([program, "--gtest_filter=-*"], env=os.environ | variables, text=True, capture_output=True)
    return done.returncode, done.stdout + done.stderr


def check_refused(pattern, **variables):
    status, said = run(variables)
    line, = re.findall(r"what\(\): +(.*)", said) or [said]
    assert status != 0 and re.search(pattern, line), (variables, status, said)


with tempfile.TemporaryDirectory() as folder:
    for name in LIBRARIES:  # which the loader finds before those of the system, and cannot load
        (pathlib.Path(folder) / name).touch()
    for variable in ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"):
        launched = {"LD_LIBRARY_PATH": folder, variable: "4"}
        check_refused(rf"started 4 ranks \({variable}\), but no MPI library is found", **launched)
        assert run(launched | {"AYATORI_MPI_LIBRARY": "none"})[0] == 0
        assert run(launched | {variable: "1"})[0] == 0
    check_refused(r"a launcher started this process \(PMIX_RANK\), but no MPI", LD_LIBRARY_PATH=folder, PMIX_RANK="0")
check_refused(r"started 4 ranks \(PMI_SIZE\), but \S+libmpi.so.40 knows of one", PMI_SIZE="4", AYATORI_MPI_LIBRARY="libmpi.so.40")
check_refused(r"AYATORI_MPI_LIBRARY: libnone.so", AYATORI_MPI_LIBRARY="libnone.so")
check_refused(r"libz.so.1 is no MPI library", AYATORI_MPI_LIBRARY="libz.so.1")
