"""Options of a solve as keywords: those of `ayatori solve`, from the same table."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Sequence
from typing import Any

from . import _core

# What a library does not do unasked. Profile and coordinates are arguments of their own.
DEFAULTS = {"knowledge": "none"}
OWN_ARGUMENTS = ("profile", "coordinates")
TYPES = {"str": str, "bool": bool, "int": int, "float": float, "sequence of str": Sequence}

OPTIONS = {name.replace("-", "_"): (name, kind, DEFAULTS.get(name, default), help_text, initial)
           for name, kind, default, help_text, initial in _core.solve_options()}


def set_options(core_options: Any, given: dict[str, Any]) -> None:
    """Those that are given, and not None, which leaves the default. Raises TypeError for names and types that are wrong."""
    for keyword, value in {**DEFAULTS, **given}.items():
        if keyword not in OPTIONS:
            raise TypeError(f"there is no option {keyword}: choose of {', '.join(OPTIONS)}")
        if value is not None:
            name, kind, *_ = OPTIONS[keyword]
            core_options.set(name, _converted(keyword, kind, value))


def _converted(keyword: str, kind: str, value: Any) -> Any:
    try:
        if kind == "sequence of str":
            return [value] if isinstance(value, str) else [str(word) for word in value]
        if kind == "str" and isinstance(value, (str, int)) and not isinstance(value, bool):
            return str(value)
        if kind == "str" and hasattr(value, "__fspath__"):
            return value.__fspath__()
        if kind == "bool" and isinstance(value, bool):
            return value
        if kind == "int" and int(value) == value:
            return int(value)
        if kind == "float":
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise TypeError(f"{keyword} is {value!r}, but must be of type {kind}")


def document(what: Any) -> None:
    """Puts the table in the docstring of a class or function that takes the options, and the keywords in its signature."""
    shown = [keyword for keyword in OPTIONS if keyword not in (*OWN_ARGUMENTS, *DEFAULTS)]
    lines = []
    for keyword in shown:
        _, kind, default, help_text, initial = OPTIONS[keyword]
        lines.append(f"{keyword} : {kind}, default {initial or repr(default)}")
        lines += textwrap.wrap(help_text + ".", 110, initial_indent="    ", subsequent_indent="    ")
    if what.__doc__:
        what.__doc__ = what.__doc__.replace("{options}", textwrap.indent("\n".join(lines), "    ").strip()).replace(
            "{names}", ", ".join([*DEFAULTS, *shown]))
    signature = inspect.signature(what)
    named = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    missing = [keyword for keyword in OWN_ARGUMENTS if keyword not in signature.parameters]
    keywords = [inspect.Parameter(keyword, inspect.Parameter.KEYWORD_ONLY, default=None if keyword in OWN_ARGUMENTS else
                                  OPTIONS[keyword][2], annotation=OPTIONS[keyword][1])
                for keyword in [*missing, *DEFAULTS, *shown]]
    what.__signature__ = signature.replace(parameters=[*named, *keywords])
