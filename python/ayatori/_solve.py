"""Tuned solves of sparse linear systems."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import _core
from . import _words as words
from ._machine import Profile, find_profile
from ._matrix import (agreement, agreement_on, as_array, as_canonical_csr, as_columns, as_double_precision, check_finite, check_name, check_numbers,
                      check_shape, check_square, comm_address, extent, has_matvec, is_complex, is_operator, is_single, is_sparse, on_any_rank,
                      rows_for_core, set_row_facts)
from ._options import Options, explained
from ._result import SolveResult, adopt

Progress = Callable[[str, int, float], Any]

# A library writes no files unasked.
OPTIONS = Options(_core.solve_options(), {"knowledge": "none"}, own=("rtol", "profile", "coordinates", "fields"))
ELSEWHERE = {"rhs": "b is an argument of its own", "least_squares": "lsmr() and lsqr() do that", "output": "x is in the result",
             "json": "the result has it as report", "explain": "the result has explain()", "quiet": "nothing is said unless progress=True"}


class Solver:
    """Solves several systems with one matrix: what the first solve finds out, the next ones go by.

    Parameters
    ----------
    A : sparse array or matrix of any format, ndarray, LinearOperator, or callable with a shape; shape (n, n)
        Real or complex. With `comm`, this rank's rows of it, shape (n_local, n): ranks hold contiguous blocks in their order. Where it
        is compressed sparse rows it is copied once, into the core; other formats are converted first. Of an operator only products are
        used, and nothing is tuned: method "auto" is then gmres. With `comm` it maps this rank's elements of a vector to this rank's
        elements of the product, shape (n_local, n_local), and is called on all ranks. It is complex where its dtype is.
    near : sparse array or matrix of any format, or ndarray, shape (n, n), optional
        With an operator: a matrix near it, of which the preconditioner is made; "auto" is then ilu, or ic where the method wants a
        symmetric one.
    M : Preconditioner, LinearOperator, sparse matrix, ndarray or callable, shape (n, n), optional
        Approximates the inverse of `A`, instead of a preconditioner that is chosen; method "auto" is then fgmres, which lets it differ
        from one application to the next. With `comm`, a `Preconditioner`, or an operator as `A` would be.
    comm : mpi4py.MPI.Comm, optional
        The ranks that hold the matrix. Every call is then collective. Without it this process solves alone.
    rtol : float, default 1e-8, or 1e-5 where `A` is of single precision (`solve`: where b is, too)
        Converged means ``norm(b - A @ x) <= rtol * norm(b)``.
    profile : Profile, str, "none", optional
        Of this machine: a measured one, a file or a published machine's name. By default the one that `probe` has kept, if
        it has.
    coordinates : array_like, shape (nodes, 2) or (nodes, 3), or str, optional
        Where the nodes of an elastic body are, two or three rows of the matrix each; with `comm`, those of this rank's rows. A
        str names a matrix file. ``amg`` then knows the rotations. Of real matrices only.
    near_nullspace : array_like, shape (n,) or (n, k), optional
        Vectors that `A` nearly annihilates, for ``amg``, such as the motions of a rigid body; with `comm`, this rank's rows. Real, or
        complex where `A` is.
    fields : array_like, shape (n,), or str, optional
        1 for each row of a saddle point that is a constraint, 0 for the others; with `comm`, this rank's rows. A str names a file.
        Without, ``schur`` looks for them.
    {options}

    Raises
    ------
    ValueError
        For shapes and options that are wrong or contradict each other, and for NaN and infinity, with the place of the first one.
    TypeError
        For values that are not numbers.
    OSError
        Where memory or MPI fails.

    Notes
    -----
    The method runs without the GIL. Calls from several threads go one after the other.
    """

    @explained(ELSEWHERE)
    def __init__(self, A: Any, *, near: Any = None, M: Any = None, comm: Any = None, rtol: float | None = None,
                 profile: Profile | str | os.PathLike[str] | None = None, coordinates: Any = None, near_nullspace: Any = None,
                 fields: Any = None,
                 # Written by generate_options.py:
                 time_limit: float = 0.0, max_iterations: int = 0, method: words.Method = "auto",
                 preconditioner: words.Preconditioner = "auto", overlap: int = 0, fill: int = -1,
                 triangular: words.Triangular = "auto", degree: int = 4, drop: float = 0.001,
                 complement: words.Complement = "auto", ordering: words.Ordering = "auto",
                 factor_precision: words.FactorPrecision = "double", low_rank: float = 0.0, reproducible: bool = False,
                 deterministic: bool = False, restart: int | str = "auto",
                 orthogonalization: words.Orthogonalization = "auto", kernel: words.Kernel = "auto",
                 halo: words.Halo = "auto", device: words.Device = "auto", exclude: Sequence[str] = (),
                 tuning_share: float = 0.1, use_ranks: words.UseRanks = "auto", partition: words.Partition = "contiguous",
                 placement: words.Placement = "none", network: str = "auto", collectives: str | os.PathLike[str] = "auto",
                 knowledge: str | os.PathLike[str] = "none", replay: str | os.PathLike[str] | None = None,
                 checkpoint: str | os.PathLike[str] | None = None, every: float | None = None,
                 resume: str | os.PathLike[str] | None = None, threads: int = 0,
                 # to here.
                 ) -> None:
        given = OPTIONS.given(locals())
        self._solves, self._options = 0, {**given, **({} if rtol is None else {"rtol": rtol})}
        address = comm_address(comm)
        self._comm, self._rank = comm, None if comm is None else comm.rank
        rank = self._rank
        self._is_single = self._on_all_ranks(is_single(getattr(A, "dtype", None)))
        with agreement_on(comm, address):
            products = is_operator(A)
            shape, matrix = _shape_and_matrix(A, near, rank)
            if comm is None or products:
                check_square(shape)
        if comm is not None and len(set(comm.allgather((products, near is None, M is None)))) > 1:
            raise ValueError("A is an operator, or near or M is given, on some ranks only: give the same on all")
        self._is_complex = on_any_rank(comm, any(is_complex(getattr(one, "dtype", None)) for one in (A, matrix, M)))
        self._width = 2 if self._is_complex else 1  # rows that the core has for each
        with agreement_on(comm, address):
            core_options = _core.Options()
            core_options.profile, core_options.profile_name = find_profile(profile)
            set_row_facts(core_options, given, shape[0], rank, self._is_complex, coordinates=coordinates, near_nullspace=near_nullspace,
                           fields=fields)
            OPTIONS.set(core_options, {**given, "rtol": self._default_rtol() if rtol is None else rtol})
            arrays = None if matrix is None else rows_for_core(matrix, self._is_complex)
            if products or M is not None:
                _check_operator(products, near is not None, M is not None, given, coordinates, near_nullspace, fields)
                if near is not None and (matrix.shape[0] != shape[0] or (comm is None and matrix.shape != shape)):
                    raise ValueError(f"near is {extent(matrix.shape)}, but A is {extent(shape)}")
                product = _function(A, "A", shape[0], self._is_complex) if products else None
                function, built = _as_preconditioner(M, shape[0], comm, self._is_complex)
            elif near is not None:
                raise ValueError("near is for an operator: A is a matrix, of which preconditioners are made. Give M=preconditioner(near) to have "
                                 "one of another matrix")
        if products or M is not None:
            self._core = _core.OperatorSolver(address, product, arrays, function, built, core_options)
        else:
            self._core = _core.Solver(*arrays, address, core_options)

    def _default_rtol(self) -> float:
        return 1e-5 if self._is_single else OPTIONS.table["rtol"][2]

    def _on_all_ranks(self, holds: bool) -> bool:
        return not on_any_rank(self._comm, not holds)

    def __reduce__(self) -> Any:
        raise TypeError("a Solver holds set-ups in the memory of this process and cannot be pickled: pickle A and the options, and make it anew")

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self._options.items())
        kept = self.reuse or ("nothing is set up yet" if isinstance(self._core, _core.Solver) else "nothing is kept between solves")
        return (f"<Solver of {extent(self.shape)}, {'complex' if self._is_complex else 'real'}{options}; "
                f"{self._solves} solve{'s' if self._solves != 1 else ''}, {kept}>")

    @property
    def shape(self) -> tuple[int, int]:
        """Of the whole matrix."""
        n = self._core.rows // self._width
        return n, n

    def solve(self, b: Any, x0: Any = None, *, progress: Progress | bool | None = None, block: int | str = "auto") -> SolveResult:
        """Solves ``A @ x = b`` and proves it. Collective.

        The first solve is tuned; later ones begin with the choice it came to and with its preconditioner, and are tuned anew
        where that fails them.

        Parameters
        ----------
        b : array_like or sparse, shape (n,) or (n, k)
            Right-hand side, or k of them, which share set-ups, and products where that pays; with a communicator, this rank's rows.
            Doubles are used where they are, and so are numbers of complex128 where `A` is complex. With a real `A`, real and imaginary
            part of a complex one are two right-hand sides.
        x0 : array_like, shape of b, optional
            Starting guess, which is left as it is; zeros by default.
        progress : callable or bool, optional
            Called as ``progress(choice, iteration, relative_residual)`` after every iteration. An exception ends the solve.
            True: a line on the terminal tells how far it is, on rank 0.
        block : int or str, default "auto"
            Right-hand sides that are solved at once, at most: auto, off, or 1 to 8.

        Returns
        -------
        SolveResult

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C, within an iteration.
        """
        n = self._core.local_rows // self._width
        with agreement(self._core.ranks, self._core.agree):
            given = as_array(b, "b")
            columns = as_columns(given, "b", n, self._rank, takes_complex=True)
            guess = np.zeros(columns.shape) if x0 is None else as_columns(x0, "x0", n, self._rank, takes_complex=True)
            if guess.size != columns.size:
                raise ValueError(f"x0 has shape {guess.shape}, and b has {columns.shape}: give a guess for each right-hand side")
            if not (progress is None or isinstance(progress, bool) or callable(progress)):
                raise TypeError(f"progress is {progress!r}, but must be a function or a bool")
            if columns.ndim == 2 and columns.shape[1] == 0:
                raise ValueError("b has no columns")
            at_once = _at_once(block, 1 if columns.ndim == 1 else columns.shape[1])
        single = self._on_all_ranks(self._is_single and is_single(given.dtype))
        if self._comm is not None and len(set(self._comm.allgather((columns.shape[1:], at_once)))) > 1:
            raise ValueError("b has another number of columns, or block is another, on another rank")
        of_complex = self._is_complex or on_any_rank(self._comm, is_complex(columns.dtype) or is_complex(guess.dtype))
        in_parts = of_complex and not self._is_complex
        x = np.empty(columns.shape, np.complex128 if of_complex else np.float64, order="F")
        x[...] = guess.reshape(columns.shape)
        right, solutions = (_core_vectors(numbers.astype(x.dtype, order="F", copy=False), in_parts) for numbers in (columns, x))
        run, earlier = self._run(right, solutions, at_once, progress)
        self._solves += len(right)
        proofs = None
        if single:
            solutions[...] = solutions.astype(np.float32)
            proofs = [self._core.verify(*pair) for pair in zip(right, solutions)]
            for column, proof in zip(earlier or [], proofs):
                adopt(column, proof)
        if in_parts:
            x[...] = (solutions[1::2] + 1j * solutions[::2]).T.reshape(x.shape)
        if single:
            x = x.astype(np.complex64 if of_complex else np.float32)
        return SolveResult(x, run, earlier, proofs, in_parts)

    def _run(self, right: np.ndarray, solutions: np.ndarray, at_once: int, progress: Progress | bool | None) -> tuple[Any, list[dict] | None]:
        """Solves for rows of doubles: the last run, and what it does not know of those before."""
        told = progress if callable(progress) else None, progress is True
        earlier = None
        if isinstance(self._core, _core.Solver):
            run = self._core.solve(list(right), list(solutions), at_once, *told)
        else:
            earlier = []
            for one_b, one_x in zip(right, solutions):
                run = self._core.solve(one_b, one_x, *told)
                if run.status == "interrupted":
                    break
                earlier.append(json.loads(run.report))
            earlier = earlier[:-1]
        if run.status == "interrupted":  # by another rank: there the exception says it itself
            raise KeyboardInterrupt
        return run, earlier

    def update(self, A: Any) -> None:
        """Goes on with a matrix of other values, such as the next step of a sequence. Collective.

        Where its entries stand in the same places, preconditioners made from earlier values stay until the iterations they
        take more than when they were new have cost as much as a new one; else everything begins anew. Results are always
        those of the matrix now.

        Parameters
        ----------
        A : sparse array or matrix of any format, or ndarray, shape (n, n)
            Real, or complex where the one before is. With a communicator, this rank's rows, as many as before.

        Raises
        ------
        ValueError
            For another shape, and where this solver has an operator, or an `M` of yours.
        TypeError
            For values that are not numbers, and for complex ones where those before are real.
        """
        with agreement(self._core.ranks, self._core.agree):
            if not isinstance(self._core, _core.Solver):
                raise ValueError("a Solver with an operator, or with M, goes on with what it has: make another one")
            csr = as_canonical_csr(A, rank=self._rank, takes_complex=True)
            if is_complex(csr.dtype) and not self._is_complex:
                raise TypeError("A holds complex values, but this Solver has a real matrix: make another one")
            if csr.shape[0] * self._width != self._core.local_rows:
                raise ValueError(f"A has {csr.shape[0]} rows, but the matrix before has {self._core.local_rows // self._width}")
        self._is_single = self._on_all_ranks(is_single(getattr(A, "dtype", None)))
        self._core.update(*rows_for_core(csr, self._is_complex))

    @property
    def reuse(self) -> str:
        """How set-ups have served solves so far, in a line; empty before the first, and with an operator or `M`."""
        return getattr(self._core, "reuse", "")


@explained(ELSEWHERE)
def solve(A: Any, b: Any, x0: Any = None, *, progress: Progress | bool | None = None, block: int | str = "auto", near: Any = None,
          M: Any = None, comm: Any = None, rtol: float | None = None, profile: Profile | str | os.PathLike[str] | None = None,
          coordinates: Any = None, near_nullspace: Any = None, fields: Any = None,
          # Written by generate_options.py:
          time_limit: float = 0.0, max_iterations: int = 0, method: words.Method = "auto",
          preconditioner: words.Preconditioner = "auto", overlap: int = 0, fill: int = -1,
          triangular: words.Triangular = "auto", degree: int = 4, drop: float = 0.001, complement: words.Complement = "auto",
          ordering: words.Ordering = "auto", factor_precision: words.FactorPrecision = "double", low_rank: float = 0.0,
          reproducible: bool = False, deterministic: bool = False, restart: int | str = "auto",
          orthogonalization: words.Orthogonalization = "auto", kernel: words.Kernel = "auto", halo: words.Halo = "auto",
          device: words.Device = "auto", exclude: Sequence[str] = (), tuning_share: float = 0.1,
          use_ranks: words.UseRanks = "auto", partition: words.Partition = "contiguous", placement: words.Placement = "none",
          network: str = "auto", collectives: str | os.PathLike[str] = "auto", knowledge: str | os.PathLike[str] = "none",
          replay: str | os.PathLike[str] | None = None, checkpoint: str | os.PathLike[str] | None = None,
          every: float | None = None, resume: str | os.PathLike[str] | None = None, threads: int = 0,
          # to here.
          ) -> SolveResult:
    """Solves ``A @ x = b`` with the numerics and the implementation that suit matrix and machine, and proves it.

    Parameters
    ----------
    A : sparse array or matrix of any format, ndarray, LinearOperator, or callable with a shape; shape (n, n)
        Real or complex. With ``comm=``, this rank's rows, shape (n_local, n).
    b : array_like or sparse, shape (n,) or (n, k)
        Right-hand side, or k of them, real or complex; with ``comm=``, this rank's rows.
    x0 : array_like, shape of b, optional
        Starting guess; zeros by default.
    progress : callable or bool, optional
        Called as ``progress(choice, iteration, relative_residual)``; True: a line on the terminal tells how far it is.
    block : int or str, default "auto"
        Right-hand sides that are solved at once, at most: auto, off, or 1 to 8.
    near, M, comm, rtol, profile, coordinates, near_nullspace, fields, {names}
        As for `Solver`.

    Returns
    -------
    SolveResult
        ``x``, ``converged``, ``relative_residual``, ``choice``, ``explain()``, ``report``.

    Examples
    --------
    >>> import numpy as np, ayatori
    >>> A = ayatori.load("poisson2d-5:n=30")
    >>> result = ayatori.solve(A, np.ones(900))
    >>> result.converged
    True
    """
    given = {name: value for name, value in locals().items() if name not in ("b", "x0", "progress", "block")}
    if rtol is None and is_single(getattr(A, "dtype", None)) and not is_single(getattr(b, "dtype", None)):
        given["rtol"] = OPTIONS.table["rtol"][2]
    return Solver(**given).solve(b, x0, progress=progress, block=block)


def _at_once(block: int | str, columns: int) -> int:
    if columns == 1 and block != "auto":
        raise ValueError("block is for several right-hand sides: b has one column")
    try:
        return _core.most_at_once(str(block))
    except ValueError as error:
        raise ValueError(str(error).replace("--block", "block")) from None


def _check_operator(is_operator: bool, has_near: bool, has_m: bool, given: dict[str, Any], *row_facts: Any) -> None:
    """Raises ValueError for what has no meaning where nothing is tuned."""
    what = "an operator" if is_operator else "M"
    if has_near and has_m:
        raise ValueError("near is a matrix to make a preconditioner of, and M is one: give one of them")
    for name, value in zip(("coordinates", "near_nullspace", "fields"), row_facts):
        if value is not None:
            raise ValueError(f"{name} has no meaning with {what}: make M by ayatori.preconditioner(matrix, ..., {name}=...)")
    if "knowledge" in given:
        raise ValueError(f"knowledge has no meaning with {what}: nothing is tuned")


def _shape_and_matrix(A: Any, near: Any, rank: int | None) -> tuple[tuple[int, ...], Any]:
    """The shape of `A`, and `near`, or else `A` where it is a matrix, as compressed sparse rows of doubles or complex128."""
    matrix = None if is_operator(A) else as_canonical_csr(A, rank=rank, takes_complex=True)
    shape = tuple(A.shape) if matrix is None else matrix.shape
    return shape, matrix if near is None else as_canonical_csr(near, "near", rank, takes_complex=True)


def _core_vectors(columns: np.ndarray, in_parts: bool) -> np.ndarray:
    """One vector or columns of Fortran's order as rows of doubles: of complex ones pairs, in the memory that they have, or imaginary and
    real parts in turns."""
    rows = (columns[:, None] if columns.ndim == 1 else columns).T
    return np.stack([rows.imag, rows.real], axis=1).reshape(2 * len(rows), len(columns)) if in_parts else rows.view(np.float64)


def _function(operator: Any, what: str, rows: int, of_complex: bool) -> _core.FunctionOperator:
    """The core's operator by the products of an operator, a callable or a matrix."""
    if is_sparse(operator) or isinstance(operator, np.ndarray):
        def apply(x: np.ndarray) -> Any:
            return operator @ x
    else:
        apply = getattr(operator, "matvec", operator)
    argument = np.empty(rows, np.complex128 if of_complex else np.float64)

    def product() -> np.ndarray:
        y = np.asarray(apply(argument))
        check_numbers(y.dtype, f"a product of {what}", of_complex)
        if y.size != rows:
            raise ValueError(f"a product of {what} has shape {y.shape}, but {what} has {rows} rows")
        y = as_double_precision(y.ravel(), f"a product of {what}")
        return np.ascontiguousarray(y, argument.dtype).view(np.float64)

    return _core.FunctionOperator(product, argument.view(np.float64))


def _as_preconditioner(M: Any, rows: int, comm: Any, of_complex: bool) -> tuple[_core.FunctionOperator | None, _core.Preconditioner | None]:
    from ._preconditioner import Preconditioner  # which needs the options here

    if M is None:
        return None, None
    if isinstance(M, Preconditioner):
        if M.local_rows != rows:
            raise ValueError(f"M is of {M.local_rows} rows, but A has {rows}")
        return (None, M._core) if is_complex(M.dtype) == of_complex else (_function(M.apply, "M", rows, of_complex), None)
    check_name(M, f"give preconditioner={M!r}")
    if not (callable(M) or has_matvec(M)):
        M = as_array(M, "M")
        if comm is not None:
            raise TypeError("M is a matrix: with comm, give a preconditioner of this package, or an operator that acts on this rank's elements")
        check_numbers(M.dtype, "M", of_complex)
    if hasattr(M, "shape"):
        check_shape(M.shape, "M", rows)
    if not (callable(M) or has_matvec(M)):
        check_finite(M, "M")
    return _function(M, "M", rows, of_complex), None


OPTIONS.document(Solver)
OPTIONS.document(solve)
