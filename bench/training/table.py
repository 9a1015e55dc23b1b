#!/usr/bin/env python3
"""How far the tuned solve is from the best arm, by family, from a file of records.

usage: bench/training/table.py FILE [--by family|kind|size] [--markdown FILE]

best / tuned compare processor time, in products, of a solve from nothing: facts, set-up, iterations, verification.
The best four arms and the tuned solve ran three times more, in turns: medians of these count.
"first" is the arm that the tuned solve began with, as it does alone.
"""

import argparse
import collections
import math
import pathlib
import statistics
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent)]

import records  # noqa: E402
import runs  # noqa: E402

CLOSE = 1.1  # a first choice that takes this many times as long as the best is a good one
HEADER = ["", "systems", "solved by an arm", "by the tuned solve", "tuned / best, geometric mean", "90th percentile", "worst", "at", "first within 10 %",
          "best arms"]


def total(record):
    """Products; where the arm was in the finals, the median of these."""
    return statistics.median(record["again"]) if "again" in record else record["total"]


class Verdict:
    """One system: its best arm, the tuned solve, and the arm that began that."""

    def __init__(self, system):
        self.system = system
        self.totals = {name: total(arm) for name, arm in system["arms"].items() if name != records.TUNED and records.is_solved(arm)}
        finalists = [name for name in self.totals if "again" in system["arms"][name]]
        self.best = min(finalists or self.totals, key=self.totals.get, default=None)
        self.tuned = system["arms"].get(records.TUNED)
        self.solved = self.tuned is not None and records.is_solved(self.tuned)

    def regret(self):
        """tuned / best; None where one of them has not solved the system."""
        return total(self.tuned) / self.totals[self.best] if self.best and self.solved else None

    def began_well(self):
        if self.best is None or not self.tuned or not self.tuned["trials"]:
            return None
        first = self.totals.get(self.tuned["trials"][0]["arm"], math.inf)
        return first <= CLOSE * self.totals[self.best]


def quantile(values, share):
    values = sorted(values)
    return values[min(int(share * len(values)), len(values) - 1)]


def row(name, verdicts):
    regrets = {verdict.system["system"]: verdict.regret() for verdict in verdicts}
    regrets = {system: regret for system, regret in regrets.items() if regret is not None}
    began = [verdict.began_well() for verdict in verdicts if verdict.began_well() is not None]
    best = collections.Counter(verdict.best for verdict in verdicts if verdict.best)
    words = [f"{arm} ({count})" if count > 1 else arm for arm, count in best.most_common(3)]
    cells = [name, len(verdicts), sum(verdict.best is not None for verdict in verdicts), sum(verdict.solved for verdict in verdicts)]
    if not regrets:
        return [*cells, "-", "-", "-", "-", "-", "; ".join(words)]
    worst = max(regrets, key=regrets.get)
    return [*cells, f"{runs.geometric_mean(regrets.values()):.2f}", f"{quantile(regrets.values(), 0.9):.2f}", f"{regrets[worst]:.2f}",
            ":".join(worst.split(":")[1:3]), f"{100 * statistics.fmean(began):.0f} %", "; ".join(words)]


def table(systems, by):
    verdicts = [Verdict(system) for system in systems.values() if records.TUNED in system["arms"]]
    groups = collections.defaultdict(list)
    for verdict in verdicts:
        groups[verdict.system[by]].append(verdict)
    lines = [row(str(name), group) for name, group in sorted(groups.items())]
    return runs.table([by, *HEADER[1:]], [*lines, row("all", verdicts)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--by", choices=("family", "kind", "size"), default="family")
    parser.add_argument("--markdown", type=pathlib.Path)
    options = parser.parse_args()
    runs.write(options, table(records.load(options.file), options.by))


if __name__ == "__main__":
    main()
