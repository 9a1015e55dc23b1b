"""Matrices, operators and callables of Python as operators of the core."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from ._matrix import as_canonical_csr, as_csr, as_real_form, check_numbers, has_matvec, is_complex, rows_for_core, with_shift

_TYPES = {"f": np.float32, "F": np.complex64, "D": np.complex128}


def apply(operator: Any, x: np.ndarray) -> np.ndarray:
    return np.asarray(operator.matvec(x) if has_matvec(operator) else operator(x) if callable(operator) else operator @ x)


def as_operator(matrix: Any, size: int, work_type: type, shift: float = 0.0) -> _core.LinearOperator:
    """``matrix - shift * I`` on vectors of `size` elements of `work_type`, double or complex double, in the memory that they have."""
    of_complex = is_complex(work_type)
    if not has_matvec(matrix) and not callable(matrix):
        csr = as_real_form(matrix) if of_complex else as_csr(matrix)
        if shift:
            csr = with_shift(csr, shift)
        return _core.borrow_csr(csr.indptr, csr.indices, csr.data)
    product_of = matrix.matvec if has_matvec(matrix) else matrix
    argument = np.empty(2 * size if of_complex else size)
    x = argument.view(work_type)

    def product() -> np.ndarray:  # that keeps an object of the core would make a cycle through it, which nobody collects
        y = np.asarray(product_of(x))
        check(y.dtype, work_type, "what the operator gives")
        y = as_doubles(y, work_type)
        return y - shift * argument if shift else y

    return _core.python_operator(product, argument)


def factors_of(matrix: Any, of_complex: bool) -> _core.Factors:
    """Complete factors, as the operator that its inverse is.

    Raises
    ------
    RuntimeError
        If the matrix is singular to working precision.
    ValueError
        If it is not finite, or not square.
    """
    csr = as_canonical_csr(matrix, takes_complex=of_complex)
    if csr.nnz == 0:
        raise RuntimeError("Factor is exactly singular: the matrix has no entries")
    transposed = csr.T.tocsr()
    try:
        factors = _core.Factors(*rows_for_core(csr, of_complex), _is_same(csr, transposed.conj(copy=False)), of_complex, _is_same(csr, transposed))
    except OSError as error:
        if "singular" not in str(error):
            raise
        raise RuntimeError("Factor is exactly singular") from error
    if factors.zero_pivots > 0:
        raise RuntimeError(f"Factor is exactly singular: {factors.zero_pivots} pivots are zero to working precision")
    return factors


def check(dtype: np.dtype, work_type: type, what: str) -> None:
    """Raises TypeError unless numbers of this type are real, or complex where `work_type` is."""
    check_numbers(dtype, what, is_complex(work_type))


def as_doubles(values: Any, work_type: type) -> np.ndarray:
    """As the core has vectors: of complex ones, real and imaginary parts in turns."""
    return np.ascontiguousarray(np.asarray(values, dtype=work_type).ravel()).view(np.float64)


def float_type(dtype: Any) -> type:
    """Of the result: single precision stays that, and complex stays complex; everything else becomes double."""
    return _TYPES.get(np.dtype(dtype).char, np.float64) if dtype is not None else np.float32


def _is_same(csr: Any, other: Any) -> bool:
    """To the bit, of canonical compressed sparse rows."""
    return bool(np.array_equal(csr.indptr, other.indptr) and np.array_equal(csr.indices, other.indices)
                and np.array_equal(csr.data, other.data))
