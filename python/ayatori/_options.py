"""Options of the command line as keywords, from the same tables."""

from __future__ import annotations

import difflib
import functools
import inspect
import re
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

# Words for the same, of which every function has one.
_SAME = (("rtol", "tolerance", "btol", "tol", "reltol"), ("maxiter", "max_iterations", "iter_lim", "max_iter", "maxit", "niter"),
         ("preconditioner", "M", "precond", "prec", "pc"), ("threads", "n_threads", "nthreads", "num_threads", "n_jobs"),
         ("x0", "guess", "initial_guess"), ("method", "solver"), ("comm", "communicator"), ("progress", "callback", "verbose", "show"))


class Options:
    """The keywords of a function, from a table of the core.

    Parameters
    ----------
    table : sequence of (name, type, default, help, what to say of the default, values that have names, whether there are no others)
    defaults : dict
        What a library does otherwise than the command line, by keyword.
    own : sequence of str
        Keywords that are arguments of their own, with a docstring and a default there.
    """

    def __init__(self, table: Sequence[tuple], defaults: dict[str, Any], own: Sequence[str] = ()) -> None:
        self.table = {name.replace("-", "_"): (name, kind, defaults.get(name, default), in_words_of_python(text), initial)
                      for name, kind, default, text, initial, *_ in table}
        self.words = {name.replace("-", "_"): (words, only_words) for name, _, _, _, _, words, only_words in table}
        self.defaults = defaults
        self.own = own

    def set(self, core_options: Any, given: dict[str, Any]) -> None:
        """Those that are given, and not None, which leaves the default. Raises TypeError for names and types that are wrong."""
        for keyword, value in {**self.defaults, **given}.items():
            if keyword not in self.table:
                raise TypeError(_answer(keyword, list(self.table), {}))
            if value is not None:
                name, kind, *_ = self.table[keyword]
                if isinstance(value, str) and not value:
                    raise ValueError(f"{keyword} is empty: name something, or leave it out")
                core_options.set(name, _converted(keyword, kind, value))

    def given(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """Of the arguments of a function, those that are options and not what they are anyway."""
        return {keyword: value for keyword, value in arguments.items()
                if keyword in self.table and keyword not in self.own and value is not None and value is not self.table[keyword][2]
                and not (isinstance(value, (str, int, float)) and value == self.table[keyword][2]) and not (isinstance(value, tuple) and not value)}

    def document(self, what: Any) -> None:
        """Puts the table in the docstring of a class or function that takes the options."""
        shown = [keyword for keyword in self.table if keyword not in self.own]
        lines = []
        for keyword in shown:
            _, kind, default, text, initial = self.table[keyword]
            lines.append(f"{keyword} : {kind}, default {initial or repr(default)}")
            lines += textwrap.wrap(text + ".", 110, initial_indent="    ", subsequent_indent="    ")
        if what.__doc__:
            what.__doc__ = what.__doc__.replace("{options}", textwrap.indent("\n".join(lines), "    ").strip()).replace(
                "{names}", ", ".join(shown))


def explained(elsewhere: dict[str, str] | None = None) -> Callable[[F], F]:
    """Decorates a function so that a keyword which it does not have gets an answer.

    Parameters
    ----------
    elsewhere : dict
        What the command line has by that name, and Python in another way.
    """
    def decorate(function: F) -> F:
        keywords = [name for name, parameter in inspect.signature(function).parameters.items()
                    if parameter.kind is not inspect.Parameter.POSITIONAL_ONLY and name != "self"]
        known = frozenset(keywords)

        @functools.wraps(function)
        def call(*arguments: Any, **options: Any) -> Any:
            for name in options:
                if name not in known:
                    raise TypeError(_answer(name, keywords, elsewhere or {}))
            return function(*arguments, **options)

        return call  # type: ignore[return-value]

    return decorate


def _answer(name: str, keywords: list[str], elsewhere: dict[str, str]) -> str:
    if name in elsewhere:
        return f"{name} has no meaning in Python: {elsewhere[name]}"
    like = _meant(name.replace("-", "_"), keywords)
    return f"there is no option {name}: " + (f"did you mean {like}?" if like else f"choose of {', '.join(keywords)}")


def _meant(name: str, keywords: list[str]) -> str | None:
    """Of the keywords the one with the same meaning, or else the one most alike."""
    same = next((words for words in _SAME if name.lower() in (word.lower() for word in words)), ())
    like = [word for word in same if word in keywords] or difflib.get_close_matches(name, keywords, 1)
    return like[0] if like else None


def in_words_of_python(text: str) -> str:
    """Options without the dashes of the command line."""
    return re.sub(r"--([a-z]+(?:-[a-z]+)*)", lambda option: option[1].replace("-", "_"), text)


def _converted(keyword: str, kind: str, value: Any) -> Any:
    try:
        if isinstance(value, (bool, np.bool_)) != (kind == "bool"):
            raise TypeError
        if kind == "sequence of str":
            return [value] if isinstance(value, str) else [str(word) for word in value]
        if kind == "str" and isinstance(value, (str, int)):
            return str(value)
        if kind == "str" and hasattr(value, "__fspath__"):
            return value.__fspath__()
        if kind == "bool":
            return bool(value)
        if kind == "int" and int(value) == value:
            return int(value)
        if kind == "float":
            return float(value)
    except (TypeError, ValueError, OverflowError):
        pass
    raise TypeError(f"{keyword} is {value!r}, but must be of type {'str or path' if kind == 'str' else kind}")
