#!/usr/bin/env python3
"""What preconditioners of A^T A save LSMR on geodetic networks: seconds and iterations.

usage: bench/least_squares.py [--n 100] [--ayatori build/release/cli/ayatori] [--time-limit 60]

b random, to ||A^T r|| <= 1e-8 ||A|| ||r||, one rank and one thread. Seconds are of set-up and iterations, by the wall's clock, which other programs
disturb; the least of --rounds, preconditioners in turns. Rows of Markdown.
"""

import argparse
import json
import os
import pathlib
import subprocess
import tempfile

SYSTEMS = ("least-squares:n={n}", "least-squares:n={n},spread=3", "least-squares:n={n},spread=6", "least-squares:n={n},datum=0",
           "least-squares:n={n},jitter=0,spread=0")
PRECONDITIONERS = ("none", "jacobi", "block-jacobi", "ic", "amg", "direct")
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "AYATORI_PROFILE": "none", "AYATORI_KNOWLEDGE": "none",
               "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def run(options, spec, preconditioner):
    """The report, or nothing where it failed."""
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "result.json"
        subprocess.run([options.ayatori, "solve", spec, "--least-squares", "--rhs", "random:1", "--quiet", "--json", str(result), "--preconditioner",
                        preconditioner, "--time-limit", str(options.time_limit)], env={**os.environ, **ENVIRONMENT}, check=False,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return json.loads(result.read_text()) if result.exists() else None


def cell(reports):
    if not all(report and report["proved"] for report in reports):
        iterations = {report["iterations"] for report in reports if report}
        return f"not proved ({max(iterations, default=0)})"
    return f"{min(report['seconds']['solve'] for report in reports):.2f} ({reports[0]['iterations']})"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n", type=int, default=100, help="stations per edge")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--ayatori", default="build/release/cli/ayatori")
    parser.add_argument("--time-limit", type=float, default=60)
    options = parser.parse_args()
    print("| system | rows x columns | " + " | ".join(PRECONDITIONERS) + " |\n|---|---|" + "---|" * len(PRECONDITIONERS), flush=True)
    for pattern in SYSTEMS:
        spec = pattern.format(n=options.n)
        reports = {name: [] for name in PRECONDITIONERS}
        for _ in range(options.rounds):
            for name in PRECONDITIONERS:
                reports[name].append(run(options, spec, name))
        shape = next((f"{one['rows']} x {one['columns']}" for found in reports.values() for one in found if one), "-")
        print(f"| {spec} | {shape} | " + " | ".join(cell(reports[name]) for name in PRECONDITIONERS) + " |", flush=True)


if __name__ == "__main__":
    main()
