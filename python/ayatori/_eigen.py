"""Eigenvalues of dense symmetric matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from ._matrix import check_real


def eigh(A: Any, *, eigvals_only: bool = False, subset_by_index: Sequence[int] | None = None,
         subset_by_value: Sequence[float] | None = None, threads: int | None = None) -> Any:
    """Eigenvalues and eigenvectors of a dense symmetric matrix, verified.

    Parameters
    ----------
    A : array_like, shape (n, n)
        Real and symmetric to rounding; both triangles are read. Doubles are read where they are.
    eigvals_only : bool
        Leave out the eigenvectors.
    subset_by_index : (int, int), optional
        The first and the last eigenvalue wanted, counted from 0 in ascending order.
    subset_by_value : (float, float), optional
        Eigenvalues in this interval, both ends included (SciPy's is open below).
    threads : int, optional
        By default as many as OpenMP would use.

    Returns
    -------
    w : ndarray, shape (k,)
        Ascending.
    v : ndarray, shape (n, k)
        Orthonormal columns, ``A @ v[:, i] = w[i] * v[:, i]``; absent with `eigvals_only`.

    Raises
    ------
    ValueError
        If `A` is not square, not symmetric or not finite.
    RuntimeError
        If residuals or orthogonality are not what backward stable algorithms give: no pairs are returned unchecked.

    Notes
    -----
    Householder tridiagonalization, divide and conquer (Cuppen; Gu and Eisenstat), back-transformation; see docs/eigen.md.
    """
    matrix = np.asarray(A)
    check_real(matrix.dtype, "the matrix")
    if matrix.ndim != 2:
        raise ValueError(f"the matrix has {matrix.ndim} dimensions, not 2")
    matrix = matrix.astype(np.float64, copy=False)
    n = matrix.shape[0]
    if subset_by_index is not None and subset_by_value is not None:
        raise ValueError("subset_by_index and subset_by_value contradict each other")
    count, largest, first, lower, upper = 0, False, 0, 1.0, 0.0
    if subset_by_index is not None:
        first, last = subset_by_index
        if not 0 <= first <= last < n:
            raise ValueError(f"subset_by_index is {tuple(subset_by_index)}, but eigenvalues have numbers from 0 to {n - 1}")
        largest = last == n - 1 and first > 0
        count = n - first if largest else last + 1
    if subset_by_value is not None:
        lower, upper = subset_by_value
        if not lower <= upper:
            raise ValueError(f"subset_by_value is {tuple(subset_by_value)}: the interval is empty")
    values, vectors, passed, ratios, _ = _core.eigh(matrix, not eigvals_only, count, largest, lower, upper, threads or 0)
    if not passed:
        raise RuntimeError(f"the eigenpairs are not good: {ratios}, where {_core.largest_good_ratio} is the limit")
    skip = 0 if largest else first
    if eigvals_only:
        return values[skip:]
    return values[skip:], vectors.reshape((n, len(values)), order="F")[:, skip:]
