"""Our cg, bicgstab and gmres beside SciPy's, interleaved (A B B A), to the same tolerance.

    OMP_NUM_THREADS=1 python bench/peers/scipy_krylov.py [SPEC] [REPETITIONS]

Wants the package and SciPy. Residuals are checked before a figure is printed; minimum and median of the seconds, and the ratio of the minima.
"""

import statistics
import sys
import time

import ayatori
import numpy as np
import scipy.sparse.linalg as peer

spec = sys.argv[1] if len(sys.argv) > 1 else "convection3d:n=40,peclet=20"
repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 4
A = ayatori.load(spec)
b = np.ones(A.shape[0])
names = ["cg", "bicgstab", "gmres"] if abs(A - A.T).max() == 0 else ["bicgstab", "gmres"]


def run(module, name):
    start = time.perf_counter()
    x, info = getattr(module, name)(A, b, rtol=1e-8)
    seconds = time.perf_counter() - start
    residual = np.linalg.norm(b - A @ x) / np.linalg.norm(b)
    assert info == 0 and residual <= 1.1e-8, (module.__name__, name, info, residual)
    return seconds


print(f"{spec}: {A.shape[0]} rows, {A.nnz} nonzeros; {repetitions} times each, interleaved")
print(f"{'':10} {'ours':>9} {'median':>9} {'SciPy':>9} {'median':>9} {'ratio':>7}")
for name in names:
    ours, theirs = [], []
    for i in range(repetitions):
        order = [(ours, ayatori), (theirs, peer)]
        for times, module in order if i % 2 == 0 else reversed(order):
            times.append(run(module, name))
    print(f"{name:10} {min(ours):9.4f} {statistics.median(ours):9.4f} {min(theirs):9.4f} {statistics.median(theirs):9.4f} "
          f"{min(theirs) / min(ours):7.2f}")
