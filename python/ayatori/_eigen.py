"""Eigenvalues of symmetric matrices."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from . import _core
from . import _words as words
from ._matrix import as_array, as_canonical_csr, as_doubles, check_finite, check_real, check_square, is_sparse
from ._options import Options, explained

OPTIONS = Options(_core.eigen_options(), {"collectives": "none"})


@explained({})
def eigh(A: Any, *, eigvals_only: bool = False, subset_by_index: Sequence[int] | None = None,
         subset_by_value: Sequence[float] | None = None, smallest: int | None = None, largest: int | None = None,
         # Written by generate_options.py:
         method: words.EigenMethod = "auto", precision: words.EigenPrecision = "double",
         reduction: words.EigenReduction = "auto", block: int | None = None, grid: str = "auto",
         preconditioner: words.EigenPreconditioner = "auto", tolerance: float = 0.0,
         profile: str | os.PathLike[str] = "none", gflops: float = 0.0, memory_bandwidth: float = 0.0,
         collectives: str | os.PathLike[str] = "none", threads: int = 0,
         # to here.
         ) -> Any:
    """Eigenvalues and eigenvectors of a symmetric matrix, verified.

    Parameters
    ----------
    A : array_like, or sparse array or matrix of any format, shape (n, n)
        Real and symmetric to rounding; both triangles are read. Doubles of an array are read where they are. A few pairs at
        an end of the spectrum of a sparse matrix come by products with it, where that is expected to be faster.
    eigvals_only : bool
        Leave out the eigenvectors.
    subset_by_index : (int, int), optional
        The first and the last eigenvalue wanted, counted from 0 in ascending order.
    subset_by_value : (float, float), optional
        Eigenvalues in this interval, both ends included (SciPy's is open below).
    smallest, largest : int, optional
        Only so many, at that end of the spectrum.
    {options}

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
    given = OPTIONS.given(locals())
    A = as_array(A, "A")
    check_real(A.dtype, "A")
    check_square(A.shape)
    n = A.shape[0]
    if sum(chosen is not None for chosen in (subset_by_index, subset_by_value, smallest, largest)) > 1:
        raise ValueError("subset_by_index, subset_by_value, smallest and largest contradict each other")
    core_options = _core.EigenOptions()
    core_options.vectors = not eigvals_only
    first = 0
    for count, at_the_top in ((smallest, False), (largest, True)):
        if count is not None:
            core_options.choose(count, at_the_top)
    if subset_by_index is not None:
        first, last = subset_by_index
        if not 0 <= first <= last < n:
            raise ValueError(f"subset_by_index is {tuple(subset_by_index)}, but eigenvalues have numbers from 0 to {n - 1}")
        at_the_top = last == n - 1 and first > 0
        core_options.choose(n - first if at_the_top else last + 1, at_the_top)
        first = 0 if at_the_top else first
    if subset_by_value is not None:
        lower, upper = subset_by_value
        if not lower <= upper:
            raise ValueError(f"subset_by_value is {tuple(subset_by_value)}: the interval is empty")
        core_options.choose_range(lower, upper)
    OPTIONS.set(core_options, given)
    if is_sparse(A):
        csr = as_canonical_csr(A)
        values, vectors, passed, report = _core.eigh(csr.indptr, csr.indices, csr.data, csr.shape[1], core_options)
    else:
        check_finite(A, "A")
        values, vectors, passed, report = _core.eigh(as_doubles(A, "A"), core_options)
    if not passed:
        raise RuntimeError(f"the eigenpairs are not good: {json.loads(report)['ratios']}")
    if eigvals_only:
        return values[first:]
    return values[first:], vectors.reshape((n, len(values)), order="F")[:, first:]


OPTIONS.document(eigh)
