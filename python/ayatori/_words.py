"""Values of options that have names, as types; generate_options.py writes them."""

from typing import Literal, Union

Method = Literal["auto", "cg", "minres", "bicgstab", "idr", "gmres", "fgmres", "pipelined-cg", "pipelined-gmres", "refined-cg",
    "refined-gmres", "cocg"]

Preconditioner = Literal["auto", "none", "jacobi", "ssor", "block-jacobi", "block-ilu0", "ic", "ilu", "ilut", "fsai", "neumann", "direct",
    "boomeramg", "chebyshev", "gmres-polynomial", "amg", "schur", "schur-definite"]

Triangular = Literal["auto", "blocks", "levels"]

Complement = Literal["auto", "diagonal", "simple", "commutator", "constraint", "diagonals"]

Ordering = Literal["auto", "natural", "rcm"]

FactorPrecision = Literal["double", "single"]

Orthogonalization = Literal["auto", "cgs", "mgs", "ircgs"]

Kernel = Literal["auto", "csr-reference", "csr", "csr-unroll2", "csr-unroll4", "csr-unroll8", "csr-delta16", "sell-8", "run-sell", "dia",
    "bcsr-2x2", "bcsr-3x3", "bcsr-4x4", "symmetric", "sell-tiles", "symmetric-tiles", "complex-csr"]

Halo = Union[Literal["auto", "p2p-irecv-first", "allgather", "bcast", "p2p-blocking", "p2p-isend-first", "rma-put", "node-aware",
    "node-aware-2step", "persistent", "neighbor", "shared-memory"], str]

Device = Literal["auto", "none", "cuda"]

UseRanks = Literal["auto", "all"]

Partition = Literal["contiguous", "graph"]

Placement = Literal["auto", "always", "none"]

EigenMethod = Literal["auto", "dense", "davidson"]

EigenPrecision = Literal["double", "float", "mixed"]

EigenReduction = Literal["auto", "one-stage", "two-stage"]

EigenPreconditioner = Literal["auto", "none", "jacobi", "ssor", "block-jacobi", "block-ilu0", "ic", "ilu", "ilut", "fsai", "neumann", "direct",
    "boomeramg", "chebyshev", "gmres-polynomial", "amg", "schur", "schur-definite"]

PredictPartition = Literal["contiguous", "rows", "graph"]

PredictMethod = Literal["cg", "cocg", "minres", "bicgstab", "idr", "gmres", "pipelined-cg", "pipelined-gmres", "npb-cg"]

PredictPreconditioner = Literal["none", "jacobi"]

MapPartition = Literal["rows", "graph"]

MapObjective = Literal["messages", "bytes", "hop-bytes", "link-load", "time"]

MapLauncher = Literal["openmpi4", "openmpi5", "mpich", "slurm", "cray", "fujitsu"]
