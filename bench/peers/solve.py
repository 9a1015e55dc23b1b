#!/usr/bin/env python3
"""Compares whole solves, from the matrix in memory to x: `ayatori solve`, PETSc, hypre, MUMPS and pyamg.

usage: bench/peers/solve.py [FOLDER] [--problem SPEC_OR_FILE ...] [--families 0/2] [--ranks 1 2] [--rounds 3] [--rtol 1e-8] [--time-limit 20]
                            [--json FILE] [--markdown FILE] [--svg FILE] [--without pyamg]
                            [--ayatori build/release/cli/ayatori] [--solve-ayatori build/release/bench/solve_ayatori] [--petsc-python /usr/bin/python3]

Problems: generated classes, and every real square matrix NAME.mtx.gz of FOLDER, with NAME_b.mtx.gz as right-hand side where there is
one and else b = A x for a random x. With --families K/N instead, one system of each family of bench/training that is in the K-th of N parts,
of a size and seed that were never recorded: crossvalidate.deal_out() makes the parts, and `model.py --without` a tuner that has not seen one. Everybody gets the same A and b as files of PETSc, and the same tolerance. What
counts is the residual ||b - A x|| / ||b|| of the x that was written, computed here: at most twice the tolerance. A claim
of convergence with more is reported as wrong.

  ayatori cold    as `ayatori solve` with no option, nothing known
  ayatori warm    the same with what a solve of the system has left in the knowledge base
  PETSc default   GMRES(30) from the left, block Jacobi with ILU(0)
  grid's best     the fastest of 25 settings of PETSc and hypre, known afterwards (solve_petsc.py)
  hypre           BoomerAMG as it is when nothing is set, in PETSc's CG or GMRES
  MUMPS           through PETSc
  pyamg           pyamg.solve; on one rank

Every setting of the grid runs once, for no longer than three times the best so far, but half a second at least, and --grid-limit
while there is no best; then all take turns (A B C, C B A, ...), the first two of the grid among them. A time is a median, of
set-up and solve, tuning and verification included, without starting, reading and writing. PETSc runs its settings one after the other in a
process; of ayatori the second solve of a process counts, which has forgotten the first (solve_ayatori.cpp, built with
`cmake --build --preset release --target solve_ayatori`). What takes longer than a second, or fails, runs once. With --json FILE, what stands in it is not run again, so that all can be run in pieces. PETSc comes
from Debian (python3-petsc4py-real), pyamg into build/peers-venv.
"""

import argparse
import json
import math
import os
import pathlib
import queue
import random
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parent / "training")]

import runs  # noqa: E402

runs.need("numpy", "scipy")

import crossvalidate  # noqa: E402
import performance_profile  # noqa: E402
import petsc_files  # noqa: E402
import read_matrix  # noqa: E402
import real_matrices  # noqa: E402
import solve_petsc  # noqa: E402
import systems  # noqa: E402
from preconditioners import DEBIAN_PATH  # noqa: E402

GENERATED = ("poisson2d-5:n=300", "poisson3d-7:n=50", "poisson3d-27:n=40", "elliptic2d-5:n=200",
             "elliptic2d-5:n=200,reaction=-50", "elliptic3d-7:n=40", "convection2d:n=200,peclet=1000",
             "convection3d:n=40,peclet=100", "anisotropic2d:n=256", "anisotropic3d:n=40", "jump2d:n=150", "jump3d:n=40",
             "elasticity3d:n=16", "tetrahedra3d:n=32", "random:n=50000", "random-spd:n=50000")
SOLVERS = ("ayatori cold", "ayatori warm", "PETSc default", "grid's best", "hypre", "MUMPS", "pyamg")
OURS = SOLVERS[:2]
FINALISTS = 2
LEAST_LIMIT = 0.5   # seconds
UNRECORDED = 77     # a seed of systems
LONG = 1.0          # seconds: what takes longer runs once
# Of a solve, from the matrix in memory to the verified x; not of a process: PETSc's start is not counted either.
PARTS = ("setup", "tuning", "solve", "verification")
SLACK = 2           # residuals are computed by other sums than the solver's own
SAME = ("rounds", "rtol", "time_limit", "grid_limit", "threads")
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1"}


class System:
    """A and b in memory and as files of a folder; the judge of every x."""

    def __init__(self, folder, name, matrix, b, rtol, block_size=1):
        self.folder, self.name, self.matrix, self.b, self.rtol, self.block_size = folder, name, matrix, b, rtol, block_size
        petsc_files.write_matrix(folder / "A.petsc", matrix)
        petsc_files.write_vector(folder / "b.petsc", b)
        scale = abs(matrix.data).max(initial=0)
        self.symmetric = bool(abs(matrix - matrix.T).max() <= 1e-13 * scale)
        self.definite = self.symmetric and bool((matrix.diagonal() > 0).all())

    def residual(self, x):
        import numpy as np

        if x is None or x.shape != self.b.shape or not np.isfinite(x).all():
            return None
        with np.errstate(over="ignore"):
            return float(np.linalg.norm(self.b - self.matrix @ x) / np.linalg.norm(self.b))

    def judged(self, result, x):
        """The result with its true residual, whether it solves the system and whether its claim to is wrong."""
        residual = self.residual(x)
        solved = residual is not None and math.isfinite(residual) and residual <= SLACK * self.rtol
        return {**result, "residual": residual, "solved": solved and result["seconds"] is not None,
                "wrong": bool(result["claims"]) and not solved}


def load(options, folder, problem):
    """The system of a file or generator spec. Raises Rejected."""
    import numpy as np
    import scipy.io
    import scipy.sparse

    b = None
    if problem.matrix.count(":") == 3:
        made = systems.make(systems.recipe_of(problem.matrix))
        matrix, b = made.matrix, made.b
    elif pathlib.Path(problem.matrix).exists():
        read = scipy.sparse.csr_matrix(scipy.io.mmread(problem.matrix))
        if np.iscomplexobj(read):
            raise runs.Rejected("complex")
        matrix = read.astype(np.float64)
        matrix.sum_duplicates()
    else:
        done = subprocess.run([options.ayatori, "generate", problem.matrix, "-o", str(folder / "A.petsc")],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise runs.Rejected(done.stderr.strip())
        matrix = petsc_files.read_matrix(str(folder / "A.petsc"))
    if pathlib.Path(problem.rhs).exists():
        b = scipy.io.mmread(problem.rhs)
        b = np.asarray(b.todense() if scipy.sparse.issparse(b) else b, np.float64).ravel()
    elif b is None:
        b = matrix @ np.random.default_rng(1).uniform(-1, 1, matrix.shape[1])
    return System(folder, problem.name, matrix, b, options.rtol, 3 if problem.matrix.startswith("elasticity") else 1)


FAILED = {"seconds": None, "claims": False}


def ayatori(options, system, ranks, knowledge):
    """The last of the solves in one process."""
    output = system.folder / "x.petsc"
    output.unlink(missing_ok=True)
    try:
        done = subprocess.run([options.mpirun, "-n", str(ranks), options.solve_ayatori, str(system.folder), str(options.rtol),
                               str(options.time_limit), knowledge], capture_output=True, text=True, check=False,
                              timeout=5 * options.time_limit + 60, env=runs.environment())
    except subprocess.TimeoutExpired:
        return system.judged({**FAILED, "setting": "hangs"}, None)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        reasons = done.stderr.strip().splitlines()
        return system.judged({**FAILED, "setting": reasons[0] if reasons else f"exit status {done.returncode}"}, None)
    found = json.loads(lines[-1])
    result = {"seconds": sum(found["seconds"][part] for part in PARTS), "claims": found["converged"], "iterations": found["iterations"],
              "setting": runs.choice_words(found["choice"]), "tuning": found["seconds"]["tuning"]}
    return system.judged(result, petsc_files.read_vector(output) if output.exists() else None)


def pyamg(options, system, *_):
    done = None
    output = system.folder / "x.petsc"
    output.unlink(missing_ok=True)
    try:
        done = subprocess.run([sys.executable, __file__, "--pyamg", str(system.folder), "--rtol", str(options.rtol)],
                              capture_output=True, text=True, check=False, timeout=options.time_limit + 10)
        result = {"seconds": json.loads(done.stdout.splitlines()[-1]), "claims": None, "setting": "pyamg.solve"}
    except subprocess.TimeoutExpired:
        return system.judged({**FAILED, "setting": "time limit"}, None)
    except (IndexError, ValueError):
        lines = done.stderr.strip().splitlines()
        return system.judged({**FAILED, "setting": lines[-1] if lines else "failed"}, None)
    if result["seconds"] > options.time_limit:
        return system.judged({**FAILED, "setting": "time limit"}, None)
    return system.judged(result, petsc_files.read_vector(output))


def run_pyamg(options):
    """What the process started by pyamg() does."""
    import pyamg as package

    folder = pathlib.Path(options.pyamg)
    matrix, b = petsc_files.read_matrix(str(folder / "A.petsc")), petsc_files.read_vector(folder / "b.petsc")
    start = time.perf_counter()
    x = package.solve(matrix, b, tol=options.rtol, verb=False)
    seconds = time.perf_counter() - start
    petsc_files.write_vector(folder / "x.petsc", x)
    print(json.dumps(seconds))


class Petsc:
    """PETSc on one system and number of ranks: many settings in one process, which is ended if one hangs."""

    def __init__(self, options, system, ranks, clock="wall"):
        self.options, self.system, self.ranks, self.clock = options, system, ranks, clock

    def solve(self, settings, limit, best=None):
        """{name: judged result} of all settings, {name: options}; `limit` seconds each, less once a best is known."""
        results = {}
        settings = list(settings.items())
        while settings:
            found = self.run_process(settings, limit, best)
            best = min([time for time in (best, *(result["seconds"] for result in found.values() if result["solved"]))
                        if time is not None], default=None)
            results.update(found)
            settings = settings[len(found):]
        return results

    def run_process(self, settings, limit, best):
        """Of the settings up to one that has to be killed."""
        folder, options = self.system.folder, self.options
        job = {"settings": settings, "limit": limit, "best": best, "least_limit": LEAST_LIMIT, "rtol": options.rtol,
               "symmetric": self.system.symmetric, "block_size": self.system.block_size, "clock": self.clock}
        (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
        for path in folder.glob("x.*.petsc"):
            path.unlink()
        process = subprocess.Popen([options.mpirun, "-n", str(self.ranks), options.petsc_python,
                                    str(HERE / "solve_petsc.py"), str(folder)], stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True, env=petsc_environment(), start_new_session=True)
        lines = queue.Queue()

        def pump():
            for line in process.stdout:
                lines.put(line)
            lines.put(None)

        threading.Thread(target=pump, daemon=True).start()
        results, at_work, deadline = {}, settings[0][0], time.monotonic() + 60
        while len(results) < len(settings):
            try:
                line = lines.get(timeout=max(deadline - time.monotonic(), 0))
            except queue.Empty:
                line = None
            if line is None:  # hangs, or has died
                results[at_work] = {**FAILED, "reason": "killed", "residual": None, "solved": False, "wrong": False}
                break
            if not line.startswith("{"):
                continue
            said = json.loads(line)
            if "begins" in said:
                at_work, deadline = said["begins"], time.monotonic() + 2 * said["limit"] + 5
            else:
                x = folder / f"x.{said['index']}.petsc"
                results[at_work] = self.system.judged(
                    said, petsc_files.read_vector(x) if said["seconds"] is not None and x.exists() else None)
                deadline = time.monotonic() + 60
        end(process)
        return results


def petsc_environment():
    environment = runs.environment() | ENVIRONMENT
    if pathlib.Path(DEBIAN_PATH).exists():
        environment["PYTHONPATH"] = DEBIAN_PATH
    return environment


def end(process):
    try:
        process.wait(timeout=2)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def goes_on(results):
    """Whether another run tells more: it solves, and not slowly."""
    return not results or (results[0]["solved"] and results[0]["seconds"] <= LONG)


def measure(options, system, ranks):
    """One problem on this many ranks, as plain data."""
    petsc = Petsc(options, system, ranks)
    grid = solve_petsc.grid(system.symmetric, system.definite)
    fixed = {"PETSc default": solve_petsc.DEFAULT, "hypre": solve_petsc.hypre(system.definite),
             "MUMPS": solve_petsc.mumps(system.symmetric)}
    of_grid = petsc.solve(grid, options.grid_limit)
    solved = sorted((name for name, result in of_grid.items() if result["solved"]),
                    key=lambda name: of_grid[name]["seconds"])[:FINALISTS]
    settings = {**fixed, **{name: grid[name] for name in solved}}
    results = {name: [] for name in (*OURS, *settings)}
    if ranks == 1 and "pyamg" not in options.without:
        results["pyamg"] = []
    with tempfile.TemporaryDirectory() as knowledge:
        ayatori(options, system, ranks, knowledge)  # which teaches it
        ways = {"ayatori cold": lambda: ayatori(options, system, ranks, "none"),
                "ayatori warm": lambda: ayatori(options, system, ranks, knowledge), "pyamg": lambda: pyamg(options, system)}
        for name in runs.take_turns(["ayatori cold", "PETSc", "ayatori warm", "pyamg"], options.rounds):
            if name == "PETSc":
                wanted = {key: words for key, words in settings.items() if goes_on(results[key])}
                for key, result in petsc.solve(wanted, options.time_limit).items():
                    results[key].append(result)
            elif name in results and goes_on(results[name]):
                results[name].append(ways[name]())
    solvers = {name: summary(results[name]) for name in SOLVERS if name in results}
    finalists = {name: summary(results[name]) for name in solved}
    best = min((name for name in solved if finalists[name]["solved"]), default=None,
               key=lambda name: finalists[name]["seconds"])
    if best is None:
        nearest = [result["residual"] for result in of_grid.values() if result["residual"] is not None]
        solvers["grid's best"] = {**FAILED, "solved": False, "wrong": False, "residual": min(nearest, default=None),
                                  "setting": "none", "all_seconds": []}
    else:
        solvers["grid's best"] = {**finalists[best], "setting": best}
    return {"problem": system.name, "ranks": ranks, "rows": system.matrix.shape[0], "nonzeros": int(system.matrix.nnz),
            "symmetric": system.symmetric, "grid": of_grid, "solvers": solvers}


def summary(results):
    """The runs of one solver: solved if all are, wrong if one is."""
    solved = all(result["solved"] for result in results)
    times = [result["seconds"] for result in results if result["seconds"] is not None]
    residuals = [result["residual"] for result in results if result["residual"] is not None]
    return {**{key: value for key, value in results[0].items() if key not in ("name", "index")},
            "seconds": statistics.median(times) if times else None, "all_seconds": times, "solved": solved,
            "wrong": any(result["wrong"] for result in results), "residual": max(residuals, default=None)}


def cell(result):
    if result is None:
        return "-"
    if result["solved"]:
        return f"{result['seconds']:.3g}"
    residual = "" if result["residual"] is None else f" {result['residual']:.0e}"
    return f"**wrong**{residual}" if result["wrong"] else f"failed{residual}"


def residual_words(result):
    return "-" if result["residual"] is None else f"{result['residual']:.1e}"


def seconds_of(entries):
    """{problem: {solver: seconds or None}}"""
    return {entry["problem"]: {name: result["seconds"] if result["solved"] else None
                               for name, result in entry["solvers"].items()} for entry in entries}


def ratio_words(times, solver, reference):
    ratios = [row[solver] / row[reference] for row in times.values()
              if row.get(solver) is not None and row.get(reference) is not None]
    return f"{runs.geometric_mean(ratios):.2f} ({len(ratios)})" if ratios else "-"


def report_ranks(entries, ranks):
    times = seconds_of(entries)
    union = sum(any(value is not None for value in row.values()) for row in times.values())
    names = [name for name in SOLVERS if any(name in entry["solvers"] for entry in entries)]
    rows = []
    for name in names:
        found = [entry["solvers"][name] for entry in entries if name in entry["solvers"]]
        rows.append([name, f"{sum(result['solved'] for result in found)} of {len(found)}",
                     sum(result["wrong"] for result in found),
                     *(ratio_words(times, name, ours) for ours in OURS)])
    text = (f"## {runs.count_words(ranks, 'rank')}\n\n{len(entries)} problems, of which somebody solves {union}.\n\n"
            + runs.table(["solver", "solved", "wrong claims", "its time / ayatori cold (of)",
                          "/ ayatori warm"], rows) + "\n")
    ours = SOLVERS[0]
    header = ["problem", "rows", "nonzeros", *(f"{name}, s" for name in names), "ayatori's choice", "its residual",
              "grid's best setting", "its residual"]
    text += runs.table(header, [
        [entry["problem"], entry["rows"], entry["nonzeros"], *(cell(entry["solvers"].get(name)) for name in names),
         entry["solvers"][ours].get("setting", "-"), residual_words(entry["solvers"][ours]),
         entry["solvers"]["grid's best"]["setting"], residual_words(entry["solvers"]["grid's best"])]
        for entry in entries])
    return text + "\n"


def report(options, entries):
    text = (f"{runs.machine_words(options.ranks, options.threads)} Tolerance {options.rtol:g}, time limit "
            f"{options.time_limit:g} s. Seconds are medians of up to {runs.count_words(options.rounds, 'run')}; "
            f"'failed' and 'wrong' stand before the true residual.\n\n")
    for ranks in options.ranks:
        of_ranks = [entry for entry in entries if entry["ranks"] == ranks]
        if not of_ranks:
            continue
        text += report_ranks(of_ranks, ranks)
        if options.svg:
            path = options.svg.with_name(f"{options.svg.stem}-{ranks}{options.svg.suffix}")
            path.write_text(performance_profile.draw(
                seconds_of(of_ranks), [name for name in SOLVERS if any(name in entry["solvers"] for entry in of_ranks)],
                f"{len(of_ranks)} problems, {runs.count_words(ranks, 'rank')}"), encoding="utf-8")
    return text


def of_families(part, parts):
    """One system of every family in this part, with one of its settings, of 10,000 to 200,000 rows: by its name, and so always the same."""
    found = []
    part_of = crossvalidate.deal_out((family.name for family in systems.FAMILIES if family.kind not in ("own", "real", "complex")), parts)
    for family in systems.FAMILIES:
        if part_of.get(family.name) == part:
            chance = random.Random(family.name)
            size = min(round(10 ** chance.uniform(4, 5.3)), family.most)
            found.append(systems.Recipe(family, chance.choice(family.settings), size, seed=UNRECORDED).name)
    return found


def problems(options):
    if options.families:
        return [runs.Problem(name, name) for name in of_families(*map(int, options.families.split("/")))]
    if options.problem:
        return [runs.named(matrix) for matrix in options.problem]
    found = [runs.Problem(spec, spec) for spec in GENERATED]
    if options.folder:
        found += [runs.from_folder(options.folder, name) for name in real_matrices.matrices(options.folder)]
    return found


def run_all(options, wanted, entries):
    done = {(entry["problem"], entry["ranks"]) for entry in entries}
    rejected = []
    for problem in wanted:
        missing = [ranks for ranks in options.ranks if (problem.name, ranks) not in done]
        if not missing:
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                system = load(options, pathlib.Path(folder), problem)
            except (ValueError, TypeError, KeyError, ImportError, runs.Rejected) as reason:
                rejected.append(f"{problem.name}: {reason}")
                runs.say(rejected[-1])
                continue
            for ranks in missing:
                entries.append(measure(options, system, ranks))
                solvers = entries[-1]["solvers"]
                runs.say(f"{problem.name} on {ranks}: " +
                         ", ".join(f"{name} {cell(solvers[name])}" for name in SOLVERS if name in solvers))
                if options.json:
                    runs.write_json(options.json, {"schema": "ayatori.peers-solve/1",
                                                   "options": runs.setting_of(options, SAME), "entries": entries})
    return rejected


def main():
    read_matrix.enter_venv(__file__)
    parser = runs.parser_of(__doc__)
    parser.add_argument("folder", nargs="?", type=pathlib.Path, help="with the real matrices")
    runs.add_options(parser, time_limit=20)
    parser.set_defaults(mpirun="mpirun.openmpi")
    parser.add_argument("--problem", action="append", help="a file or spec instead of the list; repeatable")
    parser.add_argument("--families", metavar="K/N", help="systems of the training families in part K of N, instead of the list")
    parser.add_argument("--without", nargs="+", default=[], choices=["pyamg"], help="rivals to leave out")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rtol", type=float, default=1e-8)
    parser.add_argument("--grid-limit", type=float, default=4, help="seconds of a setting while none has solved")
    parser.add_argument("--solve-ayatori", default=str(runs.ROOT / "build" / "release" / "bench" / "solve_ayatori"))
    parser.add_argument("--petsc-python", default="/usr/bin/python3")
    parser.add_argument("--json", type=pathlib.Path, help="keep figures here, and resume from it")
    parser.add_argument("--svg", type=pathlib.Path, help="performance profiles, as NAME-RANKS.svg")
    parser.add_argument("--pyamg", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.pyamg:
        run_pyamg(options)
        return
    os.environ.update(ENVIRONMENT)
    entries = runs.resumed(options, SAME, "entries")
    wanted = problems(options)
    rejected = run_all(options, wanted, entries)
    names = [problem.name for problem in wanted]
    entries = sorted((entry for entry in entries if entry["problem"] in names),
                     key=lambda entry: names.index(entry["problem"]))
    text = report(options, entries)
    runs.write(options, text + "".join(f"- Not run: {line}\n" for line in rejected))


if __name__ == "__main__":
    main()
