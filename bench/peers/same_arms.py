#!/usr/bin/env python3
"""Each arm of ours beside the same method and preconditioner of PETSc, on systems of bench/training: where do we take more iterations, or longer?

usage: bench/peers/same_arms.py [--size 8000] [--seed 5] [--settings 3] [--families NAME_OR_KIND ...] [--rounds 2] [--time-limit 2] [--json FILE] [--markdown FILE]
                           [--mpirun mpirun] [--petsc-python /usr/bin/python3]

On one rank and one thread, with compressed sparse rows, and the same tolerance for the true residual. The rounds of both sides take turns; of each the least
counts. An iteration of BiCGSTAB here is a product, of which PETSc's has two: ours are halved. Systems with boundary rows are left out, for there we hold
the tolerance for the other rows, too. The Python that runs this finds `ayatori` (PYTHONPATH=build/release/python) and what bench/training wants;
PETSc comes from Debian (python3-petsc4py-real). With --json, what stands in the file is not run again.
"""

import argparse
import collections
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "training")]

import runs  # noqa: E402

runs.need("numpy", "scipy")

import numpy as np  # noqa: E402

import arms  # noqa: E402
import solve  # noqa: E402
import solve_petsc  # noqa: E402
import systems  # noqa: E402

SAME = {"cg + jacobi": "cg + jacobi", "cg + ssor": "cg + ssor", "cg + icc(0)": "cg + ic, fill=0", "cg + icc(1)": "cg + ic, fill=1",
        "bicgstab + jacobi": "bicgstab + jacobi", "bicgstab + ilu(0)": "bicgstab + block-ilu0", "bicgstab + ilu(2)": "bicgstab + ilu, fill=2",
        "gmres(30) + sor": "gmres(30) + ssor", "gmres(30) + ilu(0)": "gmres(30) + block-ilu0", "gmres(30) + ilu(1)": "gmres(30) + ilu, fill=1"}
MORE_ITERATIONS = 1.5  # times as many are listed, ...
FEW = 5                # ... if they are this many more
COUNTED = 10           # iterations from which the time of one is compared
HEADER = ["setting of PETSc", "ours", "systems", "both solve", "only PETSc", "only ours", "iterations", "set-up", "an iteration", "all"]


def kinds(options):
    wanted = options.families
    for family in systems.FAMILIES:
        if family.kind in ("complex", "real") or (wanted and family.name not in wanted and family.kind not in wanted):
            continue
        for setting in family.settings[:options.settings]:
            yield systems.Recipe(family, setting, min(options.size, family.most), options.seed)


def ours(system, name, options):
    import ayatori

    solver = ayatori.Solver(system.matrix, threads=1, profile="none", knowledge="none", kernel="csr", rtol=options.rtol, time_limit=options.time_limit,
                            **arms.options_of(SAME[name]))
    result = solver.solve(system.b)
    report = result.report
    seconds = report["seconds"]
    found = {"seconds": sum(seconds[part] for part in solve.PARTS), "setup": seconds["setup"], "iterations": report["iterations"], "claims": result.converged,
             "boundary": result.boundary_rows, "notes": [event["text"] for event in report["events"] if event["kind"] == "note"]}
    return system.judged(found, result.x)


def least(results):
    """Of several runs of a setting; what does not solve once does not solve."""
    if not all(result["solved"] for result in results):
        return next(result for result in results if not result["solved"])
    return min(results, key=lambda result: result["seconds"])


def measure(recipe, options):
    """{setting: {"petsc": ..., "ours": ...}} of those that one side at least solves."""
    made = systems.make(recipe)
    b = made.b if made.b is not None else made.matrix @ np.random.default_rng(1).uniform(-1, 1, made.matrix.shape[1])
    with tempfile.TemporaryDirectory() as folder:
        system = solve.System(pathlib.Path(folder), recipe.name, made.matrix, b, options.rtol)
        grid = solve_petsc.grid(system.symmetric, system.definite)
        wanted = {name: grid[name] for name in SAME if name in grid}
        petsc = solve.Petsc(options, system, 1)
        of_petsc, of_ours = collections.defaultdict(list), collections.defaultdict(list)
        for side in runs.take_turns(["PETSc", "ours"], options.rounds):
            if side == "PETSc":
                for name, result in petsc.solve(wanted, options.time_limit).items():
                    of_petsc[name].append(result)
            else:
                for name in wanted:
                    of_ours[name].append(ours(system, name, options))
        found = {name: {"petsc": least(of_petsc[name]), "ours": least(of_ours[name])} for name in wanted}
        return {name: both for name, both in found.items() if not both["ours"]["boundary"]}


def iterations(name, result):
    return result["iterations"] / (2 if name.startswith("bicgstab") else 1)


def ratio(values):
    return f"{runs.geometric_mean(values):.2f}" if values else "-"


def row(name, pairs):
    both = [(theirs, own) for theirs, own in pairs if theirs["solved"] and own["solved"]]
    counts = [(theirs["iterations"], iterations(name, own)) for theirs, own in both]
    in_all = [max(own, 1) / max(theirs, 1) for theirs, own in counts]
    setups = [own["setup"] / theirs["setup"] for theirs, own in both if theirs["setup"] > 1e-4]
    single = [(own["seconds"] - own["setup"]) / few / (theirs["seconds"] - theirs["setup"]) * most
              for (theirs, own), (most, few) in zip(both, counts, strict=True) if min(most, few) >= COUNTED and theirs["seconds"] > theirs["setup"]]
    return [name, SAME[name], len(pairs), len(both), sum(theirs["solved"] and not own["solved"] for theirs, own in pairs),
            sum(own["solved"] and not theirs["solved"] for theirs, own in pairs), ratio(in_all), ratio(setups), ratio(single),
            ratio([own["seconds"] / theirs["seconds"] for theirs, own in both])]


def tables(found):
    pairs = collections.defaultdict(list)
    worse = []
    for system, settings in found.items():
        for name, both in settings.items():
            theirs, own = both["petsc"], both["ours"]
            pairs[name].append((theirs, own))
            if not theirs["solved"]:
                continue
            more = iterations(name, own) > max(MORE_ITERATIONS * theirs["iterations"], theirs["iterations"] + FEW)
            if more or not own["solved"]:
                worse.append([system, name, theirs["iterations"], f"{iterations(name, own):g}" if own["solved"] else "not solved", "; ".join(own["notes"]) or "-"])
    table = runs.table(HEADER, [row(name, pairs[name]) for name in SAME if name in pairs])
    return f"{table}\n{runs.table(['system', 'setting', 'iterations of PETSc', 'ours', 'our notes'], worse)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=8000)
    parser.add_argument("--seed", type=int, default=5)
    parser.add_argument("--settings", type=int, default=3, help="of a family, at most")
    parser.add_argument("--families", nargs="*", default=[])
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--rtol", type=float, default=1e-8)
    parser.add_argument("--time-limit", type=float, default=2)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--petsc-python", default="/usr/bin/python3")
    options = parser.parse_args()
    found = json.loads(options.json.read_text(encoding="utf-8")) if options.json and options.json.exists() else {}
    for recipe in kinds(options):
        if recipe.name in found:
            continue
        try:
            found[recipe.name] = measure(recipe, options)
        except Exception as error:  # noqa: BLE001  # a family that wants a package which is not there, say
            print(f"{recipe.name}: {error}", file=sys.stderr)
            continue
        if options.json:
            runs.write_json(options.json, found)
    runs.write(options, tables(found))


if __name__ == "__main__":
    main()
