"""The knowledge base by hand: the same as `ayatori knowledge`."""

import json
import os
import subprocess

import ayatori
import numpy as np
import pytest

QUIET = {"profile": "none", "threads": 1}


@pytest.fixture
def knowledge(tmp_path):
    """Two lessons."""
    folder = tmp_path / "lessons"
    for n in (20, 30):
        assert ayatori.solve(ayatori.load(f"poisson2d-5:n={n}"), np.ones(n * n), knowledge=folder, **QUIET).converged
    return ayatori.Knowledge(folder)


def by_command_line(*words):
    done = subprocess.run([os.environ["AYATORI"], "knowledge", *words], capture_output=True, text=True, check=True)
    return done.stdout


def test_lists_and_shows_as_the_command_line(knowledge):
    assert len(knowledge) == 2 and repr(knowledge) == f"<Knowledge of 2 lessons in {knowledge.folder}>"
    assert str(knowledge) + "\n" == by_command_line("list", "--knowledge", knowledge.folder)
    assert knowledge.show() == json.loads(by_command_line("show", "--knowledge", knowledge.folder))
    key = knowledge.lines()[0].split()[0]
    assert knowledge.show(key[:12]) == knowledge.show()[:1] and knowledge.show()[0]["schema"] == "ayatori.knowledge/1"


def test_export_import_and_forget(knowledge, tmp_path):
    path = tmp_path / "all.json"
    knowledge.export_to(path)
    assert json.loads(path.read_text()) == knowledge.show()
    other = ayatori.Knowledge(tmp_path / "elsewhere")
    assert len(other) == 0 and str(other) == "" and other.show() == []
    assert other.import_from(path) == 2 and other.show() == knowledge.show()
    key = knowledge.lines()[1].split()[0]
    assert other.forget(key) == 1 and len(other) == 1
    assert other.forget(all=True) == 1 and other.forget(all=True) == 0 and len(knowledge) == 2


def test_what_is_wrong(knowledge, tmp_path, monkeypatch):
    for call in (lambda: knowledge.show("xyz"), lambda: knowledge.forget("xyz")):
        with pytest.raises(ValueError, match="nothing is known by the key xyz$"):
            call()
    for options in ({}, {"key": "1", "all": True}):
        with pytest.raises(ValueError, match="^say what to forget: the beginning of a key, or all=True$"):
            knowledge.forget(**options)
    text = knowledge.show()
    del text[1]["solves"]
    (tmp_path / "torn.json").write_text(json.dumps(text))
    other = ayatori.Knowledge(tmp_path / "other")
    with pytest.raises(ValueError, match="torn.json: lesson 2: "):
        other.import_from(tmp_path / "torn.json")
    assert len(other) == 0
    (tmp_path / "lessons" / "mine.json").write_text("{}")
    with pytest.warns(RuntimeWarning, match="mine.json: ignored"):
        assert len(knowledge.show()) == 2
    for folder in ("none", "auto"):
        monkeypatch.setenv("AYATORI_KNOWLEDGE", "none")
        with pytest.raises(ValueError, match="^there is no knowledge base: name a folder"):
            ayatori.Knowledge(folder)
    with pytest.raises(ValueError, match="^knowledge is empty: name a folder"):
        ayatori.Knowledge("")
