"""Programs of PETSc's kind with -ksp_type ayatori: nonlinear equations, time steps, and PETSc's own examples."""

import html
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

from harness import RANKS, PetscTest, launched

DOCUMENTATION = sorted(pathlib.Path("/usr/share/doc").glob("petsc3*-doc/docs/src"))


class Nonlinear(PetscTest):
    def bratu(self, options):
        said = self.program("-case bratu", options)
        return re.search(r"bratu: (\w+) steps (\d+) iterations (\d+) largest (\S+)", said).groups(), said

    def test_newton(self):
        exact = float(self.bratu("-snes_rtol 1e-10 -ksp_type preonly -pc_type lu -pc_factor_mat_solver_type mumps")[0][3])
        for options in ("-ksp_type ayatori", "-ksp_type ayatori -snes_mf_operator", "-ksp_type ayatori -snes_mf", "-pc_type ayatori",
                        "-ksp_type ayatori -snes_ksp_ew", "-pc_type ayatori -ksp_type preonly"):
            (reason, steps, _, largest), said = self.bratu(f"-snes_rtol 1e-10 {options}")
            self.assertRegex(reason, "^CONVERGED_FNORM", said)
            self.assertLess(int(steps), 12)
            self.assertAlmostEqual(float(largest), exact, places=6)

    def test_trust_region_has_a_test_of_its_own(self):
        (reason, *_), said = self.bratu("-snes_type newtontr -ksp_type ayatori")
        self.assertRegex(reason, "^CONVERGED", said)


class TimeSteps(PetscTest):
    def heat(self, options):
        said = self.program("-case heat -ts_max_steps 10", f"-snes_rtol 1e-9 {options}")
        reason, steps, norm = re.search(r"heat: (\w+) steps (\d+) iterations \d+ norm (\S+)", said).groups()
        self.assertEqual((reason, steps), ("CONVERGED_ITS", "10"))
        return float(norm), said

    def test_linear_and_not(self):
        for more in ("", "-nonlinear 1"):
            exact, _ = self.heat(f"{more} -ksp_type preonly -pc_type lu -pc_factor_mat_solver_type mumps")
            norm, said = self.heat(f"{more} -ksp_type ayatori -ksp_rtol 1e-10 -ksp_view")
            self.assertAlmostEqual(norm, exact, places=6)
            set_ups, solves = map(int, re.findall(r"(\d+) set-ups? served (\d+) solves", said)[-1])
            self.assertGreaterEqual(solves, 10)
            self.assertLess(set_ups, solves)


# PETSc's own examples: file, arguments, and a pattern whose numbers are to be those that PETSc's direct solver gives.
EXAMPLES = (
    ("ksp/ksp/tutorials/ex2.c", "-m 20 -n 20", r"Norm of error (\S+)", "-ksp_rtol 1e-10"),
    ("ksp/ksp/tutorials/ex5.c", "", r"Relative norm of residual (\S+)|Norm of error (\S+)", "-ksp_rtol 1e-10"),
    ("ksp/ksp/tutorials/ex7.c", "-m 6 -n 6", r"Norm of error (\S+)", "-ksp_rtol 1e-10"),  # asks block Jacobi for its blocks
    ("ksp/ksp/tutorials/ex23.c", "-n 50", r"Norm of error (\S+)", "-ksp_rtol 1e-10"),
    ("ksp/ksp/tutorials/ex28.c", "-da_grid_x 33 -nox", r"Residual norm (\S+)", "-ksp_rtol 1e-10"),
    ("ksp/ksp/tutorials/ex29.c", "-da_grid_x 33 -da_grid_y 33", "", "-ksp_rtol 1e-10"),
    ("ksp/ksp/tutorials/ex45.c", "-da_grid_x 9 -da_grid_y 9 -da_grid_z 9", r"Residual norm (\S+)", "-ksp_rtol 1e-10"),
    ("ksp/ksp/tutorials/ex50.c", "-da_grid_x 33 -da_grid_y 33", "", "-ksp_rtol 1e-10"),
    ("ksp/ksp/tutorials/ex56.c", "", "", "-ksp_rtol 1e-10"),  # elasticity, with coordinates; rank 1 has no rows
    ("snes/tutorials/ex5.c", "-da_grid_x 17 -da_grid_y 17", "", ""),
    ("snes/tutorials/ex19.c", "-da_grid_x 9 -da_grid_y 9", "", ""),
    ("ts/tutorials/ex13.c", "-da_grid_x 20 -da_grid_y 20 -ts_max_steps 5", "", ""),
)
ONLY_ON = {"ksp/ksp/tutorials/ex56.c": (1, 2)}  # on three it writes beyond its own arrays


def source(page):
    """The C of a page of PETSc's documentation."""
    text = html.unescape(re.sub(r"<[^>]*>", "", page.read_text(encoding="utf-8", errors="replace")))
    lines = [re.sub(r"^\s*\d+: ?", "", line) for line in text.split("\n")]
    return "\n".join(line for line in lines if not line.startswith("Actual source code"))


@unittest.skipUnless(DOCUMENTATION, "no documentation of PETSc with its examples")
@unittest.skipIf(os.environ["AYATORI_SANITIZE"], "programs that are compiled elsewhere have no sanitizers")
class Examples(PetscTest):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ayatori-test-"))
        self.addCleanup(shutil.rmtree, self.folder)
        ask = lambda what: subprocess.run(["pkg-config", what, "PETSc"], capture_output=True, text=True, check=True).stdout.split()
        self.flags, self.libraries = ask("--cflags"), ask("--libs")

    def build(self, name):
        page = DOCUMENTATION[0] / f"{name}.html"
        program, code = self.folder / page.name.split(".")[0], self.folder / page.name.removesuffix(".html")
        code.write_text(source(page))
        built = subprocess.run(["mpicc.openmpi", "-w", "-O1", *self.flags, str(code), "-o", str(program), *self.libraries, "-lm"],
                               capture_output=True, text=True)
        self.assertEqual(built.returncode, 0, built.stderr)
        return program

    def test_all(self):
        for name, arguments, pattern, options in EXAMPLES:
            if RANKS not in ONLY_ON.get(name, (RANKS,)):
                continue
            with self.subTest(name):
                program = self.build(name)
                told = f"-ksp_type ayatori -ksp_converged_reason -snes_converged_reason {options}"
                done = launched([str(program), *arguments.split()], told)
                said = done.stdout + done.stderr
                self.assertEqual(done.returncode, 0, said)
                self.assertRegex(said, "Linear solve converged|Nonlinear solve converged")
                self.assertNotRegex(said, "(?i)did not converge|petsc error")
                for numbers in re.findall(pattern, said) if pattern else []:
                    for number in numbers if isinstance(numbers, tuple) else (numbers,):
                        if number:
                            self.assertLess(float(number.rstrip(",")), 1e-6)


if __name__ == "__main__":
    unittest.main()
