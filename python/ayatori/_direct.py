"""Drop-ins for the direct solvers of scipy.sparse.linalg, by complete factors of KLU or MUMPS.

Every solve corrects its result once by the residual. Pivots are chosen for sparsity and corrected so; a matrix that is singular
to working precision is refused, where SciPy refuses one that is exactly singular.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ._matrix import as_array, as_count, check_numbers, check_square, extent, is_complex, is_sparse
from ._operators import factors_of
from ._options import explained

_NOT_GIVEN = {name: f"factors of KLU and MUMPS stay inside those libraries: there is no {name} of them (scipy.sparse.linalg.splu has it)"
              for name in ("L", "U", "perm_r", "perm_c", "nnz")}
_ORDERS = ("NATURAL", "MMD_ATA", "MMD_AT_PLUS_A", "COLAMD")


class Factors:
    """Complete factors of a square matrix, for any number of right-hand sides. Made by `splu`.

    Attributes
    ----------
    shape : (int, int)
    note : str
        The library, and what the factorization took.
    """

    def __init__(self, A: Any) -> None:
        matrix = as_array(A, "A")
        check_numbers(matrix.dtype, "A", takes_complex=True)
        if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"can only factor square matrices, and A is {extent(matrix.shape)}")
        self.shape: tuple[int, int] = tuple(matrix.shape)
        self.dtype = _result_type(matrix.dtype)
        self._is_complex = is_complex(matrix.dtype)
        self._core = factors_of(matrix, self._is_complex)

    @property
    def note(self) -> str:
        return self._core.note

    def solve(self, rhs: Any, trans: str = "N") -> np.ndarray:
        """x with ``A @ x = rhs``, ``A.T @ x = rhs`` or ``A.conj().T @ x = rhs``.

        Parameters
        ----------
        rhs : ndarray, shape (n,) or (n, k)
        trans : {"N", "T", "H"}
            Which of the three.

        Returns
        -------
        x : ndarray of the shape of `rhs`
        """
        if trans not in ("N", "T", "H"):
            raise ValueError(f"trans is {trans!r}, but must be 'N', 'T' or 'H'")
        rhs = as_array(rhs, "rhs")
        check_numbers(rhs.dtype, "rhs", takes_complex=True)
        rhs = rhs.toarray() if is_sparse(rhs) else rhs
        if rhs.ndim > 2:
            raise ValueError(f"object too deep for desired array: rhs has {rhs.ndim} dimensions")
        if rhs.ndim == 0 or rhs.shape[0] != self.shape[0]:
            raise ValueError(f"rhs is of incompatible size: it has shape {rhs.shape}, but A has {self.shape[0]} rows")
        dtype = np.result_type(self.dtype, _result_type(rhs.dtype))
        columns = rhs.reshape(self.shape[0], -1)
        x = np.empty(columns.shape, dtype, order="F")
        for k in range(columns.shape[1]):
            x[:, k] = self._solve_one(columns[:, k], trans)
        return x.reshape(rhs.shape) if rhs.ndim == 1 else x

    def _solve_one(self, b: np.ndarray, trans: str) -> np.ndarray:
        if self._is_complex:  # of the real form, transposed is what A^H is
            b = b.astype(np.complex128)
            b = b.conj() if trans == "T" else b
            x = self._solve_real(b.view(np.float64), trans != "N").view(np.complex128)
            return x.conj() if trans == "T" else x
        if is_complex(b.dtype):
            return self._solve_real(b.real, trans != "N") + 1j * self._solve_real(b.imag, trans != "N")
        return self._solve_real(b, trans != "N")

    def _solve_real(self, b: np.ndarray, transposed: bool) -> np.ndarray:
        b = np.ascontiguousarray(b, dtype=np.float64)
        x = np.empty_like(b)
        self._core.solve(b, x, transposed)
        return x

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(_NOT_GIVEN.get(name, f"factors have no {name}"))

    def __reduce__(self) -> Any:
        raise TypeError("factors live in the memory of this process: pickle the matrix, and factor it anew")

    def __repr__(self) -> str:
        return f"<{self.shape[0]}x{self.shape[1]} {self.note}>"


@explained()
def splu(A: Any, permc_spec: str | None = None, diag_pivot_thresh: float | None = None, relax: int | None = None,
         panel_size: int | None = None, options: dict[str, Any] | None = None) -> Factors:
    """Complete factors of a sparse matrix: `scipy.sparse.linalg.splu`.

    Parameters
    ----------
    A : sparse array or matrix, or ndarray, shape (n, n)
        Real or complex. A symmetric one is factored as such where that takes less.
    permc_spec, diag_pivot_thresh, relax, panel_size, options
        SuperLU's, and without effect: orders and pivots are those of KLU or MUMPS, whichever is expected to be done first.

    Returns
    -------
    Factors
        With ``.solve(rhs, trans="N")`` and ``.shape``.

    Raises
    ------
    RuntimeError
        If `A` is singular to working precision.
    ValueError
        If it is not square, or not finite.
    """
    _check_superlu(permc_spec, diag_pivot_thresh, relax=relax, panel_size=panel_size)
    return Factors(A)


@explained()
def factorized(A: Any) -> Callable[[Any], np.ndarray]:
    """A function that solves ``A @ x = b`` for the b it is given: `scipy.sparse.linalg.factorized`.

    Parameters
    ----------
    A : sparse array or matrix, or ndarray, shape (n, n)
        As for `splu`, which raises the same errors.

    Returns
    -------
    solve : callable
    """
    return Factors(A).solve


@explained()
def spsolve(A: Any, b: Any, permc_spec: str | None = None, use_umfpack: bool = True) -> Any:
    """x with ``A @ x = b`` by complete factors: `scipy.sparse.linalg.spsolve`.

    Parameters
    ----------
    A : sparse array or matrix, or ndarray, shape (n, n)
        Real or complex.
    b : ndarray or sparse array or matrix, shape (n,), (n, 1) or (n, k)
    permc_spec, use_umfpack
        Without effect: the library is KLU or MUMPS, whichever is expected to be done first.

    Returns
    -------
    x : ndarray or sparse array or matrix
        Of shape (n,) if `b` has one column, of that of `b` else; sparse if `b` is and has several columns.

    Warns
    -----
    scipy.sparse.linalg.MatrixRankWarning
        If `A` is singular to working precision; x is then filled with NaN.
    """
    _check_superlu(permc_spec, None)
    matrix = as_array(A, "A")
    check_numbers(matrix.dtype, "A", takes_complex=True)
    check_square(matrix.shape)
    n = matrix.shape[0]
    right = as_array(b, "b")
    check_numbers(right.dtype, "b", takes_complex=True)
    sparse_b = is_sparse(right)
    right = right.toarray() if sparse_b else right
    if right.ndim not in (1, 2) or right.shape[0] != n:
        raise ValueError(f"b has shape {right.shape}, but A has {n} rows: want ({n},) or ({n}, k)")
    is_vector = right.ndim == 1 or right.shape[1] == 1
    dtype = np.result_type(_result_type(matrix.dtype), _result_type(right.dtype))
    try:
        x = Factors(matrix).solve(right).astype(dtype, copy=False)
    except RuntimeError as error:
        from scipy.sparse.linalg import MatrixRankWarning

        warnings.warn(f"Matrix is exactly singular: {error}", MatrixRankWarning, stacklevel=3)
        x = np.full(right.shape, np.nan, dtype)
    if is_vector:
        return x.ravel()
    return b.__class__(x) if sparse_b else x


def _check_superlu(permc_spec: Any, diag_pivot_thresh: Any, **counts: Any) -> None:
    """Raises ValueError and TypeError for what SuperLU does not take, although nothing comes of it here."""
    if permc_spec is not None and str(permc_spec).upper() not in _ORDERS:
        raise ValueError(f"permc_spec is {permc_spec!r}, but must be one of {', '.join(_ORDERS)}; it has no effect here")
    if diag_pivot_thresh is not None and not isinstance(diag_pivot_thresh, (int, float, np.number)):
        raise TypeError(f"diag_pivot_thresh is {diag_pivot_thresh!r}, but must be a number; it has no effect here")
    for name, value in counts.items():
        if value is not None:
            as_count(value, name)


def _result_type(dtype: np.dtype) -> np.dtype:
    """Single precision stays that, and complex stays complex; everything else becomes double."""
    return np.dtype(dtype) if np.dtype(dtype).char in "fFD" else np.dtype(np.complex128 if is_complex(dtype) else np.float64)
