"""Our spsolve, splu's solves, eigsh, svds and lsqr beside SciPy's, interleaved (A B B A).

    OMP_NUM_THREADS=1 python bench/peers/scipy_direct.py [SPEC] [REPETITIONS]

Wants the package and SciPy; the matrix is symmetric. Residuals are checked before a figure is printed; minimum of the seconds, and
their ratio.
"""

import sys
import time

import ayatori
import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as peer

spec = sys.argv[1] if len(sys.argv) > 1 else "poisson2d-5:n=200"
repetitions = int(sys.argv[2]) if len(sys.argv) > 2 else 3
A = sp.csc_array(ayatori.load(spec))
n = A.shape[0]
b = np.random.default_rng(0).standard_normal(n)
wide = sp.csc_array(A[:, : n // 2])
factors = {module: module.splu(A) for module in (ayatori, peer)}


def small(residual, of, tolerance):
    assert np.linalg.norm(residual) <= tolerance * np.linalg.norm(of), np.linalg.norm(residual)


def spsolve(module):
    small(A @ module.spsolve(A, b) - b, b, 1e-9)


def solves(module):
    for _ in range(10):
        x = factors[module].solve(b)
    small(A @ x - b, b, 1e-9)


def eigsh_sigma(module):
    w, v = module.eigsh(A, 8, sigma=0.0)
    small(A @ v - v * w, v, 1e-8)


def eigsh_largest(module):
    w, v = module.eigsh(A, 4, which="LA", tol=1e-6)
    small(A @ v - v * w, v, 1e-4)


def lsqr(module):
    x = module.lsqr(wide, b, atol=1e-6, btol=1e-6)[0]
    r = b - wide @ x
    small(wide.T @ r, r, 1e-2)  # SciPy weighs it by an estimate of the Frobenius norm


print(f"{spec}: {n} rows, {A.nnz} nonzeros; {repetitions} times each, interleaved")
print(f"{'':14} {'ours':>9} {'SciPy':>9} {'ratio':>7}")
for task in (spsolve, solves, eigsh_sigma, eigsh_largest, lsqr):
    seconds = {ayatori: [], peer: []}
    for i in range(repetitions):
        for module in seconds if i % 2 == 0 else reversed(seconds):
            start = time.perf_counter()
            task(module)
            seconds[module].append(time.perf_counter() - start)
    ours, theirs = (min(seconds[module]) for module in (ayatori, peer))
    print(f"{task.__name__:14} {ours:9.3f} {theirs:9.3f} {theirs / ours:7.2f}", flush=True)
