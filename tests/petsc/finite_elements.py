"""-ksp_type ayatori named by PETSC_OPTIONS in a program of dolfinx's (Debian's), on the ranks of the test."""

import importlib.util
import pathlib
import re
import sys
import unittest

from harness import launched

HERE = pathlib.Path(__file__).resolve().parent


@unittest.skipUnless(importlib.util.find_spec("dolfinx"), "no dolfinx")
class Dolfinx(unittest.TestCase):
    def check(self, name, options=""):
        done = launched([sys.executable, str(HERE / "elements_program.py"), name], f"-ksp_type ayatori -ksp_view {options}")
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        reason, difference = re.search(r"ayatori reason (-?\d+) .* difference (\S+)", said).groups()
        self.assertGreater(int(reason), 0, said)
        self.assertLess(float(difference), 1e-5)
        return said

    def test_poisson(self):
        self.check("poisson")

    def test_elasticity(self):
        said = self.check("elasticity", "-ksp_ayatori_preconditioner amg")
        self.assertIn("tells where the nodes are: amg knows the rotations", said)
        self.check("elasticity")

    def test_stokes(self):
        self.check("stokes")


if __name__ == "__main__":
    unittest.main()
