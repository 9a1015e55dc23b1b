#!/usr/bin/env python3
"""Writes what the tables of options in the core tell: keywords with types in the package, and docs/options.md.

Run with the package that was built on PYTHONPATH; `--check` writes nothing, and fails where a file would change. A test does that.
"""

import json
import pathlib
import re
import sys
import textwrap

from ayatori import _core

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "ayatori"
TABLES = {"solve": _core.solve_options(), "eigen": _core.eigen_options(), "probe": _core.probe_options(),
          "predict": _core.predict_options(), "map": _core.map_options()}

PATH = "str | os.PathLike[str]"
OTHER_TYPES = {"restart": "int | str", "grid": "str", "network": "str", "placement": "str"}
OPEN = {"halo"}  # whose values may have more to them than the words, such as "+overlap"

BEGIN = "# Written by generate_options.py:"
END = "# to here."


def alias(command, name):
    """Of the words of an option; those of solve go without the name of the command."""
    return "".join(word.capitalize() for word in [*([command] if command != "solve" else []), *name.split("-")])


def annotation(command, name, kind, words):
    if words:
        return f"words.{alias(command, name)}"
    if kind == "sequence of str":
        return "Sequence[str]"
    return OTHER_TYPES.get(name, PATH) if kind == "str" else kind


def shown(value):
    return json.dumps(value) if isinstance(value, str) else repr(value)


def keywords(command, options):
    """Parameters of a function of the package that are not its own."""
    parameters = []
    for keyword, (name, kind, default, *_) in options.table.items():
        if keyword in options.own:
            continue
        words, _ = options.words[keyword]
        initial = () if default == [] else None if default == "" else default
        optional = " | None" if initial is None else ""
        parameters.append(f"{keyword}: {annotation(command, name, kind, words)}{optional} = {shown(initial)}")
    return parameters


def with_keywords(text, function, command, options, only=None):
    """The module's text with the parameters of `function`, of a class's constructor where `function` is a class."""
    place = re.search(rf"(?:class {function}:.*?def __init__\(|def {function}\().*?\n( *){re.escape(BEGIN)}\n(.*?) *{re.escape(END)}", text,
                      re.DOTALL)
    wanted = [parameter for parameter in keywords(command, options) if only is None or parameter.split(":")[0] in only]
    # A parameter is not broken, so that its name is found.
    joined = ", ".join(parameter.replace(" ", "\0") for parameter in wanted)
    lines = textwrap.wrap(joined, 125 - len(place[1]), break_long_words=False, break_on_hyphens=False)
    block = "".join(f"{place[1]}{line}\n" for line in lines).replace("\0", " ").rstrip("\n") + ",\n"
    return text[:place.start(2)] + block + text[place.end(2):]


def words_module(path):
    """Aliases of the values that have names. Those of another build's libraries stay."""
    before = dict(re.findall(r"^(\w+) = (?:Union\[)?Literal\[(.*?)\](?:, str\])?$", path.read_text() if path.exists() else "",
                             re.MULTILINE | re.DOTALL))
    text = '"""Values of options that have names, as types; generate_options.py writes them."""\n\nfrom typing import Literal, Union\n'
    for command, table in TABLES.items():
        for name, kind, _, _, _, words, _ in table:
            if not words or kind != "str":
                continue
            known = re.findall(r'"([^"]*)"', before.get(alias(command, name), ""))
            values = [*words, *(word for word in sorted(known) if word not in words)]
            listed = textwrap.fill(", ".join(f'"{value}"' for value in values), 120, subsequent_indent=" " * 4, break_long_words=False,
                                   break_on_hyphens=False)
            literal = f"Literal[{listed}]"
            text += f"\n{alias(command, name)} = {f'Union[{literal}, str]' if name in OPEN else literal}\n"
    return text


# Of the command line alone: what stands for them.
ELSEWHERE = {
    "solve": [("rhs", "Right-hand sides", "`b`, of shape (n,) or (n, k)", "`b` of `ayatori_solve()`, `ayatori_solve_many()`", "`b` of `KSPSolve()`"),
              ("block", "Right-hand sides that are solved at once", "`block=`", "", ""),
              ("least-squares", "The least squares problem of a matrix of any shape", "`lsmr()`, `lsqr()`", "", ""),
              ("damp", "Its regularization, as far as the size of x counts beside the residual", "`lsmr(damp=)`, `lsqr(damp=)`", "", ""),
              ("output", "x to a file", "`result.x`", "`x`", "`x`"),
              ("json", "The result to a file", "`result.report`", "`ayatori_report_json()`", ""),
              ("explain", "What was tried and why", "`result.explain()`", "`ayatori_explanation()`", "`-ksp_ayatori_explain`"),
              ("quiet", "Say nothing", "unless `progress=True`", "always", "always")],
    "eigen": [("generalized", "B of A v = w B v", "`B`", "", ""), ("smallest", "Pairs at that end", "`smallest=`", "", ""),
              ("largest", "Pairs at that end", "`largest=`", "", ""), ("range", "Eigenvalues in an interval", "`subset_by_value=`", "", ""),
              ("values-only", "No vectors", "`eigvals_only=`", "", ""), ("output", "Vectors to a file", "returned", "", ""),
              ("json", "The result to a file", "`report=`", "", ""), ("predict", "A forecast", "`predict=`", "", ""),
              ("ranks-per-node", "For the forecast", "`ranks_per_node=`", "", ""), ("quiet", "Say nothing", "always", "", "")],
    "probe": [("show", "Print a profile", "`Profile.load().explain()`", "", ""), ("compare", "The differences of two profiles", "`Profile.compare()`", "", "")],
    "predict": [("json", "The result to a file", "`forecast.report`", "", "")],
    "map": [("output", "The file for the launcher", "`placement.launch_file`", "", ""), ("json", "The result to a file", "`placement.report`", "", ""),
            ("svg", "A drawing", "`svg=`", "", ""), ("graph-output", "Bytes from rank to rank to a file", "`graph_output=`", "", ""),
            ("platform", "The network to a file, for SimGrid", "`platform=`", "", ""),
            ("schedules", "The best schedules of the collectives to a file", "`schedules=`", "", ""),
            ("messages", "The messages of the collectives to a file", "`messages=`", "", "")]}
FUNCTIONS = {"solve": "`solve()`, `Solver()`", "eigen": "`eigh()`", "probe": "`probe()`", "predict": "`predict()`", "map": "`place()`"}


def petsc_omits():
    """Options that are PETSc's own, by the source of the solver."""
    source = (ROOT / "petsc" / "ksp.cpp").read_text()
    return set(re.findall(r'"([a-z-]+)"', re.search(r"set_from_options\([^{]*\{([^}]*)\}", source)[1]))


PETSC_OWN = {"rtol": "`-ksp_rtol`", "max-iterations": "`-ksp_max_it`"}


def options_page():
    text = """# Every option, in every way in

One table in the library declares the options; this page, the keywords of Python and their types are written from it by
`cmake/generate_options.py`. An empty field means that there is no such option there. What each one does: `ayatori solve --help`, [solve.md](solve.md).
"""
    omitted = petsc_omits()
    assert omitted == set(PETSC_OWN)
    for command, table in TABLES.items():
        has_c = command == "solve"
        heads = ["Command line", "What", "Default", "Python", *(["C: `ayatori_set_option()`", "PETSc"] if has_c else [])]
        text += f"\n## `ayatori {command}` and {FUNCTIONS[command]}\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}\n"
        for name, _, default, help_text, initial, *_ in table:
            usual = default if isinstance(default, str) else f"{default:g}" if isinstance(default, float) else str(default).lower()
            told = initial or ("" if default in ("", [], None) else f"`{usual}`")
            petsc = PETSC_OWN.get(name, "`-ksp_ayatori_" + name.replace("-", "_") + "`")
            fields = [f"`--{name}`", help_text.replace("|", "\\|").replace(":\n", ": ").replace("\n", "; "), told, f"`{name.replace('-', '_')}=`",
                      *([f"`{name}`", petsc] if has_c else [])]
            text += f"| {' | '.join(fields)} |\n"
        for name, what, python, c, petsc in ELSEWHERE[command]:
            text += f"| {' | '.join([f'`--{name}`', what, '', python, *([c, petsc] if has_c else [])])} |\n"
    return text + """
`profile` is `none` in C unless it is set, and `knowledge` is `none` in Python, C and PETSc: a library measures nothing and writes no file unasked.
"""


def generated():
    """The text of every file, by its path."""
    from ayatori import _eigen, _machine, _preconditioner, _solve

    files = {PACKAGE / "_words.py": words_module(PACKAGE / "_words.py"), ROOT / "docs" / "options.md": options_page()}
    for module, function, command, options, only in [
            ("_solve", "Solver", "solve", _solve.OPTIONS, None), ("_solve", "solve", "solve", _solve.OPTIONS, None),
            ("_preconditioner", "preconditioner", "solve", _solve.OPTIONS, _preconditioner.OBEYED),
            ("_eigen", "eigh", "eigen", _eigen.OPTIONS, None),
            ("_machine", "probe", "probe", _machine.PROBE_OPTIONS, None), ("_machine", "predict", "predict", _machine.PREDICT_OPTIONS, None),
            ("_machine", "place", "map", _machine.MAP_OPTIONS, None)]:
        path = PACKAGE / f"{module}.py"
        files[path] = with_keywords(files.get(path, path.read_text()), function, command, options, only)
    return files


def stale():
    """Files that are not as they would be written, by their paths."""
    return {path: text for path, text in generated().items() if not path.exists() or path.read_text() != text}


def main():
    is_check = "--check" in sys.argv
    wrong = stale()
    for path, text in wrong.items():
        print(path, "is not up to date" if is_check else "is written")
        if not is_check:
            path.write_text(text)
    return bool(wrong) and is_check


if __name__ == "__main__":
    sys.exit(main())
