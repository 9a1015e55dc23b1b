"""Sparse matrices in HDF5 files: those of MATLAB 7.3, AnnData and 10x, by h5py."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import scipy.sparse

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_OFFSETS = (0, 512)  # MATLAB's files begin with a text


def place_in(source: str) -> tuple[str, str] | None:
    """File and name in it, if `source` is ``FILE`` or ``FILE:NAME`` of an HDF5 file."""
    path, _, name = source.rpartition(":")
    for file, part in ((source, ""), (path, name)):
        try:
            with open(file, "rb") as stream:
                start = stream.read(_OFFSETS[-1] + len(_SIGNATURE))
        except OSError:
            continue
        return (file, part) if any(start[at:].startswith(_SIGNATURE) for at in _OFFSETS) else None
    return None


def _matlab(group: Any) -> scipy.sparse.sparray:
    import scipy.sparse

    rows, starts = int(group.attrs["MATLAB_sparse"]), group["jc"][()]
    shape = (rows, len(starts) - 1)
    if "data" not in group:  # nothing but zeros
        return scipy.sparse.csc_array(shape)
    data = group["data"][()]
    if data.dtype.names == ("real", "imag"):
        data = data["real"] + 1j * data["imag"]
    return scipy.sparse.csc_array((data, group["ir"][()], starts), shape=shape)


def _compressed(group: Any) -> scipy.sparse.sparray:
    import scipy.sparse

    shape = group.attrs.get("shape", group.attrs.get("h5sparse_shape"))
    shape = tuple(int(extent) for extent in (group["shape"][()] if shape is None else shape))
    kind = group.attrs.get("encoding-type", group.attrs.get("h5sparse_format", ""))
    kind = kind.decode() if isinstance(kind, bytes) else str(kind)
    starts = group["indptr"][()]
    # Where nothing is said, columns are compressed, as 10x has them, unless only rows fit.
    by_rows = kind.startswith("csr") if kind else len(starts) - 1 != shape[1]
    return (scipy.sparse.csr_array if by_rows else scipy.sparse.csc_array)((group["data"][()], group["indices"][()], starts), shape=shape)


_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Any]], ...] = (
    (lambda group: "MATLAB_sparse" in group.attrs, _matlab),
    (lambda group: {"data", "indices", "indptr"} <= set(group), _compressed),
)


def _reader_of(item: Any) -> Callable[[Any], Any] | None:
    if hasattr(item, "keys"):
        return next((read for is_it, read in _KINDS if is_it(item)), None)
    return None


def load(path: str, name: str) -> scipy.sparse.csr_array:
    """The sparse matrix of this name, or the only one; raises ValueError that says what there is instead."""
    try:
        import h5py
    except ImportError:
        raise ValueError(f"{path}: this is an HDF5 file, which h5py reads: pip install h5py") from None
    try:
        with h5py.File(path, "r") as file:
            found = {"/": file} if _reader_of(file) else {}
            file.visititems(lambda key, item: found.update({key: item}) if _reader_of(item) else None)
            if not found:
                raise ValueError(f"{path}: no sparse matrix in this HDF5 file: a group with data, indices, indptr and shape, or MATLAB's")
            chosen = name.strip("/") or (next(iter(found)) if len(found) == 1 else "")
            if chosen not in found:
                what = f"no sparse matrix {name!r}" if name else "several sparse matrices: say which, FILE:NAME"
                raise ValueError(f"{path}: {what}; there are {', '.join(found)}")
            matrix = _reader_of(found[chosen])(found[chosen])
            matrix.check_format(full_check=True)
            return matrix.astype(np.complex128 if matrix.dtype.kind == "c" else np.float64).tocsr()
    except (OSError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: the HDF5 file cannot be read: {error}") from error
