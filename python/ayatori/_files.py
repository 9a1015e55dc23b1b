"""Matrices and vectors from files, and into them."""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core, _hdf5
from ._matrix import as_array, as_csr, as_double_precision, check_numbers, from_real_form, is_complex, is_sparse, rows_for_core

if TYPE_CHECKING:
    import scipy.sparse


def load(source: str | os.PathLike[str]) -> scipy.sparse.csr_array | np.ndarray:
    """A matrix from a file, or made by a generator.

    Parameters
    ----------
    source : str or path
        A file (Matrix Market, npz, npy, MAT, Harwell-Boeing, plain columns, PETSc binary; also compressed) or a spec such as
        ``"poisson3d-7:n=80"`` (``ayatori generate --help`` lists them). With h5py, also HDF5: sparse matrices of MATLAB 7.3, groups of
        data, indices, indptr and shape (SciPy, AnnData, 10x), and arrays. ``"FILE:NAME"`` is one of several.

    Returns
    -------
    scipy.sparse.csr_array, or ndarray for an array in HDF5
        Of doubles, or of complex128 where the matrix is complex. A vector in another file has one column.

    Raises
    ------
    ValueError
        If the file or the spec is wrong; the text says where.
    """
    import scipy.sparse

    if not isinstance(source, (str, os.PathLike)) or not os.fspath(source):
        raise ValueError(f"source is {source!r}, but must be the name of a file, or of a generator")
    source = os.fspath(source)
    if place := _hdf5.place_in(source):
        return _hdf5.load(*place)
    indptr, indices, data, columns, of_complex = _core.load(source)
    csr = scipy.sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, columns))
    return from_real_form(csr) if of_complex else csr


def save(path: str | os.PathLike[str], values: Any) -> None:
    """Writes a matrix or a vector as `load` reads it: the whole file or none.

    Parameters
    ----------
    path : str or path
        How it ends says what is written: ``.mtx`` and ``.mtx.gz`` (Matrix Market), ``.petsc``, ``.npz`` (sparse matrices, SciPy's),
        ``.npy`` (arrays), ``.mat`` (MATLAB 5), ``.h5`` and ``.hdf5`` (by h5py; sparse matrices as AnnData has them).
    values : sparse array or matrix of any format, array_like of one or two dimensions, or dict
        Real or complex. A dict of several by their names is for ``.mat``, ``.h5`` and ``.hdf5``, where the name of one is "A", or "b"
        of a vector.

    Raises
    ------
    ValueError
        If files that end so do not hold such values.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import numpy as np, tempfile, ayatori
    >>> path = tempfile.mkdtemp() + "/system.mat"
    >>> ayatori.save(path, {"A": ayatori.load("poisson2d-5:n=30"), "b": np.ones(900)})
    >>> ayatori.load(path + ":A").shape
    (900, 900)
    """
    path = os.fspath(path)
    ending = os.path.splitext(path)[1]
    if not path.endswith(_ENDINGS):
        raise ValueError(f"{path}: the name of a file to write ends in one of {', '.join(_ENDINGS)}")
    if ending in _CONTAINERS:
        named = values if isinstance(values, dict) else {None: values}
        things = {name or ("b" if thing.ndim == 1 else "A"): thing
                  for name, thing in ((name, _checked(value, name or "values")) for name, value in named.items())}
        _core.write_file(path, _CONTAINERS[ending](things))
        return
    if isinstance(values, dict):
        raise ValueError(f"{path}: one file for each: {', '.join(_CONTAINERS)} hold several")
    thing = _checked(values, "values")
    of_complex = is_complex(thing.dtype)
    if ending == ".npy":
        if is_sparse(thing):
            raise ValueError(f"{path}: NumPy's files hold arrays: write a sparse matrix to a file that ends in .npz")
        _core.write_file(path, _npy(thing))
    elif thing.ndim == 1:
        _core.save_vector(path, np.ascontiguousarray(thing).view(np.float64), of_complex)
    else:
        _core.save_matrix(path, *rows_for_core(as_csr(thing, "values", takes_complex=True), of_complex), of_complex)


def _checked(values: Any, what: str) -> Any:
    """Of double precision, real or complex; a sparse matrix or an array of one or two dimensions."""
    thing = as_array(values, what)
    check_numbers(thing.dtype, what, takes_complex=True)
    if is_sparse(thing) and thing.ndim == 2:
        return as_csr(thing, what, takes_complex=True)
    if is_sparse(thing):
        thing = thing.toarray()
    if thing.ndim not in (1, 2):
        raise ValueError(f"{what} has {thing.ndim} dimensions, but has to have 1 or 2")
    return as_double_precision(thing, what)


def _npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def _mat(things: dict[str, Any]) -> bytes:
    import scipy.io
    import scipy.sparse

    stream = io.BytesIO()
    scipy.io.savemat(stream, {name: scipy.sparse.csc_array(thing) if is_sparse(thing) else thing for name, thing in things.items()},
                     do_compression=True, oned_as="column")
    return stream.getvalue()


_ENDINGS = (".mtx", ".mtx.gz", ".petsc", ".npz", ".npy", ".mat", ".h5", ".hdf5")
_CONTAINERS = {".mat": _mat, ".h5": _hdf5.file_of, ".hdf5": _hdf5.file_of}
