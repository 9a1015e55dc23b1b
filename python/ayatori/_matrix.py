"""Matrices and vectors on their way into the core."""

from __future__ import annotations

import atexit
import contextlib
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


def as_csr(matrix: Any) -> scipy.sparse.csr_array:
    """`matrix` (sparse of any format, dense array, or anything numpy makes one of) as compressed sparse rows of doubles.

    Shares memory with `matrix` where that is compressed sparse rows of doubles already.

    Raises
    ------
    TypeError
        For complex and other values that are not numbers.
    ValueError
        For what is not two-dimensional.
    """
    import scipy.sparse  # 0.1 s that `import ayatori` need not take

    if not scipy.sparse.issparse(matrix):
        matrix = np.asarray(matrix)
    check_real(matrix.dtype, "the matrix")
    if matrix.ndim != 2:
        raise ValueError(f"the matrix has {matrix.ndim} dimensions, not 2")
    csr = scipy.sparse.csr_array(matrix)
    if csr.dtype != np.float64:
        csr = csr.astype(np.float64)
    if csr.indices.dtype != csr.indptr.dtype:  # whichever is wider
        csr.indices, csr.indptr = (a.astype(np.int64, copy=False) for a in (csr.indices, csr.indptr))
    return csr


def as_canonical_csr(matrix: Any) -> scipy.sparse.csr_array:
    """The same with ascending columns, each once in a row; `matrix` stays as it is."""
    csr = as_csr(matrix)
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    return csr


def is_complex(dtype: Any) -> bool:
    return dtype is not None and np.issubdtype(dtype, np.complexfloating)


def as_real_form(matrix: Any) -> scipy.sparse.csr_array:
    """The real matrix that does to (Re x_0, Im x_0, Re x_1, ...), the memory of a complex x, what `matrix` does to x.

    Every entry becomes a block ((re, -im), (im, re)). Norms are the same, a Hermitian matrix becomes a symmetric one, a
    positive definite one stays that, and of an eigenvalue both it and its conjugate are eigenvalues (Day and Heroux 2001, K1).
    """
    import scipy.sparse

    csr = scipy.sparse.csr_array(matrix).astype(np.complex128)
    blocks = np.stack([csr.data.real, -csr.data.imag, csr.data.imag, csr.data.real], axis=-1).reshape(-1, 2, 2)
    shape = tuple(2 * extent for extent in csr.shape)
    return as_csr(scipy.sparse.bsr_array((blocks, csr.indices, csr.indptr), shape=shape))


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
    if not (np.issubdtype(dtype, np.integer) or np.issubdtype(dtype, np.floating) or dtype == bool):
        raise TypeError(f"{what} holds {dtype} values, but has to hold real ones (for complex systems: cg, minres, bicgstab, gmres)")


def as_vector(values: Any, what: str, length: int) -> np.ndarray:
    """`values`, of shape (length,) or (length, 1), as contiguous doubles; the memory of `values` where it is that already."""
    vector = np.asarray(values)
    check_real(vector.dtype, what)
    if vector.shape not in ((length,), (length, 1)):
        raise ValueError(f"{what} has shape {vector.shape}, but the matrix has {length} rows")
    return np.ascontiguousarray(vector.ravel(), dtype=np.float64)


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


def load(source: str) -> scipy.sparse.csr_array:
    """A matrix from a file, or made by a generator.

    Parameters
    ----------
    source : str
        A file (Matrix Market, npz, npy, MAT, Harwell-Boeing, PETSc binary; also compressed) or a spec such as ``"poisson3d-7:n=80"``
        (``ayatori generate --help`` lists them).

    Returns
    -------
    scipy.sparse.csr_array
        Of doubles.

    Raises
    ------
    ValueError
        If the file or the spec is wrong; the text says where.
    """
    import scipy.sparse

    indptr, indices, data, columns = _core.load(source)
    return scipy.sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, columns))
