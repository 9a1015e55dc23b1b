import subprocess
import sys


def run(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_starts_nothing():
    """Neither MPI nor what takes long to import."""
    run("""
import ctypes, sys
import ayatori
assert "scipy" not in sys.modules and "mpi4py" not in sys.modules
flag = ctypes.c_int(7)
assert ctypes.CDLL(ayatori._core.__file__).MPI_Initialized(ctypes.byref(flag)) == 0 and flag.value == 0
ayatori.solve([[2.0, 0.0], [0.0, 4.0]], [2.0, 4.0])
assert ctypes.CDLL(ayatori._core.__file__).MPI_Initialized(ctypes.byref(flag)) == 0 and flag.value == 1
""")


def test_importing_takes_little_beyond_numpy():
    """In instructions' stead: modules. Each takes about a millisecond."""
    with_numpy, ours = run("""
import sys
import numpy, dataclasses, json, html, tempfile, warnings, atexit
before = len(sys.modules)
import ayatori
print(before, len(sys.modules))
""").split()
    assert int(ours) - int(with_numpy) < 25


def test_threads_are_those_that_threadpoolctl_allows():
    run("""
import ayatori, numpy, threadpoolctl
A = ayatori.load("poisson2d-5:n=10")
def offered(**options):
    report = ayatori.solve(A, numpy.ones(100), **options).report
    assert report["threads"] <= report["thread_race"]["offered"]
    return report["thread_race"]["offered"]
with threadpoolctl.threadpool_limits(1, user_api="openmp"):
    assert offered() == 1
with threadpoolctl.threadpool_limits(2, user_api="openmp"):
    assert offered() == 2
    assert offered(threads=1) == 1
    assert offered() == 2
""")


def test_mpi4py_before_and_after():
    run("""
from mpi4py import MPI
import ayatori
print(ayatori.solve([[2.0]], [2.0]).x)
""")
    run("""
import ayatori
print(ayatori.solve([[2.0]], [2.0]).x)
from mpi4py import MPI
assert MPI.COMM_WORLD.size == 1
""")
