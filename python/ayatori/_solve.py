"""Tuned solves of sparse linear systems."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from . import _core
from ._machine import Profile, find_profile
from ._matrix import agreement, as_canonical_csr, as_vector, comm_address
from ._options import Options

Progress = Callable[[str, int, float], Any]

# A library writes no files unasked.
OPTIONS = Options(_core.solve_options(), {"knowledge": "none"}, own=("profile", "coordinates"))


class SolveResult:
    """What came out of a solve.

    Attributes
    ----------
    x : ndarray, shape (n,)
        The solution; where `converged` is false, the best approximation found. With a communicator, this rank's rows.
    converged : bool
        Whether it is proved that ``norm(b - A @ x) <= rtol * norm(b)``, for the doubles in `A`, `b` and `x` and without rounding.
    relative_residual : float
        ``norm(b - A @ x) / norm(b)``, recomputed from `x`; the exact one is no farther from it than `residual_error_bound`.
    report : dict
        All that is known about the solve: schema ``ayatori.solve/1``, as ``ayatori solve --json`` writes it.
    """

    def __init__(self, x: np.ndarray, run: Any) -> None:
        self.x = x
        self._run = run

    @cached_property
    def report(self) -> dict:
        return json.loads(self._run.report)

    @cached_property
    def summary(self) -> str:
        return self._run.summary

    @cached_property
    def _explanation(self) -> str:
        return self._run.explanation

    def __getstate__(self) -> dict:
        return {"x": self.x, "report": self.report, "summary": self.summary, "_explanation": self._explanation, "_run": None}

    def __repr__(self) -> str:
        return f"SolveResult({self.status}, x={self.x!r})"

    @property
    def converged(self) -> bool:
        return self.status == "converged"

    @property
    def relative_residual(self) -> float:
        return self.report["relative_residual"]

    @property
    def residual_error_bound(self) -> float:
        """How far `relative_residual` may be from the exact one, proved; `converged` means that their sum meets the tolerance."""
        return self.report["residual_error_bound"]

    @property
    def backward_error(self) -> float:
        """``norm(b - A @ x) / (norm(A, inf) * norm(x) + norm(b))``: about 1e-16 is all that doubles can give."""
        return self.report["backward_error"]

    @property
    def rounding_residual(self) -> float | None:
        """The relative residual that rounding the exact solution to doubles leaves, as expected; None where that is far below
        the tolerance."""
        return self.report["rounding_residual"]

    @property
    def condition_estimate(self) -> float | None:
        """``norm(A, inf) * norm(inv(A), inf)`` is about that or more. None unless complete factors tried what rounding limits."""
        return self.report["condition_estimate"]

    @property
    def boundary_rows(self) -> int:
        """Rows with no entry of weight but the diagonal's, which are solved first; the tolerance then holds for the other rows,
        against what is left of their right-hand side, too. 0 where there are no others."""
        return (self.report["boundary_rows"] or {"count": 0})["count"]

    @property
    def iterations(self) -> int:
        """Of all trials."""
        return self.report["iterations"]

    @property
    def status(self) -> str:
        """``"converged"``, ``"least squares"``, ``"not converged"``, ``"limited by rounding"`` (`x` leaves hardly more than rounding
        the exact solution to doubles does) or ``"time limit reached"``."""
        return self._run.status if self._run else self.report["status"]

    @property
    def choice(self) -> dict:
        """The method, preconditioner, restart length, orthogonalization, kernel and halo strategy that gave `x`."""
        return self.report["choice"]

    def __str__(self) -> str:
        return self.summary

    def explain(self) -> str:
        """What was considered, tried and chosen, and why: text of some lines."""
        return self.summary + self._explanation

    def _repr_html_(self) -> str:
        choice = self.choice
        rows = [("result", f"{self.status}: true relative residual {self.relative_residual:.2e} ± {self.residual_error_bound:.0e}"),
                ("backward error", f"{self.backward_error:.1e}"),
                ("choice", f"{choice['method']} + {choice['preconditioner']}; kernel {choice['kernel']}"),
                ("because", self.report["why"]),
                ("work", f"{self.iterations} iterations in {len(self.report['trials'])} trials"),
                ("time", f"{self.report['seconds']['total']:.3f} s")]
        cells = "".join(f"<tr><th style='text-align:left'>{name}</th><td style='text-align:left'>{html.escape(text)}</td></tr>"
                        for name, text in rows)
        return (f"<table>{cells}</table><details><summary>explanation</summary><pre>{html.escape(self.explain())}</pre>"
                "</details>")


class Solver:
    """Solves several systems with one matrix: what the first solve finds out, the next ones go by.

    Parameters
    ----------
    A : sparse array or matrix of any format, or ndarray, shape (n, n)
        Real. With `comm`, this rank's rows of it, shape (n_local, n): ranks hold contiguous blocks in their order. Where it
        is compressed sparse rows it is copied once, into the core; other formats are converted first.
    comm : mpi4py.MPI.Comm, optional
        The ranks that hold the matrix. Every call is then collective. Without it this process solves alone.
    profile : Profile, str, "none", optional
        Of this machine: a measured one, a file or a published machine's name. By default the one that `probe` has kept, if
        it has.
    coordinates : array_like, shape (nodes, 2) or (nodes, 3), or str, optional
        Where the nodes of an elastic body are, two or three rows of the matrix each; with `comm`, those of this rank's rows. A
        str names a matrix file. ``amg`` then knows the rotations.
    {options}

    Raises
    ------
    ValueError
        For shapes and options that are wrong or contradict each other.
    TypeError
        For complex values.
    OSError
        Where memory or MPI fails.

    Notes
    -----
    The method runs without the GIL. Calls from several threads go one after the other.
    """

    def __init__(self, A: Any, *, comm: Any = None, profile: Profile | str | None = None, coordinates: Any = None,
                 **options: Any) -> None:
        address = comm_address(comm)
        with agreement(comm.size if comm is not None else 1, lambda complaint: _core.agree(address, complaint)):
            csr = as_canonical_csr(A)
            if comm is None and csr.shape[0] != csr.shape[1]:
                raise ValueError(f"the matrix is {csr.shape[0]} x {csr.shape[1]}, but it has to be square")
            core_options = _core.Options()
            core_options.profile, core_options.profile_name = find_profile(profile)
            if isinstance(coordinates, str):
                options["coordinates"] = coordinates
            elif coordinates is not None:
                core_options.coordinates = _of_rows(coordinates, csr.shape[0])
            OPTIONS.set(core_options, options)
        self._core = _core.Solver(csr.indptr, csr.indices, csr.data, csr.shape[1], address, core_options)

    @property
    def shape(self) -> tuple[int, int]:
        """Of the whole matrix."""
        return self._core.rows, self._core.rows

    def solve(self, b: Any, x0: Any = None, *, progress: Progress | bool | None = None) -> SolveResult:
        """Solves ``A @ x = b`` and proves it. Collective.

        The first solve is tuned; later ones begin with the choice it came to and with its preconditioner, and are tuned anew
        where that fails them.

        Parameters
        ----------
        b : array_like, shape (n,) or (n, 1)
            Right-hand side; with a communicator, this rank's rows. Doubles are used where they are.
        x0 : array_like, optional
            Starting guess, which is left as it is; zeros by default.
        progress : callable or bool, optional
            Called as ``progress(choice, iteration, relative_residual)`` after every iteration. An exception ends the solve.
            True: a line on the terminal tells how far it is, on rank 0.

        Returns
        -------
        SolveResult

        Raises
        ------
        KeyboardInterrupt
            On Ctrl-C, within an iteration.
        """
        n = self._core.local_rows
        with agreement(self._core.ranks, self._core.agree):
            b = as_vector(b, "b", n)
            x = np.zeros(n) if x0 is None else as_vector(x0, "x0", n).copy()
            if not (progress is None or isinstance(progress, bool) or callable(progress)):
                raise TypeError(f"progress is {progress!r}, but must be a function or a bool")
        run = self._core.solve(b, x, progress if callable(progress) else None, progress is True)
        if run.status == "interrupted":  # by another rank: there the exception says it itself
            raise KeyboardInterrupt
        return SolveResult(x, run)

    def update(self, A: Any) -> None:
        """Goes on with a matrix of other values, such as the next step of a sequence. Collective.

        Where its entries stand in the same places, preconditioners made from earlier values stay until the iterations they
        take more than when they were new have cost as much as a new one; else everything begins anew. Results are always
        those of the matrix now.

        Parameters
        ----------
        A : sparse array or matrix of any format, or ndarray, shape (n, n)
            Real. With a communicator, this rank's rows, as many as before.

        Raises
        ------
        ValueError
            For another shape.
        TypeError
            For complex values.
        """
        with agreement(self._core.ranks, self._core.agree):
            csr = as_canonical_csr(A)
        self._core.update(csr.indptr, csr.indices, csr.data, csr.shape[1])

    @property
    def reuse(self) -> str:
        """How set-ups have served solves so far, in a line; empty before the first."""
        return self._core.reuse


def solve(A: Any, b: Any, x0: Any = None, *, progress: Progress | bool | None = None, **options: Any) -> SolveResult:
    """Solves ``A @ x = b`` with the numerics and the implementation that suit matrix and machine, and proves it.

    Parameters
    ----------
    A : sparse array or matrix of any format, or ndarray, shape (n, n)
        Real. With ``comm=``, this rank's rows, shape (n_local, n).
    b : array_like, shape (n,) or (n, 1)
        Right-hand side; with ``comm=``, this rank's rows.
    x0 : array_like, optional
        Starting guess; zeros by default.
    progress : callable or bool, optional
        Called as ``progress(choice, iteration, relative_residual)``; True: a line on the terminal tells how far it is.
    **options
        Those of `Solver`: comm, profile, coordinates, {names}.

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
    return Solver(A, **options).solve(b, x0, progress=progress)


def _of_rows(coordinates: Any, rows: int) -> np.ndarray:
    """x, y and z of the node of every row."""
    nodes = np.asarray(coordinates, dtype=float)
    if nodes.ndim != 2 or nodes.shape[1] not in (2, 3) or (len(nodes) and rows % len(nodes)) or rows not in (2 * len(nodes), 3 * len(nodes)):
        raise ValueError(f"coordinates have shape {nodes.shape}, but {rows} rows want (nodes, 2) or (nodes, 3), with two or three "
                         "rows per node")
    padded = np.zeros((len(nodes), 3))
    padded[:, :nodes.shape[1]] = nodes
    return np.repeat(padded, rows // max(len(nodes), 1), axis=0).ravel()


OPTIONS.document(Solver)
OPTIONS.document(solve)
