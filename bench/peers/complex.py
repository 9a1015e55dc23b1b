#!/usr/bin/env python3
"""Compares solves of complex systems: `ayatori solve`, PETSc with complex scalars, and the real form without knowledge of it.

usage: bench/peers/complex.py [--systems SPEC ...] [--ranks 1 2] [--rounds 3] [--rtol 1e-8] [--time-limit 20] [--markdown FILE] [--json FILE]
                              [--ayatori build/release/cli/ayatori] [--petsc-python /usr/bin/python3]

Systems are generators of complex matrices; b = A x for a random complex x. Everybody gets the same files and the same tolerance. What counts
is the residual of the x that was written, computed here: at most twice the tolerance.

  ayatori      with no option, nothing known
  real form    the same program on [[A, -B], [B, A]], all real parts before all imaginary parts: blocks that nothing recognizes
  PETSc        the fastest setting of Debian's python3-petsc4py-complex, complete factors by MUMPS among them, known afterwards
  same         iterations with the same method and preconditioner, ours and PETSc's

Every setting of PETSc runs once, for no longer than three times the best so far; then ayatori, the real form and the best of PETSc take turns,
and a time is the median. Times are of set-up and solve, without starting, reading and writing.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import runs  # noqa: E402

runs.need("numpy", "scipy")

import numpy as np  # noqa: E402
import scipy.sparse  # noqa: E402

import petsc_files  # noqa: E402

SYSTEMS = ("helmholtz2d:n=32,k=20", "helmholtz2d:n=100", "helmholtz2d:n=300,k=60", "helmholtz2d:n=300,k=60,damping=0.2",
           "helmholtz2d:n=1000,k=40", "helmholtz3d:n=32", "helmholtz3d:n=64,k=10", "maxwell3d:n=16", "maxwell3d:n=24,k=3",
           "circuit-ac", "circuit-ac:n=100000,controlled=0", "transport2d", "transport2d:n=300,eta=0.3", "hamiltonian2d:n=300",
           "hamiltonian2d:n=200,shift=2", "random-hermitian:n=100000")
PETSC_COMPLEX = "/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-complex"
RIGHT = "-ksp_pc_side right -ksp_norm_type unpreconditioned"
METHODS = {"gmres(30)": f"-ksp_type gmres {RIGHT}", "gmres(100)": f"-ksp_type gmres -ksp_gmres_restart 100 {RIGHT}",
           "bicgstab": f"-ksp_type bcgs {RIGHT}", "cocg": "-ksp_type cg -ksp_cg_type symmetric -ksp_norm_type unpreconditioned"}
HERMITIAN = {"cg": "-ksp_type cg -ksp_norm_type unpreconditioned", "minres": "-ksp_type minres"}
PRECONDITIONERS = {"jacobi": "-pc_type jacobi", "ilu(0)": "-pc_type bjacobi -sub_pc_type ilu",
                   "ilu(1)": "-pc_type bjacobi -sub_pc_type ilu -sub_pc_factor_levels 1", "sor": "-pc_type sor"}
DIRECT = {"mumps": "-ksp_type preonly -pc_type lu -pc_factor_mat_solver_type mumps"}
SAME = (("gmres", "jacobi", "gmres(30) + jacobi"), ("gmres", "block-ilu0", "gmres(30) + ilu(0)"),
        ("bicgstab", "jacobi", "bicgstab + jacobi"), ("bicgstab", "block-ilu0", "bicgstab + ilu(0)"),
        ("cocg", "jacobi", "cocg + jacobi"))
SLACK = 2


def grid(kind):
    """Settings by name, of those that suit the kind of matrix."""
    methods = dict(METHODS)
    if kind != "symmetric":
        del methods["cocg"]
    if kind == "hermitian":
        methods |= HERMITIAN
    settings = {f"{method} + {name}": f"{words} {PRECONDITIONERS[name]}" for name in PRECONDITIONERS for method, words in methods.items()
                if not (method in HERMITIAN and name in ("ilu(1)", "sor"))}
    return {**settings, **DIRECT}


class System:
    """A and b as files of a folder, with the real form in two blocks beside them."""

    def __init__(self, options, folder, spec):
        self.folder, self.spec = folder, spec
        subprocess.run([options.ayatori, "generate", spec, "-o", str(folder / "A.petsc")], check=True, capture_output=True)
        self.matrix = petsc_files.read_matrix(folder / "A.petsc", petsc_files.COMPLEX)
        n = self.matrix.shape[0]
        random = np.random.default_rng(1)
        self.b = self.matrix @ (random.uniform(-1, 1, n) + 1j * random.uniform(-1, 1, n))
        petsc_files.write_vector(folder / "b.petsc", self.b)
        a, b = self.matrix.real, self.matrix.imag
        petsc_files.write_matrix(folder / "real.petsc", scipy.sparse.csr_matrix(scipy.sparse.bmat([[a, -b], [b, a]])))
        petsc_files.write_vector(folder / "real_b.petsc", np.concatenate((self.b.real, self.b.imag)))
        scale = abs(self.matrix.data).max()
        self.kind = "hermitian" if abs(self.matrix - self.matrix.conj().T).max() <= 1e-13 * scale else \
            "symmetric" if abs(self.matrix - self.matrix.T).max() <= 1e-13 * scale else "general"

    def residual(self, x):
        return float(np.linalg.norm(self.b - self.matrix @ x) / np.linalg.norm(self.b))

    def solves(self, x, rtol):
        return bool(np.isfinite(x).all() and self.residual(x) <= SLACK * rtol)


def ayatori(options, system, ranks, name="A", settings=()):
    """(seconds, iterations, choice) or None."""
    folder = system.folder
    (folder / "result.json").unlink(missing_ok=True)
    rhs = "b.petsc" if name == "A" else f"{name}_b.petsc"
    subprocess.run([options.mpirun, "-n", str(ranks), options.ayatori, "solve", str(folder / f"{name}.petsc"), "--rhs", str(folder / rhs),
                    "--rtol", str(options.rtol), "--threads", "1", "--profile", "none", "--knowledge", "none",
                    "--time-limit", str(options.time_limit), "--json", str(folder / "result.json"), "-o", str(folder / "x.petsc"),
                    "--quiet", *settings], check=False, capture_output=True, env=runs.environment())
    if not (folder / "result.json").exists():
        return None
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    n = len(system.b)
    x = petsc_files.read_vector(folder / "x.petsc", petsc_files.COMPLEX if name == "A" else petsc_files.REAL)
    x = x if name == "A" else x[:n] + 1j * x[n:]
    if not system.solves(x, options.rtol):
        return None
    return runs.seconds(result), result["iterations"], runs.choice_words(result["choice"])


def petsc(options, system, ranks, settings):
    """{name: (seconds, iterations)} of the settings that solve the system."""
    folder = system.folder
    job = {"block_size": 1, "symmetric": False, "rtol": options.rtol, "clock": "wall", "best": None, "limit": options.time_limit,
           "least_limit": 0.5, "settings": list(settings.items())}
    (folder / "job.json").write_text(json.dumps(job), encoding="utf-8")
    done = subprocess.run([options.mpirun, "-n", str(ranks), options.petsc_python, str(HERE / "solve_petsc.py"), str(folder)], check=False,
                          capture_output=True, text=True, env={**os.environ, "PETSC_DIR": PETSC_COMPLEX, "OMP_NUM_THREADS": "1"},
                          timeout=options.time_limit * (len(settings) + 3))
    found = {}
    for line in done.stdout.splitlines():
        result = json.loads(line)
        if result.get("claims") and system.solves(
                petsc_files.read_vector(folder / f"x.{result['index']}.petsc", petsc_files.COMPLEX), options.rtol):
            found[result["name"]] = (result["seconds"], result["iterations"])
    return found


def compare(options, system, ranks):
    settings = grid(system.kind)
    found = petsc(options, system, ranks, settings)
    best = min(found, key=lambda name: found[name][0]) if found else None
    seconds = {"ayatori": [], "real form": [], "PETSc": []}
    choice = {}
    for name in runs.take_turns(seconds, options.rounds):
        if name == "PETSc":
            run = petsc(options, system, ranks, {best: settings[best]}).get(best) if best else None
        else:
            run = ayatori(options, system, ranks, "A" if name == "ayatori" else "real")
        if run:
            seconds[name].append(run[0])
            choice[name] = run[2] if len(run) > 2 else best
    same = {}
    for method, preconditioner, theirs in SAME:
        if theirs not in settings or ranks > 1:
            continue
        restart = ["--restart", "30"] if method == "gmres" else []
        ours = ayatori(options, system, ranks, settings=["--method", method, "--preconditioner", preconditioner, *restart])
        if ours and theirs in found:
            # PETSc counts a step of BiCGSTAB once, which makes two products.
            same[theirs] = (ours[1] / (2 if method == "bicgstab" else 1), found[theirs][1])
    return {"system": system.spec, "ranks": ranks, "rows": len(system.b), "kind": system.kind, "seconds": seconds, "choice": choice, "same": same}


def median(values):
    return statistics.median(values) if values else None


def ratio(numerator, denominator):
    return f"{numerator / denominator:.2f}" if numerator and denominator else "-"


def tables(results):
    lines = []
    for ranks in sorted({result["ranks"] for result in results}):
        rows = []
        against_petsc, against_real = [], []
        for result in (one for one in results if one["ranks"] == ranks):
            ours, real, best = (median(result["seconds"][name]) for name in ("ayatori", "real form", "PETSc"))
            against_petsc += [best / ours] if best and ours else []
            against_real += [ours / real] if real and ours else []
            rows.append([f"`{result['system']}`", result["rows"], result["kind"],
                         *(runs.spread_words(values) if values else "not solved" for values in result["seconds"].values()),
                         ratio(ours, real), ratio(best, ours), result["choice"].get("ayatori", "-"), result["choice"].get("PETSc", "-")])
        lines.append(f"### {runs.count_words(ranks, 'rank')}\n\n" + runs.table(
            ["system", "complex rows", "kind", "ayatori, s", "real form, s", "PETSc's best, s", "ours / real form", "PETSc's best / ours",
             "our choice", "PETSc's best"], rows))
        for words, values in (("Ours / real form", against_real), ("PETSc's best / ours", against_petsc)):
            if values:
                lines.append(f"{words}, geometric mean of {len(values)}: {runs.geometric_mean(values):.2f}.\n")
    rows = [[f"`{result['system']}`", name, f"{ours:g}", theirs] for result in results for name, (ours, theirs) in result["same"].items()]
    if rows:
        lines.append("### Iterations with the same method and preconditioner\n\n" + runs.table(["system", "method and preconditioner", "ours", "PETSc's"], rows))
    return "\n".join(lines)


def main():
    parser = runs.parser_of(__doc__)
    runs.add_options(parser, 20)
    parser.add_argument("--systems", nargs="+", default=SYSTEMS)
    parser.add_argument("--ranks", nargs="+", type=int, default=[1, 2])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rtol", type=float, default=1e-8)
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("--petsc-python", default="/usr/bin/python3")
    options = parser.parse_args()
    results = []
    for spec in options.systems:
        with tempfile.TemporaryDirectory() as folder:
            system = System(options, pathlib.Path(folder), spec)
            for ranks in options.ranks:
                results.append(compare(options, system, ranks))
                print(json.dumps(results[-1]), file=sys.stderr, flush=True)
    if options.json:
        options.json.write_text(json.dumps(results), encoding="utf-8")
    text = tables(results)
    print(text)
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
