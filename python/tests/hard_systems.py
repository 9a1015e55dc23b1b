"""Small systems, many of them nasty: the same for the same number, on every rank."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse


@dataclass
class HardSystem:
    kind: str
    A: sparse.csr_array
    b: np.ndarray
    x0: np.ndarray | None  # a guess that may be near the tolerance already
    rtol: float
    symmetric: bool  # or Hermitian
    definite: bool
    condition: float

    @property
    def is_well_posed(self) -> bool:
        """Whether doubles surely hold a solution."""
        size = np.abs(self.b).max()
        return self.condition * 1e-14 < self.rtol and 1e-100 < size < 1e100


def hard_system(number: int, complex_values: bool = False) -> HardSystem:
    random = np.random.default_rng([number, int(complex_values)])
    kind, make = list(KINDS.items())[number % len(KINDS)]
    A = np.asarray(make(random), dtype=float)
    if complex_values:
        A = _with_phases(A, random)
    n = len(A)
    if random.random() < 0.25 and np.abs(A).max() < 1e200:
        A = A * 2.0 ** int(random.integers(-300, 300))
    condition = _condition(A)
    b = _right_hand_side(A, random)
    if random.random() < 0.3:
        with np.errstate(all="ignore"):
            b = b / np.abs(b).max() * 10.0 ** random.uniform(-300, 300)
    if not np.all(np.isfinite(b)):
        b = np.ones(n, dtype=b.dtype)
    rtol = float(10.0 ** -random.uniform(4, 14))
    is_symmetric = np.array_equal(A, A.conj().T)
    is_definite = is_symmetric and condition < 1e15 and bool(np.all(np.linalg.eigvalsh(A / np.abs(A).max()) > 0))
    return HardSystem(kind, sparse.csr_array(A), b, _guess(A, b, rtol, random), rtol, is_symmetric, is_definite, condition)


def _condition(A: np.ndarray) -> float:
    if not np.all(np.isfinite(A)) or not np.any(A):
        return np.inf
    with np.errstate(all="ignore"):
        try:
            condition = float(np.linalg.cond(A / np.abs(A).max()))
        except np.linalg.LinAlgError:
            return np.inf
    return condition if np.isfinite(condition) else np.inf


def _with_phases(A: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """Hermitian where A is symmetric, with the same singular values but for rounding."""
    phases = np.exp(2j * np.pi * random.random(len(A)))
    B = phases[:, None] * A * phases.conj()
    if np.array_equal(A, A.T):
        B = np.tril(B, -1) + np.tril(B, -1).conj().T + np.diag(np.diagonal(A))
    return B


def _right_hand_side(A: np.ndarray, random: np.random.Generator) -> np.ndarray:
    n = len(A)
    kind = random.integers(5)
    if kind == 0:
        b = np.ones(n)
    elif kind == 1:
        b = random.standard_normal(n)
    elif kind == 2:
        b = np.zeros(n)
        b[random.integers(n)] = 1
    elif kind == 3:
        b = random.standard_normal(n) * 10.0 ** random.uniform(-12, 12, n)
    else:
        with np.errstate(all="ignore"):
            b = np.real(A @ random.standard_normal(n))
    if not np.any(b):
        b[0] = 1
    return b + 1j * random.permutation(b) if np.iscomplexobj(A) else b


def _guess(A: np.ndarray, b: np.ndarray, rtol: float, random: np.random.Generator) -> np.ndarray | None:
    """Half of them: what a direct method gives, changed so that the residual is near the tolerance, above or below."""
    if random.random() < 0.5:
        return None
    with np.errstate(all="ignore"):
        try:
            x = np.linalg.solve(A, b)
        except np.linalg.LinAlgError:
            return None
        direction = random.standard_normal(len(b))
        change = A @ direction
        size = np.abs(b).max() / np.abs(change).max() * np.linalg.norm(b / np.abs(b).max()) / np.linalg.norm(change / np.abs(change).max())
        x = x + rtol * random.choice([0.5, 0.999999999, 1.0, 1.000000001, 2]) * size * direction
    return x if np.all(np.isfinite(x)) else None


def _line(n: int) -> np.ndarray:
    return 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)


def _grid(n: int) -> np.ndarray:
    return np.kron(_line(n), np.eye(n)) + np.kron(np.eye(n), _line(n))


def _spd(random: np.random.Generator, condition: float, n: int | None = None) -> np.ndarray:
    n = n or int(random.integers(5, 40))
    Q, _ = np.linalg.qr(random.standard_normal((n, n)))
    A = (Q * condition ** -np.linspace(0, 1, n)) @ Q.T
    return (A + A.T) / 2


def _jumps(random: np.random.Generator) -> np.ndarray:
    n = int(random.integers(10, 60))
    coefficients = np.where(random.random(n + 1) < 0.5, 1.0, 10.0 ** random.uniform(2, 14))
    return np.diag(coefficients[1:] + coefficients[:-1]) - np.diag(coefficients[1:-1], 1) - np.diag(coefficients[1:-1], -1)


def _graded(random: np.random.Generator) -> np.ndarray:
    A = _line(int(random.integers(5, 50)))
    scales = 10.0 ** np.linspace(0, random.uniform(-12, 12), len(A))
    A = scales[:, None] * A * scales
    return A if random.random() < 0.5 else A * 10.0 ** random.uniform(-6, 6, (len(A), 1))


def _cancelling(random: np.random.Generator) -> np.ndarray:
    n = int(random.integers(3, 30))
    A = np.where(random.random((n, n)) < 0.3, random.choice([1, -1, 1e16, -1e16], (n, n)), 0) + np.eye(n)
    return (A + A.T) / 2 if random.random() < 0.3 else A


def _penalty(random: np.random.Generator) -> np.ndarray:
    A = _grid(6)
    fixed = random.choice(36, int(random.integers(1, 12)), replace=False)
    A[fixed, fixed] += 10.0 ** random.uniform(7, 30)
    return A


def _near_singular(random: np.random.Generator) -> np.ndarray:
    A = _line(int(random.integers(5, 50)))
    A[0, 0] = A[-1, -1] = 1
    return A + 10.0 ** random.uniform(-18, -4) * np.eye(len(A))


def _near_singular_dense(random: np.random.Generator) -> np.ndarray:
    n = int(random.integers(4, 40))
    Q, _ = np.linalg.qr(random.standard_normal((n, n)))
    d = np.ones(n)
    d[-1] = 10.0 ** random.uniform(-17, -3)
    return Q @ np.diag(d) @ Q.T


def _membrane(random: np.random.Generator) -> np.ndarray:
    """Pairs of points of a membrane that touch, by a penalty; or points on an obstacle."""
    A = _grid(6)
    stiffness = 10.0 ** random.uniform(4, 12)
    for p, q in random.permutation(36)[:12].reshape(-1, 2):
        A[p, p] += stiffness
        A[q, q] += stiffness
        A[p, q] -= stiffness
        A[q, p] -= stiffness
    return A


def _saddle(random: np.random.Generator) -> np.ndarray:
    m = int(random.integers(4, 30))
    k = int(random.integers(1, m))
    B = np.where(random.random((k, m)) < 0.4, random.standard_normal((k, m)), 0) + np.eye(k, m)
    A = _spd(random, 10.0 ** random.uniform(0, 8), m)
    return np.block([[A, B.T], [B, -random.choice([0.0, 1e-8]) * np.eye(k)]])


def _identity_rows(random: np.random.Generator) -> np.ndarray:
    A = _grid(6)
    fixed = random.choice(36, int(random.integers(1, 20)), replace=False)
    A[fixed] = 0
    A[fixed, fixed] = random.choice([1.0, 1e8])
    return A


def _zero_rows(random: np.random.Generator) -> np.ndarray:
    A = _grid(5)
    empty = random.choice(25, int(random.integers(1, 4)), replace=False)
    A[empty] = 0
    if random.random() < 0.5:
        A[:, empty] = 0
    return A


def _sparse(random: np.random.Generator) -> np.ndarray:
    n = int(random.integers(5, 60))
    A = np.where(random.random((n, n)) < 4 / n, random.standard_normal((n, n)), 0)
    A += np.diag(random.choice([1, 4]) * random.standard_normal(n))
    return A + A.T if random.random() < 0.4 else A


def _dominant(random: np.random.Generator) -> np.ndarray:
    A = _sparse(random)
    np.fill_diagonal(A, 0)
    return A + np.diag(np.abs(A).sum(axis=1) * random.uniform(1, 3) + 0.1)


def _convection(random: np.random.Generator) -> np.ndarray:
    n, wind = int(random.integers(4, 8)), random.uniform(0, 5)
    return _grid(n) + wind * np.kron(np.eye(n), np.eye(n) - np.eye(n, k=-1))


def _hilbert(random: np.random.Generator) -> np.ndarray:
    n = int(random.integers(2, 16))
    return 1 / (np.arange(n)[:, None] + np.arange(n) + 1)


def _frank(random: np.random.Generator) -> np.ndarray:
    n = int(random.integers(4, 25))
    i, j = np.arange(n)[:, None], np.arange(n)
    return np.where(j >= i - 1, n - np.maximum(i, j), 0.0)


def _vandermonde(random: np.random.Generator) -> np.ndarray:
    return np.vander(np.sort(random.uniform(-1, 1, int(random.integers(3, 20)))))


def _grcar(random: np.random.Generator) -> np.ndarray:
    n = int(random.integers(5, 50))
    return sum(np.eye(n, k=k) for k in range(4)) - np.eye(n, k=-1)


def _pure_neumann(random: np.random.Generator) -> np.ndarray:
    """Singular: constants are its null vectors."""
    A = -np.where(random.random((20, 20)) < 0.2, random.uniform(0, 1, (20, 20)), 0)
    A = A + A.T if random.random() < 0.5 else A
    np.fill_diagonal(A, 0)
    return A - np.diag(A.sum(axis=1))


def _wild(random: np.random.Generator) -> np.ndarray:
    n = int(random.integers(2, 20))
    A = random.standard_normal((n, n)) * 10.0 ** random.uniform(-300, 300, (n, n))
    return np.where(random.random((n, n)) < 0.4, A, 0) + np.diag(10.0 ** random.uniform(-20, 20, n))


KINDS = {
    "line": lambda random: _line(int(random.integers(1, 60))), "grid": lambda random: _grid(int(random.integers(2, 8))),
    "definite": lambda random: _spd(random, 10.0 ** random.uniform(0, 18)), "jumps": _jumps, "graded": _graded,
    "cancelling": _cancelling, "penalty": _penalty, "near singular": _near_singular, "near singular, dense": _near_singular_dense,
    "membrane": _membrane, "saddle point": _saddle, "identity rows": _identity_rows, "zero rows": _zero_rows, "sparse": _sparse,
    "dominant": _dominant, "convection": _convection, "Hilbert": _hilbert, "Frank": _frank, "Vandermonde": _vandermonde,
    "Grcar": _grcar, "pure Neumann": _pure_neumann, "wild": _wild,
}
