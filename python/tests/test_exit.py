"""Programs end well whatever they still hold: objects that outlive MPI let go of what needs it before."""

import subprocess
import sys

import pytest

SYSTEM = """
import numpy as np, scipy.sparse as sparse
line = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(12, 12))
A, b = sparse.kronsum(line, line).tocsr(), np.ones(144)
"""
SOLVE = SYSTEM + """
solver = ayatori.Solver(A, preconditioner={preconditioner!r})
assert solver.solve(b).converged
"""
OURS, MPI4PY_FIRST, MPI4PY_LAST = ("import ayatori", "from mpi4py import MPI\nimport ayatori",
                                   "import ayatori\nayatori.solve([[2.0]], [2.0])\nfrom mpi4py import MPI")


def run(code, complaint=""):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert not done.stderr or (complaint and complaint in done.stderr), done.stderr
    return done.stdout


@pytest.mark.parametrize("start", [OURS, MPI4PY_FIRST, MPI4PY_LAST], ids=["ours", "mpi4py first", "mpi4py last"])
@pytest.mark.parametrize("preconditioner", ["direct", "boomeramg", "amg", "jacobi"])
def test_a_solver_that_is_alive(start, preconditioner):
    run(start + SOLVE.format(preconditioner=preconditioner))


@pytest.mark.parametrize("start", [OURS, MPI4PY_FIRST])
@pytest.mark.parametrize("keep", [
    "ayatori.kept = solver",
    "a = [solver]; a.append(a); del solver",
    "import ctypes; ctypes.pythonapi.Py_IncRef(ctypes.py_object(solver._core))",
    "more = [ayatori.Solver(A, preconditioner=p) for p in ('boomeramg', 'direct')]; assert all(s.solve(b) for s in more)",
    "import atexit; atexit.register(lambda: solver.solve(b))",
    "raise SystemExit(0)",
])
def test_however_it_is_kept(start, keep):
    run(start + SOLVE.format(preconditioner="direct") + keep)


def test_after_the_end_there_is_an_error():
    """And no call of MPI, which would end the process."""
    out = run("""
import atexit
@atexit.register
def late():  # handlers run in reverse: this one when MPI has ended
    for call in (lambda: solver.solve(b), lambda: solver.update(A), lambda: ayatori.solve(A, b)):
        try:
            call()
        except OSError as error:
            print(error)
import ayatori
""" + SOLVE.format(preconditioner="direct"))
    assert out.count("MPI has ended") == 3, out


def test_mpi4py_may_end_it():
    out = run(MPI4PY_FIRST + SOLVE.format(preconditioner="direct") + """
MPI.Finalize()
try:
    solver.solve(b)
except OSError as error:
    print(error)
assert solver.shape == (144, 144)
del solver
""")
    assert "MPI has ended" in out


@pytest.mark.parametrize("start", [OURS, MPI4PY_FIRST])
def test_a_thread_that_still_solves(start):
    """It is asked to stop, and MPI ends when it has."""
    run(start + """
import numpy, threading
A = ayatori.load("poisson2d-5:n=500")
begun = threading.Event()
def work():
    ayatori.solve(A, numpy.ones(A.shape[0]), rtol=1e-14, method="cg", preconditioner="none", progress=lambda *_: begun.set())
threading.Thread(target=work, daemon=True).start()
begun.wait(60)
""", complaint="Exception in thread")  # that Python may cut short
