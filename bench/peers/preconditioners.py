#!/usr/bin/env python3
"""Compares preconditioned solves: `ayatori solve` and PETSc with hypre (BoomerAMG), GAMG, ICC and simpler ones.

usage: bench/peers/preconditioners.py [SPEC...] [--ranks 2] [--rounds 3] [--rtol 1e-8]
                                      [--ayatori build/release/cli/ayatori] [--python PYTHON] [--json FILE]

PETSc comes through petsc4py, from Debian (python3-petsc4py-real, with hypre) or PyPI; --python names the interpreter
that imports it, by default Debian's with Debian's path. Matrices are written by `ayatori generate` in PETSc's binary format;
the right-hand side is ones on both sides, the start zero. In every round ayatori and PETSc take turns (A B, then B A),
each in new processes on the same number of ranks with one thread. A time is that of set-up and solve, without
reading. A solve counts if its true residual ||b - Ax|| / ||b|| is below twice the tolerance: PETSc's is computed by this
script, in unpreconditioned norm as ayatori's. The table gives the least time of the rounds for each
setting and the median in brackets, and the ratio of ayatori's amg to PETSc's best setting.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROBLEMS = ["poisson3d-7:n=80", "anisotropic2d:n=512", "jump3d:n=80", "tetrahedra3d:n=53", "elasticity3d:n=36",
            "anisotropic3d:n=80", "convection2d:n=400"]
UNSYMMETRIC = ("convection", "elliptic", "random:")
DEBIAN_PATH = "/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-real/lib/python3/dist-packages"
BOOMER = "-pc_type hypre -pc_hypre_type boomeramg -pc_hypre_boomeramg_coarsen_type HMIS " \
         "-pc_hypre_boomeramg_interp_type ext+i"
PETSC = {
    "jacobi": "-pc_type jacobi",
    "icc(0)/ilu(0)": "-pc_type bjacobi -sub_pc_type {incomplete}",
    "boomeramg": f"{BOOMER} -pc_hypre_boomeramg_strong_threshold 0.25",
    "boomeramg aggressive": f"{BOOMER} -pc_hypre_boomeramg_strong_threshold 0.5 -pc_hypre_boomeramg_agg_nl 1",
    "gamg": "-pc_type gamg",
    "gamg 0.02": "-pc_type gamg -pc_gamg_threshold 0.02 -mg_levels_pc_type jacobi",
}
AYATORI = ["amg", "jacobi", "auto"]


def petsc_worker(path, rtol):
    """Runs on every rank: all settings on one matrix, a line of JSON from rank 0."""
    import petsc4py

    petsc4py.init([])
    from petsc4py import PETSc

    comm = PETSc.COMM_WORLD
    matrix = PETSc.Mat().load(PETSc.Viewer().createBinary(path, "r"))
    symmetric = os.environ["SYMMETRIC"] == "1"
    if matrix.getSize()[0] % 3 == 0 and "elasticity" in os.environ["SPEC"]:
        matrix.setBlockSize(3)
    x, b = matrix.createVecs()
    b.set(1)
    results = {}
    for name, words in PETSC.items():
        words = words.format(incomplete="icc" if symmetric else "ilu").split()
        options = PETSc.Options()
        for key in list(options.getAll()):
            options.delValue(key)
        for key, value in zip(words[::2], words[1::2]):
            options.setValue(key.lstrip("-"), value)
        try:
            ksp = PETSc.KSP().create(comm)
            ksp.setType("cg" if symmetric else "bcgs")
            ksp.setNormType(PETSc.KSP.NormType.UNPRECONDITIONED if symmetric else PETSc.KSP.NormType.DEFAULT)
            if not symmetric:
                ksp.setPCSide(PETSc.PC.Side.RIGHT)
            ksp.setTolerances(rtol=rtol, max_it=3000)
            ksp.setOperators(matrix)
            ksp.setFromOptions()
            x.set(0)
            comm.barrier()
            start = time.perf_counter()
            ksp.setUp()
            ksp.setUpOnBlocks()
            between = time.perf_counter()
            ksp.solve(b, x)
            comm.barrier()
            end = time.perf_counter()
            residual = b.duplicate()
            matrix.mult(x, residual)
            residual.aypx(-1, b)
            results[name] = {"seconds": end - start, "setup": between - start, "iterations": ksp.getIterationNumber(),
                             "residual": residual.norm() / b.norm()}
            ksp.destroy()
        except PETSc.Error as error:
            results[name] = {"seconds": None, "error": str(error).splitlines()[0]}
    if comm.rank == 0:
        print(json.dumps(results))


def mpirun(arguments, command, environment):
    base = dict(os.environ, OMP_NUM_THREADS="1", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                OMPI_MCA_rmaps_base_oversubscribe="1", **environment)
    return subprocess.run(["mpirun.openmpi", "-n", str(arguments.ranks), *command], env=base, check=False,
                          capture_output=True, text=True, timeout=arguments.timeout)


def run_petsc(arguments, spec, matrix):
    environment = {"SPEC": spec, "SYMMETRIC": "0" if spec.startswith(UNSYMMETRIC) else "1"}
    if pathlib.Path(DEBIAN_PATH).exists():
        environment["PYTHONPATH"] = DEBIAN_PATH
    done = mpirun(arguments, [arguments.python, __file__, "--worker", matrix, "--rtol", str(arguments.rtol)], environment)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        sys.exit(f"PETSc failed on {spec}: {done.stderr.strip()[-500:]}")
    return {f"PETSc {name}": result for name, result in json.loads(lines[-1]).items()}


def run_ayatori(arguments, spec, matrix):
    method = "bicgstab" if spec.startswith(UNSYMMETRIC) else "cg"
    results = {}
    for name in AYATORI:
        result = pathlib.Path(matrix).with_suffix(".json")
        result.unlink(missing_ok=True)
        choice = [] if name == "auto" else ["--method", method, "--preconditioner", name]
        mpirun(arguments, [arguments.ayatori, "solve", matrix, "--rtol", str(arguments.rtol), "--quiet", *choice,
                           "--json", str(result)], {})
        if not result.exists():
            continue
        report = json.loads(result.read_text())
        seconds = report["seconds"]
        results[f"ayatori {name}"] = {
            "seconds": sum(seconds[key] for key in ("setup", "solve", "tuning")), "setup": seconds["setup"],
            "iterations": report["iterations"], "residual": report["relative_residual"]}
    return results


def counts(result, rtol):
    return result["seconds"] is not None and result["residual"] <= 2 * rtol


def table(spec, rounds, rtol):
    """The rows of a problem, quickest first, and what of it goes into the summary."""
    rows = []
    for name in sorted({name for one in rounds for name in one}):
        results = [one[name] for one in rounds if name in one and counts(one[name], rtol)]
        if not results:
            rows.append((float("inf"), f"| {name} | failed | | |"))
            continue
        times = [r["seconds"] for r in results]
        rows.append((min(times), f"| {name} | {min(times):.3f} ({statistics.median(times):.3f}) | "
                                 f"{min(r['setup'] for r in results):.3f} | {results[0]['iterations']} |"))
    print(f"\n{spec}\n\n| setting | seconds, least (median) | of these set-up | iterations |\n|---|---|---|---|")
    for _, row in sorted(rows):
        print(row)
    best = {}
    for who in ("ayatori amg", "ayatori", "PETSc"):
        times = [t for t, row in rows if row.startswith(f"| {who}")]
        best[who] = min(times, default=float("inf"))
    sys.stdout.flush()
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("specs", nargs="*", default=PROBLEMS)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rtol", type=float, default=1e-8)
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--ayatori", default=str(ROOT / "build/release/cli/ayatori"))
    parser.add_argument("--python", default="/usr/bin/python3")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        petsc_worker(arguments.worker, arguments.rtol)
        return
    everything = {}
    summary = []
    with tempfile.TemporaryDirectory() as folder:
        for spec in arguments.specs:
            matrix = str(pathlib.Path(folder) / "A.petsc")
            subprocess.run([arguments.ayatori, "generate", spec, "-o", matrix], check=True, capture_output=True)
            rounds = []
            for number in range(arguments.rounds):
                runs = [run_ayatori, run_petsc]
                results = {}
                for run in runs if number % 2 == 0 else reversed(runs):
                    results.update(run(arguments, spec, matrix))
                rounds.append(results)
            everything[spec] = rounds
            best = table(spec, rounds, arguments.rtol)
            summary.append(f"| {spec} | {best['ayatori amg']:.3f} | {best['ayatori']:.3f} | {best['PETSc']:.3f} | "
                           f"{best['ayatori amg'] / best['PETSc']:.2f} |")
    print("\n| problem | ayatori amg | ayatori's best | PETSc's best | ratio of amg to that |\n|---|---|---|---|---|")
    print("\n".join(summary))
    if arguments.json:
        arguments.json.write_text(json.dumps(everything, indent=1) + "\n")


if __name__ == "__main__":
    main()
