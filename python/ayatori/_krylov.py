"""Drop-ins for the iterative solvers of scipy.sparse.linalg, by the methods of the core.

They differ from SciPy's in what is good to know: info is 0 only if it is proved, with a bound of all rounding, that
``norm(b - A @ x)`` of the x returned meets the tolerance; iterations go on from where rounding has fooled the recurrence. Of a
LinearOperator the entries are not known: its own product, in double precision, is all that is looked at. GMRES is preconditioned
from the right, so that the norm that its callback is told is that of ``b - A @ x``; MINRES stops on ``norm(b - A @ x)``, where
SciPy's weighs it by ``norm(A) * norm(x)``; work is done in double precision whatever the type of the result. Complex systems are
solved with complex coefficients, in the memory of the complex vectors.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core
from ._matrix import (as_array, as_count, as_csr, as_matrix, as_number, as_vector, check_function, check_name, check_shape, check_square, is_complex,
                      is_operator)
from ._operators import apply, as_doubles, as_operator, float_type, in_units
from ._options import explained


@explained()
@in_units
def cg(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None,
       callback: Callable[[np.ndarray], Any] | None = None) -> tuple[np.ndarray, int]:
    """Conjugate gradients for symmetric or Hermitian positive definite matrices: `scipy.sparse.linalg.cg`.

    Parameters
    ----------
    A : sparse array or matrix, ndarray or LinearOperator, shape (n, n)
        Real or complex. Compressed sparse rows of doubles are used where they are. What a LinearOperator rounds in its
        products goes unnoticed.
    b : array_like, shape (n,) or (n, 1)
        Right-hand side.
    x0 : array_like or "Mb", optional
        Starting guess; zeros by default, ``M @ b`` for "Mb".
    rtol, atol : float
        Converged means that ``norm(b - A @ x) <= max(rtol * norm(b), atol)`` is proved.
    maxiter : int, optional
        Iterations at most; ``10 * n`` by default.
    M : sparse array or matrix, ndarray or LinearOperator, shape (n, n), optional
        Approximates the inverse of `A`; symmetric positive definite.
    callback : callable, optional
        Called as ``callback(xk)`` after every iteration.

    Returns
    -------
    x : ndarray, shape (n,)
        The best approximation found.
    info : int
        0: converged; > 0: not, after this many iterations, or x rounded to the single precision of `A` and `b` is no
        solution any more; < 0: the method broke down.

    Notes
    -----
    Chronopoulos and Gear (1989): one reduction in an iteration.
    """
    system = _System(A, b, x0, M, rtol, atol)
    return system.run("cg", maxiter, callback=callback)


@explained()
@in_units
def minres(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, shift: float = 0.0, maxiter: int | None = None, M: Any = None,
           callback: Callable[[np.ndarray], Any] | None = None, show: bool = False,
           check: bool = False) -> tuple[np.ndarray, int]:
    """Minimal residuals for symmetric or Hermitian matrices, definite or not: `scipy.sparse.linalg.minres`.

    Parameters
    ----------
    A, b, x0, rtol, maxiter, M, callback
        As for `cg`; iterations at most ``5 * n`` by default.
    shift : float
        Solves ``(A - shift * I) @ x = b``.
    show : bool
        Print a line about the result.
    check : bool
        Raise ValueError if `A` or `M` is not symmetric.

    Returns
    -------
    x : ndarray, shape (n,)
    info : int
        As for `cg`.

    Notes
    -----
    Paige and Saunders (1975).
    """
    system = _System(A, b, x0, M, rtol, 0.0, shift)
    if check:
        system.check_symmetric()
    x, info = system.run("minres", 5 * system.n if maxiter is None else maxiter, callback=callback)
    if show:
        print(f"minres: info {info}, {system.iterations} iterations, norm(b - A x) = {system.residual_norm:.3e} "
              f"<= {system.limit:.3e}" if info == 0 else f"minres: info {info}: {system.reason}")
    return x, info


@explained()
@in_units
def bicgstab(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None,
             callback: Callable[[np.ndarray], Any] | None = None) -> tuple[np.ndarray, int]:
    """BiCGSTAB for any matrix: `scipy.sparse.linalg.bicgstab`.

    Parameters
    ----------
    A, b, x0, rtol, atol, maxiter, M, callback
        As for `cg`; an iteration makes two products with `A`.

    Returns
    -------
    x : ndarray, shape (n,)
    info : int
        As for `cg`.

    Notes
    -----
    van der Vorst (1992), preconditioned from the right.
    """
    system = _System(A, b, x0, M, rtol, atol)
    return system.run("bicgstab", maxiter, callback=callback, products=2)


@explained()
@in_units
def gmres(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, restart: int | None = None,
          maxiter: int | None = None, M: Any = None, callback: Callable[[Any], Any] | None = None,
          callback_type: str | None = None) -> tuple[np.ndarray, int]:
    """Restarted GMRES for any matrix: `scipy.sparse.linalg.gmres`.

    Parameters
    ----------
    A, b, x0, rtol, atol, M
        As for `cg`; `M` may be any approximate inverse, applied from the right.
    restart : int, optional
        Basis vectors before a restart; ``min(20, n)`` by default.
    maxiter : int, optional
        Cycles at most (``10 * n`` by default); iterations for the callback type "legacy".
    callback : callable, optional
    callback_type : {"x", "pr_norm", "legacy"}, optional
        What the callback is told: "x", the iterate, after every cycle; "pr_norm", ``norm(b - A @ x) / norm(b)`` after every
        iteration; "legacy", the default, the same.

    Returns
    -------
    x : ndarray, shape (n,)
    info : int
        0: converged; > 0: not, after this many cycles (iterations for "legacy"); < 0: the method broke down.

    Notes
    -----
    Saad and Schultz (1986), orthogonalized twice where once loses digits.
    """
    if callback is not None and callback_type is None:
        warnings.warn("gmres called without specifying `callback_type`: give 'x', 'pr_norm' or 'legacy', the default",
                      DeprecationWarning, stacklevel=4)
    if callback_type not in (None, "x", "pr_norm", "legacy"):
        raise ValueError(f"callback_type is {callback_type!r}, but must be 'x', 'pr_norm' or 'legacy'")
    system = _System(A, b, x0, M, rtol, atol)
    restart = max(1, min(20 if restart is None else as_count(restart, "restart"), system.n))
    is_legacy = callback is not None and callback_type in (None, "legacy")
    return system.run("gmres", maxiter, products=1 if is_legacy else restart, restart=restart,
                      **{"callback" if callback_type == "x" else "norm_callback": callback})


class _System:
    """A x = b with its preconditioner and tolerance, as SciPy's functions understand them."""

    def __init__(self, A: Any, b: Any, x0: Any, M: Any, rtol: float, atol: float, shift: float = 0.0, is_finite: bool = True) -> None:
        """`is_finite`: NaN and infinity in `A` are refused, not met in its products."""
        self.rtol, self.atol = as_number(rtol, "rtol"), as_number(atol, "atol")
        self.shift = as_number(shift, "shift", is_negative_too=True)
        A = as_matrix(A, "A", is_finite=is_finite)
        check_square(A.shape)
        self.n: int = A.shape[0]
        dtype = getattr(A, "dtype", None)
        b = as_array(b, "b")
        x0 = x0 if x0 is None or isinstance(x0, str) else as_array(x0, "x0")
        self.is_complex = any(is_complex(kind) for kind in (dtype, b.dtype, getattr(M, "dtype", None), getattr(x0, "dtype", None)))
        self.work_type = np.complex128 if self.is_complex else np.float64
        self.A = A if is_operator(A) or is_complex(dtype) else as_csr(A)
        self.dtype = np.result_type(float_type(dtype), float_type(b.dtype), np.complex64 if self.is_complex else np.float32)
        self.b = as_doubles(as_vector(b, "b", self.n), self.work_type)
        self.M = getattr(A, "psolve", None) if M is None else self._preconditioner(M, "M")
        self.a = as_operator(self.A, self.n, self.work_type, self.shift)
        self.m = None if self.M is None else as_operator(self.M, self.n, self.work_type)
        self.x = self._start(x0)
        self.iterations, self.residual_norm, self.limit, self.reason = 0, 0.0, 0.0, ""

    def _preconditioner(self, M: Any, what: str) -> Any:
        check_name(M, f"make it by ayatori.preconditioner(A, {M!r}).aspreconditioner()")
        M = as_matrix(M, what, self.work_type)
        check_shape(M.shape, what, self.n)
        return M

    def _start(self, x0: Any) -> np.ndarray:
        if x0 is None:
            return np.zeros(self.b.size)
        if isinstance(x0, str):
            if x0 != "Mb":
                raise ValueError(f"x0 is {x0!r}, but must be a vector or 'Mb'")
            b = self.b.view(self.work_type)
            x0 = b if self.M is None else apply(self.M, b)
        return as_doubles(as_vector(x0, "x0", self.n), self.work_type).copy()

    def check_symmetric(self) -> None:
        """As SciPy does it: y' y = x' (A A x) for y = A x, to some digits."""
        x = np.random.default_rng(0).standard_normal(self.b.size).view(self.work_type)
        for operator, name in ((self.A, "A"), (self.M, "M")):
            if operator is None:
                continue
            y = apply(operator, x)
            z = apply(operator, y)
            square = np.vdot(y, y).real
            if abs(square - np.vdot(x, z)) > (square + np.finfo(float).eps) * np.finfo(float).eps ** (1 / 3):
                raise ValueError(f"{name} is not symmetric")

    def run(self, method: str, maxiter: int | None, *, callback: Callable | None = None, norm_callback: Callable | None = None,
            products: int = 1, restart: int = 30) -> tuple[np.ndarray, int]:
        """`products`: with A, in what `maxiter` counts."""
        check_function(callback or norm_callback, "callback")
        if not self.b.any():  # the only right answer, whatever the guess
            return np.zeros(self.n, self.dtype), 0
        maxiter = 10 * self.n if maxiter is None else as_count(maxiter, "maxiter")
        show_x = None if callback is None else lambda: callback(self.x.view(self.work_type).astype(self.dtype))
        show_norm = None if norm_callback is None else lambda norm: norm_callback(np.float64(norm))

        def iterate(x: np.ndarray, max_iterations: int) -> _core.Iterated:
            return _core.iterate(method, self.a, self.m, self.b, x, self.rtol, self.atol, max_iterations, restart, show_norm, show_x,
                                 self.is_complex)

        done = iterate(self.x, min(maxiter * products, 2**31 - 1))
        self.iterations, self.limit = done.iterations, done.limit
        x = self.x.view(self.work_type).astype(self.dtype, copy=False)
        if x.dtype != self.work_type and done.end == "converged":  # what single precision makes of x is what has to be proved
            done = iterate(as_doubles(x, self.work_type), 0)
        self.residual_norm, self.reason = done.residual_norm, done.reason or done.end
        if done.end == "converged":
            return x, 0
        if done.end == "breakdown":
            return x, -1
        return x, max(1, -(-self.iterations // products))
