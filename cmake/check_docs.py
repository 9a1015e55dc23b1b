#!/usr/bin/env python3
"""check_docs.py FOLDER_OF_COMMAND [PAGE...]: holds the documentation against the commands and files that it shows.

It runs the ```sh blocks after a line `<!-- test -->`, or `<!-- test: exit=2 -->` for a command that fails. The blocks of
one page run one after the other in one temporary folder, so that a later one may use what an earlier one wrote.
A ```cpp block stands after a line `<!-- file: PATH -->` and is the whole of that file, which the tests compile.
A relative link leads to a file or folder that is there.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEST = re.compile(r"^<!-- test(?:: exit=(\d+))? -->\n```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAM = re.compile(r"^<!-- file: (\S+) -->\n```cpp\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]*)\)")


def check_commands(text, environment):
    blocks = list(TEST.finditer(text))
    if len(re.findall(r"^<!-- test\b.*-->$", text, re.MULTILINE)) != len(blocks):
        yield 0, "a test mark is not followed by a ```sh block"
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
        environment = environment | {"XDG_CACHE_HOME": cache, "XDG_DATA_HOME": cache}
        for block in blocks:
            expected = int(block.group(1) or 0)
            run = subprocess.run(["bash", "-ec", block.group(2)], cwd=folder, env=environment, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if run.returncode != expected:
                yield block.start(), f"exit status {run.returncode}, not {expected}:\n{block.group(2)}{run.stdout}"


def check_programs(text):
    blocks = list(PROGRAM.finditer(text))
    if len(re.findall("^```cpp$|^<!-- file: ", text, re.MULTILINE)) != 2 * len(blocks):
        yield 0, "a ```cpp block without a line <!-- file: PATH --> before it, or the other way round"
    for block in blocks:
        path = ROOT / block.group(1)
        if not path.is_file() or path.read_text() != block.group(2):
            yield block.start(), f"the block is not what {block.group(1)} holds"


def check_links(page, text):
    prose = CODE.sub(lambda code: re.sub(r"[^\n]", " ", code.group()), text)
    for link in LINK.finditer(prose):
        target = link.group(1).partition("#")[0]
        if target and not re.match("[a-z]+:", target) and not (page.parent / target).exists():
            yield link.start(), f"the link to {target} leads nowhere"


def check(page, environment):
    """How many failures this page has."""
    text = page.read_text()
    failures = [*check_links(page, text), *check_programs(text), *check_commands(text, environment)]
    for position, what in failures:
        line = text.count("\n", 0, position) + 1
        print(f"{page}:{line}: {what}")
    return len(failures)


def main():
    command, *pages = sys.argv[1:]
    pages = [pathlib.Path(p) for p in pages] or [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]
    environment = os.environ | {"PATH": f"{command}:{os.environ['PATH']}"}
    failures = sum(check(page, environment) for page in pages)
    print(f"{len(pages)} pages, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
