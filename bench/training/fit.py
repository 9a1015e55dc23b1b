#!/usr/bin/env python3
"""How well simple models choose an arm for systems of a kind that they have not seen, from a file of records.

usage: bench/training/fit.py FILE [--penalty 10] [--markdown FILE]

Each model learns from all families but one and chooses for that one, by the facts of the matrix alone:
  one arm          of definite, symmetric and other matrices: the one with the least geometric mean
  nearest          what did best on the systems with the nearest facts
  totals           ridge regression of the logarithm of each arm's time
  parts            the same of set-up, iterations and an iteration's price, and of failure; expected time from these
For comparison:
  tuned            the tuned solve as it was recorded, all its trials included
An arm that fails costs what it has spent, and the best arm after it. Times are in products, over those of the best arm known afterwards.
The second table tells how well parts of costs are known: the factor by which half of the predictions are off at most.
"""

import argparse
import collections
import math
import pathlib
import statistics
import sys

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent)]

import arms  # noqa: E402
import records  # noqa: E402
import runs  # noqa: E402
import table  # noqa: E402

FEWEST = 40     # systems that an arm must have run on to be fitted
NEIGHBOURS = 9


def logarithm(value):
    return math.log10(max(value, 1e-12))


def features(facts):
    """What a model sees of a matrix; magnitudes as logarithms, shares as they are."""
    rows, nonzeros = facts["rows"], facts["nonzeros"]
    mean = nonzeros / rows
    return [logarithm(rows), logarithm(mean), logarithm(facts["mean_row_of_entries"] / mean), logarithm(facts["max_row_nonzeros"] / mean),
            facts["symmetric"], facts["pattern_symmetric"], logarithm(facts["asymmetry"] + 1e-8), arms.looks_definite(facts),
            facts["positive_diagonals"] / rows, facts["zero_diagonals"] / rows, facts["dominant_rows"], facts["diffusive_rows"],
            facts["strongly_dominant_rows"], logarithm(facts["least_dominance"] + 1e-6), logarithm(abs(facts["constant_quotient"]) + 1e-8),
            logarithm(facts["max_abs_diagonal"] / max(facts["min_abs_diagonal"], 1e-12 * facts["max_abs_diagonal"], 1e-300)),
            logarithm(facts["dropped_fill"] + 1e-3), facts["block_size"] > 1, logarithm(max(facts["bandwidth"], 1) / rows),
            logarithm(facts["layers"] + 1)]


class Systems:
    """All records as arrays: a row for each system that some arm has solved, a column for each arm; NaN where it did not run."""

    def __init__(self, path):
        chosen = [table.Verdict(system) for system in records.load(path).values() if records.TUNED in system["arms"]]
        self.verdicts = [verdict for verdict in chosen if verdict.best]
        self.families = np.array([verdict.system["family"] for verdict in self.verdicts])
        self.facts = [verdict.system["facts"] for verdict in self.verdicts]
        x = np.array([features(facts) for facts in self.facts], dtype=float)
        x = (x - x.mean(axis=0)) / np.maximum(x.std(axis=0), 1e-9)
        self.x = np.hstack([np.ones((len(x), 1)), x])
        self.best = np.array([verdict.totals[verdict.best] for verdict in self.verdicts])
        runs_of = collections.Counter(name for verdict in self.verdicts for name in verdict.system["arms"] if name != records.TUNED)
        self.arms = sorted(name for name, count in runs_of.items() if count >= FEWEST)
        shape = (len(self.verdicts), len(self.arms))
        self.total, self.setup, self.iterations, self.iteration = (np.full(shape, np.nan) for _ in range(4))
        self.solved = np.zeros(shape, dtype=bool)
        for i, verdict in enumerate(self.verdicts):
            for j, name in enumerate(self.arms):
                record = verdict.system["arms"].get(name)
                if record is None:
                    continue
                self.solved[i, j] = name in verdict.totals
                spent = verdict.totals[name] if self.solved[i, j] else record.get("total") or 0
                self.total[i, j] = spent if self.solved[i, j] else spent + self.best[i]
                self.setup[i, j] = record.get("setup") or np.nan
                if self.solved[i, j]:
                    self.iterations[i, j] = max(record["iterations"], 1)
                    self.iteration[i, j] = record.get("iteration") or np.nan

    def tuned(self):
        return np.array([table.total(verdict.tuned) if verdict.solved else math.inf for verdict in self.verdicts])


def ridge(x, y, penalty):
    """Weights of the linear model with the least squares plus penalty |w|^2, the mean apart."""
    identity = penalty * np.eye(x.shape[1])
    identity[0, 0] = 1e-9
    return np.linalg.solve(x.T @ x + identity, x.T @ y)


def predicted(systems, quantity, train, test, penalty):
    """Of each test system and arm, from the training systems where the quantity is known; infinite where these are too few."""
    values = np.full((test.sum(), len(systems.arms)), np.inf)
    for j in range(len(systems.arms)):
        known = train & np.isfinite(quantity[:, j])
        if known.sum() >= FEWEST:
            values[:, j] = systems.x[test] @ ridge(systems.x[known], quantity[known, j], penalty)
    return values


def kinds(systems):
    return np.array([0 if arms.looks_definite(facts) else 1 if facts["symmetric"] else 2 for facts in systems.facts])


def one_arm(systems, train, test, penalty):
    kind = kinds(systems)
    score = np.log(systems.total / systems.best[:, None])
    values = np.full((test.sum(), len(systems.arms)), np.inf)
    for k in set(kind[test]):
        rows = train & (kind == k)
        known = np.isfinite(score[rows]).sum(axis=0) >= rows.sum() / 2
        values[np.ix_(kind[test] == k, known)] = np.nanmean(score[rows][:, known], axis=0)
    return values


def nearest(systems, train, test, penalty):
    score = np.log(systems.total / systems.best[:, None])
    values = np.full((test.sum(), len(systems.arms)), np.inf)
    for row, i in enumerate(np.flatnonzero(test)):
        distance = np.where(train, ((systems.x - systems.x[i]) ** 2).sum(axis=1), np.inf)
        near = score[np.argsort(distance)[:NEIGHBOURS]]
        known = np.isfinite(near).sum(axis=0) > NEIGHBOURS / 2
        values[row, known] = np.nanmean(near[:, known], axis=0)
    return values


def totals(systems, train, test, penalty):
    return predicted(systems, np.log(systems.total), train, test, penalty)


def parts(systems, train, test, penalty):
    setup, iterations, iteration = (np.exp(predicted(systems, np.log(quantity), train, test, penalty))
                                    for quantity in (systems.setup, systems.iterations, systems.iteration))
    failures = np.where(np.isfinite(systems.total), ~systems.solved, np.nan)
    failure = np.clip(predicted(systems, failures, train, test, penalty), 0.0, 0.95)
    return (setup + iterations * iteration) / (1 - failure)


MODELS = {"one arm": one_arm, "nearest": nearest, "totals": totals, "parts": parts}


def choices(systems, model, penalty):
    """The arm that it chooses for each system, by a fit to the other families."""
    chosen = np.zeros(len(systems.verdicts), dtype=int)
    for family in sorted(set(systems.families)):
        test = systems.families == family
        values = model(systems, ~test, test, penalty)
        values[~np.isfinite(systems.total[test])] = np.inf  # what does not apply to the matrix
        chosen[test] = values.argmin(axis=1)
    return chosen


def line(name, ratios, solved):
    known = ratios[np.isfinite(ratios)]
    return [name, len(ratios), f"{100 * np.mean(solved):.0f} %", f"{100 * np.mean(known < table.CLOSE):.0f} %", f"{np.exp(np.log(known).mean()):.2f}",
            f"{table.quantile(known, 0.9):.2f}", f"{known.max():.1f}"]


def judged(systems, penalty):
    lines = []
    for name, model in MODELS.items():
        chosen = choices(systems, model, penalty)
        rows = np.arange(len(chosen))
        lines.append(line(name, systems.total[rows, chosen] / systems.best, systems.solved[rows, chosen]))
    lines.append(line("tuned", systems.tuned() / systems.best, [verdict.solved for verdict in systems.verdicts]))
    return runs.table(["", "systems", "solved", "within 10 %", "time / best, geometric mean", "90th percentile", "worst"], lines)


def known_parts(systems, penalty):
    """Half of the predictions of set-ups, iterations and their price are off by so much at most, by preconditioner."""
    errors = collections.defaultdict(lambda: ([], [], []))
    for family in sorted(set(systems.families)):
        test = systems.families == family
        for part, quantity in enumerate((systems.setup, systems.iterations, systems.iteration)):
            with np.errstate(divide="ignore"):
                wanted = np.log(quantity)
            values = predicted(systems, wanted, ~test, test, penalty)
            for j, name in enumerate(systems.arms):
                error = np.abs(wanted[test, j] - values[:, j])
                errors[name.split(" + ")[1].split(",")[0]][part].extend(error[np.isfinite(error)])
    lines = [[name, *(f"{math.exp(statistics.median(part)):.2f}" if part else "-" for part in found)] for name, found in sorted(errors.items())]
    return runs.table(["preconditioner", "set-up", "iterations", "an iteration"], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--penalty", type=float, default=10.0, help="of ridge regression")
    parser.add_argument("--markdown", type=pathlib.Path)
    options = parser.parse_args()
    systems = Systems(options.file)
    runs.write(options, judged(systems, options.penalty) + "\n" + known_parts(systems, options.penalty))


if __name__ == "__main__":
    main()
