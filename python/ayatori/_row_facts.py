"""What is known of the rows of a matrix besides its entries: coordinates, fields, near null space."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _core
from ._matrix import as_array, as_columns, as_double_precision, check_finite, check_numbers, is_sparse


def set_row_facts(core_options: _core.Options, given: dict[str, Any], rows: int, rank: int | None, of_complex: bool, *, coordinates: Any,
                  near_nullspace: Any, fields: Any) -> None:
    """What is known of the rows beside the matrix: arrays go to the core, names of files to the options."""
    core_options.is_complex = of_complex
    if of_complex and coordinates is not None:
        raise ValueError("coordinates are for real matrices: give the motions of a rigid body by near_nullspace")
    if isinstance(coordinates, (str, os.PathLike)):
        given["coordinates"] = coordinates
    elif coordinates is not None:
        core_options.coordinates = _of_rows(coordinates, rows)
    if isinstance(fields, (str, os.PathLike)):
        given["fields"] = fields
    elif fields is not None:
        marks = as_columns(fields, "fields", rows, rank).ravel()
        if marks.size != rows or not np.isin(marks, (0, 1)).all():
            raise ValueError(f"fields has to hold {rows} times 0 or 1: 1 for a constraint")
        core_options.fields = np.repeat(marks, 2) if of_complex else marks
    if near_nullspace is not None:
        if coordinates is not None:
            raise ValueError("near_nullspace and coordinates say the same: give one of them")
        vectors = as_columns(near_nullspace, "near_nullspace", rows, rank, takes_complex=of_complex).reshape(rows, -1)
        core_options.near_null_space = (_in_real_form(vectors) if of_complex else vectors).ravel()


def _in_real_form(vectors: np.ndarray) -> np.ndarray:
    """The two real vectors of pairs, v and i v, of each column."""
    rows, count = vectors.shape
    both = np.stack([vectors, 1j * vectors], axis=2).reshape(rows, 2 * count)
    return np.stack([both.real, both.imag], axis=1).reshape(2 * rows, 2 * count)


def _of_rows(coordinates: Any, rows: int) -> np.ndarray:
    """x, y and z of the node of every row."""
    given = as_array(coordinates, "coordinates")
    check_numbers(given.dtype, "coordinates", takes_complex=False)
    check_finite(given, "coordinates")
    nodes = given.toarray() if is_sparse(given) else as_double_precision(given, "coordinates")
    if nodes.ndim != 2 or nodes.shape[1] not in (2, 3) or (len(nodes) and rows % len(nodes)) or rows not in (2 * len(nodes), 3 * len(nodes)):
        raise ValueError(f"coordinates have shape {nodes.shape}, but {rows} rows want (nodes, 2) or (nodes, 3), with two or three "
                         "rows per node")
    padded = np.zeros((len(nodes), 3))
    padded[:, :nodes.shape[1]] = nodes
    return np.repeat(padded, rows // max(len(nodes), 1), axis=0).ravel()
