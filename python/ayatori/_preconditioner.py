"""Preconditioners for the methods of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _core
from . import _words as words
from ._matrix import (agreement, agreement_on, as_canonical_csr, as_vector, check_square, comm_address, is_complex, on_any_rank, rows_for_core,
                      set_row_facts)
from ._options import explained
from ._solve import OPTIONS

if TYPE_CHECKING:
    import scipy.sparse.linalg


class Preconditioner:
    """A preconditioner of a matrix: the same linear map in every application. Made by `preconditioner`.

    Attributes
    ----------
    name : str
        Of the preconditioner, as `solve` names it.
    why : str
        Why it is that one, and what its set-up has to say.
    is_symmetric : bool
        Whether it is symmetric, or Hermitian, positive definite if the matrix is, so that CG may have it.
    dtype : numpy.dtype
        complex128 of a complex matrix, float64 of a real one.
    """

    def __init__(self, core: Any, comm: Any, of_complex: bool) -> None:
        self._core = core
        self._comm = comm
        self.dtype = np.dtype(np.complex128 if of_complex else np.float64)
        self._width = 2 if of_complex else 1  # rows that the core has for each
        self.name: str = core.name
        self.why: str = core.why
        self.is_symmetric: bool = core.is_symmetric

    def __reduce__(self) -> Any:
        raise TypeError("a Preconditioner lies in the memory of this process and cannot be pickled: pickle A and the options, and make it anew")

    @property
    def shape(self) -> tuple[int, int]:
        """Of the whole matrix."""
        n = self._core.rows // self._width
        return n, n

    @property
    def local_rows(self) -> int:
        """Of this rank."""
        return self._core.local_rows // self._width

    def apply(self, r: Any) -> np.ndarray:
        """``M @ r``, where M is near the inverse of the matrix. Collective.

        Parameters
        ----------
        r : array_like, shape (n,) or (n, 1)
            Real or complex. With a communicator, this rank's rows.

        Returns
        -------
        z : ndarray, shape (n,)
            Complex where the matrix or `r` is.
        """
        with agreement(self._core.ranks, self._core.agree):
            r = as_vector(r, "r", self.local_rows)
        if on_any_rank(self._comm, is_complex(r.dtype)) and not is_complex(self.dtype):
            return self._apply(np.ascontiguousarray(r.real)) + 1j * self._apply(np.ascontiguousarray(r.imag))
        return self._apply(r.astype(self.dtype, copy=False))

    def _apply(self, r: np.ndarray) -> np.ndarray:
        z = np.empty_like(r)
        self._core.apply(r.view(np.float64), z.view(np.float64))
        return z

    def aspreconditioner(self, cycle: str | None = None) -> scipy.sparse.linalg.LinearOperator:
        """The operator that methods of SciPy and PyAMG take as ``M``. `cycle` is there as PyAMG has it, and means nothing.

        Of a matrix with a communicator it acts on this rank's rows.
        """
        import scipy.sparse.linalg  # which takes longer than a small solve

        n = self.local_rows
        adjoint = self.apply if self.is_symmetric else None
        return scipy.sparse.linalg.LinearOperator((n, n), matvec=self.apply, rmatvec=adjoint, dtype=self.dtype)

    def __repr__(self) -> str:
        return f"<{self.shape[0]}x{self.shape[1]} preconditioner {self.name}>"


OBEYED = {"overlap", "fill", "triangular", "degree", "drop", "ordering", "complement", "factor_precision", "low_rank", "exclude", "threads"}


@explained()
def preconditioner(A: Any, name: words.Preconditioner = "auto", *, comm: Any = None, coordinates: Any = None, near_nullspace: Any = None,
                   fields: Any = None,
                   # Written by generate_options.py:
                   overlap: int = 0, fill: int = -1, triangular: words.Triangular = "auto", degree: int = 4,
                   drop: float = 0.001, complement: words.Complement = "auto", ordering: words.Ordering = "auto",
                   factor_precision: words.FactorPrecision = "double", low_rank: float = 0.0, exclude: Sequence[str] = (),
                   threads: int = 0,
                   # to here.
                   ) -> Preconditioner:
    """Builds a preconditioner, for instance for a method of SciPy or PyAMG.

    Parameters
    ----------
    A : sparse array or matrix of any format, or ndarray, shape (n, n)
        Real or complex. With `comm`, this rank's rows, shape (n_local, n).
    name : str
        One that `solve` has, or ``"auto"``: that of the choice which is expected to solve with the matrix soonest; of a symmetric
        matrix, a symmetric one.
    comm : mpi4py.MPI.Comm, optional
        The ranks that hold the matrix; calls are then collective.
    coordinates, near_nullspace, fields, and the options
        As for `Solver`: those that a preconditioner obeys.

    Raises
    ------
    ValueError
        For shapes and options that are wrong, and where the matrix does not admit the preconditioner.

    Examples
    --------
    >>> import numpy as np, scipy.sparse.linalg, ayatori
    >>> A = ayatori.load("poisson2d-5:n=30")
    >>> M = ayatori.preconditioner(A, "amg").aspreconditioner()
    >>> x, info = scipy.sparse.linalg.cg(A, np.ones(900), M=M)
    >>> info
    0
    """
    given = OPTIONS.given(locals())
    address = comm_address(comm)
    rank = None if comm is None else comm.rank
    with agreement_on(comm, address):
        csr = as_canonical_csr(A, rank=rank, takes_complex=True)
        if comm is None:
            check_square(csr.shape)
    of_complex = on_any_rank(comm, is_complex(csr.dtype))
    with agreement_on(comm, address):
        core_options = _core.Options()
        set_row_facts(core_options, given, csr.shape[0], rank, of_complex, coordinates=coordinates, near_nullspace=near_nullspace, fields=fields)
        OPTIONS.set(core_options, {**given, "preconditioner": name})
        arrays = rows_for_core(csr, of_complex)
    return Preconditioner(_core.Preconditioner(*arrays, address, core_options), comm, of_complex)
