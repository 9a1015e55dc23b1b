"""Results as one HTML page."""

from __future__ import annotations

import json
import os
from typing import Any

from . import _core


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
