#!/usr/bin/env python3
"""How much slower the tuned solve is than the best forced setting, on generated and real matrices.

usage: bench/regret.py [--matrices FOLDER] [--problem MATRIX ...] [--quick] [--rounds 3] [--ranks 1]
                       [--time-limit 20] [--markdown FILE] [--json FILE]

A grid of forced settings (method x preconditioner x restart) runs once on every matrix, each for no longer
than three times the best so far, but at least half a second; then its best few, each with the grid's kernel
and with the one that the tuner comes to, the fixed choice GMRES(30) + block ILU(0), and the tuned solve without
any option take turns (A B C, C B A, ...), which knows nothing of the matrix ("cold"), or what one solve has
left in a knowledge base ("warm"). regret = tuned / best forced, medians; the tuned time contains the tuning.
With --json FILE, what stands in it is not run again, so that a run can be resumed.
"""

import pathlib
import statistics
import sys
import tempfile

import runs

GENERATED = (
    "poisson2d-5:n=300", "poisson3d-27:n=50", "elliptic2d-5:n=200", "elliptic2d-5:n=200,reaction=-50",
    "elliptic3d-7:n=40", "convection2d:n=200,peclet=1000", "convection3d:n=40,peclet=100",
    "anisotropic2d:n=200", "anisotropic3d:n=40", "jump2d:n=150", "jump3d:n=40", "elasticity3d:n=12",
    "tetrahedra3d:n=32", "random:n=100000")
REAL = ("4elt", "bcsstk13", "bcsstk16", "cage10", "compflow6k", "e05r0500", "lhr01", "memplus",
        "mfem_ams_A", "sherman3", "teko_nsjac", "xenon1")
QUICK = ("poisson3d-7:n=30", "elliptic2d-5:n=100", "elliptic2d-5:n=100,reaction=-50", "jump2d:n=80",
         "convection2d:n=100,peclet=1000")

FIXED = ("gmres", "block-ilu0", 30)
PRECONDITIONERS = ("block-ilu0", "jacobi", "ssor", "ilu", "ilut", "amg", "block-jacobi", "none", "fsai", "neumann", "chebyshev")
DEFINITE = ("jacobi", "ssor", "amg", "ic", "block-ilu0", "fsai", "block-jacobi", "chebyshev", "none", "neumann")
LEAST_LIMIT = 0.5  # seconds
# What has to be the same for figures to stand in one table.
SAME = ("ranks", "threads", "rtol", "time_limit", "rounds", "finalists", "kernel", "halo")


def grid(matrix):
    """Sensible forced settings of a matrix, likely ones first, so that the time limit is soon a tight one."""
    one_sign = matrix["rows"] in (matrix["positive_diagonals"], matrix["negative_diagonals"])
    definite = matrix["symmetric"] and one_sign
    settings = [("cg", preconditioner, None) for preconditioner in DEFINITE if definite]
    settings += [("bicgstab", preconditioner, None) for preconditioner in PRECONDITIONERS]
    settings += [("gmres", preconditioner, restart)
                 for restart in (30, 100) for preconditioner in PRECONDITIONERS]
    if matrix["symmetric"]:  # MINRES needs a definite preconditioner: incomplete factors may not be
        settings += [("minres", preconditioner, None) for preconditioner in ("none", "jacobi")]
    settings.append(("gmres", "direct", 30))
    return [setting for setting in settings if setting != FIXED]


def words(setting, kernel):
    method, preconditioner, restart = setting
    return f"{method}({restart}) + {preconditioner}, {kernel}" if restart else f"{method} + {preconditioner}, {kernel}"


class Measurement:
    """All runs on one matrix."""

    def __init__(self, options, problem):
        self.options, self.problem = options, problem

    def forced(self, setting, kernel, time_limit=None):
        method, preconditioner, restart = setting
        arguments = ["--method", method, "--preconditioner", preconditioner, "--kernel", kernel,
                     "--halo", self.options.halo]
        if restart:
            arguments += ["--restart", str(restart)]
        return runs.solve(self.options, self.problem, arguments, self.options.ranks, time_limit)

    def tuned(self, knowledge=None):
        return runs.solve(self.options, self.problem, ranks=self.options.ranks, knowledge=knowledge)

    def run_grid(self):
        """Every setting once: those that solve, with their seconds; and whether the fixed choice does."""
        first = self.forced(FIXED, self.options.kernel)
        solved = {FIXED: runs.seconds(first)} if first["converged"] else {}
        settings = grid(first["matrix"])
        for setting in settings:
            limit = self.options.time_limit
            if solved:
                limit = min(limit, max(3 * min(solved.values()), LEAST_LIMIT))
            try:
                result = self.forced(setting, self.options.kernel, limit)
            except runs.Rejected:  # built without MUMPS; what is wrong with the problem, the fixed choice has said
                continue
            if result["converged"]:
                solved[setting] = runs.seconds(result)
        return solved, 1 + len(settings)

    def race(self, solved, knowledge):
        """The best of the grid, the fixed choice if it solves, and the tuned solves ("cold", "warm"), in turns."""
        kernels = {self.options.kernel: None, self.tuned()["choice"]["kernel"]: None}  # a set with an order
        best = sorted(solved, key=solved.get)[: self.options.finalists]
        runners = [(setting, kernel) for setting in best for kernel in kernels]
        fixed = (FIXED, self.options.kernel)
        if FIXED in solved and fixed not in runners:
            runners.append(fixed)
        tuned = {"cold": None, "warm": knowledge}
        runners += tuned
        self.tuned(knowledge)  # which teaches it
        results = {runner: [] for runner in runners}
        for runner in runs.take_turns(runners, self.options.rounds):
            if results[runner] and not results[runner][0]["converged"]:
                continue
            results[runner].append(self.tuned(tuned[runner]) if runner in tuned else self.forced(*runner))
        return results

    def entry(self):
        """The matrix as plain data."""
        solved, tried = self.run_grid()
        with tempfile.TemporaryDirectory() as knowledge:
            results = self.race(solved, knowledge)
        tuned, warm = results.pop("cold"), results.pop("warm")
        times = {runner: statistics.median(map(runs.seconds, found)) for runner, found in results.items()
                 if all(result["converged"] for result in found)}
        best = min(times, key=times.get, default=None)
        median = runs.median_run(tuned)
        return {"matrix": self.problem.name, "grid": tried, "grid_solved": len(solved),
                "best": None if best is None else {
                    "setting": words(*best), "seconds": [runs.seconds(result) for result in results[best]]},
                "fixed": {"solved": FIXED in solved, "seconds": times.get((FIXED, self.options.kernel))},
                "tuned": {**tuned_entry(tuned), "outcome": runs.outcome_words(median), "choice": median["choice"],
                          "trials": len(median["trials"])},
                "warm": tuned_entry(warm)}


def tuned_entry(results):
    median = runs.median_run(results)
    return {"solved": all(result["converged"] for result in results),
            "seconds": [runs.seconds(result) for result in results],
            "tuning_share": median["seconds"]["tuning"] / runs.seconds(median)}


def regret(entry, way="tuned"):
    """tuned (or "warm") / best forced; None where one of them found no solution."""
    if entry["best"] is None or not entry[way]["solved"]:
        return None
    return statistics.median(entry[way]["seconds"]) / statistics.median(entry["best"]["seconds"])


HEADER = ["matrix", "best forced", "its seconds", "tuned to", "its outcome", "its seconds",
          "regret", "share of tuning", "warm", "regret", "share of tuning", "GMRES(30) + block ILU(0)",
          "grid solved"]


def regret_words(entry, way):
    ratio = regret(entry, way)
    return ["-" if ratio is None else f"{ratio:.2f}", f"{100 * entry[way]['tuning_share']:.0f} %"]


def fixed_words(fixed):
    if fixed["seconds"] is not None:
        return f"{fixed['seconds']:.3g}"
    return "solved once" if fixed["solved"] else "not solved"


def row(entry):
    best, fixed, tuned, warm = entry["best"], entry["fixed"], entry["tuned"], entry["warm"]
    return [entry["matrix"], best["setting"] if best else "none",
            runs.spread_words(best["seconds"]) if best else "-",
            runs.choice_words(tuned["choice"]), tuned["outcome"], runs.spread_words(tuned["seconds"]),
            *regret_words(entry, "tuned"), runs.spread_words(warm["seconds"]), *regret_words(entry, "warm"),
            fixed_words(fixed),
            f"{entry['grid_solved']} of {entry['grid']}"]


def report(options, entries):
    text = (f"{runs.machine_words([options.ranks], options.threads)} "
            f"{runs.count_words(options.ranks, 'rank')}; forced settings with kernel {options.kernel}, the best few "
            f"also with the tuner's, and halo {options.halo}. Seconds are medians (least-largest) of up to "
            f"{runs.count_words(options.rounds, 'run')}, set-up and tuning in them, reading left out.\n\n")
    text += runs.table(HEADER, map(row, entries))
    by_grid = sum(entry["best"] is not None for entry in entries)
    by_fixed, by_tuned = (sum(entry[way]["solved"] for entry in entries) for way in ("fixed", "tuned"))
    text += (f"\nOf {len(entries)} matrices, {by_grid} are solved by some forced setting, {by_fixed} by "
             f"GMRES(30) + block ILU(0), {by_tuned} by the tuned solve.\n")
    for way, words in (("tuned", "Regret"), ("warm", "Warm")):
        ratios = {entry["matrix"]: ratio for entry in entries if (ratio := regret(entry, way)) is not None}
        if ratios:
            worst = max(ratios, key=ratios.get)
            text += (f"{words} over {len(ratios)} of them: geometric mean "
                     f"{runs.geometric_mean(ratios.values()):.2f}, worst {ratios[worst]:.2f} ({worst}).\n")
    return text


def problems(options):
    if options.problem:
        return [runs.named(matrix, rtol=options.rtol) for matrix in options.problem]
    specs = QUICK if options.quick else GENERATED
    found = [runs.Problem(spec, spec, rtol=options.rtol) for spec in specs]
    if options.matrices and not options.quick:
        found += [runs.from_folder(options.matrices, name, "solution-random:1", options.rtol)
                  for name in REAL]
    return found


def main():
    parser = runs.parser_of(__doc__)
    runs.add_options(parser, time_limit=20)
    parser.add_argument("--matrices", type=pathlib.Path, help="folder with the real matrices")
    parser.add_argument("--problem", action="append", help="a file or spec instead of the list; repeatable")
    parser.add_argument("--quick", action="store_true", help="a handful of small problems")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--finalists", type=int, default=3, help="grid settings that meet the tuned solve")
    parser.add_argument("--rtol", type=float, default=1e-8)
    parser.add_argument("--kernel", default="csr", help="of forced settings, or auto")
    parser.add_argument("--halo", default="p2p-irecv-first+overlap", help="of forced settings, or auto")
    parser.add_argument("--json", type=pathlib.Path, help="keep figures here, and resume from it")
    options = parser.parse_args()
    entries = runs.resumed(options, SAME, "matrices")
    wanted = problems(options)
    for problem in wanted:
        if any(entry["matrix"] == problem.name for entry in entries):
            continue
        try:
            entries.append(Measurement(options, problem).entry())
        except runs.Rejected as reason:
            sys.exit(f"{problem.name}: {reason}")
        runs.say("  ".join(map(str, row(entries[-1]))))
        if options.json:
            runs.write_json(options.json, {"schema": "ayatori.regret/3",
                                           "options": runs.setting_of(options, SAME),
                                           "matrices": entries})
    names = [problem.name for problem in wanted]
    runs.write(options, report(options, sorted((entry for entry in entries if entry["matrix"] in names),
                                               key=lambda entry: names.index(entry["matrix"]))))


if __name__ == "__main__":
    main()
