"""-ksp_type ayatori named by PETSC_OPTIONS in programs of petsc4py's (Debian's), on the ranks of the test."""

import pathlib
import sys
import unittest

from harness import launched

# How the programs begin.
BEGIN = '''
import sys
import petsc4py
petsc4py.init(sys.argv)
from petsc4py import PETSc

def laplacian(n):
    A = PETSc.Mat().createAIJ([n * n, n * n], nnz=5)
    for row in range(*A.getOwnershipRange()):
        i, j = divmod(row, n)
        A[row, row] = 4
        for at, there in ((row - n, i > 0), (row + n, i < n - 1), (row - 1, j > 0), (row + 1, j < n - 1)):
            if there:
                A[row, at] = -1
    A.assemble()
    return A

'''

PROGRAM = BEGIN + '''
n = 24
A = laplacian(n)
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

# Block Jacobi, as ranks have unless told otherwise, cannot factor a block without diagonal entries, and need not.
hollow = PETSc.Mat().createAIJ([2 * n, 2 * n], nnz=2)
begin, end = hollow.getOwnershipRange()
for row in range(begin, end):
    hollow[row, row ^ 1] = 2 + row % 3
hollow.assemble()
y, c = hollow.createVecs()
c.set(1)
hollow_ksp = PETSc.KSP().create()
hollow_ksp.getPC().setType("bjacobi")
hollow_ksp.setOperators(hollow)
hollow_ksp.setType("ayatori")
hollow_ksp.solve(c, y)
assert hollow_ksp.getConvergedReason() > 0

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

# Whatever changes a matrix, and whoever asks for a solve: x is that of the matrix as it is.
CHANGES = BEGIN + '''
n = 12

def check(ksp, A, what, transposed=False):
    x, b = A.createVecs()
    b.setRandom()
    (ksp.solveTranspose if transposed else ksp.solve)(b, x)
    r = b.duplicate()
    (A.multTranspose if transposed else A.mult)(x, r)
    r.aypx(-1, b)
    assert ksp.getConvergedReason() > 0, (what, ksp.getConvergedReason())
    assert r.norm() <= 2e-8 * b.norm(), (what, r.norm() / b.norm())

def method(A, kind="ayatori", pc=None):
    ksp = PETSc.KSP().create()
    ksp.setOperators(A)
    ksp.setTolerances(rtol=1e-8)
    ksp.setType(kind)
    if pc:
        ksp.getPC().setType(pc)
    return ksp

A = laplacian(n)
ksp = method(A)
check(ksp, A, "as assembled")
A.getDiagonalBlock().shift(3)
check(ksp, A, "a block of the parallel matrix changed")

split = laplacian(n).convert("is")
ksp = method(split)
check(ksp, split, "unassembled")
split.getISLocalMat().scale(2)
check(ksp, split, "a local matrix changed")

A = laplacian(n)
nest = PETSc.Mat().createNest([[A, PETSc.Mat().createTranspose(A)], [None, A]])
nest.assemble()
check(method(nest), nest, "a transpose among the blocks")

A = laplacian(n)
ksp = method(A, "cg", "ayatori")
check(ksp, A, "a transposed solve comes first", transposed=True)
check(ksp, A, "then a plain one")

ksp = method(A, "preonly", "ayatori")
B = PETSc.Mat().createDense([n * n, 3], comm=A.comm)
B.setUp()
B.setRandom()
X = B.duplicate()
ksp.setUp()
ksp.getPC().matApply(B, X)
R = A.matMult(X)
R.axpy(-1, B)
assert R.norm() <= 1e-7 * B.norm(), R.norm() / B.norm()

ksp = method(A, "fgmres", "gamg")
options = PETSc.Options()
options["mg_levels_ksp_type"] = "ayatori"
options["mg_levels_ksp_max_it"] = 2
options["mg_coarse_ksp_type"] = "ayatori"
ksp.setFromOptions()
check(ksp, A, "smoothers and the coarse solver of a multigrid")
PETSc.Sys.Print("all of the matrix as it is")
'''

# A Laplacian in other units in every row, with the vector that it hardly changes.
NEAR = BEGIN + '''
n = 40
A = laplacian(n)
units, b = A.createVecs()
begin, end = units.getOwnershipRange()
units.array = [1 + (7 * row) % 50 for row in range(begin, end)]
A.diagonalScale(units, units)
units.reciprocal()
A.setNearNullSpace(PETSc.NullSpace().create(vectors=[units], comm=A.comm))
b.setRandom()
x = b.duplicate()
ksp = PETSc.KSP().create()
ksp.setOperators(A)
ksp.setTolerances(rtol=1e-8)
ksp.setFromOptions()
ksp.solve(b, x)
assert ksp.getConvergedReason() > 0, ksp.getConvergedReason()
PETSc.Sys.Print("iterations", ksp.getIterationNumber())
'''


COMPLEX = pathlib.Path("/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-complex/lib/python3/dist-packages/petsc4py")
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

    def test_changes_that_the_matrix_does_not_tell(self):
        done = launched([sys.executable, "-c", CHANGES], "")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("all of the matrix as it is", done.stdout)

    def test_any_near_null_space(self):
        for options in ("-ksp_type cg -pc_type ayatori", "-ksp_type ayatori -ksp_ayatori_preconditioner amg -ksp_ayatori_explain"):
            done = launched([sys.executable, "-c", NEAR], f"{options} -ksp_view")
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("near null space as given", done.stdout)
            self.assertIn("amg knows the near-null space that was set: one vector", done.stdout)

    @unittest.skipUnless(COMPLEX.is_dir(), "complex scalars: no petsc4py of them")
    def test_complex_scalars(self):
        done = launched([sys.executable, "-c", "import petsc4py; petsc4py.init([]); from petsc4py import PETSc"], "",
                        environment={"PETSC_DIR": str(COMPLEX.parents[3])})
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(done.stderr, "libayatori_petsc.so cannot be used: .*complex")


if __name__ == "__main__":
    unittest.main()
