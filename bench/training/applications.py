#!/usr/bin/env python3
"""Measures anew what it takes to apply the preconditioners that sweep through triangles, and writes it into files of records; what else the arms did stays.

usage: bench/training/applications.py FILE ... --measured build/applications.jsonl [--most-rows 64000]

For when sweeps have become faster and give the same numbers. Systems whose triangles have long rows, and those that cannot be made, keep what they have.
--measured keeps what is known, so that a run which was broken off goes on.
"""

import argparse
import json
import pathlib
import sys

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent)]

import arms as all_arms  # noqa: E402
import records  # noqa: E402
import systems  # noqa: E402

SWEEPS = ("block-ilu0", "ssor", "ic", "ilu", "ilut")
LONGEST_ROWS = 13  # nonzeros by the mean, from which on sweeps go row by row: twice LevelSlices::longest_average, and the diagonal
ROW_BY_ROW = 8     # solves before there are slices: TriangleSlices
ITERATIONS = 64
ROUNDS = 3


def preconditioner_of(arm):
    """'gmres(30) + ilut, fill=30, drop=0.0001' -> 'ilut, fill=30, drop=0.0001'"""
    return arm.split(" + ")[1]


def sweeping(system):
    """Preconditioners of arms that took enough iterations."""
    found = {preconditioner_of(name) for name, record in system["arms"].items()
             if name != records.TUNED and record.get("apply") and record["iterations"] > ROW_BY_ROW}
    return sorted(name for name in found if name.split(",")[0] in SWEEPS)


def measure(system, made):
    """{preconditioner: an application, in products}"""
    import ayatori

    found = {}
    for name in sweeping(system):
        options = {**all_arms.options_of(f"gmres(10) + {name}"), "kernel": "csr", "max_iterations": ITERATIONS, "exclude": ["lsmr"]}
        applied, product = [], []
        for _ in range(ROUNDS):
            try:
                report = ayatori.Solver(made.matrix, threads=1, profile="none", rtol=1e-14, time_limit=20, **options).solve(made.b).report
            except (ValueError, OSError, MemoryError, RuntimeError):
                break
            iterations = report["trials"][0]["iterations"] if report["trials"] else 0
            if iterations < ITERATIONS // 2:
                break
            applied.append(report["seconds"]["preconditioner"] / iterations)
            product.append(report["product"]["seconds"])
        if applied:
            found[name] = min(applied) / min(product)
    return found


def update(system, applications):
    """Arms that apply a preconditioner faster now take so much less."""
    for name, record in system["arms"].items():
        if name == records.TUNED or not record.get("apply") or record["iterations"] <= ROW_BY_ROW:
            continue
        now = applications.get(preconditioner_of(name), record["apply"])
        count = record["iterations"]
        saved = max(record["apply"] - now, 0) * (count - ROW_BY_ROW)  # products
        for key, value in (("apply", saved / count), ("iteration", saved / count), ("total", saved)):
            record[key] = records.rounded(record[key] - value, 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--measured", type=pathlib.Path, required=True)
    parser.add_argument("--most-rows", type=int, default=64000, help="of systems that are measured")
    options = parser.parse_args()
    known = {}
    if options.measured.exists():
        known = dict(json.loads(line) for line in options.measured.read_text(encoding="utf-8").splitlines())
    for path in options.files:
        found = records.load(path)
        for name, system in found.items():
            facts = system["facts"]
            if name in known or facts["rows"] > options.most_rows or facts["nonzeros"] > LONGEST_ROWS * facts["rows"] or not sweeping(system):
                continue
            try:
                known[name] = measure(system, systems.make(systems.recipe_of(name)))
            except (ImportError, KeyError, OSError) as reason:
                print(f"{name}: {reason}")
                continue
            with options.measured.open("a", encoding="utf-8") as file:
                file.write(json.dumps([name, known[name]]) + "\n")
        for name, system in found.items():
            update(system, known.get(name, {}))
        records.save(path, found.values())


if __name__ == "__main__":
    main()
