"""PETSc's binary files of matrices and vectors, read and written with numpy."""

MATRIX, VECTOR = 1211216, 1211214
REAL, COMPLEX = ">f8", ">c16"  # of files: which one, they do not say


def read_rows(path, value_type=REAL):
    """(row starts, columns, values) of a matrix, with 32-bit indices."""
    import numpy as np

    with open(path, "rb") as stream:
        kind, rows, _, nonzeros = np.fromfile(stream, ">i4", 4)
        if kind != MATRIX:
            raise ValueError(f"{path} is no matrix of PETSc's")
        start = np.concatenate([[0], np.cumsum(np.fromfile(stream, ">i4", rows))]).astype(np.int32)
        column = np.fromfile(stream, ">i4", nonzeros).astype(np.int32)
        value = in_own_order(np.fromfile(stream, value_type, nonzeros))
    return start, column, value


def in_own_order(values):
    return values.astype(values.dtype.newbyteorder("="))


def read_matrix(path, value_type=REAL):
    """A square matrix in compressed sparse rows."""
    import scipy.sparse

    start, column, value = read_rows(path, value_type)
    return scipy.sparse.csr_matrix((value, column, start), shape=(len(start) - 1, len(start) - 1))


def read_vector(path, value_type=REAL):
    import numpy as np

    with open(path, "rb") as stream:
        _, rows = np.fromfile(stream, ">i4", 2)
        return in_own_order(np.fromfile(stream, value_type, rows))


def type_of(values):
    return COMPLEX if values.dtype.kind == "c" else REAL


def write_matrix(path, matrix):
    import numpy as np

    with open(path, "wb") as stream:
        np.array([MATRIX, *matrix.shape, matrix.nnz], ">i4").tofile(stream)
        np.diff(matrix.indptr).astype(">i4").tofile(stream)
        matrix.indices.astype(">i4").tofile(stream)
        matrix.data.astype(type_of(matrix)).tofile(stream)


def write_vector(path, vector):
    import numpy as np

    with open(path, "wb") as stream:
        np.array([VECTOR, len(vector)], ">i4").tofile(stream)
        vector.astype(type_of(vector)).tofile(stream)
