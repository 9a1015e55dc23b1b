"""Drop-ins for the eigensolvers of scipy.sparse.linalg, by the Krylov methods of the core.

Complex problems are real ones of twice the size in the memory of the complex vectors. There every eigenvalue is one twice
(Hermitian problems) or has its conjugate beside it: what the core finds is a space, in which the complex problem is solved.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _core
from ._krylov import gmres
from ._matrix import as_count, check_finite, has_matvec, is_complex, is_sparse
from ._operators import apply, as_doubles, as_operator, check, factors_of, float_type


def eigsh(A: Any, k: int = 6, M: Any = None, sigma: float | None = None, which: str = "LM", v0: Any = None, ncv: int | None = None,
          maxiter: int | None = None, tol: float = 0, return_eigenvectors: bool = True, Minv: Any = None, OPinv: Any = None,
          mode: str = "normal", rng: Any = None) -> Any:
    """Some eigenpairs of a symmetric or Hermitian matrix or operator: `scipy.sparse.linalg.eigsh`.

    Parameters
    ----------
    A : sparse array or matrix, ndarray or LinearOperator, shape (n, n)
        Symmetric or Hermitian, which is not checked.
    k : int
        Eigenvalues wanted, from 1 to n.
    M : sparse array or matrix, ndarray or LinearOperator, shape (n, n), optional
        For ``A @ x = w * M @ x``; positive definite.
    sigma : float, optional
        Shift-invert: eigenvalues near `sigma`, by complete factors of ``A - sigma * M``.
    which : {"LM", "SM", "LA", "SA", "BE"}
        Largest or smallest in magnitude or algebraically, or half of each end. With `sigma` that is said of ``1 / (w - sigma)``.
    v0 : array_like, shape (n,), optional
        First vector of the Krylov space; one and the same random vector by default.
    ncv : int, optional
        Vectors of the basis; ``min(n, max(2 * k + 1, 20))`` by default, and all n of a matrix of at most 100 rows.
    maxiter : int, optional
        Restarts at most; ``10 * n`` by default.
    tol : float
        Of residuals, relative to eigenvalues (of the inverse with `sigma`); 0: as small as rounding lets them be.
    return_eigenvectors : bool
    Minv, OPinv : sparse array or matrix, ndarray or LinearOperator, shape (n, n), optional
        The inverse of `M`, or of ``A - sigma * M``, where that is known better.
    mode : {"normal", "buckling", "cayley"}
        The spectral transformation with `sigma`, as in SciPy.
    rng
        Without effect: the random vectors are the same in every run.

    Returns
    -------
    w : ndarray, shape (k,)
        Ascending.
    v : ndarray, shape (n, k)
        Orthonormal columns (in the inner product of `M`); absent without `return_eigenvectors`.

    Raises
    ------
    scipy.sparse.linalg.ArpackNoConvergence
        After `maxiter` restarts, with ``eigenvalues`` and ``eigenvectors`` that have converged.
    RuntimeError
        If `M` is singular to working precision.

    Notes
    -----
    Shift-invert beside `sigma` where an eigenvalue is so near to it that its inverse would drown the others in rounding.
    Lanczos with thick restarts (Wu and Simon 2000). Multiple eigenvalues are found as often as they are: once there is what was
    wanted, another Krylov space orthogonal to it is searched for what was missed.
    """
    if which not in ("LM", "SM", "LA", "SA", "BE"):
        raise ValueError(f"which is {which!r}, but must be 'LM', 'SM', 'LA', 'SA' or 'BE'")
    if mode not in ("normal", "buckling", "cayley"):
        raise ValueError(f"mode is {mode!r}, but must be 'normal', 'buckling' or 'cayley'")
    if sigma is not None and np.imag(sigma) != 0:
        raise ValueError("sigma of a symmetric problem must be real")
    if sigma is None and mode != "normal":
        raise ValueError(f"mode {mode!r} needs sigma")
    _check_numbers(sigma, tol)
    problem = _Problem(A, M, v0)
    count = problem.count(k)
    # A complex pair is two real ones, and of an odd number half of one may be at the other end.
    wanted = min(problem.size, count if not problem.is_complex else 2 * count + (2 if which == "BE" else 0))

    def pairs_of(operator: _core.LinearOperator, inner: _core.LinearOperator | None) -> tuple[np.ndarray, np.ndarray, bool]:
        values, vectors, converged = _core.lanczos(operator, inner, wanted, which, problem.basis(ncv, count), float(tol),
                                                   problem.restarts(maxiter), problem.start)
        vectors = vectors.reshape(len(values), problem.size).view(problem.work_type).T
        if problem.is_complex:
            values, vectors = _complex_pairs(values, vectors, problem.m_product)
            chosen = np.sort(_by_desire(values, which)[:count])
            values, vectors = values[chosen], vectors[:, chosen]
        return values, vectors, converged

    def pairs_near(shift: float) -> tuple[np.ndarray, np.ndarray, bool, float]:
        inverse = problem.inverse(shift, OPinv, tol)
        values, vectors, converged = pairs_of(*problem.symmetric_transform(inverse, shift, mode))
        values = {"normal": lambda t: shift + 1 / t, "buckling": lambda t: shift * t / (t - 1),
                  "cayley": lambda t: shift * (t + 1) / (t - 1)}[mode](values)
        if mode == "buckling":
            vectors = vectors / _norms(vectors, problem.m_product)
        return values, vectors, converged, problem.nearest(inverse, which)

    if sigma is None:
        values, vectors, converged = pairs_of(problem.product(Minv), problem.m)
    else:
        values, vectors, converged = _beside_eigenvalues(problem, float(np.real(sigma)), OPinv is None, tol, pairs_near)
    order = np.argsort(values, kind="stable")
    values = values[order].astype(np.float32 if problem.is_single else np.float64)
    vectors = vectors[:, order].astype(problem.dtype)
    if not converged:
        _no_convergence(values, vectors, count, which, sigma)
    return (values, vectors) if return_eigenvectors else values


def eigs(A: Any, k: int = 6, M: Any = None, sigma: complex | None = None, which: str = "LM", v0: Any = None, ncv: int | None = None,
         maxiter: int | None = None, tol: float = 0, return_eigenvectors: bool = True, Minv: Any = None, OPinv: Any = None,
         OPpart: str | None = None, rng: Any = None) -> Any:
    """Some eigenvalues and eigenvectors of any square matrix or operator: `scipy.sparse.linalg.eigs`.

    Parameters
    ----------
    A, M, v0, ncv, maxiter, tol, return_eigenvectors, Minv, OPinv, rng
        As for `eigsh`; `A` need not be symmetric.
    k : int
        Eigenvalues wanted, from 1 to n. Of a conjugate pair there may be one.
    sigma : float or complex, optional
        Shift-invert: eigenvalues near `sigma`, by complete factors of ``A - sigma * M``.
    which : {"LM", "SM", "LR", "SR", "LI", "SI"}
        Largest or smallest in magnitude, real or imaginary part (of real problems its magnitude). With `sigma` that is said of
        ``1 / (w - sigma)``.
    OPpart : {"r", "i"}, optional
        Of a real problem with a complex `sigma`: whether the real part of the inverse is worked with, the default, or the imaginary.

    Returns
    -------
    w : ndarray, shape (k,)
        Complex, the most wanted first.
    v : ndarray, shape (n, k)
        Columns of norm 1; absent without `return_eigenvectors`.

    Raises
    ------
    scipy.sparse.linalg.ArpackNoConvergence
        After `maxiter` restarts, with ``eigenvalues`` and ``eigenvectors`` that have converged.
    RuntimeError
        If `M` is singular to working precision.

    Notes
    -----
    Shift-invert beside `sigma` as in `eigsh`.
    Krylov-Schur (Stewart 2001). Of an eigenvalue with several eigenvectors it may find one.
    """
    if which not in ("LM", "SM", "LR", "SR", "LI", "SI"):
        raise ValueError(f"which is {which!r}, but must be 'LM', 'SM', 'LR', 'SR', 'LI' or 'SI'")
    if OPpart not in (None, "r", "i"):
        raise ValueError(f"OPpart is {OPpart!r}, but must be 'r' or 'i'")
    _check_numbers(sigma, tol)
    problem = _Problem(A, M, v0)
    count = problem.count(k)
    is_part = not problem.is_complex and np.imag(0 if sigma is None else sigma) != 0
    turned = problem.is_complex and which in ("LI", "SI")  # by a right angle: the core tells no value from its conjugate
    wanted = min(problem.size, 2 * count if problem.is_complex else count)

    def pairs_of(operator: _core.LinearOperator, shift: complex | None) -> tuple[np.ndarray, np.ndarray, bool]:
        if turned:
            operator = _core.composed_operator(as_operator(lambda x: -1j * x, problem.n, problem.work_type), operator)
        basis, t, converged = _core.krylov_schur(operator, None, wanted, which.replace("I", "R") if turned else which,
                                                 problem.basis(ncv, count), float(tol), problem.restarts(maxiter), problem.start)
        size = round(len(t) ** 0.5)
        basis, t = basis.reshape(size, problem.size).view(problem.work_type).T, t.reshape(size, size).T
        if problem.is_complex and size:
            left, lengths, _ = np.linalg.svd(basis, full_matrices=False)
            basis = left[:, lengths > 1e-8 * lengths[0]]
            t = basis.conj().T @ _products(operator, basis)
        if is_part and size:
            t = np.linalg.solve(basis.T @ problem.m_product(basis), basis.T @ _product(problem.A, basis))
        values, small = np.linalg.eig(t) if size else (np.empty(0), np.empty((0, 0)))
        values = values.astype(np.complex128) * (1j if turned else 1)
        found = values
        if is_part:
            one, other = 1 / (values - shift), 1 / (values - np.conj(shift))
            found = (one + other) / 2 if OPpart != "i" else (one - other) / 2j
        elif shift is not None:
            values = shift + 1 / values
        if not problem.is_complex and which in ("LI", "SI"):
            found = 1j * np.abs(found.imag)
        chosen = _by_desire(found, which)[:count]
        vectors = basis @ small[:, chosen]
        return values[chosen], vectors / np.linalg.norm(vectors, axis=0), converged

    def pairs_near(shift: complex) -> tuple[np.ndarray, np.ndarray, bool, float]:
        if is_part:
            return *pairs_of(problem.part_of_inverse(shift, OPpart or "r", OPinv, tol), shift), np.inf
        inverse = problem.inverse(shift, OPinv, tol)
        return *pairs_of(inverse if problem.m is None else _core.composed_operator(inverse, problem.m), shift), problem.nearest(inverse, which)

    if sigma is None:
        values, vectors, converged = pairs_of(problem.product(Minv), None)
    else:
        values, vectors, converged = _beside_eigenvalues(problem, complex(sigma) if is_part else sigma, OPinv is None, tol, pairs_near)
    result = np.complex64 if problem.is_single else np.complex128
    values, vectors = values.astype(result), vectors.astype(result)
    if not converged:
        _no_convergence(values, vectors, count, which, sigma)
    return (values, vectors) if return_eigenvectors else values


def svds(A: Any, k: int = 6, ncv: int | None = None, tol: float = 0, which: str = "LM", v0: Any = None, maxiter: int | None = None,
         return_singular_vectors: bool | str = True, solver: str = "arpack", rng: Any = None, options: dict[str, Any] | None = None, *,
         random_state: Any = None) -> Any:
    """Some singular values and vectors of any matrix or operator: `scipy.sparse.linalg.svds`.

    Parameters
    ----------
    A : sparse array or matrix, ndarray or LinearOperator, shape (m, n)
        Real or complex; of an operator the adjoint is applied as well.
    k : int
        Singular values wanted, from 1 to ``min(m, n)``.
    which : {"LM", "SM"}
        The largest or the smallest.
    v0 : array_like, shape (min(m, n),), optional
        First vector of the Krylov space; with ``solver="propack"``, of shape (m,).
    ncv, tol, maxiter
        As for `eigsh`; `tol` is of the squares of the singular values.
    return_singular_vectors : {True, False, "u", "vh"}
        With "u" or "vh", the other is None.
    solver : {"arpack", "lobpcg", "propack"}
        Whose arguments these are: "lobpcg" and "propack" have no `ncv`, and ignore it. What is computed, and how, is the same.
    rng, random_state, options
        Without effect.

    Returns
    -------
    u : ndarray, shape (m, k)
    s : ndarray, shape (k,)
        Ascending.
    vh : ndarray, shape (k, n)

    Raises
    ------
    scipy.sparse.linalg.ArpackNoConvergence
        After `maxiter` restarts.

    Notes
    -----
    Lanczos on the smaller of ``A.conj().T @ A`` and ``A @ A.conj().T``, then Rayleigh and Ritz with `A` itself on the space found.
    """
    from scipy.sparse.linalg import LinearOperator, aslinearoperator

    operator = aslinearoperator(A)
    solver = str(solver).lower()
    if solver != "arpack":
        ncv = None
    k, which = _check_svds(operator, k, ncv, tol, which, v0, maxiter, return_singular_vectors, solver)
    m, n = operator.shape
    if not has_matvec(A):
        check_finite(A if is_sparse(A) else np.asarray(A), "A")
    if solver == "propack" and v0 is not None and n < m:
        v0 = operator.rmatvec(np.asarray(v0))
    dtype = np.dtype(operator.dtype) if operator.dtype is not None else np.dtype(np.float64)
    inner, outer = (operator.matmat, operator.rmatmat) if n <= m else (operator.rmatmat, operator.matmat)
    largest = np.max(np.abs(inner(np.random.default_rng(0).uniform(-1, 1, (min(m, n), 1)))))
    # A power of two that brings A to about 1, whose square is a number, too.
    unit = 2.0 ** -min(1000, max(-1000, math.frexp(largest)[1])) if 0 < largest < np.inf else 1.0

    def product(x: np.ndarray) -> np.ndarray:
        return unit * outer(unit * inner(x.reshape(-1, 1))).ravel()

    if which == "SM" and ncv is None and min(m, n) <= _SMALL:  # where the Krylov space would be all: squares lose half of the digits
        vectors = np.eye(min(m, n))
    else:
        square = LinearOperator((min(m, n),) * 2, matvec=product, dtype=np.result_type(dtype, np.float64))
        vectors = eigsh(square, k, which=which, v0=v0, ncv=ncv, maxiter=maxiter, tol=tol)[1]
    left, s, change = np.linalg.svd(inner(vectors), full_matrices=False)
    wanted = slice(-k, None) if which == "SM" else slice(k)
    left, s, right = left[:, wanted][:, ::-1], s[wanted][::-1], (change @ vectors.conj().T)[wanted][::-1]
    result = np.dtype({"f": np.float32, "F": np.complex64}.get(dtype.char, np.result_type(dtype, np.float64)))
    s = s.astype(result.char.lower() if result.kind == "c" else result)
    if return_singular_vectors is False:
        return s
    u, vh = (left, right) if n <= m else (right.conj().T, left.conj().T)
    return (u.astype(result) if return_singular_vectors != "vh" else None, s,
            vh.astype(result) if return_singular_vectors != "u" else None)


def _check_numbers(sigma: Any, tol: Any) -> None:
    for value, what in ((sigma, "sigma"), (tol, "tol")):
        if value is not None and not np.isfinite(value):
            raise ValueError(f"{what} is {value}, but must be a finite number")


_SMALL = 100  # rows of a matrix whose whole space costs little
_INNER = ("SM", "SI")  # eigenvalues inside of the spectrum, which a Krylov space approximates last


class _Problem:
    """A x = w M x, its parts as operators of the core."""

    def __init__(self, A: Any, M: Any, v0: Any, sigma: Any = None) -> None:
        self.A, self.M = _as_matrix(A), None if M is None else _as_matrix(M)
        shape = self.A.shape
        if len(shape) != 2 or shape[0] != shape[1]:
            raise ValueError(f"expected square matrix (shape={shape})")
        if self.M is not None and self.M.shape != shape:
            raise ValueError(f"wrong M dimensions {self.M.shape}, should be {shape}")
        self.n: int = shape[0]
        if self.n == 0:
            raise ValueError("A has no rows")
        kinds = [getattr(part, "dtype", None) for part in (self.A, self.M)]
        self.is_complex = any(is_complex(kind) for kind in kinds) or (sigma is not None and np.imag(sigma) != 0)
        self.work_type = np.complex128 if self.is_complex else np.float64
        self.is_single = kinds[0] is not None and np.dtype(kinds[0]).char in "fF"
        self.dtype = np.result_type(float_type(kinds[0]) if self.is_single else np.float64, np.complex64 if self.is_complex else np.float32)
        for kind, name in zip(kinds, ("A", "M")):
            if kind is not None:
                check(np.dtype(kind), self.work_type, name)
        for part, name in ((self.A, "A"), (self.M, "M")):
            if part is not None and not has_matvec(part) and not callable(part):
                check_finite(part, name)
        self.size = 2 * self.n if self.is_complex else self.n
        self.a = as_operator(self.A, self.n, self.work_type)
        self.m = None if self.M is None else as_operator(self.M, self.n, self.work_type)
        self.start = None
        if v0 is not None:
            v0 = np.asarray(v0)
            if v0.shape != (self.n,):
                raise ValueError(f"v0 has shape {v0.shape}, and the matrix {shape}")
            check_finite(v0, "v0")
            self.start = as_doubles(v0 if self.is_complex else v0.real, self.work_type)

    def count(self, k: int) -> int:
        k = as_count(k, "k")
        if k <= 0:
            raise ValueError(f"k={k} must be greater than 0.")
        if k > self.n:
            warnings.warn(f"k={k} of a matrix of {self.n} rows: all {self.n} are found", RuntimeWarning, stacklevel=3)
        return min(k, self.n)

    def basis(self, ncv: int | None, count: int) -> int:
        """Vectors in doubles: all of a small matrix, as a smaller space may miss inner eigenvalues."""
        if ncv is None:
            ncv = self.n if self.n <= _SMALL else min(self.n, max(2 * count + 1, 20))
        elif ncv > self.n or (ncv <= count and count < self.n):
            raise ValueError(f"ncv must be k<ncv<=n, ncv={ncv}")
        return 2 * ncv if self.is_complex else ncv

    def restarts(self, maxiter: int | None) -> int:
        if maxiter is None:
            return 0
        if maxiter <= 0:
            raise ValueError(f"maxiter must be positive, maxiter={maxiter}")
        return int(maxiter)

    def product(self, Minv: Any) -> _core.LinearOperator:
        """M^-1 A"""
        if self.M is None:
            return self.a
        return _core.composed_operator(self._inverse(None, self.M, 0, Minv, 0), self.a)

    def inverse(self, sigma: Any, OPinv: Any, tol: float) -> _core.LinearOperator:
        """(A - sigma M)^-1"""
        return self._inverse(self.A, self.M, sigma, OPinv, tol)

    def symmetric_transform(self, inverse: _core.LinearOperator, sigma: float, mode: str) -> tuple[Any, Any]:
        """The operator, and the matrix of the inner product in which it is symmetric."""
        if mode == "buckling":
            return _core.composed_operator(inverse, self.a), self.a
        if mode == "normal":
            return (inverse if self.m is None else _core.composed_operator(inverse, self.m)), self.m

        def sum_of(x: np.ndarray) -> np.ndarray:
            return apply(self.A, x) + sigma * self.m_product(x)

        return _core.composed_operator(inverse, as_operator(sum_of, self.n, self.work_type)), self.m

    def part_of_inverse(self, sigma: complex, part: str, OPinv: Any, tol: float) -> _core.LinearOperator:
        """The real or imaginary part of (A - sigma M)^-1 M, of a real problem."""
        if OPinv is not None:
            inverse = _as_matrix(OPinv)
        else:
            whole = _Problem(self.A, self.M, None, sigma).inverse(sigma, None, tol)

            def inverse(x: np.ndarray) -> np.ndarray:
                return _products(whole, x.astype(np.complex128)[:, None])[:, 0]

        def product(x: np.ndarray) -> np.ndarray:
            y = apply(inverse, self.m_product(x))
            return y.real if part == "r" else y.imag

        return as_operator(product, self.n, self.work_type)

    def m_product(self, x: np.ndarray) -> np.ndarray:
        return x if self.M is None else _product(self.M, x)

    def quotients(self, vectors: np.ndarray) -> np.ndarray:
        """Rayleigh's, of the columns."""
        of_a, of_m = (np.einsum("ij,ij->j", vectors.conj(), y) for y in (_product(self.A, vectors), self.m_product(vectors)))
        return of_a / of_m

    def residual(self, values: np.ndarray, vectors: np.ndarray, shift: complex) -> float:
        """The largest of ``norm(A v - w M v)``, over the largest of its parts, or of what rounding leaves where eigenvalues are zero."""
        of_a, mv = _product(self.A, vectors), self.m_product(vectors)
        parts = [np.linalg.norm(y, axis=0) for y in (of_a - values * mv, of_a, values * mv)]
        of_rounding = 1e-4 * (self.largest_eigenvalue() + abs(shift)) * np.max(np.linalg.norm(mv, axis=0), initial=0.0)
        return float(np.max(parts[0], initial=0.0) / max(np.max(parts[1:], initial=0.0), of_rounding, np.finfo(float).tiny))

    def largest_eigenvalue(self) -> float:
        """Roughly, in magnitude, by the product with a random vector."""
        x = self._random_vector()
        of_a, of_m = _product(self.A, x), self.m_product(x)
        return float(np.linalg.norm(of_a) / max(np.linalg.norm(of_m), np.finfo(float).tiny))

    def nearest(self, inverse: _core.LinearOperator, which: str) -> float:
        """Roughly, how far the nearest eigenvalue is from sigma, by the product of (A - sigma M)^-1 M with a random vector; infinite where
        that one is wanted, and thus found."""
        if which == "LM":
            return np.inf
        x = self._random_vector().astype(self.work_type)
        return float(np.linalg.norm(x) / max(np.linalg.norm(_products(inverse, self.m_product(x))), np.finfo(float).tiny))

    def _random_vector(self) -> np.ndarray:
        return np.random.default_rng(0).standard_normal((self.n, 1))

    def _inverse(self, A: Any, M: Any, sigma: Any, known: Any, tol: float) -> _core.LinearOperator:
        if known is not None:
            return as_operator(_as_matrix(known), self.n, self.work_type)
        if not has_matvec(A) and not has_matvec(M):
            import scipy.sparse

            if A is None:
                return factors_of(M, self.is_complex)
            shifted = scipy.sparse.csr_array(A) - sigma * (scipy.sparse.eye_array(self.n) if M is None else scipy.sparse.csr_array(M))
            return factors_of(shifted, self.is_complex)
        return as_operator(self._by_iterations(A, M, sigma, tol), self.n, self.work_type)

    def _by_iterations(self, A: Any, M: Any, sigma: Any, tol: float) -> Callable[[np.ndarray], np.ndarray]:
        from scipy.sparse.linalg import LinearOperator

        def product(x: np.ndarray) -> np.ndarray:
            x = np.ravel(x)
            if A is None:
                return apply(M, x)
            return apply(A, x) - sigma * (x if M is None else apply(M, x))

        system = LinearOperator((self.n, self.n), matvec=product, dtype=self.work_type)

        def solve(b: np.ndarray) -> np.ndarray:
            x, info = gmres(system, np.array(b), rtol=max(tol, 1e-13), restart=min(self.size, 100))
            if info != 0 and not np.linalg.norm(b - product(x)) <= 1e-10 * np.linalg.norm(b):
                raise ValueError(f"the inverse of an operator is iterated for, and GMRES did not converge (info {info}): give OPinv or Minv")
            return x

        return solve


def _beside_eigenvalues(problem: _Problem, sigma: complex, may_move: bool, tol: float,
                        pairs_near: Callable[[complex], tuple[np.ndarray, np.ndarray, bool, float]]) -> tuple[np.ndarray, np.ndarray, bool]:
    """`pairs_near` of `sigma`, or of a shift beside it: where an eigenvalue is far nearer than others that are wanted, its inverse drowns
    theirs in rounding. Warns of pairs that are none."""
    most_apart, apart = 1e4, 3e3  # distances of eigenvalues that are wanted, or of one that drowns them, largest over smallest
    of_singular = 1e-6
    shift = sigma
    for attempt in range(4):
        moves_again = may_move and attempt < 3
        try:
            values, vectors, converged, nearest = pairs_near(shift)
        except RuntimeError:  # singular
            if not moves_again:
                raise
            shift = sigma + of_singular * (problem.largest_eigenvalue() or 1.0)
            continue
        quotients = problem.quotients(vectors)
        far = np.max(np.abs(quotients - shift), initial=0.0)
        near = np.min(np.abs(values - shift), initial=min(far, nearest))
        if not moves_again or far <= most_apart * near:
            break
        shift = sigma + (1 + attempt) * far / apart
    if problem.residual(values, vectors, shift) > max(1e-3 if problem.is_single else 1e-6, 10 * tol):
        warnings.warn(f"eigenvalues near sigma = {sigma} are wrong, as one of them is too near: take another sigma", RuntimeWarning, stacklevel=3)
    return values, vectors, converged


def _check_svds(A: Any, k: Any, ncv: Any, tol: Any, which: Any, v0: Any, maxiter: Any, wanted: Any, solver: str) -> tuple[int, str]:
    """k and which. Raises ValueError in SciPy's words."""
    if solver not in ("arpack", "lobpcg", "propack"):
        raise ValueError("solver must be one of {'arpack', 'lobpcg', 'propack'}.")
    if A.dtype is not None and not np.issubdtype(A.dtype, np.number):
        raise ValueError("`A` must be of numeric data type.")
    if 0 in A.shape:
        raise ValueError("`A` must not be empty.")
    if int(k) != k or not 0 < k <= min(A.shape):
        raise ValueError(f"`k` must be an integer satisfying `0 < k < min(A.shape)`, or that itself, and is {k}.")
    if ncv is not None and (int(ncv) != ncv or not k < ncv < min(A.shape)):
        raise ValueError("`ncv` must be an integer satisfying `k < ncv < min(A.shape)`.")
    if tol < 0 or not np.isfinite(tol):
        raise ValueError("`tol` must be a non-negative floating point value.")
    if str(which).upper() not in ("LM", "SM"):
        raise ValueError("`which` must be in {'LM', 'SM'}.")
    if v0 is not None:
        v0 = np.atleast_1d(v0)
        if not np.issubdtype(v0.dtype, np.inexact):
            raise ValueError("`v0` must be of floating or complex floating data type.")
        shape = (A.shape[0],) if solver == "propack" else (min(A.shape),)
        if v0.shape != shape:
            raise ValueError(f"`v0` must have shape {shape}.")
    if maxiter is not None and (int(maxiter) != maxiter or maxiter <= 0):
        raise ValueError("`maxiter` must be a positive integer.")
    if wanted not in (True, False, "u", "vh"):
        raise ValueError("`return_singular_vectors` must be in {True, False, 'u', 'vh'}.")
    return int(k), str(which).upper()


def _complex_pairs(values: np.ndarray, vectors: np.ndarray, m_product: Callable) -> tuple[np.ndarray, np.ndarray]:
    """Pairs of a Hermitian operator in the complex space of the columns of `vectors`, of which half say nothing new."""
    if not len(values):
        return values, vectors
    gram = vectors.conj().T @ m_product(vectors)
    lengths, change = np.linalg.eigh((gram + gram.conj().T) / 2)
    is_new = lengths > 1e-6 * lengths[-1]
    change = change[:, is_new] / np.sqrt(lengths[is_new])
    projected = change.conj().T @ gram @ (values[:, None] * change)
    found, rotation = np.linalg.eigh((projected + projected.conj().T) / 2)
    return found, vectors @ change @ rotation


def _by_desire(values: np.ndarray, which: str) -> np.ndarray:
    """Numbers of the values, the most wanted first."""
    if which != "BE":
        key = {"LM": -np.abs(values), "SM": np.abs(values), "LA": -values.real, "LR": -values.real, "SA": values.real, "SR": values.real,
               "LI": -values.imag, "SI": values.imag}[which]
        return np.argsort(key, kind="stable")
    down = np.argsort(-values, kind="stable")
    return np.array([down[i // 2] if i % 2 == 0 else down[-1 - i // 2] for i in range(len(down))], dtype=int)


def _product(A: Any, x: np.ndarray) -> np.ndarray:
    """Of a vector, or of columns."""
    if x.ndim == 1:
        return apply(A, x)
    return np.column_stack([apply(A, column) for column in x.T]) if x.shape[1] else x


def _products(operator: _core.LinearOperator, vectors: np.ndarray) -> np.ndarray:
    result = np.empty(vectors.shape, vectors.dtype, order="F")
    for k in range(vectors.shape[1]):
        y = np.empty(vectors.shape[0], vectors.dtype)
        operator.apply(np.ascontiguousarray(vectors[:, k]).view(np.float64), y.view(np.float64))
        result[:, k] = y
    return result


def _norms(vectors: np.ndarray, m_product: Callable) -> np.ndarray:
    return np.sqrt(np.einsum("ij,ij->j", vectors.conj(), m_product(vectors)).real)


def _no_convergence(values: np.ndarray, vectors: np.ndarray, count: int, which: str, sigma: Any) -> None:
    from scipy.sparse.linalg import ArpackNoConvergence

    advice = ("" if which not in _INNER else "; sigma=0 finds them by shift-invert" if which == "SM" and sigma is None else
              f"; which={which!r} wants eigenvalues inside of the spectrum: give a larger ncv")
    raise ArpackNoConvergence(f"No convergence: {len(values)} of {count} eigenpairs converged{advice}", values, vectors)


def _as_matrix(A: Any) -> Any:
    return A if is_sparse(A) or has_matvec(A) or callable(A) else np.asarray(A)
