#!/usr/bin/env python3
"""Compares complete factors: `ayatori solve --preconditioner direct` beside MUMPS alone, through PETSc.

usage: bench/peers/factors.py [--systems NAME ...] [--ranks 1 2] [--rounds 3] [--time-limit 60] [--markdown FILE]
                              [--variants double single low-rank=1e-8 ...] [--without-mumps] [--processor-time]
                              [--ayatori build/release/cli/ayatori] [--petsc-python /usr/bin/python3]

Systems are those of bench/training/systems.py by name. Both take turns, on the same A and b, with b = A x for a random x where the family has no
b of its own. A time is the least of set-up and solve, without starting and reading. Of ayatori the iteration around the factors and the verified
residual are part of it; MUMPS, as PETSc sets it, is LDL^T where the matrix is symmetric and LU elsewhere, and its residual is only shown.
It has its own ordering first, then its minimum fill and the dissection that it has, with ayatori's threshold of pivots; the best of the three is the second rival. With several variants of ayatori's factors,
each beside the first has a column of seconds, of its share of the first's, and of its iterations and megabytes beside the first's.
Systems of the families "own-..." need the package `ayatori`: PYTHONPATH=build/release/python, as bench/training/record.py tells.
With --processor-time and one rank, seconds are those of the processor for ayatori's whole program, for machines that are busy.
"""

import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "training")]

import read_matrix  # noqa: E402
import runs  # noqa: E402

SYSTEMS = ("poisson-elements::64000:0", "groundwater:deviation=2.0:64000:0", "elasticity-2d::64000:0", "stokes-elements::64000:0",
           "oseen-staggered:reynolds=100.0:64000:0", "poroelastic:permeability=0.01,storage=0.01:64000:0", "plate::64000:0",
           "helmholtz:dimension=3:16000:0", "monodomain::16000:0", "curl-curl:conductivity=1e-06,contrast=100.0:16000:0",
           "nodal-analysis:controlled=0.2,sources=0.01:16000:0", "load-flow:tight=1.0:64000:0", "power-grid:capacity=0.1:64000:0",
           "water-pipes::64000:0", "road-graph:kind=roads:64000:0", "resistors:ground=0.001,spread=6.0:64000:0", "kinetics::64000:0",
           "dg-advection:dimension=3,order=2:64000:0", "discrete-ordinates:scattering=0.999,thickness=100.0:16000:0", "banded::64000:0",
           "geodesy:directions=False:64000:0", "bundle-adjustment::64000:0", "interior-point:mu=0.0001:64000:0", "poisson-elements:dimension=3:64000:0",
           "own-stokes:spec=stokes3d,dimension=3,per_point=4:32000:0", "own-darcy:spec=darcy3d,dimension=3,per_point=4:32000:0",
           "own-circuit:spec=circuit,dimension=1,per_point=1.03:64000:0")
ORDERS = {"own": "", "fill": " -mat_mumps_icntl_7 2 -mat_mumps_cntl_1 1e-6", "dissection": " -mat_mumps_icntl_7 5 -mat_mumps_cntl_1 1e-6"}
PARTS = ("setup", "tuning", "solve", "verification")


def words_of(variant):
    """Options of the command line."""
    if variant in ("double", "single"):
        return ["--factor-precision", variant]
    name, _, value = variant.partition("=")
    return ["--method", "fgmres", f"--{name}", value]


def ayatori(options, folder, ranks, variant):
    """(seconds, residual, what the library says, iterations)"""
    (folder / "result.json").unlink(missing_ok=True)
    method = ["--method", "gmres"] if variant == "double" else []
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([options.mpirun, "-n", str(ranks), options.ayatori, "solve", str(folder / "A.petsc"), "--rhs", str(folder / "b.petsc"),
                           *method, *words_of(variant), "--preconditioner", "direct", "--threads", "1", "--profile", "none", "--knowledge", "none",
                           "--use-ranks", "all", "--time-limit", str(options.time_limit), "--json", str(folder / "result.json")],
                          capture_output=True, text=True, check=False, env=runs.environment())
    if not (folder / "result.json").exists():
        return None, None, done.stderr.strip().splitlines()[-1:] or ["failed"], 0
    found = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    notes = [event["text"] for event in found["events"] if event["kind"] == "note" and "complete" in event["text"]]
    seconds = sum(found["seconds"][part] for part in PARTS)
    if options.processor_time:
        seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    return seconds if found["converged"] else None, found["relative_residual"], notes, found["iterations"]


def best(results):
    times = [seconds for seconds, *_ in results if seconds is not None]
    return min(times, default=None)


def measure(options, system, ranks, solve):
    """variant -> results of its runs; each order of MUMPS is one of them."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        peer = solve.System(folder, system.recipe.name, system.matrix, system.b, options.rtol)
        petsc = solve.Petsc(options, peer, ranks)
        who = [*options.variants, *([] if options.without_mumps else ORDERS)]
        found = {one: [] for one in who}
        for one in runs.take_turns(who, options.rounds):
            if one in ORDERS:
                words = solve.solve_petsc.mumps(peer.symmetric) + ORDERS[one]
                result = petsc.solve({one: words}, options.time_limit)[one]
                found[one].append((result["seconds"], result["residual"], [], 0))
            else:
                found[one].append(ayatori(options, folder, ranks, one))
        return found


def megabytes(result):
    """Of the factors that were used in the end."""
    sizes = [re.search(r"operations, (\d+) MB", note) for note in result[2]]
    return next((match[1] for match in reversed(sizes) if match), "-")


def shown(value, form=".3g"):
    return f"{value:{form}}" if value is not None else "-"


def main():
    read_matrix.enter_venv(__file__)
    import solve
    import systems

    parser = runs.parser_of(__doc__)
    runs.add_options(parser, time_limit=60)
    parser.set_defaults(mpirun="mpirun.openmpi", rtol=1e-8)
    parser.add_argument("--systems", nargs="+", default=SYSTEMS)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--variants", nargs="+", default=["double"])
    parser.add_argument("--without-mumps", action="store_true")
    parser.add_argument("--processor-time", action="store_true")
    parser.add_argument("--petsc-python", default="/usr/bin/python3")
    options = parser.parse_args()
    text = f"{runs.machine_words(options.ranks, 1)} Seconds are the least of {runs.count_words(options.rounds, 'run')}.\n\n"
    first, *others = options.variants
    head = ["system", "rows", "nonzeros", "ranks", "ayatori, s"]
    head += [] if options.without_mumps else ["MUMPS, s", "/ ayatori", "best of orders, s", "/ ayatori", "order"]
    head += [column for one in others for column in (f"{one}, s", f"/ {first}", "iterations", "MB")]
    head += ["residual", *([] if options.without_mumps else ["its residual"]), "factors"]
    rows, ratios = [], {}
    for name in options.systems:
        system = systems.make(systems.recipe_of(name))
        for ranks in options.ranks:
            found = measure(options, system, ranks, solve)
            ours = best(found[first])

            def share(what, of, by, ranks=ranks):
                if of and by:
                    ratios.setdefault((what, ranks), []).append(of / by)
                return of / by if of and by else None

            row = [name, system.matrix.shape[0], system.matrix.nnz, ranks, shown(ours)]
            if not options.without_mumps:
                theirs = {order: best(found[order]) for order in ORDERS if best(found[order]) is not None}
                order = min(theirs, key=theirs.get, default=None)
                for what, who in (("MUMPS", "own"), ("MUMPS with the best of orders", order)):
                    row += [shown(theirs.get(who)), shown(share(f"{what} / ayatori", theirs.get(who), ours))]
                row.append(order or "-")
            for one in others:
                seconds, result = best(found[one]), found[one][0]
                row += [shown(seconds), shown(share(f"{one} / {first}", seconds, ours)),
                        f"{found[first][0][3]} -> {result[3]}", f"{megabytes(found[first][0])} -> {megabytes(result)}"]
            row += [shown(found[one][0][1], ".0e") for one in (first, *([] if options.without_mumps else ["own"]))]
            rows.append([*row, (found[first][0][2] or ["-"])[0]])
            runs.say(" ".join(map(str, rows[-1])))
    text += runs.table(head, rows)
    for (what, ranks), values in ratios.items():
        text += f"\n{what} on {runs.count_words(ranks, 'rank')}: {runs.geometric_mean(values):.2f} (geometric mean of {len(values)})\n"
    runs.write(options, text)


if __name__ == "__main__":
    main()
