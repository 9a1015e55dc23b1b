"""Ayatori: parallel linear algebra that measures the machine, chooses, verifies and explains.

Linear systems
    solve, Solver, SolveResult : the tuned way
    preconditioner, Preconditioner : for the methods of SciPy and PyAMG
In the place of those of `scipy.sparse.linalg`
    cg, bicgstab, cgs, gcrotmk, gmres, lgmres, minres, qmr, tfqmr : iterations
    spsolve, splu, factorized : complete factors
    lsqr, lsmr : least squares
    eigsh, eigs, svds : some eigenpairs, singular values and vectors
Eigenvalues
    eigh : all or some eigenpairs of a symmetric matrix, or of two
    EigenForecast : what that would take on other numbers of ranks
Machines
    probe, Profile : what this machine can do
    predict, Forecast : how an iteration would scale on a machine
    place, Placement : which rank should be on which node
    Knowledge : what earlier solves have taught
Matrices and results
    load, save : matrices from files or generators, and into files
    build_info : how and with what the library was built
    write_report : results as one HTML page

Wrong input raises ValueError or TypeError, a machine that fails (memory, MPI) OSError, a defect of ours RuntimeError.
"""

from ._blas import best_kernels

with best_kernels():
    from ._core import version as __version__
from ._direct import Factors, factorized, splu, spsolve
from ._eigen import EigenForecast, eigh
from ._files import load, save
from ._knowledge import Knowledge
from ._krylov import bicgstab, cg, gmres, minres
from ._krylov_eigen import eigs, eigsh, svds
from ._least_squares import lsmr, lsqr
from ._machine import Forecast, Placement, Profile, build_info, place, predict, probe
from ._more_krylov import cgs, gcrotmk, lgmres, qmr, tfqmr
from ._preconditioner import Preconditioner, preconditioner
from ._result import SolveResult, write_report
from ._solve import Solver, solve

__all__ = ["EigenForecast", "Factors", "Forecast", "Knowledge", "Placement", "Preconditioner", "Profile", "SolveResult", "Solver", "__version__", "bicgstab", "build_info", "cg", "cgs", "eigh", "eigs", "eigsh", "factorized", "gcrotmk", "gmres", "lgmres", "load", "lsmr", "lsqr",
           "minres", "place", "preconditioner", "predict", "probe", "qmr", "save", "solve", "splu", "spsolve", "svds", "tfqmr", "write_report"]
