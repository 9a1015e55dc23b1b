"""Run under mpirun: ends with solvers that hold communicators, windows and objects of other libraries. Not collected by pytest."""

import sys

if sys.argv[1] == "mpi4py":  # else the communicator is found when this package has started MPI
    from mpi4py import MPI
import ayatori
import numpy as np

if sys.argv[1] != "mpi4py":
    ayatori.solve([[2.0]], [2.0])
    from mpi4py import MPI

comm = MPI.COMM_WORLD
A = ayatori.load("poisson2d-5:n=30")
rows = np.array_split(np.arange(A.shape[0]), comm.size)[comm.rank]
alive = []
choices = [{"halo": name} for name in ("p2p-blocking", "persistent", "neighbor", "rma-put", "shared-memory", "node-aware", "node-aware-2step")]
choices += [{"preconditioner": name} for name in ("direct", "boomeramg", "amg", "block-ilu0")]
for choice in choices:
    solver = ayatori.Solver(A[rows], comm=comm, threads=1, **choice)
    assert solver.solve(np.ones(len(rows))).converged, choice
    alive.append(solver)
print("held to the end:", len(alive))
