"""Settings of PETSc and hypre for bench/peers/solve.py, and the process that runs them: on every rank, in Debian's Python.

usage (by bench/peers/solve.py): mpirun -n N python3 solve_petsc.py FOLDER < job.json

FOLDER holds A.petsc and b.petsc. For every setting of the job a line of JSON comes before it and another after it, and x goes to
FOLDER/x.petsc.NAME. A time is that of set-up and solve on the slowest rank, by the wall's clock or the processor's. An iterative solve is made twice: ten iterations tell how
many fit into the time limit, and the solve that counts is told that number, so that nothing but PETSc runs inside it.
"""

import json
import pathlib
import sys
import time

BOOMER = "-pc_type hypre -pc_hypre_type boomeramg -pc_hypre_boomeramg_coarsen_type HMIS " \
         "-pc_hypre_boomeramg_interp_type ext+i"
BLOCKS = "-pc_type bjacobi -sub_pc_type"
FIRM = "-sub_pc_factor_shift_type positive_definite"
SAFE = "-sub_pc_factor_shift_type nonzero"
RIGHT = "-ksp_pc_side right -ksp_norm_type unpreconditioned"  # so that the residual tested is the true one

DEFAULT = ""  # GMRES(30), from the left, block Jacobi with ILU(0)

_GENERAL_PRECONDITIONERS = {
    "none": "-pc_type none", "jacobi": "-pc_type jacobi", "sor": "-pc_type sor",
    "ilu(0)": f"{BLOCKS} ilu {SAFE}", "ilu(1)": f"{BLOCKS} ilu -sub_pc_factor_levels 1 {SAFE}",
    "ilu(2)": f"{BLOCKS} ilu -sub_pc_factor_levels 2 {SAFE}", "asm ilu(0)": f"-pc_type asm -sub_pc_type ilu {SAFE}",
    "boomeramg": f"{BOOMER} -pc_hypre_boomeramg_strong_threshold 0.25"}
_DEFINITE_PRECONDITIONERS = {
    "none": "-pc_type none", "jacobi": "-pc_type jacobi", "ssor": "-pc_type sor -pc_sor_local_symmetric",
    "icc(0)": f"{BLOCKS} icc {FIRM}", "icc(1)": f"{BLOCKS} icc -sub_pc_factor_levels 1 {FIRM}",
    "icc(2)": f"{BLOCKS} icc -sub_pc_factor_levels 2 {FIRM}",
    "boomeramg": f"{BOOMER} -pc_hypre_boomeramg_strong_threshold 0.25",
    "boomeramg 0.5": f"{BOOMER} -pc_hypre_boomeramg_strong_threshold 0.5",
    "boomeramg aggressive": f"{BOOMER} -pc_hypre_boomeramg_strong_threshold 0.5 -pc_hypre_boomeramg_agg_nl 1",
    "gamg": "-pc_type gamg", "gamg 0.02": "-pc_type gamg -pc_gamg_threshold 0.02 -mg_levels_pc_type jacobi"}
_METHODS = {"gmres(30)": f"-ksp_type gmres {RIGHT}", "gmres(100)": f"-ksp_type gmres -ksp_gmres_restart 100 {RIGHT}",
            "bicgstab": f"-ksp_type bcgs {RIGHT}"}


def grid(symmetric, definite):
    """25 sensible settings by name, likely ones first, so that the time limit is soon a tight one."""
    settings = {}
    if definite:
        for name in ("icc(0)", "jacobi", "boomeramg", "boomeramg aggressive", "icc(1)", "gamg", "ssor",
                     "boomeramg 0.5", "icc(2)", "gamg 0.02", "none"):
            settings[f"cg + {name}"] = f"-ksp_type cg -ksp_norm_type unpreconditioned {_DEFINITE_PRECONDITIONERS[name]}"
    if symmetric:
        settings["minres + jacobi"] = "-ksp_type minres -pc_type jacobi"
        settings["minres + none"] = "-ksp_type minres -pc_type none"
    for preconditioner in ("ilu(0)", "jacobi", "ilu(1)", "boomeramg", "sor", "ilu(2)", "asm ilu(0)", "none"):
        for method in ("bicgstab", "gmres(30)", "gmres(100)"):
            settings[f"{method} + {preconditioner}"] = f"{_METHODS[method]} {_GENERAL_PRECONDITIONERS[preconditioner]}"
    settings["tfqmr + ilu(0)"] = f"-ksp_type tfqmr {RIGHT} {_GENERAL_PRECONDITIONERS['ilu(0)']}"
    return dict(list(settings.items())[:25])


def hypre(definite):
    """BoomerAMG as it is when nothing is set, with CG or GMRES."""
    method = "-ksp_type cg -ksp_norm_type unpreconditioned" if definite else f"-ksp_type gmres {RIGHT}"
    return f"{method} -pc_type hypre -pc_hypre_type boomeramg"


def mumps(symmetric):
    kind = "cholesky" if symmetric else "lu"
    return f"-ksp_type preonly -pc_type {kind} -pc_factor_mat_solver_type mumps"


PROBE_ITERATIONS = 10
MOST_ITERATIONS = 10000  # PETSc's own
CLOCKS = {"wall": time.perf_counter, "processor": time.process_time}


def set_options(PETSc, words):
    options = PETSc.Options()
    for key in list(options.getAll()):
        options.delValue(key)
    words = words.split()
    while words:
        key = words.pop(0)
        options.setValue(key.lstrip("-"), words.pop(0) if words and not words[0].startswith("-") else None)


class Run:
    """Settings on one system; the ranks agree on every time."""

    def __init__(self, PETSc, matrix, b, rtol, clock):
        self.PETSc, self.comm, self.matrix, self.b, self.rtol = PETSc, PETSc.COMM_WORLD, matrix, b, rtol
        self.clock = CLOCKS[clock]
        self.x = matrix.createVecRight()

    def slowest(self, seconds):
        values = self.PETSc.Vec().createMPI((1, None), comm=self.comm)
        values.set(seconds)
        return values.max()[1]

    def timed(self, work):
        self.comm.barrier()
        start = self.clock()
        work()
        return self.slowest(self.clock() - start)

    def attempt(self, ksp, most):
        ksp.setTolerances(rtol=self.rtol, atol=0, max_it=most)
        self.x.set(0)
        return self.timed(lambda: ksp.solve(self.b, self.x))

    def solve(self, words, limit):
        set_options(self.PETSc, words)
        ksp = self.PETSc.KSP().create(self.comm)
        try:
            ksp.setOperators(self.matrix)
            ksp.setFromOptions()

            def set_up():
                ksp.setUp()
                ksp.setUpOnBlocks()

            setup = self.timed(set_up)
            seconds = self.attempt(ksp, PROBE_ITERATIONS)
            if ksp.getConvergedReason() == -3:  # iterations ran out
                fit = int((limit - setup) * PROBE_ITERATIONS / max(seconds, 1e-7))
                if fit > PROBE_ITERATIONS:
                    seconds = self.attempt(ksp, min(fit, MOST_ITERATIONS))
            return {"seconds": setup + seconds, "setup": setup, "iterations": ksp.getIterationNumber(),
                    "claims": ksp.getConvergedReason() > 0, "reason": ksp.getConvergedReason()}
        finally:
            ksp.destroy()


def main():
    import petsc4py

    petsc4py.init([])
    from petsc4py import PETSc

    comm = PETSc.COMM_WORLD
    folder = pathlib.Path(sys.argv[1])
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    matrix = PETSc.Mat().load(PETSc.Viewer().createBinary(str(folder / "A.petsc"), "r"))
    if job["block_size"] > 1:
        matrix.setBlockSize(job["block_size"])
    if job["symmetric"]:
        matrix.setOption(PETSc.Mat.Option.SYMMETRIC, True)
    b = PETSc.Vec().load(PETSc.Viewer().createBinary(str(folder / "b.petsc"), "r"))
    run = Run(PETSc, matrix, b, job["rtol"], job["clock"])

    def say(value):
        if comm.rank == 0:
            print(json.dumps(value), flush=True)

    best = job["best"]
    for index, (name, words) in enumerate(job["settings"]):
        limit = job["limit"] if best is None else min(job["limit"], max(3 * best, job["least_limit"]))
        say({"begins": name, "limit": limit})
        try:
            result = run.solve(words, limit)
            viewer = PETSc.Viewer().createBinary(str(folder / f"x.{index}.petsc"), "w")
            run.x.view(viewer)
            viewer.destroy()
            if result["claims"] and (best is None or result["seconds"] < best):
                best = result["seconds"]
        except PETSc.Error as error:
            result = {"seconds": None, "claims": False, "reason": str(error).splitlines()[0]}
        say({"name": name, "index": index, **result})


if __name__ == "__main__":
    main()
