#!/usr/bin/env python3
"""Time to solution on every generator of hard systems, beside MUMPS, PETSc's field splits and hypre.

usage: bench/hard_systems.py [--sizes 20000 100000] [--systems NAME ...] [--time-limit 20] [--json FILE] [--ayatori build/release/cli/ayatori]
                             [--petsc-python /usr/bin/python3]

One rank and one thread; the same A, b = A x for a random x, and tolerance 1e-8. What counts is the residual of the x that was written,
computed here: at most twice the tolerance. Seconds are of the processor, from the matrix in memory to x, so that other programs at work
disturb them less. Those of `ayatori solve` without options are of the whole program, less those of a program that reads the same files and makes
one iteration without a preconditioner. With --json FILE, what stands there is not run again. Rows of Markdown.

  MUMPS        through PETSc: LDL^T where the matrix is symmetric, else LU
  hypre        BoomerAMG as it is when nothing is set, in CG or GMRES
  field split  the fastest of SPLITS, known afterwards. Fields are the rows without diagonal entries and the others, or the components of a point.
"""

import argparse
import json
import math
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE / "peers"), str(HERE / "training")]

import petsc_files  # noqa: E402
import solve  # noqa: E402
import solve_petsc  # noqa: E402

SYSTEMS = {  # spec without n: (unknowns per n^d, d, unknowns of a point if they stand together)
    "stokes2d:": (3, 2, 1), "stokes3d:": (4, 3, 1), "oseen2d:reynolds=100": (3, 2, 1), "oseen3d:reynolds=100": (4, 3, 1),
    "darcy2d:": (3, 2, 1), "darcy3d:": (4, 3, 1), "kkt:mu=1e-2": (3, 2, 1), "kkt:mu=1e-8": (3, 2, 1),
    "biharmonic2d:": (1, 2, 1), "heat3d:": (1, 3, 1), "curlcurl3d:": (3, 3, 1), "dg-advection:": (9, 2, 1),
    "drift-diffusion:": (3, 2, 3), "drift-diffusion:bias=-10": (3, 2, 3), "circuit:": (1.03, 1, 1),
}
SCHUR = "-ksp_type fgmres -ksp_gmres_restart 100 -pc_type fieldsplit -pc_fieldsplit_detect_saddle_point -pc_fieldsplit_type schur"
INNER = "-fieldsplit_0_ksp_type preonly -fieldsplit_1_ksp_type preonly"
SADDLE_SPLITS = {
    f"{fact} {complement}, {first} + {second}":
        f"{SCHUR} -pc_fieldsplit_schur_fact_type {fact} -pc_fieldsplit_schur_precondition {complement} {INNER} "
        f"-fieldsplit_0_pc_type {first} -fieldsplit_1_pc_type {second}"
    for fact, complement, first, second in (
        ("upper", "selfp", "hypre", "hypre"), ("full", "selfp", "hypre", "hypre"), ("full", "selfp", "jacobi", "hypre"),
        ("full", "selfp", "gamg", "gamg"), ("full", "selfp", "ilu", "gamg"), ("full", "selfp", "ilu", "ilu"))}
SADDLE_SPLITS["full lsc, hypre + hypre"] = (
    f"{SCHUR} -pc_fieldsplit_schur_fact_type full -pc_fieldsplit_schur_precondition self {INNER} -fieldsplit_0_pc_type hypre "
    "-fieldsplit_1_pc_type lsc -fieldsplit_1_lsc_pc_type hypre")
POINT_SPLITS = {
    f"{kind}, {inner}": f"-ksp_type fgmres -ksp_gmres_restart 100 -pc_type fieldsplit -pc_fieldsplit_type {kind} "
                        + " ".join(f"-fieldsplit_{k}_ksp_type preonly -fieldsplit_{k}_pc_type {inner}" for k in range(3))
    for kind in ("multiplicative", "additive") for inner in ("hypre", "gamg", "ilu")}
LEAST_SECONDS = 0.05  # what the difference of two processes can tell
ENVIRONMENT = {**solve.ENVIRONMENT, "OPENBLAS_NUM_THREADS": "1", "AYATORI_PROFILE": "none", "AYATORI_KNOWLEDGE": "none"}


def spec_of(name, size):
    per_point, dimension, _ = SYSTEMS[name]
    n = round((size / per_point) ** (1 / dimension))
    return f"{name}{',' if not name.endswith(':') else ''}n={n}"


def processor_seconds(command):
    """Of a process with everything in it, and its standard output."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, env={**os.environ, **ENVIRONMENT}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def ours(options, system):
    folder = system.folder
    output, report = folder / "x.petsc", folder / "report.json"
    for path in (output, report):
        path.unlink(missing_ok=True)
    command = [options.ayatori, "solve", str(folder / "A.petsc"), "--rhs", str(folder / "b.petsc"), "--quiet", "--rtol", str(options.rtol)]
    base = min(processor_seconds([*command, "--method", "bicgstab", "--preconditioner", "none", "--max-iterations", "1"]) for _ in range(2))
    seconds = processor_seconds([*command, "--time-limit", str(options.time_limit), "-o", str(output), "--json", str(report)])
    found = json.loads(report.read_text()) if report.exists() else None
    result = {"seconds": max(seconds - base, 0), "claims": bool(found and found["converged"]),
              "setting": solve.runs.choice_words(found["choice"]) if found else "failed"}
    return system.judged(result, petsc_files.read_vector(output) if output.exists() else None)


def best_of(results):
    solved = [(result["seconds"], name) for name, result in results.items() if result["solved"]]
    return {"seconds": min(solved)[0], "setting": min(solved)[1], "solved": True} if solved else {"solved": False, "seconds": None, "setting": "-"}


def measure(options, name, size):
    with tempfile.TemporaryDirectory() as where:
        folder = pathlib.Path(where)
        system = solve.load(options, folder, solve.runs.Problem(name, spec_of(name, size)))
        system.block_size = SYSTEMS[name][2]
        mine = [ours(options, system) for _ in range(options.rounds)]
        petsc = solve.Petsc(options, system, 1, "processor")
        is_saddle = (system.matrix.diagonal() == 0).any()
        splits = SADDLE_SPLITS if is_saddle else POINT_SPLITS if system.block_size > 1 else {}
        found = petsc.solve({"MUMPS": solve_petsc.mumps(system.symmetric), "hypre": solve_petsc.hypre(system.definite), **splits},
                            options.time_limit)
        mine.append(ours(options, system))
        best = min(mine, key=lambda one: (not one["solved"], one["seconds"]))
        return {"system": spec_of(name, size), "rows": system.matrix.shape[0], "ayatori": best, "MUMPS": found["MUMPS"],
                "hypre": found["hypre"], "field split": best_of({key: found[key] for key in splits}) if splits else None,
                "splits": {key: found[key] for key in splits}}


def cell(result):
    return "-" if result is None else f"{result['seconds']:.2f}" if result["solved"] else "failed"


def seconds_of_rivals(measured):
    return [measured[key]["seconds"] for key in ("MUMPS", "hypre", "field split") if measured[key] and measured[key]["solved"]]


def ratio(measured):
    """The best rival's seconds over ours; None where one side has none."""
    rivals, mine = seconds_of_rivals(measured), measured["ayatori"]
    return min(rivals) / max(mine["seconds"], LEAST_SECONDS) if rivals and mine["solved"] else None


def show(results):
    print("| system | rows | ayatori, s | its choice | MUMPS | hypre | field split | its setting | best of them / ours |\n|---|---|---|---|---|---|---|---|---|")
    for one in results:
        split, of = one["field split"], ratio(one)
        print(f"| {one['system']} | {one['rows']} | {cell(one['ayatori'])} | {one['ayatori']['setting']} | {cell(one['MUMPS'])} | {cell(one['hypre'])} | "
              f"{cell(split)} | {split['setting'] if split else '-'} | {'-' if of is None else f'{of:.2f}'} |")
    ratios = [of for of in map(ratio, results) if of is not None]
    if ratios:
        lost = sum(not one["ayatori"]["solved"] and bool(seconds_of_rivals(one)) for one in results)  # whatever the time
        print(f"\n{sum(of > 1 for of in ratios)} of {len(ratios) + lost} won; geometric mean of best of them / ours, where both solve, "
              f"{math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", nargs="+", type=int, default=[20000, 100000])
    parser.add_argument("--systems", nargs="+", default=list(SYSTEMS), choices=list(SYSTEMS), metavar="NAME")
    parser.add_argument("--rounds", type=int, default=1, help="of ours before the others; one more comes after them")
    parser.add_argument("--rtol", type=float, default=1e-8)
    parser.add_argument("--time-limit", type=float, default=20)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--ayatori", default="build/release/cli/ayatori")
    parser.add_argument("--mpirun", default="mpirun")
    parser.add_argument("--petsc-python", default="/usr/bin/python3")
    options = parser.parse_args()
    results = json.loads(options.json.read_text()) if options.json and options.json.exists() else []
    for size in options.sizes:
        for name in options.systems:
            if spec_of(name, size) in [one["system"] for one in results]:
                continue
            results.append(measure(options, name, size))
            if options.json:
                options.json.write_text(json.dumps(results, indent=1))
            print(results[-1]["system"], *(f"{key} {cell(results[-1][key])}" for key in ("ayatori", "MUMPS", "hypre", "field split")),
                  file=sys.stderr, flush=True)
    show(results)


if __name__ == "__main__":
    main()
