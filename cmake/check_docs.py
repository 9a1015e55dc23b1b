#!/usr/bin/env python3
"""check_docs.py FOLDER_OF_COMMAND [PAGE...]: runs the commands that the documentation shows.

Those are the ```sh blocks after a line `<!-- test -->`, or `<!-- test: exit=2 -->` for a command that fails. The blocks of
one page run one after the other in one temporary folder, so that a later one may use what an earlier one wrote.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"^<!-- test(?:: exit=(\d+))? -->\n```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def check(page, environment):
    """Failures on this page, and how many blocks ran."""
    text = page.read_text()
    failures = 0
    blocks = list(BLOCK.finditer(text))
    if len(re.findall(r"<!-- test(?:: [^>]*)? -->", text)) != len(blocks):
        print(f"{page}: a test mark is not followed by a ```sh block")
        failures += 1
    with tempfile.TemporaryDirectory() as folder:
        for block in blocks:
            expected = int(block.group(1) or 0)
            run = subprocess.run(["bash", "-ec", block.group(2)], cwd=folder, env=environment, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if run.returncode != expected:
                line = text.count("\n", 0, block.start()) + 1
                print(f"{page}:{line}: exit status {run.returncode}, not {expected}:\n{block.group(2)}{run.stdout}")
                failures += 1
    return failures, len(blocks)


def main():
    command, *pages = sys.argv[1:]
    pages = [pathlib.Path(p) for p in pages] or [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    environment = os.environ | {"PATH": f"{command}:{os.environ['PATH']}"}
    results = [check(page, environment) for page in pages]
    print(f"{sum(blocks for _, blocks in results)} blocks of {len(pages)} pages ran")
    return 1 if any(failures for failures, _ in results) else 0


if __name__ == "__main__":
    sys.exit(main())
