"""Runs programs of plain MPI with libayatori_pmpi.so before their MPI."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

AYATORI = os.environ["AYATORI"]
MPIRUN = os.environ["AYATORI_MPIRUN"]
MPI_VERSION = float(os.environ["AYATORI_MPI_VERSION"])  # of the standard
RANKS = int(os.environ["AYATORI_RANKS"])
PRELOADED = os.environ["AYATORI_PMPI"]  # empty: the programs are linked to it
FORTRAN = os.environ["AYATORI_FORTRAN"] == "1"
OPEN_MPI = re.search("Open MPI|OpenRTE", subprocess.run([MPIRUN, "--version"], capture_output=True, text=True).stdout)
PROGRAMS = pathlib.Path(os.environ["AYATORI_PROGRAMS"])


class ProgramTest(unittest.TestCase):
    """Every test has a folder of its own, which is also the current directory of what it runs."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ayatori-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_program(self, name, *arguments, ranks=RANKS, status=0, timeout=200, **variables):
        """The launcher's shells are spared the library: it is put before the program alone."""
        settings = [f"{key}={value}" for key, value in variables.items()]
        if PRELOADED:
            settings.append(f"LD_PRELOAD={PRELOADED}")
        command = [MPIRUN, "-n", str(ranks), "env", *settings, str(PROGRAMS / f"pmpi_{name}"), *map(str, arguments)]
        try:
            done = subprocess.run(command, cwd=self.folder, text=True, errors="replace", capture_output=True,
                                  timeout=timeout)
        except subprocess.TimeoutExpired as error:
            self.fail(f"{command} hangs: {error.stdout} {error.stderr}")
        self.assertEqual(done.returncode, status, f"{command}: {done.stdout}{done.stderr}")
        return done
