#!/usr/bin/env python3
"""Compares complete factors: `ayatori solve --preconditioner direct` beside MUMPS alone, through PETSc.

usage: bench/peers/factors.py [--systems NAME ...] [--ranks 1 2] [--rounds 3] [--time-limit 60] [--markdown FILE]
                              [--ayatori build/release/cli/ayatori] [--petsc-python /usr/bin/python3]

Systems are those of bench/training/systems.py by name. Both take turns, on the same A and b, with b = A x for a random x where the family has no
b of its own. A time is the least of set-up and solve, without starting and reading. Of ayatori the iteration around the factors and the verified
residual are part of it; MUMPS, as PETSc sets it, is Cholesky where the matrix is symmetric and LU elsewhere, and its residual is only shown.
"""

import json
import pathlib
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
           "geodesy:directions=False:64000:0", "bundle-adjustment::64000:0", "interior-point:mu=0.0001:64000:0")
PARTS = ("setup", "tuning", "solve", "verification")


def ayatori(options, folder, ranks):
    """(seconds, residual, what the library says)"""
    done = subprocess.run([options.mpirun, "-n", str(ranks), options.ayatori, "solve", str(folder / "A.petsc"), "--rhs", str(folder / "b.petsc"),
                           "--method", "gmres", "--preconditioner", "direct", "--threads", "1", "--profile", "none", "--knowledge", "none",
                           "--use-ranks", "all", "--time-limit", str(options.time_limit), "--json", str(folder / "result.json")],
                          capture_output=True, text=True, check=False)
    if not (folder / "result.json").exists():
        return None, None, done.stderr.strip().splitlines()[-1:] or ["failed"]
    found = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    notes = [event["text"] for event in found["events"] if event["kind"] == "note" and "complete" in event["text"]]
    return sum(found["seconds"][part] for part in PARTS) if found["converged"] else None, found["relative_residual"], notes


def best(results):
    times = [seconds for seconds, *_ in results if seconds is not None]
    return min(times, default=None)


def measure(options, system, ranks, solve):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        peer = solve.System(folder, system.recipe.name, system.matrix, system.b, options.rtol)
        petsc = solve.Petsc(options, peer, ranks)
        ours, theirs = [], []
        for who in runs.take_turns(["ayatori", "MUMPS"], options.rounds):
            if who == "ayatori":
                ours.append(ayatori(options, folder, ranks))
            else:
                result = petsc.solve({"MUMPS": solve.solve_petsc.mumps(peer.symmetric)}, options.time_limit)["MUMPS"]
                theirs.append((result["seconds"], result["residual"], []))
        return best(ours), best(theirs), ours[0][1], theirs[0][1], (ours[0][2] or ["-"])[0]


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
    parser.add_argument("--petsc-python", default="/usr/bin/python3")
    options = parser.parse_args()
    text = f"{runs.machine_words(options.ranks, 1)} Seconds are the least of {runs.count_words(options.rounds, 'run')}.\n\n"
    rows, ratios = [], {ranks: [] for ranks in options.ranks}
    for name in options.systems:
        system = systems.make(systems.recipe_of(name))
        for ranks in options.ranks:
            ours, theirs, residual, their_residual, note = measure(options, system, ranks, solve)
            ratio = theirs / ours if ours and theirs else None
            if ratio:
                ratios[ranks].append(ratio)
            words = [f"{value:.3g}" if value else "-" for value in (ours, theirs, ratio)]
            rows.append([name, system.matrix.shape[0], system.matrix.nnz, ranks, *words, f"{residual:.0e}" if residual is not None else "-",
                         f"{their_residual:.0e}" if their_residual is not None else "-", note])
            runs.say(" ".join(map(str, rows[-1])))
    text += runs.table(["system", "rows", "nonzeros", "ranks", "ayatori, s", "MUMPS, s", "MUMPS / ayatori", "residual", "its residual", "factors"], rows)
    for ranks, found in ratios.items():
        if found:
            text += f"\n{runs.count_words(ranks, 'rank')}: {runs.geometric_mean(found):.2f} (geometric mean of {len(found)})\n"
    runs.write(options, text)


if __name__ == "__main__":
    main()
