"""What the benchmark scripts share: runs of `ayatori solve` that take turns, their times, and tables."""

import argparse
import dataclasses
import importlib.util
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
SUFFIX = ".mtx.gz"
os.environ.setdefault("AYATORI_KNOWLEDGE", "none")  # no run begins with what another one found out


def need(*packages):
    """Ends the script with one line if a Python package is missing."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(f"{sys.argv[0]}: {sys.executable} has no {', '.join(missing)}; after cmake/setup.sh --tests take /usr/bin/python3 or .venv/bin/python")


class Rejected(Exception):
    """The command gave no result: the line that says why."""


@dataclasses.dataclass(frozen=True)
class Problem:
    """A system as the command line takes it."""

    name: str
    matrix: str
    rhs: str = "ones"
    rtol: float = 1e-8


def from_folder(folder, name, rhs="ones", rtol=1e-8):
    """The matrix NAME.mtx.gz of a folder, with NAME_b.mtx.gz as right-hand side where there is one."""
    own = folder / f"{name}_b{SUFFIX}"
    return Problem(name, str(folder / (name + SUFFIX)), str(own) if own.exists() else rhs, rtol)


def named(matrix, rhs="ones", rtol=1e-8):
    """A generator spec, or the file of a matrix as from_folder() takes it."""
    if not matrix.endswith(SUFFIX):
        return Problem(matrix, matrix, rhs, rtol)
    path = pathlib.Path(matrix)
    return from_folder(path.parent, path.name.removesuffix(SUFFIX), rhs, rtol)


def add_options(parser, time_limit):
    """The options that every script has. The time limit is that of one run."""
    parser.add_argument("--ayatori", default=str(ROOT / "build" / "release" / "cli" / "ayatori"))
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--threads", type=int, default=1, help="per rank (default: 1)")
    parser.add_argument("--time-limit", type=float, default=time_limit,
                        help=f"seconds of one run (default: {time_limit:g})")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the tables here")


def parser_of(documentation):
    return argparse.ArgumentParser(description=documentation,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)


def solve(options, problem, settings=(), ranks=1, time_limit=None, knowledge=None):
    """One run: the result as the JSON of `ayatori solve` has it, converged or not. `knowledge` is the folder of
    a knowledge base, which the run learns from and adds to; without one it knows nothing. Raises Rejected."""
    launcher = [] if ranks == 1 else [options.mpirun, "-n", str(ranks)]
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        done = subprocess.run(
            [*launcher, options.ayatori, "solve", problem.matrix, "--rhs", problem.rhs,
             "--rtol", str(problem.rtol), "--time-limit", str(time_limit or options.time_limit),
             "--threads", str(options.threads), "--json", result.name, "--quiet", *settings,
             *(["--knowledge", str(knowledge)] if knowledge else [])],
            capture_output=True, text=True, check=False)
        if done.returncode in (0, 1):
            text = pathlib.Path(result.name).read_text(encoding="utf-8")
            if text:
                return json.loads(text)
    prefix = "ayatori: "
    reasons = [line.removeprefix(prefix) for line in done.stderr.splitlines() if line.startswith(prefix)]
    raise Rejected(reasons[0] if reasons else f"exit status {done.returncode}: {done.stderr}")


def seconds(result):
    """From the matrix in memory to the verified x, tuning included: files are not what is compared."""
    return result["seconds"]["total"] - result["seconds"]["read"] - result["seconds"]["write"]


def environment():
    """That of programs started from here: without what an MPI loaded since, as by `import ayatori`, has added, which keeps mpirun from starting."""
    return dict(os.environ)


def take_turns(names, rounds):
    """A B C, C B A, A B C, ...: drift of the machine meets all alike."""
    names = list(names)
    for turn in range(rounds):
        yield from names if turn % 2 == 0 else reversed(names)


def median_run(results):
    """The run of median time; the lower one of two."""
    return sorted(results, key=seconds)[(len(results) - 1) // 2]


def spread_words(values):
    """'1.23 (1.20-1.31)': median, least and largest; one value alone has no spread."""
    if len(values) == 1:
        return f"{values[0]:.3g}"
    return f"{statistics.median(values):.3g} ({min(values):.3g}-{max(values):.3g})"


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def choice_words(choice, implementation=False):
    """'gmres(30, cgs) + block-ilu0', and with which kernel and halo strategy."""
    method = choice["method"]
    if choice["restart"]:
        method += f"({choice['restart']}, {choice['orthogonalization']})"
    numerics = f"{method} + {choice['preconditioner']}"
    return f"{numerics}, {choice['kernel']}, {choice['halo']}" if implementation else numerics


def count_words(count, noun):
    return f"{count} {noun}{'' if count == 1 else 's'}"


def outcome_words(result):
    """'solved', or how far a run came that did not."""
    return "solved" if result["converged"] else f"{result['status']} at {result['relative_residual']:.1e}"


def setting_of(options, keys):
    """The options of these names: what figures in one file have in common."""
    return {key: getattr(options, key) for key in keys}


def resumed(options, keys, what):
    """The entries, under the key `what`, that an earlier run with the same options has left in the JSON file."""
    if not (options.json and options.json.exists()):
        return []
    earlier = json.loads(options.json.read_text(encoding="utf-8"))
    if earlier["options"] != setting_of(options, keys):
        sys.exit(f"{options.json}: made with other options; remove it, or name another file")
    return earlier[what]


def table(header, rows):
    """A table in Markdown."""
    lines = ["| " + " | ".join(map(str, line)) + " |\n" for line in (header, *rows)]
    return "".join([lines[0], "|---" * len(header) + "|\n", *lines[1:]])


def machine_words(ranks, threads):
    """What has to stand beside times: cores, and whether the threads of all ranks had a core each."""
    cores = len(os.sched_getaffinity(0))
    text = f"Made on {count_words(cores, 'core')}, {count_words(threads, 'thread')} a rank."
    crowded = [str(n) for n in ranks if n * threads > cores]
    if crowded:
        text += (f" Runs of {', '.join(crowded)} ranks shared cores: they show that the choice works there, "
                 "and prove nothing about speed.")
    return text


def write(options, text):
    """Tables go to the file that was asked for, or to standard output."""
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")
    else:
        print(text)


def write_json(path, value):
    """At once or not at all, so that a run that is broken off leaves what it had."""
    temporary = path.with_name(path.name + ".new")
    temporary.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")
    temporary.replace(path)


def say(text):
    print(text, file=sys.stderr, flush=True)
