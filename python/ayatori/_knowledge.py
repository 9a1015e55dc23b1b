"""What solves have taught."""

from __future__ import annotations

import json
import os
import warnings

from . import _core


class Knowledge:
    """A knowledge base: the lessons that solves leave where ``knowledge=`` names its folder.

    Parameters
    ----------
    folder : str or path-like, default "auto"
        "auto": that of the command line, AYATORI_KNOWLEDGE or a folder in the home. It need not exist.

    Attributes
    ----------
    folder : str

    Raises
    ------
    ValueError
        If there is no knowledge base, as with "none".

    Examples
    --------
    >>> import tempfile, numpy as np, ayatori
    >>> knowledge = ayatori.Knowledge(tempfile.mkdtemp())
    >>> result = ayatori.solve(ayatori.load("poisson2d-5:n=30"), np.ones(900), knowledge=knowledge.folder)
    >>> len(knowledge)
    1
    """

    def __init__(self, folder: str | os.PathLike[str] = "auto") -> None:
        self._core = _core.knowledge_base(os.fspath(folder))
        self.folder: str = self._core.folder

    def lines(self) -> list[str]:
        """A line for every lesson, with its key, as ``ayatori knowledge list``."""
        return self._read("")[0]

    def show(self, key: str = "") -> list[dict]:
        """Lessons whose keys begin so, all without one; schema ``ayatori.knowledge/1`` each. Raises ValueError where there is none.

        Warns
        -----
        RuntimeWarning
            Of every file in the folder that is no lesson.
        """
        return json.loads(self._read(key)[1])

    def forget(self, key: str = "", *, all: bool = False) -> int:
        """Removes lessons whose keys begin so, or `all`, and tells how many.

        Raises
        ------
        ValueError
            Where there is none of that key, and for neither a key nor `all`, or both.
        """
        if all == bool(key):
            raise ValueError("say what to forget: the beginning of a key, or all=True")
        return self._core.forget(key)

    def export_to(self, path: str | os.PathLike[str]) -> None:
        """Writes all lessons to a JSON file: the whole file or none."""
        self._core.export_to(os.fspath(path))

    def import_from(self, path: str | os.PathLike[str]) -> int:
        """Adds the lessons of a file that `export_to` has written, all or none, and tells how many. Raises ValueError."""
        return self._core.import_from(os.fspath(path))

    def _read(self, key: str) -> tuple:
        lines, text, ignored = self._core.lessons(key)
        for line in ignored:
            warnings.warn(line, RuntimeWarning, stacklevel=3)
        return lines, text

    def __len__(self) -> int:
        return len(self.lines())

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def __repr__(self) -> str:
        return f"<Knowledge of {len(self)} lesson{'s' if len(self) != 1 else ''} in {self.folder}>"
