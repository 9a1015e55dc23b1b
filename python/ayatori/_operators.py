"""Matrices, operators and callables of Python as operators of the core."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from . import _core
from ._matrix import as_canonical_csr, as_csr, as_real_form, check_numbers, has_matvec, is_complex, is_operator, is_sparse, rows_for_core, with_shift

F = TypeVar("F", bound=Callable[..., Any])

_EXTREME = 400  # exponents of two: below, squares of products with a matrix neither overflow nor vanish
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


def exponent_of(numbers: Any) -> int:
    """Of a power of two near the largest of an array; 0 for what is near enough to 1, and for what is no array of numbers."""
    if not isinstance(numbers, np.ndarray) or numbers.dtype.kind not in "fc":
        return 0
    if numbers.dtype.kind == "c":
        largest = float(np.abs(numbers).max(initial=0.0))
    else:  # without a copy of them all
        largest = max(float(numbers.max(initial=0.0)), -float(numbers.min(initial=0.0)))
    exponent = math.frexp(largest)[1] if 0 < largest < math.inf else 0
    return exponent if abs(exponent) > _EXTREME else 0


def times_power(values: Any, exponent: int) -> Any:
    """``values * 2.0**exponent``, also where that power is no double; infinite where the result is none."""
    with np.errstate(over="ignore", under="ignore"):
        return values * 2.0 ** (exponent // 2) * 2.0 ** (exponent - exponent // 2)


def in_units(function: F) -> F:
    """Decorates ``function(A, b, x0, *, atol, shift, M, callback)``, which gives x and a word about it.

    Numbers whose squares overflow or vanish are brought near 1 by powers of two, which round nothing.
    """

    @functools.wraps(function)
    def call(*arguments: Any, **options: Any) -> Any:
        given = dict(zip(("A", "b", "x0"), arguments)) | options
        A, b, x0 = (given.get(name) for name in ("A", "b", "x0"))
        of_a, of_b = exponent_of(getattr(A, "data", None) if is_sparse(A) else A), exponent_of(b)
        has_directions = any(given.get(name) is not None for name in ("outer_v", "CU"))  # the caller's, of A as it is
        if not (of_a or of_b) or has_directions or len(arguments) > 3:
            return function(*arguments, **options)
        of_x = of_b - of_a
        given |= {"A": times_power(A, -of_a) if of_a else A, "b": times_power(b, -of_b)}
        if x0 is not None and not isinstance(x0, str):
            given["x0"] = times_power(np.asarray(x0), -of_x)
        for name, exponent in (("atol", -of_b), ("shift", -of_a)):
            if given.get(name):
                given[name] = times_power(given[name], exponent)
        inverse = next((name for name in ("M", "M1", "M2") if given.get(name) is not None), None)
        if inverse and of_a:  # M1 and M2 are factors of one
            given[inverse] = _scaled_inverse(given[inverse], of_a)
        told = given.get("callback")
        if callable(told) and given.get("callback_type", "x") == "x":
            given["callback"] = lambda x: told(times_power(x, of_x))
        if not all(_is_finite(given.get(name)) for name in ("x0", inverse)):
            return function(*arguments, **options)
        x, word = function(**given)
        x = times_power(x, of_x)
        return (x, word) if np.isfinite(x).all() else function(*arguments, **options)

    return call  # type: ignore[return-value]


def _is_finite(numbers: Any) -> bool:
    """Of what is no array, and no sparse one, nothing is known."""
    values = numbers.data if is_sparse(numbers) else numbers
    return not isinstance(values, np.ndarray) or values.dtype.kind not in "fc" or bool(np.isfinite(values).all())


def _scaled_inverse(M: Any, exponent: int) -> Any:
    if not is_operator(M):
        return M if isinstance(M, str) else times_power(M, exponent)
    from scipy.sparse.linalg import LinearOperator

    adjoint = getattr(M, "rmatvec", None)
    return LinearOperator(M.shape, lambda x: times_power(apply(M, x), exponent), dtype=getattr(M, "dtype", None) or np.float64,
                          rmatvec=adjoint and (lambda x: times_power(adjoint(x), exponent)))


def _is_same(csr: Any, other: Any) -> bool:
    """To the bit, of canonical compressed sparse rows."""
    return bool(np.array_equal(csr.indptr, other.indptr) and np.array_equal(csr.indices, other.indices)
                and np.array_equal(csr.data, other.data))
