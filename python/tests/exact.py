"""Residuals without rounding: what doubles say, taken as the rational numbers that they are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import scipy.sparse as sparse

_UNIT = 1074  # every double is a multiple of 2^-1074


def _as_integer(value: float) -> int:
    """In units of 2^-1074."""
    numerator, denominator = float(value).as_integer_ratio()
    return numerator << (_UNIT - denominator.bit_length() + 1)


def _real_vector(values: np.ndarray) -> np.ndarray:
    """Real and imaginary parts in turns where there are such."""
    values = np.ascontiguousarray(values)
    return values.astype(np.complex128).view(np.float64) if np.iscomplexobj(values) else values.astype(np.float64)


class ExactSystem:
    """A x = b, or (A - shift I) x = b, with rational residuals. Complex ones have two real rows for each of theirs."""

    def __init__(self, A: sparse.csr_array, b: np.ndarray, shift: float = 0.0) -> None:
        self._complex = np.iscomplexobj(A.data) or np.iscomplexobj(b)
        self._rows: list[list[tuple[int, int]]] = []
        for i in range(A.shape[0]):
            entries = [(int(j), a) for j, a in zip(A.indices[A.indptr[i]:A.indptr[i + 1]], A.data[A.indptr[i]:A.indptr[i + 1]])]
            if shift:
                entries.append((i, -shift))
            if self._complex:
                entries = [(j, complex(a)) for j, a in entries]
                self._rows.append([pair for j, a in entries for pair in ((2 * j, _as_integer(a.real)), (2 * j + 1, -_as_integer(a.imag)))])
                self._rows.append([pair for j, a in entries for pair in ((2 * j, _as_integer(a.imag)), (2 * j + 1, _as_integer(a.real)))])
            else:
                self._rows.append([(j, _as_integer(a)) for j, a in entries])
        self._b = [_as_integer(value) for value in _real_vector(b.astype(complex) if self._complex else b)]
        self.b_squared = Fraction(sum(value * value for value in self._b), 1 << 2 * _UNIT)

    def residual_squared(self, x: np.ndarray, rows: np.ndarray | None = None) -> Fraction:
        """``norm(b - A x) ** 2``, of some rows of a real system where `rows` has their numbers."""
        whole = [_as_integer(value) for value in _real_vector(x.astype(complex) if self._complex else x)]
        squares = 0
        for i in range(len(self._rows)) if rows is None else rows:
            r = (self._b[i] << _UNIT) - sum(a * whole[j] for j, a in self._rows[i])
            squares += r * r
        return Fraction(squares, 1 << 4 * _UNIT)

    def meets(self, x: np.ndarray, rtol: float, atol: float = 0.0) -> bool:
        limit = max(Fraction(rtol) ** 2 * self.b_squared, Fraction(atol) ** 2)
        return bool(np.all(np.isfinite(x))) and self.residual_squared(x) <= limit

    def is_within(self, x: np.ndarray, relative: float, bound: float) -> bool:
        """Whether the relative residual is no farther from `relative` than `bound`."""
        return is_root_within(self.residual_squared(x) / self.b_squared, relative, bound)


class BoundaryRows:
    """Rows of a real system whose diagonal entry is all that has weight, and what solving them first leaves to the others."""

    def __init__(self, A: sparse.csr_array, b: np.ndarray, exact: ExactSystem) -> None:
        diagonal = np.abs(A.diagonal())
        with np.errstate(all="ignore"):
            is_boundary = (diagonal > 0) & (np.abs(A).sum(axis=1) <= diagonal * (1 + 2.0 ** -52))
            x = np.where(is_boundary, b / np.where(is_boundary, A.diagonal(), 1), 0)
        self.count = int(is_boundary.sum())
        self.others = np.flatnonzero(~is_boundary)
        self._exact = exact
        given = is_boundary & (b != 0)
        is_normal = np.all(np.isfinite(x)) and np.all(np.abs(x[given]) > 1e-290) and np.all(np.abs(b[given]) / np.abs(b).max() > 1e-290)
        self.reference_squared = exact.residual_squared(x, self.others) if is_normal else Fraction(0)
        # Squares of what is smaller vanish.
        self.is_measurable = self.reference_squared > exact.b_squared / 10**280

    def residual_squared(self, x: np.ndarray) -> Fraction:
        """Of the other rows, in units of what the boundary rows leave of their right-hand side, which must not be 0."""
        return self._exact.residual_squared(x, self.others) / self.reference_squared


def is_root_within(square: Fraction, value: float, bound: float) -> bool:
    """Whether the root is no farther from `value` than `bound`."""
    low, high = Fraction(value) - Fraction(bound), Fraction(value) + Fraction(bound)
    return square <= high ** 2 and (low <= 0 or low ** 2 <= square)
