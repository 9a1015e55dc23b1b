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


_WANTED = "give a sparse matrix or an array of numbers"


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
        For rows of different lengths, and sparse entries outside of the matrix.
    """
    if is_sparse(values):
        check_places(values, what)
        return values
    if values is None:
        raise TypeError(f"{what} is None: {_WANTED}")
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
        raise TypeError(f"{what} is a {type(values).__name__}: {_WANTED}")
    return array


def as_matrix(matrix: Any, what: str, work_type: type = np.complex128, is_finite: bool = True) -> Any:
    """A two-dimensional `matrix`: an operator, a sparse one or an array, which have finite entries if `is_finite`.

    Raises
    ------
    TypeError
        For what is none of these, and for numbers that `work_type` does not hold.
    ValueError
        For other numbers of dimensions, NaN and infinity.
    """
    has_entries = not is_operator(matrix)
    if has_entries:
        matrix = as_array(matrix, what)
    if len(matrix.shape) != 2:
        raise ValueError(f"{what} {_dimensions(len(matrix.shape))}")
    if getattr(matrix, "dtype", None) is not None:
        check_numbers(np.dtype(matrix.dtype), what, is_complex(work_type))
    if has_entries and is_finite:
        check_finite(matrix, what)
    return matrix


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
        raise ValueError(f"{what} {_dimensions(matrix.ndim)}")
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
    check_finite(csr, what, rank)
    return csr


def check_finite(values: Any, what: str, rank: int | None = None) -> None:
    """Raises ValueError with the place of the first NaN or infinity in an array or a sparse matrix."""
    numbers = getattr(values, "data", None) if is_sparse(values) else values
    if isinstance(numbers, np.ndarray) and numbers.dtype != object and np.isfinite(numbers).all():
        return
    if is_sparse(values):
        entries = values.tocoo()
        wrong = ~np.isfinite(entries.data)
        found, places = entries.data[wrong], [axis[wrong] for axis in _positions(entries)]
    else:
        places = np.nonzero(~np.isfinite(values))
        found = values[places]
    if found.size:
        raise ValueError(_not_finite(f"{what}[{', '.join(str(axis[0]) for axis in places)}]", found[0], found.size, rank))


def check_places(matrix: Any, what: str) -> None:
    """Raises ValueError where entries are outside of a sparse matrix: what converts it would write outside of its memory."""
    lists = []
    form = getattr(matrix, "format", "")  # of classes that are not SciPy's there may be none
    if form in ("csr", "csc", "bsr"):
        starts, indices = matrix.indptr, matrix.indices
        if starts[0] != 0 or starts[-1] > min(len(indices), len(matrix.data)) or (np.diff(starts) < 0).any():
            raise ValueError(f"{what}.indptr has to begin with 0, never to fall, and to end with the number of entries, {len(indices)}")
        width = matrix.blocksize[1] if form == "bsr" else 1
        lists = [("indices", indices[:starts[-1]], matrix.shape[0 if form == "csc" else -1] // width)]
    elif form == "coo":
        lists = [(f"coords[{axis}]", positions, matrix.shape[axis]) for axis, positions in enumerate(_positions(matrix))]
    for name, positions, size in lists:
        if positions.size and (positions.min() < 0 or positions.max() >= size):
            wrong = int(np.argmax((positions < 0) | (positions >= size)))
            raise ValueError(f"{what}.{name}[{wrong}] is {positions[wrong]}, but has to be 0 to {size - 1}")


def _positions(entries: Any) -> tuple[np.ndarray, ...]:
    """Of a matrix in coordinates, as SciPy has them since 1.13, and before."""
    return entries.coords if hasattr(entries, "coords") else (entries.row, entries.col)


def check_name(M: Any, advice: str) -> None:
    """Raises TypeError where `M` is the name of a preconditioner, not one."""
    if isinstance(M, str):
        raise TypeError(f"M is {M!r}, but has to be a matrix or an operator: {advice}")


def check_shape(shape: tuple[int, ...], what: str, rows: int) -> None:
    if tuple(shape) != (rows, rows):
        raise ValueError(f"{what} is {extent(shape)}, but A has {rows} rows: want {rows} x {rows}")


def as_count(value: Any, what: str) -> int:
    """Raises TypeError for what is no whole number."""
    try:
        if not isinstance(value, (bool, np.bool_)) and int(value) == value:
            return int(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise TypeError(f"{what} is {value!r}, but must be a whole number")


def as_number(value: Any, what: str, is_negative_too: bool = False) -> float:
    """Raises ValueError for what is no real number, and for a negative one unless these are taken."""
    if isinstance(value, (int, float, np.number)) and not is_complex(type(value)) and (value >= 0 or (is_negative_too and value == value)):
        return float(value)
    raise ValueError(f"{what} is {value!r}, but must be a number" + ("" if is_negative_too else ", and not negative"))


def check_function(value: Any, what: str) -> None:
    if value is not None and not callable(value):
        raise TypeError(f"{what} is {value!r}, but must be a function")


def extent(shape: tuple[int, ...]) -> str:
    """In words."""
    if len(shape) == 0:
        return "a single number"
    return f"a vector of {shape[0]}" if len(shape) == 1 else " x ".join(map(str, shape))


def check_square(shape: tuple[int, ...], what: str = "A") -> None:
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(f"{what} is {extent(shape)}, but has to be square")


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


def _dimensions(count: int) -> str:
    if count == 0:
        return "is a single number, but has to have rows and columns"
    return f"has {count} dimension{'s' if count != 1 else ''}, but has to have 2: rows and columns"


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

    csr = as_csr(matrix, takes_complex=True).astype(np.complex128, copy=False)
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
    if dtype == object or dtype.kind in "SU":
        kind = "Python objects" if dtype == object else "strings"
        raise TypeError(f"{what} holds {kind} (dtype {dtype}): make numbers of them by numpy.array({what}, dtype=float)")
    raise TypeError(f"{what} holds {dtype} values, but has to hold real {'ones' if is_complex(dtype) else 'numbers'}")


def check_numbers(dtype: np.dtype, what: str, takes_complex: bool) -> None:
    """Raises TypeError unless numbers of this type are real, or complex where these are taken."""
    if not (takes_complex and is_complex(dtype)):
        check_real(dtype, what)


def as_vector(values: Any, what: str, length: int, counted: str = "rows") -> np.ndarray:
    """`values`, of shape (length,) or (length, 1), as contiguous finite doubles or complex128; their own memory where they are that."""
    return as_columns(values, what, length, takes_complex=True, counted=counted, is_one=True).ravel()


def as_columns(values: Any, what: str, length: int, rank: int | None = None, takes_complex: bool = False, counted: str = "rows",
               is_one: bool = False) -> np.ndarray:
    """`values`, of shape (length,) or (length, k), as finite doubles, one column after the other; sparse ones become dense.

    With `takes_complex` complex ones become complex128. `counted`: what A has this many of. `is_one`: k has to be 1.
    """
    array = as_array(values, what)
    if is_sparse(array):
        array = array.toarray()
    check_numbers(array.dtype, what, takes_complex)
    if array.ndim not in (1, 2) or array.shape[0] != length or (is_one and array.size != length):
        help_text = f": transpose it by {what}.T" if array.ndim == 2 and array.shape[1] == length else ""
        raise ValueError(f"{what} has shape {array.shape}, but A has {length} {counted}: want ({length},) or ({length}, {1 if is_one else 'k'}){help_text}")
    columns = np.asfortranarray(as_double_precision(array, what))
    check_finite(columns, what, rank)
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
