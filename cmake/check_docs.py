#!/usr/bin/env python3
"""check_docs.py [--in PLACE] FOLDER_OF_COMMAND [PAGE...]: holds the documentation against the commands and files that it shows.

It runs the ```sh blocks after a line `<!-- test -->`, or `<!-- test: exit=2 -->` for a command that fails; those after
`<!-- test: in=PLACE -->` with --in PLACE, and no others. The blocks of one page run one after the other in one temporary
folder, so that a later one may use what an earlier one wrote.
What is not run, in blocks without a mark and in the text, at least names options that `ayatori` has, and files that are there; scripts can be executed.
On the page of the theory every [`name`](header) is the name of something that the header holds. A ```cpp, ```c or ```fortran block stands after a line `<!-- file: PATH -->` and is the whole of that file, which the tests compile.
A relative link leads to a file or folder that is there.
"""

import argparse
import functools
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEST = re.compile(r"^<!-- test(?::(?: in=(\w+))?(?: exit=(\d+))?)? -->\n```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN = re.compile(r"^```(?:sh|text|console|)\n(.*?)^```$|`(ayatori [^`\n]+)`", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"(?:^|(?<=[\s/\"(`]))ayatori((?: +[a-z][a-z-]*)*)([^|;&>#`)]*)")
SCRIPT = re.compile(r"(?<![\w/.-])((?:bench|cmake|packaging|python)/[\w/.-]+\.(?:py|sh|def|txt))((?: +[^|;&>#`)\n]*)?)")
NAMED = re.compile(r"\[`(\w+)`\]\(([^)\s]*\.hpp)\)")
PROGRAM = re.compile(r"^<!-- file: (\S+) -->\n```(?:cpp|c|fortran)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]*)\)")


@functools.cache
def options_of(program, words):
    """The options in the manual page of the longest command that these words begin with."""
    while True:
        page = subprocess.run([program, "man", *words], text=True, capture_output=True)
        if page.returncode == 0:
            return set(re.findall(r"--?[\w-]+", page.stdout.replace("\\-", "-")))
        if not words:
            raise RuntimeError(page.stderr)
        words = words[:-1]


def check_shown(text, program):
    """Commands that are not run: their options and scripts exist."""
    run = {block.start(3) for block in TEST.finditer(text)}
    for block in SHOWN.finditer(text):
        code = block.group(1) or block.group(2) or ""
        if block.start(1) in run:
            continue
        code = code.replace("\\\n", " ")
        for command in COMMAND.finditer(code):
            known = options_of(program, tuple(command.group(1).split()))
            for option in re.findall(r"(?<=\s)--[a-z][\w-]*", command.group(2).split("\n")[0]):
                if option not in known:
                    yield block.start(), f"'ayatori{command.group(1)}' has no option {option}"
        for script in SCRIPT.finditer(code):
            path = ROOT / script.group(1)
            if not path.is_file():
                yield block.start(), f"there is no {script.group(1)}"
                continue
            if path.read_text().startswith("#!") and not os.access(path, os.X_OK):
                yield block.start(), f"{script.group(1)} is not executable"
            for option in re.findall(r"(?<=\s)(--[a-z][\w-]*)", script.group(2).partition(" -- ")[0]):
                if option not in path.read_text():
                    yield block.start(), f"{script.group(1)} has no option {option}"


def check_names(page, text):
    for named in NAMED.finditer(text):
        header = page.parent / named.group(2)
        if header.is_file() and not re.search(rf"\b{named.group(1)}\b", header.read_text()):
            yield named.start(), f"{named.group(2)} holds no {named.group(1)}"


def check_commands(text, environment, place):
    blocks = list(TEST.finditer(text))
    if len(re.findall(r"^<!-- test\b.*-->$", text, re.MULTILINE)) != len(blocks):
        yield 0, "a test mark is not followed by a ```sh block"
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as cache:
        environment = environment | {"XDG_CACHE_HOME": cache, "XDG_DATA_HOME": cache}
        for block in blocks:
            if block.group(1) != place:
                continue
            expected = int(block.group(2) or 0)
            run = subprocess.run(["bash", "-ec", block.group(3)], cwd=folder, env=environment, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if run.returncode != expected:
                yield block.start(), f"exit status {run.returncode}, not {expected}:\n{block.group(3)}{run.stdout}"


def check_programs(text):
    blocks = list(PROGRAM.finditer(text))
    if len(re.findall("^```(?:cpp|c|fortran)$|^<!-- file: ", text, re.MULTILINE)) != 2 * len(blocks):
        yield 0, "a block of a program without a line <!-- file: PATH --> before it, or the other way round"
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


def check(page, environment, program, place):
    """How many failures this page has."""
    text = page.read_text()
    failures = list(check_commands(text, environment, place))
    if place is None:
        failures += [*check_links(page, text), *check_programs(text), *check_names(page, text), *check_shown(text, program)]
    for position, what in failures:
        line = text.count("\n", 0, position) + 1
        print(f"{page}:{line}: {what}")
    return len(failures)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--in", dest="place")
    parser.add_argument("command", type=pathlib.Path)
    parser.add_argument("pages", type=pathlib.Path, nargs="*")
    arguments = parser.parse_args()
    command = arguments.command.resolve()
    pages = arguments.pages or [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
    environment = os.environ | {"PATH": f"{command}:{os.environ['PATH']}"}
    failures = sum(check(page, environment, command / "ayatori", arguments.place) for page in pages)
    print(f"{len(pages)} pages, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
