"""Sparse matrices in HDF5, as MATLAB 7.3, AnnData and 10x lay them out."""

import os
import subprocess

import ayatori
import numpy as np
import pytest
import scipy.sparse as sparse

h5py = pytest.importorskip("h5py")

A = sparse.random_array((5, 5), density=0.4, rng=np.random.default_rng(3), format="csr")
A.setdiag(2.0)
WIDE = A[:3]


def write_arrays(group, matrix):
    for name in ("data", "indices", "indptr"):
        group[name] = getattr(matrix, name)


def write_anndata(group, matrix):
    group.attrs["encoding-type"] = f"{matrix.format}_matrix"
    group.attrs["shape"] = matrix.shape
    write_arrays(group, matrix)


def write_10x(group, matrix):
    write_arrays(group, sparse.csc_array(matrix))
    group["shape"] = np.array(matrix.shape, np.int32)
    group["barcodes"] = [b"cell"]


def write_scipy(group, matrix):
    write_arrays(group, matrix)
    group.attrs["shape"] = matrix.shape


def write_matlab(group, matrix):
    matrix = sparse.csc_array(matrix)
    group.attrs["MATLAB_sparse"] = np.uint64(matrix.shape[0])
    group.attrs["MATLAB_class"] = np.bytes_("double")
    for name, values in (("data", matrix.data), ("ir", matrix.indices.astype(np.uint64)), ("jc", matrix.indptr.astype(np.uint64))):
        group[name] = values


@pytest.mark.parametrize("write", [write_anndata, write_10x, write_scipy, write_matlab])
@pytest.mark.parametrize("matrix", [A, WIDE])
def test_layouts(write, matrix, tmp_path):
    path = tmp_path / "A.h5"
    with h5py.File(path, "w") as file:
        write(file.create_group("X"), matrix)
        file["note"] = [1, 2, 3]
    for source in (path, str(path), f"{path}:X", f"{path}:/X"):
        loaded = ayatori.load(source)
        assert loaded.dtype == np.float64 and loaded.format == "csr"
        np.testing.assert_array_equal(loaded.toarray(), matrix.toarray())


@pytest.mark.parametrize("write", [write_anndata, write_10x, write_scipy, write_matlab])
def test_the_command_line_reads_the_same(write, tmp_path):
    command = os.environ["AYATORI"]
    if "HDF5" not in subprocess.run([command, "--version", "--verbose"], stdout=subprocess.PIPE, text=True, check=True).stdout:
        pytest.skip("the command line was built without HDF5")
    with h5py.File(tmp_path / "A.h5", "w") as file:
        write(file.create_group("X"), A)
        file["b"] = A @ np.arange(1.0, 6.0)
    subprocess.run([command, "solve", "A.h5", "--rhs", "A.h5", "-o", "x.h5", "--quiet", "--rtol", "1e-12"], cwd=tmp_path, check=True)
    np.testing.assert_allclose(ayatori.load(tmp_path / "x.h5"), np.arange(1.0, 6.0), rtol=1e-9)


def test_columns_of_anndata_and_a_header_before_the_signature(tmp_path):
    path = tmp_path / "A.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        write_anndata(file.create_group("layers/counts"), sparse.csc_array(WIDE))
    with open(path, "r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file, Platform: GLNXA64")
    np.testing.assert_array_equal(ayatori.load(path).toarray(), WIDE.toarray())
    b = np.ones(5)
    with h5py.File(path, "a") as file:
        write_matlab(file.create_group("A"), A)
    assert ayatori.solve(ayatori.load(f"{path}:A"), b).converged


@pytest.mark.parametrize("as_array", [True, False])
def test_what_is_said_about_the_form(as_array, tmp_path):
    for matrix, form in ((A, "csr"), (sparse.csc_array(A), "csc"), (A, "bsr")):
        with h5py.File(tmp_path / form, "w") as file:
            write_scipy(file, matrix)
            (file if as_array else file.attrs)["format"] = form
            file["b"] = np.ones(5)
        if form != "bsr":
            np.testing.assert_array_equal(ayatori.load(tmp_path / form).toarray(), A.toarray())
            np.testing.assert_array_equal(ayatori.load(f"{tmp_path / form}:b"), np.ones(5))
    with pytest.raises(ValueError, match="the matrix / is in the form 'bsr', which is not read: save it anew"):
        ayatori.load(tmp_path / "bsr")


def test_complex_numbers(tmp_path):
    path = tmp_path / "A.h5"
    matrix = sparse.csc_array(A * (2 - 1j))
    parts = np.empty(matrix.nnz, [("real", float), ("imag", float)])  # as MATLAB has them
    parts["real"], parts["imag"] = matrix.data.real, matrix.data.imag
    with h5py.File(path, "w") as file:
        write_anndata(file.create_group("anndata"), matrix)
        write_matlab(file.create_group("matlab"), matrix)
        del file["matlab/data"]
        file["matlab/data"] = parts
    for name in ("anndata", "matlab"):
        loaded = ayatori.load(f"{path}:{name}")
        assert loaded.dtype == np.complex128
        np.testing.assert_array_equal(loaded.toarray(), matrix.toarray())


def test_arrays(tmp_path):
    path = tmp_path / "A.h5"
    values = np.arange(6.0).reshape(2, 3)
    parts = np.empty((2, 3), [("real", float), ("imag", float)])
    parts["real"], parts["imag"] = values, -values
    with h5py.File(path, "w") as file:
        file["X"] = values.astype(np.float32)
    assert np.array_equal(ayatori.load(path), values) and ayatori.load(path).dtype == np.float64
    with h5py.File(path, "a") as file:
        file["b"] = np.arange(5)
        for name, matrix in (("M", values), ("C", parts)):  # MATLAB's elements of a column are beside each other
            file[name] = matrix.T
            file[name].attrs["MATLAB_class"] = np.bytes_("double")
    assert np.array_equal(ayatori.load(f"{path}:b"), np.arange(5.0)) and ayatori.load(f"{path}:b").dtype == np.float64
    assert np.array_equal(ayatori.load(f"{path}:M"), values)
    assert np.array_equal(ayatori.load(f"{path}:C"), values * (1 - 1j))
    with pytest.raises(ValueError, match=r"A.h5: holds C, M, X, b: say which, .*A.h5:NAME$"):
        ayatori.load(path)
    with h5py.File(path, "a") as file:
        write_matlab(file.create_group("A"), A)
    assert ayatori.load(path).shape == (5, 5)  # the only sparse one
    assert ayatori.solve(ayatori.load(f"{path}:A"), ayatori.load(f"{path}:b")).converged


def test_what_is_wrong_is_one_line(tmp_path):
    path = tmp_path / "A.h5"
    with h5py.File(path, "w") as file:
        file["note"] = "no numbers"
        file["text"] = np.array([[97, 98]], np.uint16)
        file["text"].attrs["MATLAB_class"] = np.bytes_("char")
    with pytest.raises(ValueError, match=r"no matrix in this HDF5 file"):
        ayatori.load(path)
    with h5py.File(path, "a") as file:
        write_anndata(file.create_group("first"), A)
        write_anndata(file.create_group("second"), A)
        write_anndata(file.create_group("third"), A)
        file["third/indices"][0] = 99
        del file["third"].attrs["shape"]
    for source, words in ((path, "holds first, second, third: say which, "),
                          (f"{path}:fourth", "no variable is called 'fourth': it holds first, second, third"),
                          (f"{path}:third", "cannot be read")):
        with pytest.raises(ValueError) as caught:
            ayatori.load(source)
        assert words in str(caught.value) and "\n" not in str(caught.value)
    path.write_bytes(path.read_bytes()[:900])
    with pytest.raises(ValueError, match="the HDF5 file cannot be read"):
        ayatori.load(path)
