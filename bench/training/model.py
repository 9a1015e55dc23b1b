#!/usr/bin/env python3
"""Writes what the tuner knows of earlier systems, from files of records: the experience that it ships with.

usage: bench/training/model.py FILE ... [--out FOLDER] [--without FAMILY ...] [--trees 50] [--leaf 2]

Two things are written, as whole numbers:
  a forest         decision trees over the facts of a matrix, whose leaves name systems of the records. Systems are alike as far as they share
                   leaves (Breiman, Machine Learning 45, 2001; as weights: Meinshausen, JMLR 7, 2006). It is grown to tell set-ups and iterations.
  the systems      what each arm took and did on each: set-up, an iteration, iterations, and its residual on the way
src/ayatori/tuning/model/records.hpp tells the layout. scikit-learn grows the forest.
"""

import argparse
import math
import pathlib
import sys

import numpy as np

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent.parent)]

import arms as all_arms  # noqa: E402
import records  # noqa: E402
import table  # noqa: E402

SHIPPED = {False: "shipped.inc", True: "shipped_complex.inc"}  # by whether they are of complex systems
SCALE = 1000                               # of logarithms and features
GRID = [2**power for power in range(12)]   # iterations at which residuals are kept
DIGIT_STEPS = 30                           # of which a digit is kept in a byte
WANTED = 8.0                               # digits that the records' solves gained
FEWEST_ROWS = 2500                         # of systems by which growth is judged
MOST_ITERATIONS = 3000.0                   # an arm that fails counts as this many
ARMS = ("cg + jacobi", "cg + block-ilu0", "cg + ic", "cg + amg", "cg + boomeramg", "cg + ssor", "cg + none", "cg + chebyshev", "cg + fsai",
        "minres + none", "minres + jacobi", "minres + ssor", "minres + block-ilu0", "minres + amg",
        "bicgstab + none", "bicgstab + jacobi", "bicgstab + ssor", "bicgstab + block-ilu0", "bicgstab + ilu", "bicgstab + ilut", "bicgstab + amg",
        "idr + jacobi", "idr + ssor", "idr + block-ilu0", "idr + ilut",
        "gmres(100) + jacobi", "gmres(100) + ssor", "gmres(100) + block-ilu0", "gmres(100) + ilut", "gmres(30) + direct",
        "fgmres(30) + schur", "bicgstab + schur", "minres + schur-definite")
COMPLEX_ARMS = ("cocg + none", "cocg + jacobi", "cocg + block-ilu0",
                "bicgstab + none", "bicgstab + jacobi", "bicgstab + block-ilu0", "bicgstab + ssor", "bicgstab + ilu", "bicgstab + ilut", "bicgstab + amg",
                "gmres(100) + jacobi", "gmres(100) + block-ilu0", "gmres(100) + ssor", "gmres(100) + ilut", "gmres(100) + amg", "gmres(30) + direct")
UNKNOWN, SOLVED, FAILED = 0, 1, 2
RADIX = 32                                 # of features and leaves' sign, in the first number of a node
NO_FEATURE = RADIX - 1                     # of a leaf


def logarithm(value):
    return math.log(max(value, 1e-12))


def features(facts):
    """What the forest sees of a matrix; tuning/model/records.cpp computes the same."""
    rows = facts["rows"]
    mean = facts["nonzeros"] / rows
    bandwidth = min(max(facts["bandwidth"], 1), rows)
    ratio = facts["max_abs_diagonal"] / max(facts["min_abs_diagonal"], 1e-12 * facts["max_abs_diagonal"], 1e-300)
    found = [logarithm(rows), logarithm(mean), logarithm(facts["mean_row_of_entries"] / mean), logarithm(facts["max_row_nonzeros"] / mean),
             facts["symmetric"] or facts.get("complex_symmetric", False), facts["pattern_symmetric"], logarithm(facts["asymmetry"] + 1e-4), all_arms.looks_definite(facts),
             facts["zero_diagonals"] / rows, all_arms.odd_diagonals(facts) / rows, facts["dominant_rows"], facts["diffusive_rows"], facts["strongly_dominant_rows"],
             logarithm(facts["least_dominance"] + 1e-4), logarithm(min(abs(facts["constant_quotient"]), 1.0) + 1e-6), min(logarithm(ratio), 20.0),
             logarithm(facts["dropped_fill"] + 1e-3), facts["dropped_fill"] == 0, facts["block_size"] > 1, logarithm(bandwidth) / max(logarithm(rows), 1.0),
             facts["boundary_rows"] / rows]
    return [round(SCALE * float(value)) for value in found]


def digits_on_the_way(record):
    """At GRID, the digits gained so far; an arm that ended keeps what it had, one that was cut off goes on more slowly."""
    history = [(iteration, max(-value, 0.0)) for iteration, value in records.history(record) if value is not None]
    solved = records.is_solved(record)
    if not history:
        return [WANTED if solved or never_began(record, record["arm"]) else 0.0] * len(GRID)
    last, final = history[-1][0], max(value for _, value in history)
    found, best = [], 0.0
    for place in GRID:
        if place > last:
            cut_off = record["outcome"] in ("time limit", "killed")
            found.append(WANTED if solved else max(min(final * (place / last) ** 0.7, 7.9), best) if cut_off else final)
            continue
        before, value = 0, 0.0
        for iteration, reached in history:
            if iteration >= place:
                value += (reached - value) * (place - before) / (iteration - before)
                break
            before, value = iteration, reached
        best = max(best, value)
        found.append(best)
    return [min(value, WANTED) for value in found]


def never_began(record, name):
    """Whether its set-up did not end in time, or of complete factors in memory: of its iterations nothing is known."""
    cut_off = ("time limit", "killed", "failed") if name.endswith("direct") else ("time limit", "killed")
    return record["outcome"] in cut_off and not record.get("iterations")


def iterations_of(record):
    """To WANTED digits: as counted, as the pace of what was cut off tells, or MOST_ITERATIONS of what failed."""
    if records.is_solved(record):
        return max(record["iterations"], 1)
    if record["outcome"] not in ("time limit", "killed"):
        return MOST_ITERATIONS
    done = max(record.get("last") or record.get("iterations") or 1, 1)
    gained = max(digits_on_the_way(record)[-1], 0.5)
    return min(max(done * WANTED / gained, 1.5 * done), MOST_ITERATIONS)


def set_up_of(record):
    """In products; one that did not end took twice what had been spent, say."""
    if not records.is_solved(record) and not record.get("iterations"):
        return max(record["setup"], 2 * (record.get("total") or 0.0))
    return record["setup"]


def load(paths):
    """Systems that an arm has solved."""
    verdicts = [table.Verdict(system) for path in paths for system in records.load(path).values() if records.TUNED in system["arms"]]
    return [verdict.system for verdict in verdicts if verdict.best]


def by_model(systems):
    """Real systems (Hermitian ones among them) and complex ones, each if there are some: the tuner has a model of each."""
    kinds = ([system for system in systems if all_arms.is_complex(system["facts"]) == is_complex] for is_complex in (False, True))
    return [Systems(kind) for kind in kinds if kind]


class Systems:
    """The records of a model: rows of features, and of each arm what is kept of it. `values` are NaN where an arm did not run."""

    def __init__(self, systems):
        self.systems = systems
        self.is_complex = all_arms.is_complex(systems[0]["facts"])
        self.arms = COMPLEX_ARMS if self.is_complex else ARMS
        self.x = np.array([features(system["facts"]) for system in self.systems])
        shape = (len(self.systems), len(self.arms))
        self.setup, self.iteration, self.iterations = (np.full(shape, np.nan) for _ in range(3))
        for i, system in enumerate(self.systems):
            for j, name in enumerate(self.arms):
                record = system["arms"].get(name)
                if record is None or record["outcome"] == "refused" or record.get("setup") is None:
                    continue
                self.setup[i, j] = math.log(max(set_up_of(record), 1e-2))
                if not never_began(record, name):
                    self.iterations[i, j] = min(math.log(iterations_of(record)), math.log(MOST_ITERATIONS))
                if record.get("iteration"):
                    self.iteration[i, j] = math.log(max(record["iteration"], 1e-2))
        for values in (self.iteration, self.iterations):
            missing = np.isnan(values) & ~np.isnan(self.setup)
            values[missing] = np.broadcast_to(np.nanmedian(values, axis=0), shape)[missing]

    def outcome(self, i, j):
        if np.isnan(self.setup[i, j]):
            return UNKNOWN
        record = self.systems[i]["arms"][self.arms[j]]
        may_solve = records.is_solved(record) or record["outcome"] in ("time limit", "killed") or never_began(record, self.arms[j])
        return SOLVED if may_solve else FAILED


def standardized(values):
    filled = np.where(np.isnan(values), np.nanmean(values, axis=0), values)
    filled = filled - filled.mean(axis=0)
    return filled / np.maximum(filled.std(axis=0), 1e-9)


def grow(systems, trees, leaf):
    from sklearn.ensemble import ExtraTreesRegressor

    targets = np.hstack([standardized(systems.iterations), 0.7 * standardized(systems.setup)])
    return ExtraTreesRegressor(trees, min_samples_leaf=leaf, max_features=1.0, random_state=0).fit(systems.x, targets)


def words_of_tree(tree, leaves):
    """Two numbers for each node: feature + 32 * right child, as the left one comes next, and threshold; or 31 + 32 * number of systems, and where they
    begin; then the systems, leaf by leaf."""
    nodes, members = [], []
    for node in range(tree.node_count):
        if tree.children_left[node] < 0:
            inside = np.flatnonzero(leaves == node)
            nodes.append([two_in_one(NO_FEATURE, len(inside)), len(members)])
            members += inside.tolist()
        else:
            threshold = math.floor(tree.threshold[node])  # features are whole numbers
            assert tree.children_left[node] == node + 1
            nodes.append([two_in_one(int(tree.feature[node]), int(tree.children_right[node])), threshold])
    return [len(nodes), *(value for node in nodes for value in node), len(members), *members]


def two_in_one(low, high):
    """In a signed number of 16 bits, the first below 32."""
    word = low + RADIX * high
    if not 0 <= low < RADIX or word > 65535:
        raise SystemExit("a tree is too large for its numbers")
    return signed(word)


def growth(systems, values):
    """By which power of the rows a quantity grows within a family, for each arm: of systems of some size, as small ones are all calls."""
    rows = systems.x[:, 0] / SCALE
    families = np.array([system["family"] for system in systems.systems])
    found = []
    for j in range(len(systems.arms)):
        known = ~np.isnan(values[:, j]) & (rows > math.log(FEWEST_ROWS))
        x, y = [], []
        for family in set(families[known]):
            inside = known & (families == family)
            x += list(rows[inside] - rows[inside].mean())
            y += list(values[inside, j] - values[inside, j].mean())
        x, y = np.array(x), np.array(y)
        found.append(float(np.clip(x @ y / max(x @ x, 1.0), -0.5, 0.6)))
    return found


def numbers(systems, forest):
    words = [len(systems.arms), len(systems.systems), systems.x.shape[1], len(forest.estimators_), len(GRID)]
    leaves = forest.apply(systems.x)
    for place, tree in enumerate(forest.estimators_):
        words += words_of_tree(tree.tree_, leaves[:, place])
    for values in (systems.setup, systems.iterations):
        words += [round(SCALE * power) for power in growth(systems, values)]
    for i, system in enumerate(systems.systems):
        kinds = [systems.outcome(i, j) for j in range(len(systems.arms))]
        words += [int(systems.x[i, 0]), *bits([kind != UNKNOWN for kind in kinds])]
        for j, (name, kind) in enumerate(zip(systems.arms, kinds)):
            if kind != UNKNOWN:
                iterations = max(round(SCALE * systems.iterations[i, j]), 0)
                words += [*(round(SCALE * values[i, j]) for values in (systems.setup, systems.iteration)), iterations if kind == SOLVED else -1 - iterations,
                          *pairs_of_bytes([round(DIGIT_STEPS * value) for value in digits_on_the_way(system["arms"][name])])]
    return words


def bits(flags):
    """Sixteen in a signed number, the first in its lowest bit."""
    words = [sum(flag << place for place, flag in enumerate(flags[begin:begin + 16])) for begin in range(0, len(flags), 16)]
    return [signed(word) for word in words]


def signed(word):
    """The same 16 bits as a signed number."""
    return word - 65536 * (word > 32767)


def pairs_of_bytes(values):
    """Two in a signed number of 16 bits each, the first in its lower byte."""
    return [signed(low + 256 * high) for low, high in zip(values[::2], values[1::2], strict=True)]


def write(path, systems, words):
    lines = ["// Written by bench/training/model.py from recorded runs; records.hpp tells the layout.", "", "constexpr std::string_view shipped_arms[] = {"]
    lines += [f'    "{name}",' for name in systems.arms]
    lines += ["};", "", "constexpr std::string_view shipped_families[] = {"]
    lines += [f'    "{system["family"]}",' for system in systems.systems]
    lines += ["};", "", "constexpr std::int16_t shipped_numbers[] = {"]
    lines += [",".join(map(str, words[begin:begin + 64])) + "," for begin in range(0, len(words), 64)]
    path.write_text("\n".join([*lines, "};", ""]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("src/ayatori/tuning/model"), help="a folder")
    parser.add_argument("--without", nargs="*", default=[], metavar="FAMILY", help="families that are left out")
    parser.add_argument("--trees", type=int, default=50)
    parser.add_argument("--leaf", type=int, default=2, help="systems in a leaf, at least")
    options = parser.parse_args()
    for systems in by_model([system for system in load(options.files) if system["family"] not in options.without]):
        words = numbers(systems, grow(systems, options.trees, options.leaf))
        if not -32768 <= min(words) <= max(words) <= 32767:
            raise SystemExit("a number does not fit in 16 bits")
        out = options.out / SHIPPED[systems.is_complex]
        write(out, systems, words)
        print(f"{out}: {len(systems.systems)} systems, {len(words)} numbers")


if __name__ == "__main__":
    main()
