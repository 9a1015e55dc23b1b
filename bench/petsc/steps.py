#!/usr/bin/env python3
"""Fifty time steps of PETSc's TS with -ksp_type ayatori, beside GAMG, hypre and PETSc's default.

usage: bench/petsc/steps.py [-n 200] [--steps 50] [--ranks 1 2] [--rounds 3] [--plugin build/release/petsc/libayatori_petsc.so]

The program is that of the tests (tests/petsc/program.c): a heat equation, linear and with a conductivity 1 + u^2, on an n x n grid, by
implicit Euler with SNES, its Jacobian by differences. All take turns; of the rounds the least counts. All have the same tolerances.
"""

import argparse
import pathlib
import re
import sys
import tempfile

import programs

ROOT = pathlib.Path(__file__).resolve().parents[2]
SETTINGS = {"ayatori": "-ksp_type ayatori", "pc ayatori": "-ksp_type gmres -pc_type ayatori", "default": "",
            "gamg": "-ksp_type gmres -pc_type gamg", "hypre": "-ksp_type gmres -pc_type hypre -pc_hypre_type boomeramg"}
RESULT = re.compile(r"heat: (\w+) steps (\d+) iterations (\d+) norm (\S+) seconds (\S+)")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-n", type=int, default=200)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--plugin", default="build/release/petsc/libayatori_petsc.so")
    options = parser.parse_args()
    plugin = pathlib.Path(options.plugin).resolve()
    print("| equation | ranks | solver | seconds | iterations | set-ups, solves | norm |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        program = programs.compiled(ROOT / "tests/petsc/program.c", pathlib.Path(folder) / "program")
        for name, equation in (("linear", ""), ("nonlinear", "-nonlinear 1")):
            for ranks in options.ranks:
                best = {}
                for _ in range(options.rounds):
                    for setting, words in SETTINGS.items():
                        told = f"-dll_append {plugin} {words} {equation} -ts_max_steps {options.steps} -ts_max_snes_failures -1"
                        status, said = programs.run([program, "-case", "heat", "-n", options.n], ranks, told + " -ksp_view")
                        found = RESULT.search(said)
                        if status != 0 or found is None:
                            continue
                        served = re.findall(r"(\d+) set-ups? served (\d+) solve", said)
                        result = float(found[5]), found[3], ", ".join(served[-1]) if served else "", found[4]
                        best[setting] = min(best.get(setting, result), result)
                for setting in SETTINGS:
                    cells = best.get(setting, ("failed", "", "", ""))
                    print(f"| {name} | {ranks} | {setting} | {' | '.join(map(str, cells))} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
