#!/usr/bin/env python3
"""How much longer or shorter solves have become: two programs take turns on generated and real matrices.

usage: bench/before_after.py --before PROGRAM [--ayatori PROGRAM] [--folder FOLDER] [--problem MATRIX ...]
                             [--rounds 5] [--markdown FILE]

Both solve every system in turns (A B, B A, ...) on one rank, from the matrix in memory to the verified x. The table has the
ratio of minima, now / before, what share of the time verifying takes now, and the geometric means over what takes more than
a millisecond. Systems that one of the two does not solve are listed apart.
"""

import pathlib

import real_matrices
import runs

GENERATED = ("poisson2d-5:n=300", "poisson3d-7:n=50", "poisson3d-27:n=40", "elliptic2d-5:n=200",
             "elliptic2d-5:n=200,reaction=-50", "elliptic3d-7:n=40", "convection2d:n=200,peclet=1000",
             "convection3d:n=40,peclet=100", "anisotropic2d:n=256", "anisotropic3d:n=40", "jump2d:n=150", "jump3d:n=40",
             "elasticity3d:n=16", "tetrahedra3d:n=32", "random:n=50000", "random-spd:n=50000")
LEAST = 1e-3  # seconds
PARTS = ("setup", "tuning", "solve", "verification")


def seconds(result):
    """Of the solve itself: not of the process, its files and its look at the machine."""
    return sum(result["seconds"][part] for part in PARTS)


def measure(options, problem):
    """{program: results} of one system, in turns."""
    programs = {"before": options.before, "now": options.ayatori}
    results = {name: [] for name in programs}
    for name in runs.take_turns(programs, options.rounds):
        options.ayatori = programs[name]
        results[name].append(runs.solve(options, problem))
    options.ayatori = programs["now"]
    return results


def main():
    parser = runs.parser_of(__doc__)
    runs.add_options(parser, 20)
    parser.add_argument("--before", required=True, help="the program to compare with")
    parser.add_argument("--folder", type=pathlib.Path, help="of real matrices")
    parser.add_argument("--problem", action="append", default=[], help="these alone")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    problems = [runs.named(matrix) for matrix in options.problem or GENERATED]
    if options.folder:
        problems += [runs.from_folder(options.folder, name) for name in real_matrices.matrices(options.folder)]
    heads = ["| system | before, ms | now, ms | ratio | verifying, % |", "|---|---|---|---|---|"]
    print("\n".join(heads))
    ratios, shares, lines, apart = [], [], [], []
    for problem in problems:
        try:
            results = measure(options, problem)
        except runs.Rejected as reason:
            apart.append(f"{problem.name}: {reason}")
            continue
        if not all(run["converged"] for one in results.values() for run in one):
            apart.append(f"{problem.name}: before {runs.outcome_words(results['before'][-1])}, "
                         f"now {runs.outcome_words(results['now'][-1])}")
            continue
        least = {name: min(one, key=seconds) for name, one in results.items()}
        before, now = seconds(least["before"]), seconds(least["now"])
        share = least["now"]["seconds"]["verification"] / now
        lines.append(f"| {problem.name} | {1e3 * before:.3g} | {1e3 * now:.3g} | {now / before:.3f} | {100 * share:.1f} |")
        print(lines[-1], flush=True)
        if before > LEAST:
            ratios.append(now / before)
            shares.append(1 + share)
    means = "No system takes more than 1 ms."
    if ratios:
        means = (f"Geometric mean of {len(ratios)} systems over 1 ms: {runs.geometric_mean(ratios):.3f}; "
                 f"verifying takes {100 * (runs.geometric_mean(shares) - 1):.2f} % of their time.")
    ending = ["", means, *apart]
    print("\n".join(ending))
    if options.markdown:
        options.markdown.write_text("\n".join([*heads, *lines, *ending]) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
