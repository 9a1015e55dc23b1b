"""Drop-ins for cgs, qmr, tfqmr, lgmres and gcrotmk of scipy.sparse.linalg.

Vectors are NumPy's, products with matrices the core's. Each method is a generator that improves x in place and tells the norm
that it believes the residual to have. What is returned as converged is proved as for the methods of `_krylov`: where rounding has
fooled a recurrence, and where a method breaks down, it starts anew from the x reached. Preconditioners act from the right.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import _core
from ._krylov import _System
from ._matrix import as_count, check_function, is_operator
from ._operators import apply, in_units
from ._options import explained

Product = Callable[[np.ndarray], np.ndarray]


@explained()
@in_units
def cgs(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None,
        callback: Callable[[np.ndarray], Any] | None = None) -> tuple[np.ndarray, int]:
    """Conjugate gradients squared for any matrix: `scipy.sparse.linalg.cgs`.

    Parameters
    ----------
    A, b, x0, rtol, atol, maxiter, M, callback
        As for `cg`.

    Returns
    -------
    x : ndarray, shape (n,)
    info : int
        As for `cg`.

    Notes
    -----
    Sonneveld (1989). `bicgstab` converges more smoothly, at the same price.
    """
    system = _Iterated(A, b, x0, M, rtol, atol)
    return system.run_by(lambda r: _cgs(system.product, system.precondition, system.solution, r), maxiter, callback)


@explained()
@in_units
def tfqmr(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None,
          callback: Callable[[np.ndarray], Any] | None = None, show: bool = False) -> tuple[np.ndarray, int]:
    """Transpose-free quasi-minimal residuals for any matrix: `scipy.sparse.linalg.tfqmr`.

    Parameters
    ----------
    A, b, x0, rtol, atol, maxiter, M, callback
        As for `cg`; an iteration makes one product with `A`.
    show : bool
        Print a line about the result.

    Returns
    -------
    x : ndarray, shape (n,)
    info : int
        As for `cg`.

    Notes
    -----
    Freund (1993).
    """
    system = _Iterated(A, b, x0, M, rtol, atol)
    x, info = system.run_by(lambda r: _tfqmr(system.product, system.precondition, system.solution, r), maxiter, callback)
    if show:
        print(f"TFQMR: Linear solve {'converged due to reach TOL' if info == 0 else 'not converged due to reach MAXIT'} "
              f"iterations {system.iterations}")
    return x, info


@explained()
@in_units
def qmr(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M1: Any = None,
        M2: Any = None, callback: Callable[[np.ndarray], Any] | None = None) -> tuple[np.ndarray, int]:
    """Quasi-minimal residuals for any matrix: `scipy.sparse.linalg.qmr`.

    Parameters
    ----------
    A, b, x0, rtol, atol, maxiter, callback
        As for `cg`; of a LinearOperator the adjoint is applied as well.
    M1, M2 : LinearOperator, sparse array or matrix, or ndarray, shape (n, n), optional
        Left and right preconditioner, approximate inverses with adjoints.

    Returns
    -------
    x : ndarray, shape (n,)
    info : int
        As for `cg`.

    Notes
    -----
    Freund and Nachtigal (1991), without look-ahead.
    """
    system = _Iterated(A, b, x0, None, rtol, atol)
    products = [system.with_adjoint(part, name) for part, name in ((system.A, "A"), (M1, "M1"), (M2, "M2"))]
    return system.run_by(lambda r: _qmr(system.product, products, system.solution, r), maxiter, callback)


@explained()
@in_units
def lgmres(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int = 1000, M: Any = None,
           callback: Callable[[np.ndarray], Any] | None = None, inner_m: int = 30, outer_k: int = 3, outer_v: list | None = None,
           store_outer_Av: bool = True, prepend_outer_v: bool = False) -> tuple[np.ndarray, int]:
    """GMRES that keeps what restarts would forget, LGMRES: `scipy.sparse.linalg.lgmres`.

    Parameters
    ----------
    A, b, x0, rtol, atol, M
        As for `cg`; `M` may be any approximate inverse.
    maxiter : int
        Cycles at most.
    callback : callable, optional
        Called as ``callback(xk)`` after every cycle.
    inner_m : int
        New directions of a cycle.
    outer_k : int
        Directions of earlier cycles that are kept.
    outer_v : list of (v, Av), optional
        Those to begin with, also of another system with the same matrix; holds those of the end. Av may be None.
    store_outer_Av : bool
        Whether `outer_v` holds products, too.
    prepend_outer_v : bool
        Whether old directions come before the new ones.

    Returns
    -------
    x : ndarray, shape (n,)
    info : int
        0: converged; > 0: not, after this many cycles; < 0: the method broke down.

    Notes
    -----
    Baker, Jessup and Manteuffel (2005).
    """
    system = _Iterated(A, b, x0, M, rtol, atol, is_finite=False)
    inner_m, outer_k = as_count(inner_m, "inner_m"), as_count(outer_k, "outer_k")
    old = [] if outer_v is None else outer_v
    if not store_outer_Av:
        old[:] = [(v, None) for v, _ in old]

    def method(r: np.ndarray) -> Iterator[float]:
        return _lgmres(system, r, inner_m, outer_k, old, store_outer_Av, prepend_outer_v)

    return system.run_by(method, maxiter, callback)


@explained()
@in_units
def gcrotmk(A: Any, b: Any, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int = 1000, M: Any = None,
            callback: Callable[[np.ndarray], Any] | None = None, m: int = 20, k: int | None = None, CU: list | None = None,
            discard_C: bool = False, truncate: str = "oldest") -> tuple[np.ndarray, int]:
    """Flexible GCROT(m, k): `scipy.sparse.linalg.gcrotmk`.

    Parameters
    ----------
    A, b, x0, rtol, atol, M
        As for `cg`; `M` may be any approximate inverse.
    maxiter : int
        Cycles at most.
    callback : callable, optional
        Called as ``callback(xk)`` after every cycle.
    m : int
        New directions of a cycle.
    k : int, optional
        Directions that are kept between cycles; `m` by default.
    CU : list of (c, u), optional
        Those to begin with, ``A @ u = c`` (c may be None); holds those of the end.
    discard_C : bool
        Whether `CU` holds None for c in the end.
    truncate : {"oldest", "smallest"}
        Which directions are given up: the oldest, or those with the smallest singular values of what they say.

    Returns
    -------
    x : ndarray, shape (n,)
    info : int
        As for `lgmres`.

    Notes
    -----
    Hicken and Zingg (2010), after de Sturler (1999).
    """
    if truncate not in ("oldest", "smallest"):
        raise ValueError(f"Invalid value for 'truncate': {truncate!r}")
    system = _Iterated(A, b, x0, M, rtol, atol, is_finite=False)
    m, k = as_count(m, "m"), as_count(m if k is None else k, "k")
    pairs = [] if CU is None else CU
    result = system.run_by(lambda r: _gcrot(system, r, m, k, pairs, truncate), maxiter, callback)
    if discard_C:
        pairs[:] = [(None, u) for _, u in pairs]
    return result


class _Iterated(_System):
    """The same for methods that are written here."""

    @property
    def solution(self) -> np.ndarray:
        return self.x.view(self.work_type)

    def product(self, x: np.ndarray) -> np.ndarray:
        return self._apply(self.a, x)

    def precondition(self, x: np.ndarray) -> np.ndarray:
        return x if self.m is None else self._apply(self.m, x)

    def _apply(self, operator: _core.LinearOperator, x: np.ndarray) -> np.ndarray:
        y = np.empty(self.n, self.work_type)
        operator.apply(np.ascontiguousarray(x, self.work_type).view(np.float64), y.view(np.float64))
        return y

    def with_adjoint(self, matrix: Any, name: str) -> tuple[Product, Product]:
        """The products with `matrix`, or with nothing, and with its adjoint."""
        if matrix is None:
            return (lambda x: x), (lambda x: x)
        matrix = self._preconditioner(matrix, name)
        if is_operator(matrix):
            if not hasattr(matrix, "rmatvec"):
                raise ValueError(f"QMR needs the adjoint of {name}: rmatvec")
            return (lambda x: apply(matrix, x)), (lambda x: np.asarray(matrix.rmatvec(x)))
        adjoint = matrix.conj().T
        return (lambda x: matrix @ x), (lambda x: adjoint @ x)

    def run_by(self, method: Callable[[np.ndarray], Iterator[float]], maxiter: int | None,
               callback: Callable[[np.ndarray], Any] | None) -> tuple[np.ndarray, int]:
        """Runs a method from the residual of the x reached until that is proved to be small enough."""
        check_function(callback, "callback")
        if not self.b.any():
            return np.zeros(self.n, self.dtype), 0
        maxiter = 10 * self.n if maxiter is None else as_count(maxiter, "maxiter")
        b, x = self.b.view(self.work_type), self.solution
        self.limit = max(self.rtol * float(np.linalg.norm(b)), self.atol)
        best, fruitless = np.inf, 0
        while True:
            if self._is_proved():
                return x.astype(self.dtype), 0
            r = b - self.product(x)
            size = float(np.linalg.norm(r))
            fruitless = 0 if size < 0.9 * best else fruitless + 1
            best = min(best, size)
            if self.iterations >= maxiter or not np.isfinite(size):
                return x.astype(self.dtype), max(1, self.iterations)
            if fruitless > 2:  # breakdowns, or rounding
                return x.astype(self.dtype), -1
            before = x.copy()
            with np.errstate(all="ignore"):  # a breakdown shows in x
                for norm in method(r):
                    self.iterations += 1
                    if callback is not None:
                        callback(x.astype(self.dtype))
                    if not norm > self.limit or self.iterations >= maxiter:
                        break
            if not np.isfinite(x).all():
                x[:] = before

    def _is_proved(self) -> bool:
        x = self.x if self.dtype == self.work_type else np.ascontiguousarray(self.solution.astype(self.dtype).astype(self.work_type)).view(np.float64)
        return _core.iterate("cg", self.a, None, self.b, x, self.rtol, self.atol, 0, 30, None, None, self.is_complex).end == "converged"


def _cgs(product: Product, precondition: Product, x: np.ndarray, r: np.ndarray) -> Iterator[float]:
    shadow, p, q, rho_before = r.copy(), 0, 0, 1
    while True:
        rho = np.vdot(shadow, r)
        if rho == 0:
            return
        beta = rho / rho_before
        u = r + beta * q
        p = u + beta * (q + beta * p)
        v = product(precondition(p))
        along = np.vdot(shadow, v)
        if along == 0:
            return
        alpha = rho / along
        q = u - alpha * v
        step = precondition(u + q)
        x += alpha * step
        r = r - alpha * product(step)
        rho_before = rho
        yield np.linalg.norm(r)


def _tfqmr(product: Product, precondition: Product, x: np.ndarray, r: np.ndarray) -> Iterator[float]:
    shadow, w, y = r.copy(), r.copy(), r.copy()
    z = precondition(y)
    u = product(z)
    v, d, theta, eta, tau, rho, steps = u.copy(), 0, 0.0, 0.0, np.linalg.norm(r), np.vdot(shadow, r), 0
    while True:
        along = np.vdot(shadow, v)
        if along == 0 or rho == 0:
            return
        alpha = rho / along
        for half in range(2):
            if half == 1:
                y = y - alpha * v
                z = precondition(y)
                u = product(z)
            w = w - alpha * u
            d = z + (theta**2 * eta / alpha) * d  # preconditioned
            theta = np.linalg.norm(w) / tau
            cosine = 1 / np.sqrt(1 + theta**2)
            tau *= theta * cosine
            eta = cosine**2 * alpha
            x += eta * d
            steps += 1
            yield tau * np.sqrt(steps + 1)
            if tau == 0:
                return
        rho_next = np.vdot(shadow, w)
        beta = rho_next / rho
        rho = rho_next
        y = w + beta * y
        z = precondition(y)
        u_before, u = u, product(z)
        v = u + beta * (u_before + beta * v)


def _qmr(product: Product, products: list, x: np.ndarray, r: np.ndarray) -> Iterator[float]:
    (_, adjoint), (left, left_adjoint), (right, right_adjoint) = products
    v, w = r.copy(), r.copy()
    y, z = left(v), right_adjoint(w)
    rho, xi, gamma, eta, theta = np.linalg.norm(y), np.linalg.norm(z), 1.0, -1.0, 0.0
    p = q = d = s = 0
    epsilon = 1
    while rho != 0 and xi != 0:
        v, y, w, z = v / rho, y / rho, w / xi, z / xi
        delta = np.vdot(z, y)
        if delta == 0:
            return
        p = right(y) - (xi * delta / epsilon) * p
        q = left_adjoint(z) - np.conj(rho * delta / epsilon) * q
        image = product(p)
        epsilon = np.vdot(q, image)
        beta = epsilon / delta
        if beta == 0:
            return
        v = image - beta * v
        y = left(v)
        rho_before, rho = rho, np.linalg.norm(y)
        w = adjoint(q) - np.conj(beta) * w
        z = right_adjoint(w)
        xi = np.linalg.norm(z)
        gamma_before, theta_before = gamma, theta
        theta = rho / (gamma_before * abs(beta))
        gamma = 1 / np.sqrt(1 + theta**2)
        eta = -eta * (rho_before / beta) * (gamma / gamma_before) ** 2
        d = eta * p + (theta_before * gamma) ** 2 * d
        s = eta * image + (theta_before * gamma) ** 2 * s
        x += d
        r = r - s
        yield np.linalg.norm(r)


class _Arnoldi:
    """A Z = C B + V H, where Z are directions, and V begins with r and is orthogonal to the columns of C."""

    def __init__(self, system: _Iterated, r: np.ndarray, C: list[np.ndarray]) -> None:
        self.system, self.r_norm = system, np.linalg.norm(r)
        self.V, self.Z, self.columns, self.on_C = [r / self.r_norm], [], [], []
        self.C = np.array(C) if C else np.zeros((0, len(r)), r.dtype)
        self.y, self.left = np.zeros(0), self.r_norm

    def add(self, z: np.ndarray, image: np.ndarray | None = None) -> bool:
        """False where nothing more can be done."""
        w = self.system.product(z) if image is None else image.copy()
        size = np.linalg.norm(w)
        on_C, h = np.zeros(len(self.C), w.dtype), np.zeros(len(self.V) + 1, w.dtype)
        V = np.array(self.V)
        for _ in range(2):
            along = self.C.conj() @ w
            w = w - along @ self.C
            on_C += along
            along = V.conj() @ w
            w = w - along @ V
            h[:-1] += along
        h[-1] = np.linalg.norm(w)
        is_new = h[-1].real > 1e-15 * size
        self.Z.append(z)
        self.columns.append(h)
        self.on_C.append(on_C)
        self.V.append(w / h[-1] if is_new else np.zeros_like(w))
        H = self.H()
        right = np.zeros(len(H), w.dtype)
        right[0] = self.r_norm
        self.y = np.linalg.lstsq(H, right, rcond=None)[0]
        self.left = np.linalg.norm(right - H @ self.y)
        return bool(is_new) and self.left > 0.5 * self.system.limit

    def H(self) -> np.ndarray:
        H = np.zeros((len(self.columns) + 1, len(self.columns)), self.columns[0].dtype)
        for j, column in enumerate(self.columns):
            H[:len(column), j] = column
        return H

    def step(self) -> tuple[np.ndarray, np.ndarray]:
        """Z y, and V H y."""
        return self.y @ np.array(self.Z), (self.H() @ self.y) @ np.array(self.V)


def _lgmres(system: _Iterated, r: np.ndarray, inner: int, outer: int, old: list, stores: bool, old_first: bool) -> Iterator[float]:
    while np.linalg.norm(r) > 0:
        arnoldi = _Arnoldi(system, r, [])
        kept = [(v, image) for v, image in old]
        goes_on = True

        def add_old() -> bool:
            return all(arnoldi.add(v, image) for v, image in kept)

        if old_first:
            goes_on = add_old()
        for _ in range(inner):
            if not goes_on:
                break
            goes_on = arnoldi.add(system.precondition(arnoldi.V[-1]))
        if goes_on and not old_first:
            add_old()
        dx, image = arnoldi.step()
        size = np.linalg.norm(dx)
        if not 0 < size < np.inf:
            return
        if outer > 0:
            old.append((dx / size, image / size if stores else None))
        del old[:max(0, len(old) - outer)]
        system.solution[:] += dx
        r = r - image
        yield np.linalg.norm(r)


def _gcrot(system: _Iterated, r: np.ndarray, m: int, k: int, pairs: list, truncate: str) -> Iterator[float]:
    x = system.solution
    _orthonormalize(system, pairs)
    for c, u in pairs:
        along = np.vdot(c, r)
        x += along * u
        r = r - along * c
    while np.linalg.norm(r) > 0:
        arnoldi = _Arnoldi(system, r, [c for c, _ in pairs])
        for _ in range(m + max(k - len(pairs), 0)):
            if not arnoldi.add(system.precondition(arnoldi.V[-1])):
                break
        u, c = arnoldi.step()
        if pairs:
            u = u - (np.array(arnoldi.on_C).T @ arnoldi.y) @ np.array([old for _, old in pairs])
        size = np.linalg.norm(c)
        if not 0 < size < np.inf:
            return
        c, u = c / size, u / size
        along = np.vdot(c, r)
        x += along * u
        r = r - along * c
        if truncate == "oldest":
            del pairs[:max(0, len(pairs) - max(k - 1, 0))]
        elif len(pairs) >= k and pairs:
            _keep_largest(pairs, np.array(arnoldi.on_C).T, arnoldi.H(), max(k - 1, 0))
        if k > 0:
            pairs.append((c, u))
        yield np.linalg.norm(r)


def _orthonormalize(system: _Iterated, pairs: list) -> None:
    """c = A u anew where it is not known, orthonormal; directions that say nothing new are dropped."""
    if not pairs:
        return
    U = np.array([u for _, u in pairs]).T
    C = np.array([system.product(u) if c is None else c for c, u in pairs]).T
    q, s, right = np.linalg.svd(C, full_matrices=False)
    keep = s > 1e-12 * s[0]
    U = U @ (right.conj().T[:, keep] / s[keep])
    pairs[:] = list(zip(q[:, keep].T.copy(), U.T.copy()))


def _keep_largest(pairs: list, on_C: np.ndarray, H: np.ndarray, count: int) -> None:
    """Those of which the inner iterations would have made the most use (de Sturler 1999)."""
    left = np.linalg.svd(on_C @ np.linalg.pinv(np.linalg.qr(H)[1]), full_matrices=False)[0][:, :count]
    C, U = (np.array(part) for part in zip(*pairs))
    pairs[:] = list(zip(left.T.conj() @ C, left.T.conj() @ U))
