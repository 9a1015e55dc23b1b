#!/usr/bin/env python3
"""How often solves of the same system choose the same, on a machine that others use too.

usage: bench/repeated_choices.py [FOLDER] [--problem MATRIX ...] [--repetitions 10] [--load 2] [--threads 1]
                                 [--markdown FILE]

Every system is solved this many times from nothing, each in a process of its own, while --load other processes
compute without end. A system counts as steady if all solves but one of ten choose the same method and
preconditioner, or if the median times of all choices are within 10 % of each other. Problems: those of
regret.py, with FOLDER its real matrices too.
"""

import collections
import pathlib
import statistics
import subprocess
import sys

import regret
import runs

LIKE = 1.1  # median times within this factor are alike


class Load:
    """Processes that compute until the end of the block."""

    def __init__(self, count):
        self.count = count
        self.processes = []

    def __enter__(self):
        self.processes = [subprocess.Popen([sys.executable, "-c", "while True: sum(range(10000))"])
                          for _ in range(self.count)]

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


def problems(options):
    if options.problem:
        return [runs.named(matrix) for matrix in options.problem]
    found = [runs.Problem(spec, spec) for spec in regret.GENERATED]
    return found + ([runs.from_folder(options.folder, name) for name in regret.REAL] if options.folder else [])


def measure(options, problem):
    """(choice, seconds) of every repetition."""
    results = [runs.solve(options, problem) for _ in range(options.repetitions)]
    return [(runs.choice_words({**result["choice"], "restart": None}) if result["converged"] else "not converged",
             runs.seconds(result)) for result in results]


def is_steady(choices):
    times = collections.defaultdict(list)
    for choice, seconds in choices:
        times[choice].append(seconds)
    most = max(len(values) for values in times.values())
    medians = [statistics.median(values) for values in times.values()]
    return 10 * most >= 9 * len(choices) or max(medians) <= LIKE * min(medians)


def row(problem, choices):
    counts = collections.Counter(choice for choice, _ in choices).most_common()
    times = [seconds for _, seconds in choices]
    return [problem.name, "; ".join(f"{count} x {choice}" for choice, count in counts),
            f"{statistics.median(times):.3g} ({min(times):.3g}-{max(times):.3g})", "yes" if is_steady(choices) else "**no**"]


def main():
    parser = runs.parser_of(__doc__)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, help="with the real matrices")
    parser.add_argument("--problem", action="append", help="a file or spec instead of the list; repeatable")
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--load", type=int, default=2, help="processes that compute beside (default: 2)")
    runs.add_options(parser, time_limit=20)
    options = parser.parse_args()
    rows = []
    with Load(options.load):
        for problem in problems(options):
            choices = measure(options, problem)
            rows.append((row(problem, choices), is_steady(choices)))
            runs.say(", ".join(rows[-1][0]))
    steady = sum(is_same for _, is_same in rows)
    text = (f"{runs.machine_words([1], options.threads)} {runs.count_words(options.repetitions, 'repetition')} beside "
            f"{runs.count_words(options.load, 'program')} that compute. Steady: {steady} of {len(rows)}.\n\n")
    runs.write(options, text + runs.table(["system", "choices", "seconds", "steady"], [cells for cells, _ in rows]))


if __name__ == "__main__":
    main()
