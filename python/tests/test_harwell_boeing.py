"""What scipy.io.hb_write writes is read as it was."""

import ayatori
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sparse

RANGES = {"float64": 300, "float32": 35, "longdouble": 300, "int8": 2, "int16": 4, "int32": 9, "int64": 18}


def random_matrix(dtype, shape, magnitude, random):
    """About a third full, with values of all sizes up to 10^magnitude and both signs; first and last entry are there."""
    mask = random.random(shape) < 0.3
    mask.flat[0] = mask.flat[-1] = True
    size = 10.0 ** random.uniform(-magnitude, magnitude, shape)
    if np.issubdtype(dtype, np.integer):
        values = np.clip(np.rint(size), 1, min(np.iinfo(dtype).max, 2**53)).astype(dtype)
    else:
        values = size.astype(dtype)
    values *= random.choice([-1, 1], shape).astype(dtype)
    return sparse.csc_array(np.where(mask, values, values.dtype.type(0)))


def read_back(matrix, path, info=None):
    scipy.io.hb_write(path, matrix, hb_info=info)
    return ayatori.load(path).toarray()


@pytest.mark.parametrize("dtype", RANGES)
def test_every_type_in_many_sizes(dtype, tmp_path):
    random = np.random.default_rng(1)
    path = str(tmp_path / "A.rua")
    for trial in range(40):
        # Pointers and row numbers of one to four digits: fields grow.
        shape = tuple(int(extent) for extent in np.ceil(10 ** random.uniform(0, 2, 2)))
        magnitude = random.uniform(0, RANGES[dtype])
        matrix = random_matrix(np.dtype(dtype), shape, magnitude, random)
        # The last of these digits is not a double's: hb_write writes longdouble to 19.
        expected = matrix.toarray().astype(np.float64)
        if dtype == "float32":  # eight digits tell two floats apart, but are no float
            np.testing.assert_allclose(read_back(matrix, path), expected, rtol=1e-7)
        else:
            np.testing.assert_array_equal(read_back(matrix, path), expected, err_msg=str((trial, shape, magnitude)))


def test_long_and_thin(tmp_path):
    """Row numbers of six digits, and of one; hb_write gives each as many columns as it needs."""
    for shape in ((200_000, 3), (3, 20_000)):
        n = max(shape)
        values = np.sin(np.arange(1.0, n + 1)) * 10.0 ** (np.arange(n) % 300 - 150)
        long = (np.arange(n), np.arange(n) % 3)
        matrix = sparse.coo_array((values, long if shape[0] == n else long[::-1]), shape=shape).tocsc()
        scipy.io.hb_write(path := str(tmp_path / "A.rua"), matrix)
        read = ayatori.load(path).tocsc()
        assert (read != matrix).nnz == 0 and read.shape == shape


def test_the_smallest_integers(tmp_path):
    """Of which numpy's absolute value is no larger than zero: hb_write makes their fields too narrow."""
    path = str(tmp_path / "A.rua")
    for dtype in ("int8", "int16", "int32"):
        least = np.iinfo(dtype).min
        matrix = sparse.csc_array(np.array([[1, least, 0], [3, 12, least], [-7, least, 5]], dtype=dtype))
        np.testing.assert_array_equal(read_back(matrix, path), matrix.toarray().astype(float))


@pytest.mark.parametrize(("dtype", "kind"), [("float64", "real"), ("int32", "integer")])
@pytest.mark.parametrize("structure", ["symmetric", "skewsymmetric"])
def test_a_triangle(dtype, kind, structure, tmp_path):
    """hb_write writes what it is told to: here one triangle under the type that says so."""
    from scipy.io._harwell_boeing.hb import HBInfo, HBMatrixType

    random = np.random.default_rng(2)
    for n in (3, 12, 80):
        skew = structure == "skewsymmetric"
        lower = sparse.csc_array(sparse.tril(random_matrix(np.dtype(dtype), (n, n), 5, random), -1 if skew else 0))
        info = HBInfo.from_data(lower)
        info.mxtype = HBMatrixType(kind, structure, "assembled")
        dense = lower.toarray().astype(float)
        expected = dense - dense.T if skew else dense + dense.T - np.diag(np.diag(dense))
        np.testing.assert_array_equal(read_back(lower, str(tmp_path / "A.rsa"), info), expected)
