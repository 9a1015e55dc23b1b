"""What comes out of a solve, and the page that shows results."""

from __future__ import annotations

import html
import json
import os
import textwrap
from functools import cached_property
from typing import Any

import numpy as np

from . import _core


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
            adopt(report, self._proofs[-1])
            for column, proof in zip((report.get("sequence") or {}).get("earlier", []), self._proofs):
                adopt(column, proof)
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
        return [join(*parts) for parts in zip(columns[::2], columns[1::2])] if self._in_parts else columns

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


def adopt(report: dict, proof: Any) -> None:
    """What is proved of the x that was rounded to single precision."""
    report["relative_residual"] = proof.relative_residual
    if "residual_error_bound" in report:
        report["residual_error_bound"] = proof.residual_error_bound
    if report["converged"] and not proof.meets_tolerance:
        report["status"], report["converged"] = "limited by rounding", False


def join(imaginary: dict, real: dict) -> dict:
    """What is known of a complex column whose parts were solved for by themselves."""
    return {"status": (imaginary if real["converged"] else real)["status"], "converged": imaginary["converged"] and real["converged"],
            "relative_residual": float(np.maximum(imaginary["relative_residual"], real["relative_residual"])),
            "iterations": imaginary["iterations"] + real["iterations"]}


def write_report(path: str | os.PathLike, *results: Any) -> None:
    """Writes one HTML page that shows the results: whole in itself, for screens large and small, and for paper.

    Parameters
    ----------
    path : str or path-like
        The page; written whole or not at all.
    *results : SolveResult, Profile, Forecast, dict, str or path-like
        In the order of the page. A str or path is a file that a command has written: JSON, or a drawing (SVG).

    Raises
    ------
    ValueError
        For what is no result.
    OSError
        Where the page cannot be written.
    """
    page = _core.report_page([_named_text(result) for result in results])
    _core.write_file(os.fspath(path), page.encode())


def _named_text(result: Any) -> tuple[str, str]:
    if isinstance(result, (str, os.PathLike)):
        with open(result, encoding="utf-8") as file:
            return os.fspath(result), file.read()
    data = result if isinstance(result, dict) else getattr(result, "report", None) or getattr(result, "data", None)
    if not isinstance(data, dict):
        raise ValueError(f"a {type(result).__name__} is no result")
    return type(result).__name__ if not isinstance(result, dict) else data.get("schema", ""), json.dumps(data)
