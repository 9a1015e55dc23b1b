#!/usr/bin/env python3
"""Whether choices and processor time depend on what else the machine does: each problem alone, then beside busy programs.

usage: bench/beside_other_work.py PROBLEM ... [--ayatori build/release/cli/ayatori] [--solves 20] [--busy 4] [--markdown FILE]

--busy programs for each core do nothing but compute. Processor time is that of the whole command, reading included; ratios are to the median alone.
"""

import argparse
import collections
import json
import os
import pathlib
import resource
import statistics
import subprocess
import tempfile

import runs

ENVIRONMENT = {"OMP_NUM_THREADS": "1", "AYATORI_PROFILE": "none", "AYATORI_KNOWLEDGE": "none"}


def solve(options, problem):
    """(seconds of the processor, choice)"""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "result.json"
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([options.ayatori, "solve", problem, "--threads", "1", "--json", file], env={**os.environ, **ENVIRONMENT}, capture_output=True)
        spent = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        choice = json.loads(file.read_text())["choice"]
    return spent, f"{choice['method']} + {choice['preconditioner']}"


def solves(options, problem, busy):
    others = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(busy)]
    try:
        return [solve(options, problem) for _ in range(options.solves)]
    finally:
        for other in others:
            other.kill()
            other.wait()


def row(options, problem):
    alone = solves(options, problem, 0)
    beside = solves(options, problem, options.busy * os.cpu_count())
    usual = statistics.median(seconds for seconds, _ in alone)
    times = [seconds / usual for seconds, _ in beside]
    choice, count = collections.Counter(choice for _, choice in alone + beside).most_common(1)[0]
    return [problem.split("/")[-1], f"{usual:.3f}", f"{statistics.median(times):.2f}", f"{max(times):.2f}", choice, f"{count} of {len(alone + beside)}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problems", nargs="+", metavar="PROBLEM")
    parser.add_argument("--ayatori", default="build/release/cli/ayatori")
    parser.add_argument("--solves", type=int, default=20)
    parser.add_argument("--busy", type=int, default=4, help="programs for each core")
    parser.add_argument("--markdown", type=pathlib.Path)
    options = parser.parse_args()
    header = ["", "processor seconds alone", "beside others, median", "worst", "choice", "the same"]
    runs.write(options, runs.table(header, [row(options, problem) for problem in options.problems]))


if __name__ == "__main__":
    main()
