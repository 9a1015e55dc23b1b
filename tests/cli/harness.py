"""Runs the ayatori command on the number of ranks that the test was registered for."""

import functools
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import jsonschema

AYATORI = os.environ["AYATORI"]
RANKS = int(os.environ.get("AYATORI_RANKS", "1"))
MPIRUN = os.environ.get("AYATORI_MPIRUN", "mpirun")
SCHEMAS = pathlib.Path(os.environ["AYATORI_SCHEMAS"])


def command(*arguments):
    """One rank runs without a launcher, as a user with a laptop would."""
    launcher = [] if RANKS == 1 else [MPIRUN, "-n", str(RANKS)]
    return [*launcher, AYATORI, *map(str, arguments)]


@functools.cache
def validator(kind):
    return jsonschema.Draft7Validator(json.loads((SCHEMAS / f"{kind}.schema.json").read_text()))


def check_schema(result):
    """A result, or a list of results of one kind, is as the schema in docs/ says that it names."""
    named = result[0] if isinstance(result, list) else result
    validator(named["schema"].removeprefix("ayatori.").split("/")[0]).validate(result)


class CommandTest(unittest.TestCase):
    """Every test has a folder of its own, which is also the current directory of what it runs."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ayatori-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def environment(self):
        environment = dict(os.environ)
        if RANKS > 1:
            environment["OMP_NUM_THREADS"] = "1"
        return environment

    def start(self, *arguments, stdin=None):
        return subprocess.Popen(command(*arguments), cwd=self.folder, env=self.environment(), text=True,
                                errors="replace", stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run_ayatori(self, *arguments, timeout=120, again=True, stdin=None):
        process = self.start(*arguments, stdin=stdin)
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            self.fail(f"{arguments} hangs")
        # MPICH's launcher at times drops all that the ranks of a failing job wrote; no other launcher is mute then.
        if process.returncode and not (out or err) and RANKS > 1 and again:
            return self.run_ayatori(*arguments, timeout=timeout, again=False)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def solve(self, *arguments, status=0, **keywords):
        """Runs `ayatori solve ... --json` and gives the result as a dictionary. All ranks hold rows unless told
        otherwise, however small the system is."""
        if "--use-ranks" not in arguments and "--replay" not in arguments:
            arguments = (*arguments, "--use-ranks", "all")
        done = self.run_ayatori("solve", *arguments, "--json", "result.json", **keywords)
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads((self.folder / "result.json").read_text()), done

    def read_result(self, name):
        """What a command has written, held against its schema."""
        result = json.loads((self.folder / name).read_text())
        check_schema(result)
        return result

    def write(self, name, content):
        path = self.folder / name
        if isinstance(content, str):
            content = content.encode()
        path.write_bytes(content)
        return path

    def assert_no_leftovers(self, *expected):
        """Nothing but the expected files: no temporary ones."""
        self.assertEqual(sorted(p.name for p in self.folder.iterdir()), sorted(expected))


def read_vector(path):
    """A Matrix Market array of one column."""
    lines = [line for line in path.read_text().splitlines() if line.strip() and not line.startswith("%")]
    rows, columns = map(int, lines[0].split())
    assert columns == 1 and len(lines) == rows + 1
    return [float(line) for line in lines[1:]]


def matrix_market(entries, rows, columns=None, symmetry="general"):
    """Text of a coordinate file; entries are (row, column, value) counted from 1."""
    columns = rows if columns is None else columns
    body = "".join(f"{i} {j} {v!r}\n" for i, j, v in entries)
    return f"%%MatrixMarket matrix coordinate real {symmetry}\n{rows} {columns} {len(entries)}\n{body}"


def tridiagonal(n):
    entries = [(i, i, 2.0) for i in range(1, n + 1)]
    entries += [(i + 1, i, -1.0) for i in range(1, n)]
    return matrix_market(entries, n, symmetry="symmetric")
