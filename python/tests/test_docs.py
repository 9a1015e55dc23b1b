"""The ```python blocks of the documentation run, those of one page after another in one namespace."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [page for page in [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")] if "```python\n" in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.finditer(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
        exec(compile(block.group(1), f"{page.name}, block at {block.start()}", "exec"), names)


def test_there_are_pages():
    assert ROOT / "docs" / "python.md" in PAGES
