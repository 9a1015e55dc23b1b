"""Compiles programs of PETSc's by pkg-config and mpicc, and runs them with options for PETSc."""

import os
import subprocess

ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "AYATORI_PROFILE": "none", "AYATORI_KNOWLEDGE": "none"}


def compiled(source, program, compiler="mpicc.openmpi"):
    def ask(what):
        return subprocess.run(["pkg-config", what, "PETSc"], capture_output=True, text=True, check=True).stdout.split()

    subprocess.run([compiler, "-O2", *ask("--cflags"), str(source), "-o", str(program), *ask("--libs"), "-lm"], check=True)
    return program


def run(command, ranks, options="", timeout=600):
    """(exit status, both streams); None for the status of what took too long."""
    environment = {**os.environ, **ENVIRONMENT, "PETSC_OPTIONS": options}
    launcher = ["mpirun.openmpi", "-n", str(ranks)] if ranks > 1 else []
    try:
        done = subprocess.run([*launcher, *map(str, command)], env=environment, text=True, errors="replace", capture_output=True,
                              timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return None, ""
    return done.returncode, done.stdout + done.stderr
