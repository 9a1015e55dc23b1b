"""Matrices and vectors on their way into the core."""

from __future__ import annotations

import atexit
import contextlib
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core

if TYPE_CHECKING:
    import scipy.sparse

atexit.register(_core.end_mpi)


def is_sparse(matrix: Any) -> bool:
    """Whether this is a sparse array or matrix, found without importing those."""
    return hasattr(matrix, "tocsr")


def has_matvec(matrix: Any) -> bool:
    """Whether this is an operator as SciPy knows them."""
    return hasattr(matrix, "matvec")


def is_operator(matrix: Any) -> bool:
    """Whether this is known by its products: it has a `matvec`, or is a callable with a shape."""
    return has_matvec(matrix) or (callable(matrix) and hasattr(matrix, "shape"))


def as_array(values: Any, what: str) -> np.ndarray:
    """`values` as an array, or as they are where they are sparse.

    Raises
    ------
    TypeError
        For what is no array.
    ValueError
        For rows of different lengths.
    """
    if is_sparse(values):
        return values
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{what} is a {type(values).__name__}: read a file by ayatori.load({values!r})")
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{what} is a masked array: say what stands for what is masked, by {what}.filled(0)")
    if has_matvec(values) or callable(values):
        raise TypeError(f"{what} is a {type(values).__name__}, of which only products are known: want a sparse matrix or an array here"
                        if hasattr(values, "shape") or has_matvec(values) else
                        f"{what} is a function: give its shape by scipy.sparse.linalg.LinearOperator((n, n), matvec=...)")
    try:
        array = np.asarray(values)
    except ValueError:
        raise ValueError(f"{what} has rows of different lengths") from None
    if array.dtype == object and array.ndim == 0:
        raise TypeError(f"{what} is a {type(values).__name__}: want a sparse matrix or an array")
    return array


def as_csr(matrix: Any, what: str = "A", takes_complex: bool = False) -> scipy.sparse.csr_array:
    """`matrix` (sparse of any format, dense array, or anything numpy makes one of) as compressed sparse rows of doubles.

    Shares memory with `matrix` where that is compressed sparse rows of doubles already. With `takes_complex` a complex one
    becomes such rows of complex128.

    Raises
    ------
    TypeError
        For values that are not real numbers, nor complex ones where these are taken.
    ValueError
        For what is not two-dimensional.
    """
    matrix = as_array(matrix, what)
    import scipy.sparse  # 0.1 s that `import ayatori` need not take

    check_numbers(matrix.dtype, what, takes_complex)
    if matrix.ndim != 2:
        raise ValueError(f"{what} has {matrix.ndim} dimension{'s' if matrix.ndim != 1 else ''}, but has to have 2: rows and columns")
    csr = scipy.sparse.csr_array(matrix if is_sparse(matrix) else as_double_precision(matrix, what))
    data = as_double_precision(csr.data, what)
    if data.dtype != csr.dtype:
        csr = scipy.sparse.csr_array((data, csr.indices, csr.indptr), shape=csr.shape)
    if csr.indices.dtype != csr.indptr.dtype:  # whichever is wider
        csr.indices, csr.indptr = (a.astype(np.int64, copy=False) for a in (csr.indices, csr.indptr))
    return csr


def as_canonical_csr(matrix: Any, what: str = "A", rank: int | None = None, takes_complex: bool = False) -> scipy.sparse.csr_array:
    """The same with ascending columns, each once in a row, and checked to be finite; `matrix` stays as it is.

    `rank`: whose rows these are, for the message.
    """
    csr = as_csr(matrix, what, takes_complex)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    if not np.isfinite(csr.data).all():
        wrong = np.flatnonzero(~np.isfinite(csr.data))
        row = int(np.searchsorted(csr.indptr, wrong[0], side="right")) - 1
        raise ValueError(_not_finite(f"{what}[{row}, {csr.indices[wrong[0]]}]", csr.data[wrong[0]], len(wrong), rank))
    return csr


def check_square(shape: tuple[int, ...], what: str = "A") -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{what} is {' x '.join(map(str, shape))}, but has to be square")


def as_doubles(values: np.ndarray, what: str) -> np.ndarray:
    """Real values as doubles.

    Raises
    ------
    ValueError
        For whole numbers that no double holds.
    """
    doubles = np.asarray(values, dtype=np.float64)
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8 and values.size and max(abs(int(values.max())), abs(int(values.min()))) > 2**53:
        raise ValueError(f"{what} holds whole numbers beyond 2**53, which doubles do not hold: scale it, or round it by {what}.astype(float)")
    return doubles


def as_double_precision(values: np.ndarray, what: str) -> np.ndarray:
    """Complex values as complex128, real ones as doubles, which raises as `as_doubles`."""
    return np.asarray(values, dtype=np.complex128) if is_complex(values.dtype) else as_doubles(values, what)


def _not_finite(place: str, value: complex, count: int, rank: int | None) -> str:
    more = f", and {count - 1} more {'is' if count == 2 else 'are'} not finite" if count > 1 else ""
    where = "" if rank is None else f" in the rows of rank {rank}"
    return f"{place} is {'NaN' if np.isnan(value) else 'infinite'}{where} (counted from 0){more}"


def is_complex(dtype: Any) -> bool:
    return dtype is not None and np.issubdtype(dtype, np.complexfloating)


def as_real_form(matrix: Any) -> scipy.sparse.csr_array:
    """The real matrix that does to (Re x_0, Im x_0, Re x_1, ...), the memory of a complex x, what `matrix` does to x.

    Every entry becomes a block ((re, -im), (im, re)). Norms are the same, a Hermitian matrix becomes a symmetric one, a
    positive definite one stays that, and of an eigenvalue both it and its conjugate are eigenvalues (Day and Heroux 2001, K1).
    """
    import scipy.sparse

    csr = scipy.sparse.csr_array(matrix).astype(np.complex128, copy=False)
    blocks = np.stack([csr.data.real, -csr.data.imag, csr.data.imag, csr.data.real], axis=-1).reshape(-1, 2, 2)
    shape = tuple(2 * extent for extent in csr.shape)
    return as_csr(scipy.sparse.bsr_array((blocks, csr.indices, csr.indptr), shape=shape))


def from_real_form(csr: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """The complex matrix whose real form this is, with ascending columns: the way back."""
    import scipy.sparse

    blocks = csr.tobsr(blocksize=(2, 2))
    values = np.ascontiguousarray(blocks.data[:, :, 0]).view(np.complex128).ravel()
    return scipy.sparse.csr_array((values, blocks.indices, blocks.indptr), shape=(csr.shape[0] // 2, csr.shape[1] // 2))


def rows_for_core(csr: scipy.sparse.csr_array, of_complex: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """The arrays indptr, indices and data, and the number of columns, as the core takes them: of complex systems in the real form."""
    if of_complex:
        csr = as_real_form(csr)
    return csr.indptr, csr.indices, csr.data, csr.shape[1]


def with_shift(csr: scipy.sparse.csr_array, shift: float) -> scipy.sparse.csr_array:
    """``csr - shift * I`` without rounding: every row has an entry more, beside the one it may have on the diagonal."""
    import scipy.sparse

    n = csr.shape[0]
    indices = np.insert(csr.indices, csr.indptr[1:], np.arange(n, dtype=csr.indices.dtype))
    data = np.insert(csr.data, csr.indptr[1:], -float(shift))
    indptr = csr.indptr + np.arange(n + 1, dtype=csr.indptr.dtype)
    return scipy.sparse.csr_array((data, indices, indptr), shape=csr.shape)


def check_real(dtype: np.dtype, what: str) -> None:
    """Raises TypeError unless numbers of this type are real."""
    if np.issubdtype(dtype, np.integer) or np.issubdtype(dtype, np.floating) or dtype == bool:
        return
    if dtype == object:
        raise TypeError(f"{what} holds Python objects (dtype object): make numbers of them by {what}.astype(float)")
    raise TypeError(f"{what} holds {dtype} values, but has to hold real ones")


def check_numbers(dtype: np.dtype, what: str, takes_complex: bool) -> None:
    """Raises TypeError unless numbers of this type are real, or complex where these are taken."""
    if not (takes_complex and is_complex(dtype)):
        check_real(dtype, what)


def as_vector(values: Any, what: str, length: int) -> np.ndarray:
    """`values`, of shape (length,) or (length, 1), as contiguous finite doubles or complex128; their own memory where they are that."""
    vector = as_columns(values, what, length, takes_complex=True)
    if vector.ndim == 2 and vector.shape[1] != 1:
        raise ValueError(f"{what} has shape {vector.shape}, but has to be one vector of {length} elements")
    return vector.ravel()


def as_columns(values: Any, what: str, length: int, rank: int | None = None, takes_complex: bool = False) -> np.ndarray:
    """`values`, of shape (length,) or (length, k), as finite doubles, one column after the other; sparse ones become dense.

    With `takes_complex` complex ones become complex128.
    """
    array = as_array(values, what)
    if is_sparse(array):
        array = array.toarray()
    check_numbers(array.dtype, what, takes_complex)
    if array.ndim not in (1, 2) or array.shape[0] != length:
        help_text = f": transpose it by {what}.T" if array.ndim == 2 and array.shape[1] == length else ""
        raise ValueError(f"{what} has shape {array.shape}, but A has {length} rows: want ({length},) or ({length}, k){help_text}")
    columns = np.asfortranarray(as_double_precision(array, what))
    if not np.isfinite(columns).all():
        wrong = np.argwhere(~np.isfinite(columns))
        raise ValueError(_not_finite(f"{what}[{', '.join(map(str, wrong[0]))}]", columns[tuple(wrong[0])], len(wrong), rank))
    return columns


def is_single(*dtypes: Any) -> bool:
    """Whether results are of single precision: where everything given is."""
    return all(dtype in (np.float32, np.complex64) for dtype in dtypes)


def on_any_rank(comm: Any, holds: bool) -> bool:
    """Collective, where there is a communicator: whether it holds on one rank at least."""
    return holds if comm is None else any(comm.allgather(holds))


def comm_address(comm: Any) -> int:
    """Where the MPI_Comm of an mpi4py communicator is; 0 for None, which stands for this process alone.

    Raises
    ------
    TypeError
        If `comm` is not mpi4py's.
    OSError
        If mpi4py speaks through another MPI library than this package.
    """
    if comm is None:
        return 0
    from mpi4py import MPI

    if not isinstance(comm, MPI.Comm):
        raise TypeError(f"comm is a {type(comm).__name__}, not a communicator of mpi4py")
    theirs, ours = MPI.Get_library_version().split(",")[0].split("\n")[0], _core.mpi_version()
    if theirs.strip() != ours.strip():
        raise OSError(f"mpi4py uses {theirs.strip()}, and ayatori was built with {ours.strip()}: install mpi4py for that MPI "
                      "(MPI4PY_MPIABI, or pip install --no-binary mpi4py mpi4py)")
    return MPI._addressof(comm)


@contextlib.contextmanager
def agreement(ranks: int, agree: Callable[[str], None]) -> Iterator[None]:
    """What is raised inside on one rank is raised on all: there as ValueError. `agree` is collective; one rank needs it not."""
    try:
        yield
    except BaseException as error:
        if ranks > 1:
            with contextlib.suppress(ValueError):
                agree(str(error) or type(error).__name__)
        raise
    if ranks > 1:
        agree("")


def agreement_on(comm: Any, address: int) -> contextlib.AbstractContextManager[None]:
    """The same on a communicator of mpi4py that is at this address, or None."""
    return agreement(1 if comm is None else comm.size, lambda complaint: _core.agree(address, complaint))


def load(source: str | os.PathLike) -> scipy.sparse.csr_array:
    """A matrix from a file, or made by a generator.

    Parameters
    ----------
    source : str or path
        A file (Matrix Market, npz, npy, MAT, Harwell-Boeing, plain columns, PETSc binary; also compressed) or a spec such as
        ``"poisson3d-7:n=80"`` (``ayatori generate --help`` lists them). With h5py, also sparse matrices in HDF5: those of MATLAB 7.3,
        and groups of data, indices, indptr and shape (AnnData, 10x). ``"FILE:NAME"`` is one of several.

    Returns
    -------
    scipy.sparse.csr_array
        Of doubles, or of complex128 where the matrix is complex.

    Raises
    ------
    ValueError
        If the file or the spec is wrong; the text says where.
    """
    import scipy.sparse

    from . import _hdf5

    source = os.fspath(source)
    if place := _hdf5.place_in(source):
        return _hdf5.load(*place)
    indptr, indices, data, columns, of_complex = _core.load(source)
    csr = scipy.sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, columns))
    return from_real_form(csr) if of_complex else csr
