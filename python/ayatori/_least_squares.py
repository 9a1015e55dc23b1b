"""Drop-ins for lsqr and lsmr of scipy.sparse.linalg, by the Golub-Kahan process of the core.

The norms returned are those of the x returned, by products with it, where SciPy's are what the recurrences say. Complex problems
are solved as real ones of twice the size, in the memory of the complex vectors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _core
from ._matrix import as_array, as_count, as_csr, as_matrix, as_real_form, as_vector, has_matvec, is_complex, is_sparse
from ._operators import as_doubles, check
from ._options import explained

_STOPS = {"solved": 1, "rounding": 4, "least squares": 2, "condition": 3, "iteration limit": 7}
_WORDS = {0: "x = 0 is the solution", 1: "A x = b to the tolerances", 2: "a least-squares solution to the tolerances",
          3: "the estimate of the condition number is beyond conlim", 4: "A x = b to rounding", 7: "the limit of iterations"}


@explained()
def lsqr(A: Any, b: Any, damp: float = 0.0, atol: float = 1e-6, btol: float = 1e-6, conlim: float = 1e8, iter_lim: int | None = None,
         show: bool = False, calc_var: bool = False, x0: Any = None) -> tuple:
    """Least squares of any matrix or operator, ``min ||b - A x||^2 + damp^2 ||x - x0||^2``: `scipy.sparse.linalg.lsqr`.

    Parameters
    ----------
    A : sparse array or matrix, ndarray or LinearOperator, shape (m, n)
        Real or complex; of an operator the adjoint is applied as well.
    b : array_like, shape (m,) or (m, 1)
    damp : float
    atol, btol : float
        Stop where ``norm(r) <= btol * norm(b) + atol * norm(A) * norm(x)`` or ``norm(A.T r) <= atol * norm(A) * norm(r)``.
    conlim : float
        Stop where the estimate of the condition number is beyond it; 0: never.
    iter_lim : int, optional
        ``2 * n`` by default.
    show : bool
        Print a line about the result.
    calc_var : bool
        Estimate the diagonal of the inverse of ``A.T A + damp^2 I``; only without `damp` and of real problems.
    x0 : array_like, shape (n,), optional
        Starting guess.

    Returns
    -------
    x : ndarray, shape (n,)
        From no guess, the solution of least norm.
    istop : int
        0: x = 0 is the solution; 1, 4: ``A x = b`` to the tolerances, to rounding; 2: least squares; 3: `conlim`; 7: `iter_lim`.
    itn : int
    r1norm, r2norm : float
        ``norm(b - A x)``, and the root of what is minimised.
    anorm, acond : float
        Estimates from below of the Frobenius norm of A and of its condition number.
    arnorm, xnorm : float
        ``norm(A.T r - damp^2 (x - x0))`` and ``norm(x)``.
    var : ndarray, shape (n,), or None

    Notes
    -----
    Paige and Saunders (1982).
    """
    done = _solve("lsqr", A, b, damp, atol, btol, conlim, iter_lim, show, x0, calc_var, 2)
    return (done.x, done.istop, done.iterations, done.residual, done.damped_residual, done.frobenius, done.condition, done.normal,
            float(np.linalg.norm(done.x)), done.variance)


@explained()
def lsmr(A: Any, b: Any, damp: float = 0.0, atol: float = 1e-6, btol: float = 1e-6, conlim: float = 1e8, maxiter: int | None = None,
         show: bool = False, x0: Any = None) -> tuple:
    """The same by LSMR, whose residual of the normal equations falls monotonically: `scipy.sparse.linalg.lsmr`.

    Parameters
    ----------
    A, b, damp, atol, btol, conlim, show, x0
        As for `lsqr`.
    maxiter : int, optional
        ``min(m, n)`` by default.

    Returns
    -------
    x : ndarray, shape (n,)
    istop, itn : int
        As for `lsqr`.
    normr, normar : float
        The root of what is minimised, and ``norm(A.T r - damp^2 (x - x0))``.
    norma, conda : float
        Estimates from below of the norm of A and of its condition number.
    normx : float

    Notes
    -----
    Fong and Saunders (2011).
    """
    done = _solve("lsmr", A, b, damp, atol, btol, conlim, maxiter, show, x0, False, 1)
    return (done.x, done.istop, done.iterations, done.damped_residual, done.normal, done.norm, done.condition,
            float(np.linalg.norm(done.x)))


class _Done(NamedTuple):
    x: np.ndarray
    istop: int
    iterations: int
    residual: float
    damped_residual: float
    normal: float
    norm: float
    frobenius: float
    condition: float
    variance: np.ndarray | None


def _solve(method: str, A: Any, b: Any, damp: float, atol: float, btol: float, conlim: float, limit: int | None, show: bool, x0: Any,
           wants_variance: bool, iterations_per_column: int) -> _Done:
    A = as_matrix(A, "A")
    m, n = A.shape
    b = as_array(b, "b")
    b = as_vector(b if is_sparse(b) else np.atleast_1d(b), "b", m)
    x0 = x0 if x0 is None else as_vector(x0, "x0", n, "columns")
    work_type = np.complex128 if any(is_complex(getattr(part, "dtype", None)) for part in (A, b, x0)) else np.float64
    if wants_variance and (damp or work_type is np.complex128):
        raise ValueError("calc_var: the variance is estimated without damp, of real problems")
    forward, backward = _operators(A, m, n, work_type)
    width = 2 if work_type is np.complex128 else 1
    right = as_doubles(b, work_type)
    start = None if x0 is None else as_doubles(x0, work_type)
    if start is not None:
        right = right - _product(forward, start, m * width)
    options = _core.LeastSquaresOptions()
    options.method, options.damping, options.atol, options.consistent_atol = method, float(damp), float(atol), float(atol)
    b_norm = float(np.linalg.norm(as_doubles(b, work_type)))
    options.target = float(btol) * b_norm
    options.max_condition = float(conlim) if conlim > 0 else np.inf
    usual = max(1, iterations_per_column * (n if method == "lsqr" else min(m, n)))
    options.max_iterations = min(2**31 - 1, usual if limit is None else as_count(limit, "iter_lim" if method == "lsqr" else "maxiter"))
    d = np.zeros(n * width)
    variance = np.zeros(n) if wants_variance else None
    iterations, stop, norm, frobenius, condition = (0, "solved", 0.0, 0.0, 1.0)
    if right.any() and n > 0:
        iterations, stop, norm, frobenius, condition = _core.least_squares(forward, backward, right, d, variance, options)
    if stop == "not finite":
        raise ValueError("the matrix has entries that are not finite, or its products overflow")
    residual = right - _product(forward, d, m * width)
    normal = float(np.linalg.norm(_product(backward, residual, n * width) - damp**2 * d))
    r = float(np.linalg.norm(residual))
    x = (d if start is None else start + d).view(work_type)
    istop = 0 if not x.any() and (r == 0 or normal == 0) else _STOPS[stop]
    if show:
        print(f"{method}: {_WORDS[istop]} after {iterations} iterations; norm(r) = {r:.3e}, norm(A' r) = {normal:.3e}, cond(A) >= {condition:.1e}")
    return _Done(x, istop, iterations, r, float(np.hypot(r, damp * np.linalg.norm(d))), normal, norm, frobenius, condition, variance)


def _product(operator: _core.LinearOperator, x: np.ndarray, size: int) -> np.ndarray:
    y = np.empty(size)
    operator.apply(x, y)
    return y


def _operators(A: Any, m: int, n: int, work_type: type) -> tuple[_core.LinearOperator, _core.LinearOperator]:
    """A and its adjoint."""
    if not has_matvec(A):
        csr = as_real_form(A) if work_type is np.complex128 else as_csr(A)
        adjoint = csr.T.tocsr()
        return (_core.borrow_csr(csr.indptr, csr.indices, csr.data, csr.shape[1]),
                _core.borrow_csr(adjoint.indptr, adjoint.indices, adjoint.data, csr.shape[0]))
    return _python_operator(A.matvec, n, work_type), _python_operator(A.rmatvec, m, work_type)


def _python_operator(product_of: Any, size: int, work_type: type) -> _core.LinearOperator:
    argument = np.empty(2 * size if work_type is np.complex128 else size)
    x = argument.view(work_type)

    def product() -> np.ndarray:
        y = np.asarray(product_of(x))
        check(y.dtype, work_type, "what the operator gives")
        return as_doubles(y, work_type)

    return _core.python_operator(product, argument)
