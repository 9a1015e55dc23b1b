"""What save() writes, load() and the command line read."""

import os
import subprocess

import ayatori
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sparse

RNG = np.random.default_rng(5)
A = sparse.csr_array(sparse.random_array((40, 40), density=0.1, rng=RNG) + 4 * sparse.eye_array(40))
WIDE = sparse.csr_array(A[:7])
COMPLEX = sparse.csr_array(A * (2 - 1j))
b = RNG.standard_normal(40)
SPARSE = [".mtx", ".mtx.gz", ".petsc", ".npz", ".mat", ".h5", ".hdf5"]
VECTORS = [".mtx", ".mtx.gz", ".petsc", ".npy", ".mat", ".h5"]


def dense(loaded):
    return loaded.toarray() if sparse.issparse(loaded) else loaded


def path_of(tmp_path, ending):
    if ending.startswith(".h"):
        pytest.importorskip("h5py")
    return tmp_path / f"thing{ending}"


@pytest.mark.parametrize("ending", SPARSE)
@pytest.mark.parametrize("matrix", [A, WIDE, COMPLEX, sparse.csr_array((5, 5))], ids=["real", "wide", "complex", "empty"])
def test_sparse_matrices_come_back_to_the_bit(tmp_path, ending, matrix):
    path = path_of(tmp_path, ending)
    for form in (matrix, matrix.tocsc(), sparse.coo_matrix(matrix)):
        ayatori.save(path, form)
        back = ayatori.load(path)
        assert sparse.issparse(back) and back.dtype == matrix.dtype and back.shape == matrix.shape
        assert np.array_equal(back.toarray(), matrix.toarray())


@pytest.mark.parametrize("ending", VECTORS)
@pytest.mark.parametrize("vector", [b, b * (1 + 2j), np.zeros(3), np.arange(4)], ids=["real", "complex", "zeros", "whole"])
def test_vectors_come_back_to_the_bit(tmp_path, ending, vector):
    path = path_of(tmp_path, ending)
    for form in (vector, sparse.coo_array(vector)):
        ayatori.save(path, form)
        assert np.array_equal(dense(ayatori.load(path)).ravel(), vector)


@pytest.mark.parametrize("ending", [".mtx", ".npy", ".npz", ".petsc", ".mat", ".h5"])
def test_arrays_come_back_to_the_bit(tmp_path, ending):
    path = path_of(tmp_path, ending)
    for array in (A.toarray(), np.asfortranarray(WIDE.toarray()), COMPLEX.toarray(), np.stack([b, -b], 1)):
        ayatori.save(path, array)
        assert np.array_equal(dense(ayatori.load(path)), array)


@pytest.mark.parametrize("ending", [".mat", ".h5"])
def test_several_in_a_file(tmp_path, ending):
    path = path_of(tmp_path, ending)
    ayatori.save(path, {"A": A, "C": COMPLEX, "b": b})
    for name, value in (("A", A), ("C", COMPLEX), ("b", b[:, None])):
        assert np.array_equal(dense(ayatori.load(f"{path}:{name}")).reshape(value.shape), dense(value))
    assert ayatori.solve(ayatori.load(f"{path}:A"), ayatori.load(f"{path}:b")).converged
    with pytest.raises(ValueError, match="thing.mtx: one file for each: .mat, .h5, .hdf5 hold several$"):
        ayatori.save(tmp_path / "thing.mtx", {"A": A})


def test_others_read_them(tmp_path):
    for ending, read in ((".npz", sparse.load_npz), (".mtx", scipy.io.mmread), (".mat", lambda path: scipy.io.loadmat(path)["A"])):
        ayatori.save(tmp_path / f"A{ending}", A)
        assert np.array_equal(dense(read(tmp_path / f"A{ending}")), A.toarray())
    ayatori.save(tmp_path / "b.npy", b)
    assert np.array_equal(np.load(tmp_path / "b.npy"), b)
    for ending in (".mtx.gz", ".petsc", ".npz", ".mat"):
        ayatori.save(tmp_path / f"A{ending}", A)
        subprocess.run([os.environ["AYATORI"], "solve", f"A{ending}", "--rhs", "b.npy", "--quiet"], cwd=tmp_path, check=True)


def test_what_is_wrong(tmp_path):
    for name, thing, words in (("A.npy", A, "NumPy's files hold arrays: write a sparse matrix to a file that ends in .npz$"), ("A.txt", A, "A.txt"),
                               ("b.npz", b, "b.npz"), ("A.mtx", np.zeros((2, 2, 2)), "^values has 3 dimensions, but has to have 1 or 2$"),
                               ("A.mat", {"x": [[1.0], [2.0, 3.0]]}, "^x has rows of different lengths$")):
        with pytest.raises((ValueError, OSError), match=words):
            ayatori.save(tmp_path / name, thing)
    for thing, words in ((None, "^values is None: give"), ("A", "^values is a str"), (np.array(["1"]), "^values holds strings")):
        with pytest.raises(TypeError, match=words):
            ayatori.save(tmp_path / "A.mtx", thing)
    with pytest.raises(OSError, match="cannot be written"):
        ayatori.save(tmp_path / "no" / "A.npy", b)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("ending", [".npy", ".mat", ".mtx"])
def test_a_link_stays_one(tmp_path, ending):
    target, link = tmp_path / f"target{ending}", tmp_path / f"link{ending}"
    target.write_text("old")
    link.symlink_to(target)
    ayatori.save(link, b)
    assert link.is_symlink() and np.array_equal(dense(ayatori.load(target)).ravel(), b)
    page = tmp_path / "page.html"
    page.symlink_to(tmp_path / "real.html")
    (tmp_path / "real.html").touch()
    ayatori.write_report(page, ayatori.solve(A, b))
    assert page.is_symlink() and "<html" in (tmp_path / "real.html").read_text()
