"""Drop-ins for lsqr and lsmr of scipy.sparse.linalg, by the Golub-Kahan process of the core.

The norms returned are those of the x returned, by products with it, where SciPy's are what the recurrences say. Complex problems
are solved as real ones of twice the size, in the memory of the complex vectors.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from . import _core
from . import _words as words
from ._matrix import (agreement_on, as_array, as_canonical_csr, as_count, as_csr, as_matrix, as_number, as_real_form, as_vector, comm_address, has_matvec,
                      is_complex, is_operator, is_sparse, on_any_rank, rows_for_core)
from ._operators import as_doubles, check, exponent_of, times_power
from ._options import explained
from ._solve import OPTIONS

_STOPS = {"solved": 1, "rounding": 4, "least squares": 2, "condition": 3, "iteration limit": 7}
_WORDS = {0: "x = 0 is the solution", 1: "A x = b to the tolerances", 2: "a least-squares solution to the tolerances",
          3: "the estimate of the condition number is beyond conlim", 4: "A x = b to rounding", 7: "the limit of iterations"}


@explained()
def lsqr(A: Any, b: Any, damp: float = 0.0, atol: float = 1e-6, btol: float = 1e-6, conlim: float = 1e8, iter_lim: int | None = None,
         show: bool = False, calc_var: bool = False, x0: Any = None, *, preconditioner: words.Preconditioner | None = None, comm: Any = None) -> tuple:
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
    preconditioner : str, optional
        Of a matrix: one that `solve` has, symmetric, made of ``A.T @ A``. Of several solutions any is then found.
    comm : mpi4py.MPI.Comm, optional
        The ranks that hold the matrix: `A` and `b` are this rank's rows, in the order of the ranks, and calls are collective.

    Returns
    -------
    x : ndarray, shape (n,)
        From no guess, the solution of least norm. All of it on every rank.
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
    done = _solve("lsqr", A, b, damp, atol, btol, conlim, iter_lim, show, x0, calc_var, 2, preconditioner, comm)
    return (done.x, done.istop, done.iterations, done.residual, done.damped_residual, done.frobenius, done.condition, done.normal,
            _norm(done.x), done.variance)


@explained()
def lsmr(A: Any, b: Any, damp: float = 0.0, atol: float = 1e-6, btol: float = 1e-6, conlim: float = 1e8, maxiter: int | None = None,
         show: bool = False, x0: Any = None, *, preconditioner: words.Preconditioner | None = None, comm: Any = None) -> tuple:
    """The same by LSMR, whose residual of the normal equations falls monotonically: `scipy.sparse.linalg.lsmr`.

    Parameters
    ----------
    A, b, damp, atol, btol, conlim, show, x0, preconditioner, comm
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
    done = _solve("lsmr", A, b, damp, atol, btol, conlim, maxiter, show, x0, False, 1, preconditioner, comm)
    return (done.x, done.istop, done.iterations, done.damped_residual, done.normal, done.norm, done.condition,
            _norm(done.x))


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
           wants_variance: bool, iterations_per_column: int, preconditioner: str | None, comm: Any) -> _Done:
    address = comm_address(comm)
    with agreement_on(comm, address):
        A = as_matrix(A, "A")
        b = as_array(b, "b")
        b = as_vector(b if is_sparse(b) else np.atleast_1d(b), "b", A.shape[0])
        x0 = x0 if x0 is None else as_vector(x0, "x0", A.shape[1], "columns")
        damp, atol, btol, conlim = (as_number(value, name) for value, name in ((damp, "damp"), (atol, "atol"), (btol, "btol"), (conlim, "conlim")))
    exponent = exponent_of(b if comm is None else np.array(comm.allgather(float(np.abs(b).max(initial=0.0)))))
    if exponent:
        b, x0 = times_power(b, -exponent), x0 if x0 is None else times_power(x0, -exponent)
    of_complex = on_any_rank(comm, any(is_complex(getattr(part, "dtype", None)) for part in (A, b, x0)))
    work_type = np.complex128 if of_complex else np.float64
    is_here = comm is None and preconditioner in (None, "auto", "none")
    with agreement_on(comm, address):
        if wants_variance and (damp or of_complex or not is_here):
            raise ValueError("calc_var: the variance is estimated without damp, of real problems, without preconditioner and comm")
        if not is_here:
            _check_has_entries(A)
    if comm is not None and len(set(comm.allgather((method, damp, atol, btol, conlim, limit, x0 is None)))) > 1:
        raise ValueError("damp, atol, btol, conlim, the limit of iterations and whether there is an x0 have to be the same on all ranks")
    system = _Here(A, damp, work_type) if is_here else _Spread(A, damp, work_type, preconditioner, comm, address)
    right = system.right(as_doubles(b, work_type))
    b_norm = system.norm(right)
    start = None if x0 is None else as_doubles(x0, work_type)
    if start is not None:
        right = right - system.without_damping(system.product(system.part(start)))
    m, n = system.rows, A.shape[1]
    options = _core.LeastSquaresOptions()
    options.method, options.damping, options.atol, options.consistent_atol = method, system.damping, atol, atol
    options.target = btol * b_norm
    options.max_condition = conlim or np.inf
    usual = max(1, iterations_per_column * (n if method == "lsqr" else min(m, n)))
    options.max_iterations = min(2**31 - 1, usual if limit is None else as_count(limit, "iter_lim" if method == "lsqr" else "maxiter"))
    d = system.part(np.zeros(n * (2 if of_complex else 1)))
    variance = np.zeros(n) if wants_variance else None
    iterations, stop, norm, frobenius, condition = (0, "solved", 0.0, 0.0, 1.0)
    if on_any_rank(comm, bool(right.any())) and n > 0:
        iterations, stop, norm, frobenius, condition = system.solve(right, d, variance, options)
    if stop == "not finite":
        raise ValueError("products with A overflow, or are not finite")
    residual = right - system.product(d)
    normal = system.norm(system.adjoint(residual) - system.damping**2 * d)
    r = system.norm(system.without_damping(residual))
    x = system.whole(d)
    damped = float(np.hypot(r, damp * np.linalg.norm(x)))
    x, r, damped, normal = (times_power(length, exponent)
                            for length in ((x if start is None else start + x).view(work_type), r, damped, normal))
    istop = 0 if not x.any() and (r == 0 or normal == 0) else _STOPS[stop]
    if show and (comm is None or comm.rank == 0):
        print(f"{method}: {_WORDS[istop]} after {iterations} iterations; norm(r) = {r:.3e}, norm(A' r) = {normal:.3e}, cond(A) >= {condition:.1e}")
    return _Done(x, istop, iterations, r, damped, normal, norm, frobenius, condition, variance)


def _norm(x: np.ndarray) -> float:
    """Also where squares overflow or vanish."""
    largest = float(np.abs(x).max(initial=0.0))
    return largest * float(np.linalg.norm(x / largest)) if 0 < largest < np.inf else largest


class _Here:
    """The products of a matrix or an operator in this process; vectors are the caller's."""

    def __init__(self, A: Any, damp: float, work_type: type) -> None:
        width = 2 if work_type is np.complex128 else 1
        self.rows, self.damping = A.shape[0], damp
        self._sizes = width * A.shape[0], width * A.shape[1]
        self._forward, self._backward = _operators(A, *A.shape, work_type)

    def right(self, b: np.ndarray) -> np.ndarray:
        return b

    def part(self, x: np.ndarray) -> np.ndarray:
        return x

    def whole(self, x: np.ndarray) -> np.ndarray:
        return x

    def without_damping(self, r: np.ndarray) -> np.ndarray:
        return r

    def norm(self, x: np.ndarray) -> float:
        return float(np.linalg.norm(x))

    def product(self, x: np.ndarray) -> np.ndarray:
        y = np.empty(self._sizes[0])
        self._forward.apply(x, y)
        return y

    def adjoint(self, y: np.ndarray) -> np.ndarray:
        x = np.empty(self._sizes[1])
        self._backward.apply(y, x)
        return x

    def solve(self, right: np.ndarray, x: np.ndarray, variance: np.ndarray | None, options: _core.LeastSquaresOptions) -> tuple:
        return _core.least_squares(self._forward, self._backward, right, x, variance, options)


class _Spread:
    """Those of a matrix over ranks, or with a preconditioner; with damping, damp I is below A, in the rows of the last rank."""

    damping = 0.0

    def __init__(self, A: Any, damp: float, work_type: type, preconditioner: str | None, comm: Any, address: int) -> None:
        import scipy.sparse

        of_complex = work_type is np.complex128
        with agreement_on(comm, address):
            csr = as_canonical_csr(A, takes_complex=True)
            core_options = _core.Options()
            OPTIONS.set(core_options, {"preconditioner": preconditioner or "none"})
        self._comm, self._own = comm, csr.shape[0] * (2 if of_complex else 1)
        self.rows = csr.shape[0] if comm is None else comm.allreduce(csr.shape[0])
        if damp and (comm is None or comm.rank == comm.size - 1):
            csr = scipy.sparse.csr_array(scipy.sparse.vstack([csr, damp * scipy.sparse.eye(csr.shape[1])]))
        self._core = _core.LeastSquaresSystem(*rows_for_core(csr, of_complex), address, core_options)
        mine = self._core.local_columns
        self._first = 0 if comm is None else sum(comm.allgather(mine)[:comm.rank])

    def right(self, b: np.ndarray) -> np.ndarray:
        return np.pad(b, (0, self._core.local_size - b.size))

    def part(self, x: np.ndarray) -> np.ndarray:
        return self.right(x[self._first:self._first + self._core.local_columns])

    def whole(self, x: np.ndarray) -> np.ndarray:
        mine = x[:self._core.local_columns].copy()
        return mine if self._comm is None else np.concatenate(self._comm.allgather(mine))

    def without_damping(self, r: np.ndarray) -> np.ndarray:
        return self.right(r[:self._own])

    def norm(self, x: np.ndarray) -> float:
        return self._core.norm(x)

    def product(self, x: np.ndarray) -> np.ndarray:
        return self._apply(x, False)

    def adjoint(self, y: np.ndarray) -> np.ndarray:
        return self._apply(y, True)

    def _apply(self, x: np.ndarray, transposed: bool) -> np.ndarray:
        y = np.empty_like(x)
        self._core.apply(x, y, transposed)
        return y

    def solve(self, right: np.ndarray, x: np.ndarray, _: None, options: _core.LeastSquaresOptions) -> tuple:
        return self._core.solve(right, x, options)


def _check_has_entries(A: Any) -> None:
    if is_operator(A):
        raise TypeError("A is an operator: preconditioner and comm want a matrix")


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
