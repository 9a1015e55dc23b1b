"""Drop-ins for the direct solvers of scipy.sparse.linalg, by complete factors of KLU or MUMPS.

Every solve corrects its result once by the residual. Pivots are chosen for sparsity and corrected so; a matrix that is singular
to working precision is refused, where SciPy refuses one that is exactly singular.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ._matrix import is_complex, is_sparse
from ._operators import factors_of

_NOT_GIVEN = {name: f"factors of KLU and MUMPS stay inside those libraries: there is no {name} of them (scipy.sparse.linalg.splu has it)"
              for name in ("L", "U", "perm_r", "perm_c", "nnz")}


class Factors:
    """Complete factors of a square matrix, for any number of right-hand sides. Made by `splu`.

    Attributes
    ----------
    shape : (int, int)
    note : str
        The library, and what the factorization took.
    """

    def __init__(self, A: Any) -> None:
        matrix = _as_matrix(A)
        if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError(f"can only factor square matrices, and this one has shape {matrix.shape}")
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
        rhs = np.asarray(rhs)
        if rhs.ndim > 2:
            raise ValueError(f"object too deep for desired array: rhs has {rhs.ndim} dimensions")
        if rhs.ndim == 0 or rhs.shape[0] != self.shape[0]:
            raise ValueError(f"rhs is of incompatible size: the matrix has shape {self.shape}, and rhs {rhs.shape}")
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
    return Factors(A)


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
    matrix = _as_matrix(A)
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"matrix must be square (has shape {matrix.shape})")
    n = matrix.shape[0]
    sparse_b = is_sparse(b)
    right = b.toarray() if sparse_b else np.asarray(b)
    if right.ndim not in (1, 2) or right.shape[0] != n:
        raise ValueError(f"matrix - rhs dimension mismatch ({matrix.shape} - {right.shape[0] if right.ndim else ()})")
    is_vector = right.ndim == 1 or right.shape[1] == 1
    dtype = np.result_type(_result_type(matrix.dtype), _result_type(right.dtype))
    try:
        x = Factors(matrix).solve(right).astype(dtype, copy=False)
    except RuntimeError as error:
        from scipy.sparse.linalg import MatrixRankWarning

        warnings.warn(f"Matrix is exactly singular: {error}", MatrixRankWarning, stacklevel=2)
        x = np.full(right.shape, np.nan, dtype)
    if is_vector:
        return x.ravel()
    return b.__class__(x) if sparse_b else x


def _as_matrix(A: Any) -> Any:
    return A if is_sparse(A) else np.asarray(A)


def _result_type(dtype: np.dtype) -> np.dtype:
    """Single precision stays that, and complex stays complex; everything else becomes double."""
    return np.dtype(dtype) if np.dtype(dtype).char in "fFD" else np.dtype(np.complex128 if is_complex(dtype) else np.float64)
