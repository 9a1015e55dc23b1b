"""The ```python blocks of the documentation run, those of one page after another in one namespace."""

import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [page for page in [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")] if "```python\n" in page.read_text()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_blocks_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in re.finditer(r"^```python\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL):
        exec(compile(block.group(1), f"{page.name}, block at {block.start()}", "exec"), names)


def test_there_are_pages():
    assert {ROOT / "docs" / "python.md", ROOT / "docs" / "tutorial.md"} <= set(PAGES)


def test_the_site_is_tested_with_the_versions_that_build_it():
    pinned = (ROOT / "docs" / "site" / "requirements.txt").read_text().splitlines()
    assert pinned and set(pinned) <= set((ROOT / "python" / "tests" / "requirements.txt").read_text().splitlines())


def test_the_reference_has_everything_public():
    import ayatori
    page = (ROOT / "docs" / "reference" / "python.md").read_text()
    assert set(re.findall("^::: ayatori.(\\w+)$", page, re.MULTILINE)) == set(ayatori.__all__) - {"__version__"}
