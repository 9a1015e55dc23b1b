#!/usr/bin/env python3
"""Runs `ayatori solve` on every square real matrix of a folder and prints a table: solved, or honestly not.

usage: bench/real_matrices.py FOLDER [--ayatori build/release/cli/ayatori] [--time-limit 20] [--ranks 1] [--markdown FILE]

A matrix NAME.mtx.gz with NAME_b.mtx.gz beside it is solved for that right-hand side, others for b = A x with a random x.
"""

import pathlib

import runs


def matrices(folder):
    """Names of the matrices; vectors that belong to another file are left out."""
    names = sorted(path.name[: -len(runs.SUFFIX)] for path in folder.glob("*" + runs.SUFFIX))
    vectors = ("_b", "_x", "_eigenvalues")
    return [name for name in names if not name.endswith(vectors)]


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
    parser = runs.parser_of(__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    runs.add_options(parser, time_limit=20)
    parser.set_defaults(threads=0)
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--rtol", type=float, default=1e-8)
    options = parser.parse_args()
    rows, rejected = [], []
    for name in matrices(options.folder):
        problem = runs.from_folder(options.folder, name, rhs="solution-random:1", rtol=options.rtol)
        try:
            rows.append(row(name, runs.solve(options, problem, ranks=options.ranks)))
            runs.say("  ".join(rows[-1]))
        except runs.Rejected as rejection:
            reason = str(rejection).partition(": ")[2]  # what comes before is the path
            rejected.append(f"- {name}: {reason}")
            runs.say(f"{name}: {reason}")
    solved = sum(r[4] == "solved" for r in rows)
    text = f"{solved} of {len(rows)} solved.\n\n" + runs.table(HEADER, rows)
    runs.write(options, text + "\nRejected as input:\n\n" + "\n".join(rejected) + "\n")


if __name__ == "__main__":
    main()
