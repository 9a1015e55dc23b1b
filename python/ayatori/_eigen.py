"""Eigenvalues of symmetric matrices, and what they would cost."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import _core
from . import _words as words
from ._matrix import as_array, as_canonical_csr, as_count, as_doubles, as_number, check_finite, check_real, check_shape, check_square, is_sparse
from ._options import Options, explained

OPTIONS = Options(_core.eigen_options(), {"collectives": "none"})


@dataclass(frozen=True)
class EigenForecast:
    """What the dense solver of eigenproblems would take on other numbers of ranks.

    Attributes
    ----------
    report : dict
        Schema ``ayatori.eigen-forecast/1``, as ``ayatori eigen --predict --json`` writes it.
    """

    report: dict = field(repr=False)
    _text: str = field(repr=False)

    def explain(self) -> str:
        """A line for every number of ranks."""
        return self._text


@explained({"generalized": "B is an argument of its own", "range": "subset_by_value=(A, B) does that", "values_only": "eigvals_only=True does that",
            "output": "pairs are returned", "json": "report= takes a dictionary that is filled with it", "quiet": "nothing is said"})
def eigh(A: Any, B: Any = None, *, eigvals_only: bool = False, subset_by_index: Sequence[int] | None = None,
         subset_by_value: Sequence[float] | None = None, smallest: int | None = None, largest: int | None = None,
         predict: int | str | Iterable[int] | None = None, ranks_per_node: int = 1, report: dict | None = None,
         # Written by generate_options.py:
         method: words.EigenMethod = "auto", precision: words.EigenPrecision = "double",
         reduction: words.EigenReduction = "auto", block: int | None = None, grid: str = "auto",
         preconditioner: words.EigenPreconditioner = "auto", tolerance: float = 0.0,
         profile: str | os.PathLike[str] = "none", gflops: float = 0.0, memory_bandwidth: float = 0.0,
         collectives: str | os.PathLike[str] = "none", threads: int = 0,
         # to here.
         ) -> Any:
    """Eigenvalues and eigenvectors of a symmetric matrix, ``A @ v = w * v`` or ``A @ v = w * B @ v``, verified.

    Parameters
    ----------
    A : array_like, or sparse array or matrix of any format, shape (n, n)
        Real and symmetric to rounding; both triangles are read. Doubles of an array are read where they are. A few pairs at
        an end of the spectrum of a sparse matrix come by products with it, where that is expected to be faster.
    B : as `A`, optional
        Symmetric positive definite: the generalized problem, by the dense solver.
    eigvals_only : bool
        Leave out the eigenvectors.
    subset_by_index : (int, int), optional
        The first and the last eigenvalue wanted, counted from 0 in ascending order.
    subset_by_value : (float, float), optional
        Eigenvalues in this interval, both ends included (SciPy's is open below).
    smallest, largest : int, optional
        How many, from that end of the spectrum on.
    predict : int, str or iterable of int, optional
        Numbers of ranks, such as ``(1, 4, 32)`` or ``"1,4,32"``: a forecast of the dense solver on them, and no solve.
    ranks_per_node : int
        Of the forecast.
    report : dict, optional
        Is filled with all that is known about the solve: schema ``ayatori.eigen/1``.
    {options}

    Returns
    -------
    w : ndarray, shape (k,)
        Ascending.
    v : ndarray, shape (n, k)
        Columns with ``v.T @ v = I``, with `B` ``v.T @ B @ v = I``; absent with `eigvals_only`.
    forecast : EigenForecast
        With `predict`, nothing else.

    Raises
    ------
    ValueError
        If `A` or `B` is not square, not symmetric or not finite, or `B` not positive definite.
    RuntimeError
        If residuals or orthogonality are not what backward stable algorithms give: no pairs are returned unchecked.

    Notes
    -----
    Householder tridiagonalization, divide and conquer (Cuppen; Gu and Eisenstat), back-transformation; see docs/eigen.md.
    """
    given = OPTIONS.given(locals())
    A = _as_symmetric(A, "A")
    n = A.shape[0]
    if B is not None:
        B = _as_symmetric(B, "B")
        check_shape(B.shape, "B", n)
    if sum(chosen is not None for chosen in (subset_by_index, subset_by_value, smallest, largest)) > 1:
        raise ValueError("subset_by_index, subset_by_value, smallest and largest contradict each other")
    core_options = _core.EigenOptions()
    core_options.vectors = not eigvals_only
    first = 0
    for count, name in ((smallest, "smallest"), (largest, "largest")):
        if count is not None:
            core_options.choose(as_count(count, name), name == "largest")
    if subset_by_index is not None:
        first, last = (as_count(index, "subset_by_index") for index in _pair(subset_by_index, "subset_by_index"))
        if not 0 <= first <= last < n:
            raise ValueError(f"subset_by_index is {tuple(subset_by_index)}, but eigenvalues have numbers from 0 to {n - 1}")
        at_the_top = last == n - 1 and first > 0
        core_options.choose(n - first if at_the_top else last + 1, at_the_top)
        first = 0 if at_the_top else first
    if subset_by_value is not None:
        lower, upper = (as_number(bound, "subset_by_value", is_negative_too=True) for bound in _pair(subset_by_value, "subset_by_value"))
        if not lower <= upper:
            raise ValueError(f"subset_by_value is {tuple(subset_by_value)}: the interval is empty")
        core_options.choose_range(lower, upper)
    OPTIONS.set(core_options, given)
    if predict is not None:
        return EigenForecast(*_forecast(n, B is not None, core_options, predict, ranks_per_node))
    if ranks_per_node != 1:
        raise ValueError("ranks_per_node is for a forecast: give predict, the numbers of ranks")
    values, vectors, passed, text = _core.eigh(_core_matrix(A, "A"), None if B is None else _core_matrix(B, "B"), core_options)
    if report is not None:
        report.update(json.loads(text))
    if not passed:
        raise RuntimeError(f"the eigenpairs are not good: {json.loads(text)['ratios']}")
    if eigvals_only:
        return values[first:]
    return values[first:], vectors.reshape((n, len(values)), order="F")[:, first:]


def _as_symmetric(matrix: Any, what: str) -> Any:
    """Compressed sparse rows or an array, of finite doubles; what is not symmetric, the core says."""
    matrix = as_array(matrix, what)
    check_real(matrix.dtype, what)
    check_square(matrix.shape, what)
    if is_sparse(matrix):
        return as_canonical_csr(matrix, what)
    check_finite(matrix, what)
    return as_doubles(matrix, what)


def _pair(values: Any, what: str) -> Sequence:
    if np.ndim(values) != 1 or len(values) != 2:
        raise ValueError(f"{what} is {values!r}, but must be two numbers: the first and the last")
    return values


def _core_matrix(matrix: Any, what: str) -> _core.EigenMatrix:
    if is_sparse(matrix):
        return _core.eigen_matrix(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1], what)
    return _core.eigen_matrix(matrix, what)


def _forecast(n: int, is_generalized: bool, core_options: _core.EigenOptions, ranks: int | str | Iterable[int],
              ranks_per_node: int) -> tuple[dict, str]:
    jobs = ranks if isinstance(ranks, str) else ",".join(str(as_count(count, "predict")) for count in np.atleast_1d(np.asarray(ranks)).tolist())
    text, summary = _core.predict_eigen(n, is_generalized, core_options, jobs, as_count(ranks_per_node, "ranks_per_node"))
    return json.loads(text), summary


OPTIONS.document(eigh)
