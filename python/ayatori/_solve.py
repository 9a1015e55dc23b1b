"""Tuned solves of sparse linear systems."""

from __future__ import annotations

import html
import json
import os
import textwrap
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from . import _core
from . import _words as words
from ._machine import Profile, find_profile
from ._matrix import (agreement, agreement_on, as_array, as_canonical_csr, as_columns, as_double_precision, check_finite, check_name, check_numbers,
                      check_shape, check_square, comm_address, extent, has_matvec, is_complex, is_operator, is_single, is_sparse, on_any_rank,
                      rows_for_core)
from ._options import Options, explained

Progress = Callable[[str, int, float], Any]

# A library writes no files unasked.
OPTIONS = Options(_core.solve_options(), {"knowledge": "none"}, own=("rtol", "profile", "coordinates", "fields"))
ELSEWHERE = {"rhs": "b is an argument of its own", "least_squares": "lsmr() and lsqr() do that", "output": "x is in the result",
             "json": "the result has it as report", "explain": "the result has explain()", "quiet": "nothing is said unless progress=True"}


class SolveResult:
    """What came out of a solve.

    Attributes
    ----------
    x : ndarray, shape of b
        The solution; where `converged` is false, the best approximation found. With a communicator, this rank's rows. Complex where
        `A` or `b` is, and of single precision where both are.
    converged : bool
        Whether it is proved that ``norm(b - A @ x) <= rtol * norm(b)``, for the numbers in `A`, `b` and `x` and without rounding, of every
        column. Of an operator, what its own products round is unknown.
    relative_residual : float
        ``norm(b - A @ x) / norm(b)``, recomputed from `x`; the exact one is no farther from it than `residual_error_bound`. The largest of
        several columns, and of real and imaginary part where these are solved for by themselves.
    columns : list of dict
        For b of shape (n, k): status, converged, relative_residual and iterations of each. Of complex columns with a real `A` the
        iterations are those of both parts.
    report : dict
        All that is known about the solve: schema ``ayatori.solve/1``, as ``ayatori solve --json`` writes it; of several columns, of the last
        one, with the others in ``report["sequence"]``. With an operator or a preconditioner of one's own ``ayatori.operator-solve/1``.
    """

    def __init__(self, x: np.ndarray, run: Any, earlier: list[dict] | None = None, proofs: list | None = None, in_parts: bool = False) -> None:
        """`earlier`: what the run does not know of columns before the last; `proofs`: of the columns, rounded to single precision;
        `in_parts`: imaginary and real part of a column of `x` are two of those of the run."""
        self.x = x
        self._run = run
        self._earlier = earlier
        self._proofs = proofs
        self._in_parts = in_parts

    @cached_property
    def report(self) -> dict:
        report = json.loads(self._run.report)
        if self._proofs:
            _adopt(report, self._proofs[-1])
            for column, proof in zip((report.get("sequence") or {}).get("earlier", []), self._proofs):
                _adopt(column, proof)
        return report

    @cached_property
    def summary(self) -> str:
        text = self._run.summary
        if self._proofs:
            residual = max(proof.relative_residual for proof in self._proofs)
            text += f"rounded    to single precision: {self.status}, true relative residual {residual:.2e}\n"
        return text

    @cached_property
    def columns(self) -> list[dict]:
        known = self._earlier if self._earlier is not None else (self.report.get("sequence") or {}).get("earlier", [])
        count = (1 if self.x.ndim == 1 else self.x.shape[1]) * (2 if self._in_parts else 1)
        not_begun = {"status": "not begun", "converged": False, "relative_residual": None, "iterations": 0}
        columns = [{key: column[key] for key in not_begun} for column in [*known, *[not_begun] * (count - 1 - len(known)), self.report]]
        for column in columns:
            if column["relative_residual"] is None:
                column["relative_residual"] = np.nan
        return [_join(*parts) for parts in zip(columns[::2], columns[1::2])] if self._in_parts else columns

    @cached_property
    def _explanation(self) -> str:
        return self._run.explanation

    def __getstate__(self) -> dict:
        return {"x": self.x, "report": self.report, "summary": self.summary, "columns": self.columns, "_explanation": self._explanation,
                "_run": None, "_earlier": None, "_proofs": None, "_in_parts": self._in_parts}

    def __repr__(self) -> str:
        report, choice = self.report, self.choice
        seconds = report["seconds"]
        parts = [f"{name} {seconds[key]:.3f}" for key, name in _PHASES if key in seconds]
        settings = [f"{key} {choice[key]}" for key in ("restart", "kernel", "halo", "device") if choice.get(key) and (key != "halo" or report["ranks"] > 1)]
        trials = f" in {len(report['trials'])} trial{'s' if len(report['trials']) != 1 else ''}" if "trials" in report else ""
        lines = [("result", self.status), ("residual", self._residual_words()),
                 ("x", f"{self.x.dtype}, shape {self.x.shape}"),
                 ("method", ", ".join([f"{choice['method']} + {choice['preconditioner']}", *settings])),
                 ("because", report.get("why") or report.get("reason") or ""),
                 ("work", f"{self.iterations} iterations{trials}"),
                 ("time", f"{seconds['total']:.3f} s" + (f": {', '.join(parts)}" if parts else "")),
                 ("machine", f"{report['ranks']} rank{'s' if report['ranks'] > 1 else ''} x {report['threads']} thread{'s' if report['threads'] > 1 else ''}"),
                 ("more", "print(result), result.explain(), result.report")]
        return "\n".join(["SolveResult", *(f"    {name:10}{textwrap.shorten(line, 130, placeholder=' ...')}" for name, line in lines if line)])

    def _residual_words(self) -> str:
        bound = self.residual_error_bound
        text = f"{self.relative_residual:.2e} ± {bound:.0e}, wanted {self.report['rtol']:.0e}"
        if self.x.ndim == 2:
            text += f", the largest of {self.x.shape[1]} columns"
        return text + (" (proved)" if self.converged else "")

    @property
    def converged(self) -> bool:
        return self.status == "converged"

    @property
    def relative_residual(self) -> float:
        return float(np.max([column["relative_residual"] for column in self.columns]))

    @property
    def residual_error_bound(self) -> float:
        """How far `relative_residual` may be from the exact one, proved; `converged` means that their sum meets the tolerance."""
        return self.report["residual_error_bound"]

    @property
    def backward_error(self) -> float | None:
        """``norm(b - A @ x) / (norm(A, inf) * norm(x) + norm(b))``: about 1e-16 is all that doubles can give. None with an operator."""
        return self.report.get("backward_error")

    @property
    def rounding_residual(self) -> float | None:
        """The relative residual that rounding the exact solution to doubles leaves, as expected; None where that is far below
        the tolerance."""
        return self.report.get("rounding_residual")

    @property
    def condition_estimate(self) -> float | None:
        """``norm(A, inf) * norm(inv(A), inf)`` is about that or more. None unless complete factors tried what rounding limits."""
        return self.report.get("condition_estimate")

    @property
    def boundary_rows(self) -> int:
        """Rows with no entry of weight but the diagonal's, which are solved first; the tolerance then holds for the other rows,
        against what is left of their right-hand side, too. 0 where there are no others."""
        return (self.report.get("boundary_rows") or {"count": 0})["count"]

    @property
    def iterations(self) -> int:
        """Of all trials and columns; columns that are solved at once have the same ones, each."""
        return sum(column["iterations"] for column in self.columns)

    @property
    def status(self) -> str:
        """``"converged"``, ``"least squares"``, ``"not converged"``, ``"limited by rounding"`` (`x` leaves hardly more than rounding
        the exact solution to doubles does, or to single precision where `x` has that) or ``"time limit reached"``. Of several columns,
        that of the first that has not converged."""
        if self._run and not self._proofs and not self._in_parts and self.x.ndim == 1:
            return self._run.status
        return next((column["status"] for column in self.columns if not column["converged"]), "converged")

    @property
    def choice(self) -> dict:
        """The method, preconditioner, restart length, orthogonalization, kernel and halo strategy that gave `x`."""
        return self.report.get("choice") or {key: self.report[key] for key in ("method", "preconditioner")}

    def __str__(self) -> str:
        return self.summary

    def explain(self) -> str:
        """What was considered, tried and chosen, and why: text of some lines."""
        return self.summary + self._explanation

    def _repr_html_(self) -> str:
        choice = self.choice
        rows = [("result", f"{self.status}: true relative residual {self._residual_words()}"),
                ("backward error", "" if self.backward_error is None else f"{self.backward_error:.1e}"),
                ("choice", f"{choice['method']} + {choice['preconditioner']}" + (f" on {choice['device']}" if choice.get("device") else "")
                 + (f"; kernel {choice['kernel']}" if "kernel" in choice else "")),
                ("because", self.report.get("why") or self.report.get("reason") or ""),
                ("work", f"{self.iterations} iterations"),
                ("time", f"{self.report['seconds']['total']:.3f} s")]
        cells = "".join(f"<tr><th style='text-align:left'>{name}</th><td style='text-align:left'>{html.escape(text)}</td></tr>"
                        for name, text in rows if text)
        return (f"<table>{cells}</table><details><summary>explanation</summary><pre>{html.escape(self.explain())}</pre>"
                "</details>")


_PHASES = (("tuning", "choosing"), ("setup", "set-up"), ("solve", "iterating"), ("verification", "verifying"))


def _adopt(report: dict, proof: Any) -> None:
    """What is proved of the x that was rounded to single precision."""
    report["relative_residual"] = proof.relative_residual
    if "residual_error_bound" in report:
        report["residual_error_bound"] = proof.residual_error_bound
    if report["converged"] and not proof.meets_tolerance:
        report["status"], report["converged"] = "limited by rounding", False


def _join(imaginary: dict, real: dict) -> dict:
    """What is known of a complex column whose parts were solved for by themselves."""
    return {"status": (imaginary if real["converged"] else real)["status"], "converged": imaginary["converged"] and real["converged"],
            "relative_residual": float(np.maximum(imaginary["relative_residual"], real["relative_residual"])),
            "iterations": imaginary["iterations"] + real["iterations"]}


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
            _set_row_facts(core_options, given, shape[0], rank, self._is_complex, coordinates=coordinates, near_nullspace=near_nullspace,
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
                _adopt(column, proof)
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


def _set_row_facts(core_options: _core.Options, given: dict[str, Any], rows: int, rank: int | None, of_complex: bool, *, coordinates: Any,
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


OPTIONS.document(Solver)
OPTIONS.document(solve)
