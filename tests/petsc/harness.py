"""Runs programs of PETSc's with libayatori_petsc.so, named by PETSC_OPTIONS alone, on the ranks of the test."""

import os
import re
import subprocess
import unittest

RANKS = int(os.environ.get("AYATORI_RANKS", "1"))
PLUGIN = os.environ["AYATORI_PETSC"]
PROGRAM = os.environ["AYATORI_PROGRAM"]
SOLVE = re.compile(r"^(?P<name>[\w ]+): (?P<reason>\w+) iterations (?P<iterations>\d+) residual (?P<residual>\S+) error (?P<error>\S+) "
                   r"mean (?P<mean>\S+)$", re.MULTILINE)


def launched(command, options="", ranks=RANKS, environment=None, timeout=240):
    """The finished process; PETSC_OPTIONS loads the plug-in and says the rest."""
    variables = {**os.environ, "PETSC_OPTIONS": f"-dll_append {PLUGIN} {options}", **(environment or {})}
    variables["OMP_NUM_THREADS"] = "1" if ranks > 1 else "2"
    launcher = [] if ranks == 1 else [os.environ["AYATORI_MPIRUN"], "-n", str(ranks)]
    return subprocess.run([*launcher, *command], env=variables, text=True, errors="replace", capture_output=True, timeout=timeout)


class Solve:
    """A line of the program's."""

    def __init__(self, match):
        self.name, self.reason = match["name"], match["reason"]
        self.iterations = int(match["iterations"])
        self.residual, self.error, self.mean = (float(match[key]) for key in ("residual", "error", "mean"))


class PetscTest(unittest.TestCase):
    def program(self, arguments, options="-ksp_type ayatori -ksp_rtol 1e-8", status=0, **keywords):
        """What the program wrote, both streams."""
        done = launched([PROGRAM, *arguments.split()], options, **keywords)
        said = done.stdout + done.stderr
        if status is not None:
            self.assertEqual(done.returncode, status, said)
        return said

    def solves(self, arguments="", more="", **keywords):
        said = self.program(arguments, f"-ksp_type ayatori -ksp_rtol 1e-8 {more}", **keywords)
        found = [Solve(match) for match in SOLVE.finditer(said)]
        self.assertTrue(found, said)
        return found, said

    def assert_solved(self, solve, rtol=1e-8, error=1e-6):
        self.assertRegex(solve.reason, "^CONVERGED_(RTOL|ATOL)$")
        self.assertLessEqual(solve.residual, rtol)
        self.assertLess(solve.error, error)

    def assert_refused(self, sentence, arguments="", options="-ksp_type ayatori"):
        done = launched([PROGRAM, *arguments.split()], options)
        self.assertNotEqual(done.returncode, 0)
        said = done.stdout + done.stderr
        self.assertRegex(said, sentence)
        self.assertNotRegex(said, "(?i)segmentation|terminate called|AddressSanitizer")
