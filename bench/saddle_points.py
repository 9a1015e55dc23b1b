#!/usr/bin/env python3
"""How iterations, time and memory of saddle point systems grow with their size, beside complete factors; whether the complement is chosen well.

usage: bench/saddle_points.py [--ayatori build/release/cli/ayatori] [--families NAME ...] [--most 1300000] [--time-limit 120]
       bench/saddle_points.py --choice SIZE [--time-limit 12]

Stokes' and Oseen's equations in staggered cells with b = A x for a random x, one rank and one thread: fgmres(100) + schur, minres +
schur-definite where the matrix is symmetric, and complete factors. Rows of Markdown. Processor seconds and memory, the
most that the process held, are those of the whole program less those of one that makes a single iteration without a preconditioner.

--choice solves the saddle points of bench/training/systems.py of about SIZE rows with each complement, with the one that `auto` takes, and
with complete factors; the built package and scikit-fem must be on PYTHONPATH. Processor seconds are the least of two solves.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

FAMILIES = {  # name: (spec without n, values of n from about 20,000 unknowns on)
    "Stokes, plane": ("stokes2d:n={}", (82, 164, 328, 656)),
    "Stokes, space": ("stokes3d:n={}", (17, 25, 40, 50, 69)),
    "Stokes, plane, viscosity 1 : 10000": ("stokes2d:n={},ratio=1e4", (82, 164, 328, 656)),
    "Oseen, plane, Reynolds 10": ("oseen2d:n={},reynolds=10", (82, 164, 328, 656)),
    "Oseen, plane, Reynolds 100": ("oseen2d:n={},reynolds=100", (82, 164, 328, 656)),
    "Oseen, space, Reynolds 10": ("oseen3d:n={},reynolds=10", (17, 25, 40, 50, 69)),
    "Oseen, space, Reynolds 100": ("oseen3d:n={},reynolds=100", (17, 25, 40, 50, 69)),
}
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "AYATORI_PROFILE": "none", "AYATORI_KNOWLEDGE": "none",
               "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def run(options, spec, arguments):
    """The report of a solve, the processor seconds of its process, and the most memory that it held, in bytes."""
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "result.json"
        process = subprocess.Popen(
            [options.ayatori, "solve", spec, "--rhs", "solution-random:1", "--quiet", "--json", str(result), "--time-limit",
             str(options.time_limit), *arguments], env={**os.environ, **ENVIRONMENT}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, _, usage = os.wait4(process.pid, 0)
        report = json.loads(result.read_text()) if result.exists() else None
        return report, usage.ru_utime + usage.ru_stime, 1024 * usage.ru_maxrss


CHOICE_FAMILIES = ("stokes-elements", "oseen-elements", "stokes-staggered", "oseen-staggered", "mixed-darcy", "poroelastic", "optimal-control",
                   "tied-meshes", "interior-point", "raviart-thomas", "crouzeix-raviart", "own-stokes", "own-oseen", "own-darcy", "own-kkt")
COMPLEMENTS = ("diagonal", "simple", "commutator", "constraint", "diagonals")
METHODS = {"fgmres": dict(method="fgmres", restart=30, preconditioner="schur"), "minres": dict(method="minres", preconditioner="schur-definite")}


def timed(package, system, time_limit, **options):
    """The report of a solve and its processor seconds."""
    best = None
    for _ in range(2):
        begin = time.process_time()
        report = package.Solver(system.matrix, threads=1, profile="none", kernel="csr", exclude=["lsmr"], time_limit=time_limit,
                                **options).solve(system.b).report
        seconds = time.process_time() - begin
        if best is None or seconds < best[1]:
            best = report, seconds
        if seconds > 0.5:
            break
    return best


def shown(outcome):
    report, seconds = outcome
    return f"{report['iterations']} | {seconds:.3f}" if report["converged"] else "- | -"


def show_choices(size, time_limit):
    """A row for each system and method: the complement that `auto` takes, the quickest one, and complete factors."""
    sys.path.insert(0, str(pathlib.Path(__file__).parent / "training"))
    import ayatori
    import systems

    print("| system | rows | method | auto | iterations | s | quickest | iterations | s | direct, s |\n|---|---|---|---|---|---|---|---|---|---|", flush=True)
    counted = right = 0
    for family in systems.FAMILIES:
        for parameters in family.settings if family.name in CHOICE_FAMILIES else ():
            system = systems.make(systems.Recipe(family, parameters, size, 0))
            name = system.recipe.name.rsplit(":", 2)[0].rstrip(":")
            direct = timed(ayatori, system, time_limit, method="gmres", restart=30, preconditioner="direct")
            for method, options in METHODS.items():
                if method == "minres" and not family.symmetric:
                    continue
                auto = timed(ayatori, system, time_limit, complement="auto", **options)
                limit = min(max(6 * auto[1], 1), time_limit) if auto[0]["converged"] else time_limit
                each = {one: timed(ayatori, system, limit, complement=one, **options) for one in COMPLEMENTS}
                solved = {one: outcome for one, outcome in each.items() if outcome[0]["converged"]}
                taken = re.search(r"Schur complement: (\w+)", json.dumps(auto[0])).group(1)
                quickest = min(solved, key=lambda one: solved[one][1], default=None)
                if quickest:
                    counted += 1
                    right += auto[0]["converged"] and auto[1] <= 1.3 * solved[quickest][1]
                print(f"| {name} | {system.matrix.shape[0]} | {method} | {taken} | {shown(auto)} | {quickest or '-'} | "
                      f"{shown(solved[quickest]) if quickest else '- | -'} | {direct[1] if direct[0]['converged'] else float('nan'):.3f} |", flush=True)
    print(f"\nauto within 1.3 of the quickest: {right} of {counted}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--choice", type=int, metavar="SIZE", help="rows, about, of systems to choose complements for")
    parser.add_argument("--ayatori", default="build/release/cli/ayatori")
    parser.add_argument("--families", nargs="+", default=list(FAMILIES))
    parser.add_argument("--most", type=int, default=1_300_000, help="unknowns")
    parser.add_argument("--most-direct", type=int, default=400_000, help="unknowns, for complete factors")
    parser.add_argument("--time-limit", type=float, default=120)
    options = parser.parse_args()
    if options.choice:
        show_choices(options.choice, min(options.time_limit, 12))
        return
    for family in options.families:
        spec, edges = FAMILIES[family]
        arms = [("fgmres(100) + schur", ["--method", "fgmres", "--restart", "100", "--preconditioner", "schur"])]
        if "stokes" in spec:
            arms.append(("minres + schur-definite", ["--method", "minres", "--preconditioner", "schur-definite"]))
        arms.append(("gmres + direct", ["--method", "gmres", "--preconditioner", "direct"]))
        print(f"\n{family}\n\n| unknowns | arm | iterations | processor s | MB |\n|---|---|---|---|---|", flush=True)
        for n in edges:
            unknowns = 4 * n**3 if "3d" in spec else 3 * n**2
            if unknowns > options.most * 1.05:
                continue
            _, plain_seconds, plain_memory = run(options, spec.format(n), ["--method", "minres", "--preconditioner", "none",
                                                                             "--max-iterations", "1"] if "stokes" in spec else
                                                     ["--method", "bicgstab", "--preconditioner", "none", "--max-iterations", "1"])
            for name, arguments in arms:
                if "direct" in name and unknowns > options.most_direct:
                    continue
                report, seconds, memory = run(options, spec.format(n), arguments)
                if report is None or not report["converged"]:
                    print(f"| {unknowns} | {name} | - | - | - |", flush=True)
                    continue
                print(f"| {report['matrix']['rows']} | {name} | {report['iterations']} | {seconds - plain_seconds:.2f} | "
                      f"{(memory - plain_memory) / 1e6:.0f} |", flush=True)


if __name__ == "__main__":
    main()
