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
    def check(self, name, options="", kind="-ksp_type ayatori", most=1e-5):
        done = launched([sys.executable, str(HERE / "elements_program.py"), *name.split()], f"{kind} -ksp_view {options}")
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        reason, iterations, difference = re.search(r": \w+ reason (-?\d+) iterations (\d+) .* difference (\S+)", said).groups()
        self.assertGreater(int(reason), 0, said)
        self.assertLess(float(difference), most)
        return said, int(iterations)

    def test_poisson(self):
        self.check("poisson")

    def test_elasticity(self):
        said, _ = self.check("elasticity", "-ksp_ayatori_preconditioner amg")
        self.assertIn("tells where the nodes are: amg knows the rotations", said)
        self.check("elasticity")

    def test_coordinates_of_nodes(self):
        said, _ = self.check("elasticity coordinates", "-ksp_ayatori_preconditioner amg -ksp_ayatori_explain")
        self.assertIn("the coordinates that were set tell where the nodes are", said)
        self.assertIn("rotations by coordinates", said)

    def test_a_preconditioner_of_theirs(self):
        for told in ("near-null-space", "coordinates"):
            said, iterations = self.check(f"elasticity {told}", kind="-ksp_type gmres -pc_type ayatori", most=1e-3)
            self.assertLess(iterations, 40, said)
            self.assertIn("rotations by coordinates", said)

    def test_stokes(self):
        self.check("stokes")


if __name__ == "__main__":
    unittest.main()
