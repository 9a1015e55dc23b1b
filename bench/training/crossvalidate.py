#!/usr/bin/env python3
"""How well the policy does on families that it has not seen: records of all others are its experience, recorded histories its solves.

usage: bench/training/crossvalidate.py FILE ... [--folds 12] [--unseen family|system] [--by family|kind|size]
                                       [--replay build/release/bench/replay_policy] [--markdown FILE]

Families (or systems, of whose families others are known) are dealt out to the folds; for each fold a model is made from the records of the others,
and `replay_policy` (the policy itself, on recorded histories instead of solves) takes the systems of the fold. Times are products with the matrix,
over those of the best arm of all that were recorded, known afterwards. "first" is the arm that it began with.
Make it with: cmake --build --preset release --target replay_policy
"""

import argparse
import collections
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent)]

import arms as all_arms  # noqa: E402
import model  # noqa: E402
import records  # noqa: E402
import runs  # noqa: E402
import table  # noqa: E402

HEADER = ["", "systems", "solved", "time / best, geometric mean", "90th percentile", "worst", "at", "first within 10 %"]


def write_model(path, systems, words):
    names = [*systems.arms, *(system["family"] for system in systems.systems)]
    path.write_text("\n".join([f"{len(systems.arms)} {len(systems.systems)} {len(words)}", *names, " ".join(map(str, words)), ""]))


def overhead_of(system):
    """Facts, verification and all else that every solve takes: the median over the arms."""
    rest = [arm["total"] - arm["setup"] - arm["iterations"] * arm["iteration"] for name, arm in system["arms"].items()
            if name != records.TUNED and records.is_solved(arm) and arm.get("iteration") and arm.get("setup") is not None]
    return max(statistics.median(rest), 3.0) if rest else 5.0


def write_systems(path, systems, numbers):
    lines = [str(len(numbers))]
    for i in numbers:
        facts = systems.systems[i]["facts"]
        dominance = facts["least_dominance"]
        bound = math.log(2e8) / 2 * math.sqrt(2 / dominance) if dominance > 0 else 1e300
        lines.append(f"{facts['rows']} {bound:.6g} {overhead_of(systems.systems[i]):.6g} " + " ".join(map(str, systems.x[i])))
        for j, name in enumerate(systems.arms):
            kind = systems.outcome(i, j) if all_arms.suits(name, facts) else model.UNKNOWN
            record = systems.systems[i]["arms"].get(name)
            costs = [0.0] * 3 if kind == model.UNKNOWN else [math.exp(values[i, j]) for values in (systems.setup, systems.iteration, systems.iterations)]
            if kind == model.FAILED:
                costs[2] = max(record.get("iterations") or 0, 1)  # where it ended
            digits = [0.0] * len(model.GRID) if kind == model.UNKNOWN else model.digits_on_the_way(record)
            lines.append(f"{kind} " + " ".join(f"{value:.6g}" for value in (*costs, *digits)))
    path.write_text("\n".join([*lines, ""]))


def deal_out(names, folds):
    """{name: fold}"""
    return {name: place % folds for place, name in enumerate(sorted(set(names)))}


def replayed(options, everything):
    """{system's name: (products, first arm)} of the policy, for which each is unseen."""
    fold_of = deal_out((system[options.unseen] for system in everything.systems), options.folds)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        model_file, systems_file = pathlib.Path(folder) / "model", pathlib.Path(folder) / "systems"
        for fold in range(options.folds):
            held_out = {name for name, place in fold_of.items() if place == fold}
            known = model.Systems([system for system in everything.systems if system[options.unseen] not in held_out])
            write_model(model_file, known, model.numbers(known, model.grow(known, options.trees, options.leaf)))
            numbers = [i for i, system in enumerate(everything.systems) if system[options.unseen] in held_out]
            write_systems(systems_file, everything, numbers)
            lines = subprocess.run([options.replay, model_file, systems_file], capture_output=True, text=True, check=True).stdout.splitlines()
            for i, line in zip(numbers, lines, strict=True):
                products, first, *_ = line.split()
                found[everything.systems[i]["system"]] = (float(products), everything.arms[int(first)])
    return found


def row(name, verdicts, found):
    ratios = {verdict.system["system"]: found[verdict.system["system"]][0] / verdict.totals[verdict.best] for verdict in verdicts}
    known = {system: ratio for system, ratio in ratios.items() if math.isfinite(ratio)}
    firsts = [verdict.totals.get(found[verdict.system["system"]][1], math.inf) <= table.CLOSE * verdict.totals[verdict.best] for verdict in verdicts]
    worst = max(known, key=known.get)
    return [name, len(verdicts), len(known), f"{runs.geometric_mean(known.values()):.2f}", f"{table.quantile(known.values(), 0.9):.2f}", f"{known[worst]:.1f}",
            ":".join(worst.split(":")[:3]), f"{100 * statistics.fmean(firsts):.0f} %"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--folds", type=int, default=12)
    parser.add_argument("--unseen", choices=("family", "system"), default="family")
    parser.add_argument("--by", choices=("family", "kind", "size"), default="kind")
    parser.add_argument("--replay", type=pathlib.Path, default=pathlib.Path("build/release/bench/replay_policy"))
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--leaf", type=int, default=2)
    parser.add_argument("--markdown", type=pathlib.Path)
    options = parser.parse_args()
    models = model.by_model(model.load(options.files))
    found = {name: result for everything in models for name, result in replayed(options, everything).items()}
    groups = collections.defaultdict(list)
    verdicts = [table.Verdict(system) for everything in models for system in everything.systems]
    for verdict in verdicts:
        groups[str(verdict.system[options.by])].append(verdict)
    lines = [row(name, group, found) for name, group in sorted(groups.items())]
    runs.write(options, runs.table([options.by, *HEADER[1:]], [*lines, row("all", verdicts, found)]))


if __name__ == "__main__":
    main()
