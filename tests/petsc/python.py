"""-ksp_type ayatori named by PETSC_OPTIONS in programs of petsc4py's (Debian's), on the ranks of the test."""

import sys
import unittest

from harness import launched

PROGRAM = '''
import sys
import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc

n = 24
A = PETSc.Mat().createAIJ([n * n, n * n], nnz=5)
begin, end = A.getOwnershipRange()
for row in range(begin, end):
    i, j = divmod(row, n)
    A[row, row] = 4
    for at, there in ((row - n, i > 0), (row + n, i < n - 1), (row - 1, j > 0), (row + 1, j < n - 1)):
        if there:
            A[row, at] = -1
A.assemble()
x, b = A.createVecs()
exact = x.duplicate()
exact.setRandom()
A.mult(exact, b)
told = []
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setTolerances(rtol=1e-9)
ksp.setMonitor(lambda ksp, iteration, norm: told.append((iteration, norm)))
ksp.setFromOptions()
ksp.solve(b, x)
error = (x - exact).norm() / exact.norm()
assert ksp.getConvergedReason() == PETSc.KSP.ConvergedReason.CONVERGED_RTOL, ksp.getConvergedReason()
assert error < 1e-6, error
assert [at for at, _ in told] == list(range(ksp.getIterationNumber() + 1)), told
b.axpy(-1, A * x)
assert abs(b.norm() / ksp.getResidualNorm() - 1) < 1e-3

def broken(ksp, iteration, norm):
    if iteration == 3:
        raise ValueError("no more of this")
ksp.cancelMonitor()
ksp.setMonitor(broken)
A.mult(exact, b)
try:
    ksp.solve(b, x)
except ValueError:
    PETSc.Sys.Print("solved; the monitor's exception came through")

# Blocks that are put together: MATNEST, converted for the solve.
C = A.duplicate(copy=True)
C.shift(1)
nest = PETSc.Mat().createNest([[C, A], [None, C]])
nest.assemble()
x, b = nest.createVecs()
exact = x.duplicate()
exact.setRandom()
nest.mult(exact, b)
blocks = PETSc.KSP().create()
blocks.setOperators(nest)
blocks.setTolerances(rtol=1e-10)
blocks.setType("ayatori")
blocks.solve(b, x)
assert blocks.getConvergedReason() > 0
assert (x - exact).norm() / exact.norm() < 1e-6
C.shift(1)
nest.assemble()
nest.mult(exact, b)
blocks.solve(b, x)
assert (x - exact).norm() / exact.norm() < 1e-6, "the change of a block went unnoticed"
PETSc.Sys.Print("nested solved")

# A preconditioner that solves: what fails once may be solved the next time.
free = PETSc.Mat().createAIJ([n, n], nnz=3)
for row in range(*free.getOwnershipRange()):
    free[row, row] = (row > 0) + (row < n - 1)
    for at in (row - 1, row + 1):
        if 0 <= at < n:
            free[row, at] = -1
free.assemble()
alone = PETSc.KSP().create()
alone.setOperators(free)
alone.setType("preonly")
alone.getPC().setType("ayatori")
x, b = free.createVecs()
for shift, reason in ((1, PETSc.KSP.ConvergedReason.DIVERGED_PCSETUP_FAILED), (0, PETSc.KSP.ConvergedReason.CONVERGED_ITS)):
    x.setRandom()
    free.mult(x, b)
    b.shift(shift)
    x.set(0)
    alone.solve(b, x)
    assert alone.getConvergedReason() == reason, alone.getConvergedReason()
r = b - free * x
assert r.norm() <= 1e-8 * b.norm()
PETSc.Sys.Print("failed, then solved")
'''


try:
    import petsc4py
except ImportError:
    petsc4py = None


@unittest.skipUnless(petsc4py, "no petsc4py")
class Petsc4py(unittest.TestCase):
    def test_a_program(self):
        done = launched([sys.executable, "-c", PROGRAM], "-ksp_type ayatori -ksp_ayatori_method cg -ksp_ayatori_preconditioner jacobi")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("exception came through", done.stdout)
        self.assertIn("nested solved", done.stdout)
        self.assertIn("failed, then solved", done.stdout)


if __name__ == "__main__":
    unittest.main()
