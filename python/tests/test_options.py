"""The options of `ayatori solve` as keywords: one table for both, and each does in Python what it does there."""

import ctypes
import inspect
import json
import os
import pathlib
import re
import subprocess
import sys
import typing

import numpy as np
import pytest

import ayatori
from ayatori import _eigen, _machine, _options, _solve

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "cmake"))
import generate_options  # noqa: E402

QUIET = {"profile": "none", "threads": 1}


@pytest.fixture
def system():
    A = ayatori.load("convection2d:n=24,peclet=20")
    return A, np.sin(np.arange(A.shape[0]))


@pytest.mark.parametrize("command, options, only_there", [
    # Right-hand sides, files of results and what is said of them are arguments and results in Python, and least squares functions.
    ("solve", _solve.OPTIONS, {"help", "rhs", "block", "least-squares", "damp", "output", "json", "explain", "quiet"}),
    ("eigen", _eigen.OPTIONS, {"help", "generalized", "smallest", "largest", "range", "values-only", "output", "json", "predict",
                               "ranks-per-node", "quiet"}),
    ("probe", _machine.PROBE_OPTIONS, {"help", "show", "compare"}),
    ("predict", _machine.PREDICT_OPTIONS, {"help", "json"}),
    ("map", _machine.MAP_OPTIONS, {"help", "output", "json", "svg", "graph-output", "platform", "schedules", "messages"})])
def test_every_option_is_one_of_the_command_line_and_the_other_way_round(command, options, only_there):
    done = subprocess.run([os.environ["AYATORI"], command, "--help"], capture_output=True, text=True, check=True)
    of_command_line = {line.split("--")[1].split()[0].split(":")[0].split("=")[0] for line in done.stdout.splitlines()
                       if line.lstrip().startswith("-")}
    here = {keyword.replace("_", "-") for keyword in options.table}
    assert only_there == {"help", *(name for name, *_ in generate_options.ELSEWHERE[command])}
    assert here <= of_command_line and of_command_line - here == only_there
    said = " ".join(_options.in_words_of_python(done.stdout).split())
    for keyword, (_, _, _, text, _) in options.table.items():
        assert " ".join(text.split()) in said, keyword


@pytest.mark.parametrize("what, options", [
    (ayatori.Solver, _solve.OPTIONS), (ayatori.solve, _solve.OPTIONS), (ayatori.eigh, _eigen.OPTIONS),
    (ayatori.probe, _machine.PROBE_OPTIONS), (ayatori.predict, _machine.PREDICT_OPTIONS), (ayatori.place, _machine.MAP_OPTIONS)])
def test_keywords_are_documented(what, options):
    assert "{options}" not in what.__doc__ and "{names}" not in what.__doc__
    parameters = inspect.signature(what).parameters
    assert all(parameter.kind is not inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())
    for keyword, (_, _, default, text, _) in options.table.items():
        assert keyword in what.__doc__
        assert (parameters[keyword].default or None) == (None if keyword in options.own else default or None)
        assert parameters[keyword].annotation is not inspect.Parameter.empty
        if what is not ayatori.solve and keyword not in options.own:
            assert " ".join(text.split()) in " ".join(what.__doc__.split())


def columns_of_the_page(command):
    """Of the table of a command: by the heads, the words between backquotes of every row."""
    page = (generate_options.ROOT / "docs" / "options.md").read_text().split(f"\n## `ayatori {command}`")[1].split("\n\n")[0]
    rows = [[field.strip() for field in re.split(r"(?<!\\)\|", line)[1:-1]] for line in page.splitlines() if line.startswith("| ")]
    assert len({len(row) for row in rows}) == 1
    return {head: [row[i] for row in rows[1:]] for i, head in enumerate(rows[0])}


@pytest.mark.parametrize("command", generate_options.TABLES)
def test_the_page_has_a_row_for_every_option(command):
    done = subprocess.run([os.environ["AYATORI"], command, "--help"], capture_output=True, text=True, check=True)
    assert {f"--{name}" for name in re.findall(r"^ +(?:-\w,)?--([a-z-]+)", done.stdout, re.MULTILINE)} - {"--help"} == {
        name.strip("`") for name in columns_of_the_page(command)["Command line"]}


class COption(ctypes.Structure):
    _fields_ = [(name, ctypes.c_char_p) for name in ("name", "type", "initial", "help", "words")]


def test_the_column_of_c_is_what_the_library_takes():
    if "AYATORI_C" not in os.environ:
        pytest.skip("built without the interface in C")
    library = ctypes.CDLL(os.environ["AYATORI_C"])
    library.ayatori_option_at.restype = ctypes.POINTER(COption)
    taken = []
    while option := library.ayatori_option_at(len(taken)):
        taken.append(option.contents.name.decode())
    said = [word for field in columns_of_the_page("solve")["C: `ayatori_set_option()`"] for word in re.findall("`(.*?)`", field)]
    assert [word for word in said if not word.endswith("()") and word not in ("b", "x")] == taken
    assert all(hasattr(library, word.removesuffix("()")) for word in said if word.endswith("()"))


def test_what_is_written_from_the_tables_is_up_to_date():
    assert not generate_options.stale()


def test_the_generator_writes_what_is_missing(monkeypatch):
    monkeypatch.setitem(_solve.OPTIONS.table, "haste", ("haste", "float", 0.5, "How soon", ""))
    monkeypatch.setitem(_solve.OPTIONS.words, "haste", ([], False))
    assert {path.name for path in generate_options.stale()} == {"_solve.py"}
    assert "haste: float = 0.5" in generate_options.generated()[generate_options.PACKAGE / "_solve.py"]


def test_types_name_the_values():
    if sys.version_info < (3, 10):
        pytest.skip("annotations such as `int | str` cannot be evaluated")
    hints = typing.get_type_hints(inspect.unwrap(ayatori.solve))
    assert "cg" in typing.get_args(hints["method"]) and hints["max_iterations"] is int
    assert set(typing.get_args(hints["ordering"])) == {"auto", "natural", "rcm"}
    assert ayatori.solve(ayatori.load("poisson2d-5:n=5"), np.ones(25), exclude=np.array(["cg", "minres"]), **QUIET).choice["method"] != "cg"


@pytest.mark.parametrize("options, words", [
    ({"json": "x.json"}, "^json has no meaning in Python: the result has it as report$"), ({"rhs": "ones"}, "b is an argument"),
    ({"preconditoner": "amg"}, "^there is no option preconditoner: did you mean preconditioner[?]$"),
    ({"max-iterations": 3}, "did you mean max_iterations[?]")])
def test_keywords_that_are_none_are_answered(system, options, words):
    for call in (lambda: ayatori.solve(*system, **options), lambda: ayatori.Solver(system[0], **options)):
        with pytest.raises(TypeError, match=words):
            call()


def test_options_of_preconditioners(system):
    few = ayatori.solve(*system, method="gmres", preconditioner="ilut", fill=1, drop=0.1, **QUIET)
    many = ayatori.solve(*system, method="gmres", preconditioner="ilut", fill=30, drop=1e-6, **QUIET)
    assert few.converged and many.converged and many.iterations < few.iterations
    with pytest.raises(ValueError, match="^fill has no meaning with preconditioner amg$"):
        ayatori.solve(*system, preconditioner="amg", fill=2)
    with pytest.raises(ValueError, match="overlap 11: want 0 to 10"):
        ayatori.solve(*system, preconditioner="ilu", overlap=11)
    with pytest.raises(TypeError, match="fill is 'much', but must be of type int"):
        ayatori.solve(*system, preconditioner="ilut", fill="much")


def test_options_of_complete_factors(system):
    try:
        ayatori.preconditioner(system[0], "direct")
    except ValueError:
        pytest.skip("built without complete factors")
    single = ayatori.solve(*system, preconditioner="direct", factor_precision="single", low_rank=1e-4, **QUIET)
    assert single.converged
    with pytest.raises(ValueError, match="^factor_precision has no meaning with preconditioner ilu$"):
        ayatori.solve(*system, preconditioner="ilu", factor_precision="single")
    with pytest.raises(ValueError, match="^low_rank 1.0: want 0 to 1$|^low_rank 1: want 0 to 1$"):
        ayatori.solve(*system, preconditioner="direct", low_rank=1)


def test_checkpoint_and_resume(system, tmp_path):
    path = tmp_path / "x.checkpoint"
    arms = {"method": "bicgstab", "preconditioner": "jacobi", **QUIET}
    first = ayatori.solve(*system, checkpoint=path, every=0, max_iterations=5, **arms)
    assert not first.converged and first.report["checkpoint"]["written"] > 0
    second = ayatori.solve(*system, resume=path, **arms)
    assert second.converged and second.report["resumed"]["file"] == str(path)
    with pytest.raises(ValueError, match="another right-hand side"):
        ayatori.solve(system[0], 2 * system[1], resume=path, **arms)
    with pytest.raises(ValueError, match="every says"):
        ayatori.solve(*system, every=5)
    with pytest.raises(OSError, match="cannot be written"):
        ayatori.solve(*system, checkpoint=tmp_path / "no" / "folder")


def test_a_checkpoint_that_cannot_be_written_is_a_warning(system, tmp_path):
    folder = tmp_path / "f"
    folder.mkdir()
    solver = ayatori.Solver(system[0], checkpoint=folder / "x", every=0, **QUIET)
    folder.rmdir()
    with pytest.warns(RuntimeWarning, match="no checkpoint"):
        assert solver.solve(system[1]).converged


def test_knowledge_is_kept_where_it_is_asked_for(system, tmp_path):
    folder = tmp_path / "knowledge"
    assert ayatori.solve(*system, **QUIET).report["knowledge"] is None
    first = ayatori.solve(*system, knowledge=folder, **QUIET)
    assert first.report["knowledge"]["found"] is None and list(folder.iterdir())
    second = ayatori.solve(*system, knowledge=str(folder), **QUIET)
    assert second.report["knowledge"]["found"] is not None and "knowledge" in str(second)


def test_replay_of_a_result(system, tmp_path):
    first = ayatori.solve(*system, **QUIET)
    path = tmp_path / "first.json"
    path.write_text(json.dumps(first.report))
    again = ayatori.solve(*system, replay=path, **QUIET)
    assert np.array_equal(again.x, first.x)
    with pytest.raises(ValueError, match="replay repeats"):
        ayatori.solve(*system, replay=path, method="cg")


def test_coordinates_of_an_elastic_body(tmp_path):
    A = ayatori.load("elasticity3d:n=6")
    nodes = A.shape[0] // 3
    plain = ayatori.solve(A, np.ones(A.shape[0]), method="cg", preconditioner="amg", **QUIET)
    edge = round(nodes ** (1 / 3))
    grid = np.stack(np.meshgrid(*(np.arange(edge + 1),) * 3, indexing="ij"), -1).reshape(-1, 3)[:nodes]
    result = ayatori.solve(A, np.ones(A.shape[0]), method="cg", preconditioner="amg", coordinates=grid, **QUIET)
    assert plain.converged and result.converged and result.report["replay"]["coordinates"]
    with pytest.raises(ValueError, match="coordinates"):
        ayatori.solve(A, np.ones(A.shape[0]), coordinates=grid[:-1], **QUIET)


def test_a_race_of_threads_is_in_the_report(system):
    race = ayatori.solve(*system, profile="none").report["thread_race"]
    assert race["offered"] >= 1
