#!/usr/bin/env python3
"""How iterations, time and memory of saddle point systems grow with their size, beside complete factors.

usage: bench/saddle_points.py [--ayatori build/release/cli/ayatori] [--families NAME ...] [--most 1300000] [--time-limit 120]

Stokes' and Oseen's equations in staggered cells with b = A x for a random x, one rank and one thread: fgmres(100) + schur, minres +
schur-definite where the matrix is symmetric, and complete factors. Rows of Markdown. Processor seconds and memory, the
most that the process held, are those of the whole program less those of one that makes a single iteration without a preconditioner.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

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


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ayatori", default="build/release/cli/ayatori")
    parser.add_argument("--families", nargs="+", default=list(FAMILIES))
    parser.add_argument("--most", type=int, default=1_300_000, help="unknowns")
    parser.add_argument("--most-direct", type=int, default=400_000, help="unknowns, for complete factors")
    parser.add_argument("--time-limit", type=float, default=120)
    options = parser.parse_args()
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
