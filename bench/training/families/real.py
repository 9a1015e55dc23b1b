"""Matrices from files: a folder of NAME.mtx.gz, as bench/real_matrices.py takes it, in the environment variable AYATORI_MATRICES."""

import os
import pathlib

import scipy.io

SUFFIX = ".mtx.gz"
VECTORS = ("_b", "_x", "_eigenvalues")


def names():
    """Of the square matrices; none where no folder is given."""
    folder = os.environ.get("AYATORI_MATRICES")
    found = sorted(path.name[: -len(SUFFIX)] for path in pathlib.Path(folder).glob("*" + SUFFIX)) if folder else []
    return [name for name in found if not name.endswith(VECTORS)]


def of_file(size, rng, name):
    """A matrix of an application, with its right-hand side where there is one."""
    folder = pathlib.Path(os.environ["AYATORI_MATRICES"])
    matrix = scipy.io.mmread(folder / (name + SUFFIX)).tocsr()
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"{name} is not square")
    rhs = folder / (name + "_b" + SUFFIX)
    if not rhs.exists():
        return matrix
    b = scipy.io.mmread(rhs)
    return matrix, (b.toarray() if hasattr(b, "toarray") else b).reshape(matrix.shape[0], -1)[:, 0]
