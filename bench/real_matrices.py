#!/usr/bin/env python3
"""Runs `ayatori solve` on every square real matrix of a folder and prints a table: solved, or honestly not.

usage: bench/real_matrices.py FOLDER [--ayatori build/release/cli/ayatori] [--time-limit 20] [--ranks 1] [--markdown FILE]

A matrix NAME.mtx.gz with NAME_b.mtx.gz beside it is solved for that right-hand side, others for b = A x with a random x.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

SUFFIX = ".mtx.gz"


def matrices(folder):
    """Names of the matrices; vectors that belong to another file are left out."""
    names = sorted(path.name[: -len(SUFFIX)] for path in folder.glob("*" + SUFFIX))
    vectors = ("_b", "_x", "_eigenvalues")
    return [name for name in names if not name.endswith(vectors)]


def solve(options, folder, name):
    """One run: the result as JSON, or the line that says why there is none."""
    rhs = folder / f"{name}_b{SUFFIX}"
    with tempfile.NamedTemporaryFile(suffix=".json") as result:
        launcher = [] if options.ranks == 1 else [options.mpirun, "-n", str(options.ranks)]
        done = subprocess.run(
            [*launcher, options.ayatori, "solve", str(folder / (name + SUFFIX)), "--rhs",
             str(rhs) if rhs.exists() else "solution-random:1", "--rtol", str(options.rtol), "--time-limit",
             str(options.time_limit), "--json", result.name, "--quiet"],
            capture_output=True, text=True, check=False)
        if done.returncode in (0, 1):
            return json.loads(pathlib.Path(result.name).read_text(encoding="utf-8")), None
        reasons = [line for line in done.stderr.splitlines() if line.startswith("ayatori:")]
        return None, reasons[0].split(": ", 2)[-1] if reasons else f"exit status {done.returncode}"


def row(name, result):
    choice = result["choice"]
    words = choice["method"] + (f"({choice['restart']})" if choice["restart"] else "") + " + " + choice["preconditioner"]
    outcome = "solved" if result["converged"] else result["status"]
    error = result["true_error"]
    return [name, str(result["matrix"]["rows"]), str(result["matrix"]["nonzeros"]),
            "yes" if result["matrix"]["symmetric"] else "no", outcome, f"{result['relative_residual']:.1e}",
            f"{result['backward_error']:.1e}", "-" if error is None else f"{error:.1e}", words, str(len(result["trials"])),
            str(result["iterations"]), f"{result['seconds']['total']:.2f}"]


HEADER = ["matrix", "rows", "nonzeros", "symmetric", "outcome", "residual", "backward error", "error of x", "choice",
          "trials", "iterations", "seconds"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--ayatori", default="build/release/cli/ayatori")
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=20)
    parser.add_argument("--rtol", type=float, default=1e-8)
    parser.add_argument("--markdown", type=pathlib.Path)
    options = parser.parse_args()
    rows, rejected = [], []
    for name in matrices(options.folder):
        result, reason = solve(options, options.folder, name)
        if result is None:
            rejected.append(f"- {name}: {reason}")
            print(f"{name}: {reason}", file=sys.stderr)
        else:
            rows.append(row(name, result))
            print("  ".join(rows[-1]), file=sys.stderr)
    solved = sum(r[4] == "solved" for r in rows)
    text = f"{solved} of {len(rows)} solved.\n\n"
    text += "| " + " | ".join(HEADER) + " |\n" + "|---" * len(HEADER) + "|\n"
    text += "".join("| " + " | ".join(r) + " |\n" for r in rows)
    text += "\nRejected as input:\n\n" + "\n".join(rejected) + "\n"
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
