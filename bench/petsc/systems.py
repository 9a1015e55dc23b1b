#!/usr/bin/env python3
"""What -ksp_type ayatori takes in an unmodified PETSc program, beside our own solve of the same system and PETSc's default.

usage: bench/petsc/systems.py [--problem SPEC ...] [--matrices FOLDER] [--without-default] [--ranks 1 2] [--rounds 3] [--rtol 1e-8] [--build build/release]

With --matrices: the square real ones of a folder, as bench/real_matrices.py takes them. Every system comes as files of PETSc's. By turns: our own solve in one process (bench/peers/solve_ayatori.cpp), and solve_files.c with
-ksp_type ayatori and with what PETSc does by default. Of the two solves of a process the second counts; of the rounds, the least. A line
tells the times; by how many products the plug-in is above 1.03 of our own; and by how many its KSPSolve() is above 1.03 of the solve that
was made in it, which owes nothing to choices that differ from run to run. A reason that claims more than the residual shows is wrong.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path += [str(HERE.parent / "peers"), str(HERE.parent)]

import runs  # noqa: E402

runs.need("numpy", "scipy")

import numpy as np  # noqa: E402
import scipy.io  # noqa: E402

import petsc_files  # noqa: E402
import programs  # noqa: E402
import real_matrices  # noqa: E402

PROBLEMS = ("poisson2d-5:n=300", "poisson3d-7:n=50", "poisson3d-27:n=40", "elliptic2d-5:n=200", "elliptic2d-5:n=200,reaction=-50",
            "elliptic3d-7:n=40", "convection2d:n=200,peclet=1000", "convection3d:n=40,peclet=100", "anisotropic2d:n=256",
            "anisotropic3d:n=40", "jump2d:n=150", "jump3d:n=40", "elasticity3d:n=16", "tetrahedra3d:n=32", "random:n=50000",
            "random-spd:n=50000")
WITHIN = re.compile(r"iterations in (\S+) s: ")
SOLVED = re.compile(r"^solved (\w+) (\d+) (\S+) (\S+)$", re.MULTILINE)


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder, self.build = options, folder, pathlib.Path(options.build).resolve()
        self.program = programs.compiled(HERE / "solve_files.c", folder / "solve_files")

    def make(self, problem):
        """Writes the system; false where it is none that is real and square."""
        system = runs.named(problem)
        if system.matrix.endswith(runs.SUFFIX):
            matrix = scipy.io.mmread(system.matrix).tocsr()
            if np.iscomplexobj(matrix) or matrix.shape[0] != matrix.shape[1]:
                return False
            petsc_files.write_matrix(self.folder / "A.petsc", matrix)
        else:
            subprocess.run([self.build / "cli/ayatori", "generate", problem, "-o", self.folder / "A.petsc"], check=True, capture_output=True)
            matrix = petsc_files.read_matrix(self.folder / "A.petsc")
        if system.rhs.endswith(runs.SUFFIX):
            b = np.asarray(scipy.io.mmread(system.rhs)).ravel()
        else:
            b = matrix @ np.random.default_rng(1).uniform(-1, 1, matrix.shape[1])
        petsc_files.write_vector(self.folder / "b.petsc", b)
        return True

    def own(self, ranks):
        """Seconds and the residual; nothing where it did not converge."""
        _, said = programs.run([self.build / "bench/solve_ayatori", self.folder, self.options.rtol, 120, "none"], ranks)
        report = json.loads(said.splitlines()[-1])
        return report["seconds"]["total"], report["relative_residual"], report["status"]

    def theirs(self, ranks, options):
        status, said = programs.run([self.program, "-folder", self.folder], ranks, f"-ksp_rtol {self.options.rtol} {options}")
        if status != 0:
            return None
        reason, iterations, residual, seconds = SOLVED.findall(said)[-1]
        product = float(re.search(r"^product (\S+)$", said, re.MULTILINE)[1])
        within = [float(s) for s in WITHIN.findall(said)]
        above = (float(seconds) - 1.03 * within[-1]) / product if within else 0
        return float(seconds), float(residual), reason, int(iterations), product, above

    def compare(self, problem, ranks):
        plugin = f"-dll_append {self.build}/petsc/libayatori_petsc.so -ksp_type ayatori -ksp_max_it 1000000 -ksp_view"
        own, ours, default = [], [], []
        for _ in range(self.options.rounds):
            own.append(self.own(ranks))
            ours.append(self.theirs(ranks, plugin))
            if not self.options.without_default:
                default.append(self.theirs(ranks, ""))
        return own, ours, default


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problem", nargs="+", default=PROBLEMS)
    parser.add_argument("--matrices", type=pathlib.Path, help="a folder of NAME.mtx.gz, in the place of problems")
    parser.add_argument("--without-default", action="store_true", help="leave PETSc's default out: on hard systems it takes minutes")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rtol", default="1e-8")
    parser.add_argument("--build", default="build/release")
    options = parser.parse_args()
    if options.matrices:
        options.problem = [str(options.matrices / (name + runs.SUFFIX)) for name in real_matrices.matrices(options.matrices)]
    solves = own_solved = solved = wrong = unsolved = 0
    print("| system | ranks | own, s | plug-in, s | ratio | products above 1.03 | of the same solve | PETSc's default, s | reason |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, pathlib.Path(folder))
        for problem in options.problem:
            if not bench.make(problem):
                continue
            name = pathlib.Path(problem).name.removesuffix(runs.SUFFIX)
            for ranks in options.ranks:
                own, ours, default = bench.compare(problem, ranks)
                best, plugin = min(own)[0], min(ours)
                solves += 1
                own_solved += all(result[2] == "converged" for result in own)
                solved += all(result[2].startswith("CONVERGED") for result in ours)
                for result in ours:
                    # The program's own product rounds as well.
                    wrong += result[2].startswith("CONVERGED") and result[1] > 1.01 * float(options.rtol)
                    unsolved += not result[2].startswith("CONVERGED") and own[0][2] == "converged"
                plain = min((d for d in default if d), default=None)
                shown = f"{plain[0]:.3f}" + ("" if plain[2].startswith("CONVERGED") else " (failed)") if plain else "-" if options.without_default else "failed"
                print(f"| `{name}` | {ranks} | {best:.4f} | {plugin[0]:.4f} | {plugin[0] / best:.2f} "
                      f"| {(plugin[0] - 1.03 * best) / plugin[4]:.1f} | {min(r[5] for r in ours):.1f} | {shown} | {plugin[2]} |", flush=True)
    print(f"\n{solves} systems times ranks: our own solve solves {own_solved}, the plug-in {solved}; {wrong} wrong reasons, "
          f"{unsolved} unsolved that our own solve solves")
    return 1 if wrong or unsolved else 0


if __name__ == "__main__":
    sys.exit(main())
