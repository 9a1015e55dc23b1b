"""Sparse matrices and arrays in HDF5 files: those of MATLAB 7.3, AnnData and 10x, by h5py."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import scipy.sparse

_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_PARTS = {"data", "indices", "indptr", "ir", "jc", "shape"}  # of a sparse matrix
_COMPLEX = ("real", "imag")  # MATLAB's
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
    return scipy.sparse.csc_array((_numbers(group["data"]), group["ir"][()], starts), shape=shape)


def _numbers(dataset: Any) -> np.ndarray:
    values = dataset[()]
    return values["real"] + 1j * values["imag"] if values.dtype.names == _COMPLEX else values


def _array(dataset: Any) -> np.ndarray:
    """MATLAB has the elements of a column beside each other, and HDF5 those of a row."""
    return _numbers(dataset).T if "MATLAB_class" in dataset.attrs else _numbers(dataset)


def _compressed(group: Any) -> scipy.sparse.sparray:
    import scipy.sparse

    shape = group.attrs.get("shape", group.attrs.get("h5sparse_shape"))
    shape = tuple(int(extent) for extent in (group["shape"][()] if shape is None else shape))
    starts = group["indptr"][()]
    kind = _form(group)
    if not kind:  # What fits counts. Both fit a square one, which is taken for rows, as SciPy's are, unless 10x wrote it.
        by_columns = "barcodes" in group if shape[0] == shape[1] else len(starts) - 1 == shape[1]
        kind = "csc" if by_columns else "csr"
    if not kind.startswith(("csr", "csc")):
        raise TypeError(f"the matrix {group.name} is in the form {kind!r}, which is not read: save it anew, A.tocsr()")
    form = scipy.sparse.csr_array if kind.startswith("csr") else scipy.sparse.csc_array
    return form((_numbers(group["data"]), group["indices"][()], starts), shape=shape)


def _form(group: Any) -> str:
    """How a group says that its matrix is compressed; empty if it does not."""
    said = [group.attrs[name] for name in ("encoding-type", "h5sparse_format", "format") if name in group.attrs]
    said += [group["format"][()]] if "format" in group else []
    return _text(said[0]) if said else ""


def _holds_array(item: Any) -> bool:
    """Whether this is a vector or matrix of numbers, which MATLAB also has texts as."""
    return (item.ndim in (1, 2) and (item.dtype.kind in "biufc" or item.dtype.names == _COMPLEX)
            and _text(item.attrs.get("MATLAB_class", "")) != "char" and "MATLAB_empty" not in item.attrs)


def _text(attribute: Any) -> str:
    return attribute.decode() if isinstance(attribute, bytes) else str(attribute)


_KINDS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Any]], ...] = (
    (lambda item: "MATLAB_sparse" in item.attrs, _matlab),
    (lambda item: hasattr(item, "keys") and {"data", "indices", "indptr"} <= set(item), _compressed),
    (lambda item: not hasattr(item, "keys") and _holds_array(item), _array),
)


def _reader_of(item: Any) -> Callable[[Any], Any] | None:
    return next((read for is_it, read in _KINDS if is_it(item)), None)


def _found_in(file: Any) -> dict[str, Any]:
    """What can be read, by name, but what a sparse matrix or a cell of MATLAB is made of."""
    found: dict[str, Any] = {"/": file} if _reader_of(file) else {}

    def visit(name: str, item: Any) -> None:
        parent, _, part = name.rpartition("/")
        is_part = part in _PARTS and hasattr(found.get(parent or "/"), "keys")
        if not name.startswith("#") and not is_part and _reader_of(item):
            found[name] = item

    file.visititems(visit)
    return found


def _arrays(found: dict[str, Any]) -> list[str]:
    """Those of more than one row and column, or else those with more than one number, or else all."""
    for fits in (lambda item: min(item.shape) > 1 and item.ndim == 2, lambda item: item.size > 1):
        if names := [name for name, item in found.items() if fits(item)]:
            return names
    return list(found)


def load(path: str, name: str) -> scipy.sparse.csr_array | np.ndarray:
    """The matrix or array of this name, in full or behind its last slash; without one the only sparse matrix, or else the only array.

    Raises
    ------
    ValueError
        If there is none; it says what there is instead.
    """
    try:
        with _h5py(path).File(path, "r") as file:
            found = _found_in(file)
            sparse = [key for key, item in found.items() if hasattr(item, "keys")]
            if not found:
                raise ValueError(f"{path}: no matrix in this HDF5 file: an array, a group with data, indices, indptr and shape, or MATLAB's")
            name = name if name == "/" else name.strip("/")
            fitting = [name] if name in found else [key for key in found if key.endswith("/" + name)] if name else sparse or _arrays(found)
            if len(fitting) != 1:
                there = ", ".join(found)
                raise ValueError(f"{path}: no variable is called {name!r}: it holds {there}" if name
                                 else f"{path}: holds {there}: say which, {path}:NAME")
            [chosen] = fitting
            matrix = _reader_of(found[chosen])(found[chosen])
            work_type = np.complex128 if matrix.dtype.kind == "c" else np.float64
            if chosen not in sparse:
                return matrix.astype(work_type)
            matrix.check_format(full_check=True)
            return matrix.astype(work_type).tocsr()
    except (OSError, KeyError, TypeError) as error:
        raise ValueError(f"{path}: the HDF5 file cannot be read: {error}") from error


def file_of(things: dict[str, Any]) -> bytes:
    """A file of sparse matrices, as AnnData has them, and of arrays."""
    stream = io.BytesIO()
    with _h5py("values").File(stream, "w") as file:
        for name, thing in things.items():
            if not hasattr(thing, "indptr"):
                file[name] = thing
                continue
            group = file.create_group(name)
            group.attrs["encoding-type"], group.attrs["encoding-version"] = "csr_matrix", "0.1.0"
            group.attrs["shape"] = thing.shape
            for part in ("data", "indices", "indptr"):
                group[part] = getattr(thing, part)
    return stream.getvalue()


def _h5py(path: str) -> Any:
    try:
        import h5py
    except ImportError:
        raise ValueError(f"{path}: for HDF5 files h5py is needed: pip install h5py") from None
    return h5py
