"""spsolve, splu and factorized: what SciPy's own tests (scipy_substitution.py) leave open."""

import pickle
import warnings

import ayatori
import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as peer
from conftest import residual


def random_matrix(n, dtype=float, seed=3):
    rng = np.random.default_rng(seed)
    A = sp.random_array((n, n), density=0.05, rng=rng, format="csr") + sp.diags_array(rng.uniform(0.5, 1, n))
    if np.issubdtype(dtype, np.complexfloating):
        A = A + 1j * sp.random_array((n, n), density=0.03, rng=rng, format="csr")
    return A.astype(dtype).asformat("csc")


def test_spsolve_agrees_with_scipy(poisson):
    A, b = poisson
    x = ayatori.spsolve(A, b)
    assert residual(A, x, b) <= 1e-14
    assert x == pytest.approx(peer.spsolve(A.tocsc(), b), rel=1e-10)


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("trans", ["N", "T", "H"])
def test_factors_solve_all_three_systems(dtype, trans):
    A = random_matrix(200, dtype)
    lu = ayatori.splu(A)
    op = {"N": A, "T": A.T, "H": A.conj().T}[trans]
    rng = np.random.default_rng(1)
    for shape in [(200,), (200, 1), (200, 3)]:
        b = rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype is complex else 0)
        x = lu.solve(b, trans)
        assert x.shape == shape and x.dtype == b.dtype
        assert np.linalg.norm(op @ x - b) <= 1e-12 * np.linalg.norm(b)
    assert lu.shape == (200, 200) and ("KLU" in lu.note or "MUMPS" in lu.note)


def test_a_complex_right_hand_side_of_a_real_matrix(poisson):
    A, b = poisson
    x = ayatori.factorized(A)(b + 2j * b)
    assert np.iscomplexobj(x) and residual(A, x, b + 2j * b) <= 1e-14


def test_single_precision_stays():
    A = random_matrix(50, np.float32)
    x = ayatori.spsolve(A, np.ones(50, np.float32))
    assert x.dtype == np.float32 and np.abs(A @ x - 1).max() < 1e-4
    assert ayatori.spsolve(A, np.ones(50)).dtype == np.float64


def test_shapes_are_those_of_scipy():
    A = random_matrix(30)
    for b in (np.ones(30), np.ones((30, 1)), np.ones((30, 2)), sp.csc_array(np.eye(30)[:, :4]), sp.csr_matrix(np.eye(30)[:, :1])):
        ours, theirs = ayatori.spsolve(A, b), peer.spsolve(A, b)
        assert ours.shape == theirs.shape and sp.issparse(ours) == sp.issparse(theirs)
        assert abs(ours - theirs).max() <= 1e-10 * abs(theirs).max()


def test_singular_matrices():
    laplacian = sp.diags_array([-np.ones(9), np.r_[1, 2 * np.ones(8), 1], -np.ones(9)], offsets=[-1, 0, 1], format="csc")
    for A in (laplacian, sp.csc_array(np.ones((4, 4))), sp.csc_array((3, 3))):
        with pytest.raises(RuntimeError, match="exactly singular"):
            ayatori.splu(A)
        with pytest.warns(peer.MatrixRankWarning):
            assert np.isnan(ayatori.spsolve(A, np.ones(A.shape[0]))).all()


def test_pivots_that_are_not_on_the_diagonal():
    A = sp.csc_array([[1e-20, 1.0, 0], [1, 1, 1], [0, 2, 0.5]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.abs(A @ ayatori.spsolve(A, np.ones(3)) - 1).max() < 1e-14


def test_what_is_not_given_says_so():
    lu = ayatori.splu(sp.eye_array(4, format="csc"))
    for name in ("L", "U", "perm_r", "perm_c", "nnz"):
        with pytest.raises(AttributeError, match=f"there is no {name} of them"):
            getattr(lu, name)
    with pytest.raises(AttributeError, match="no other"):
        lu.other  # noqa: B018
    with pytest.raises(TypeError, match="pickle the matrix"):
        pickle.dumps(lu)


def test_wrong_input():
    A = random_matrix(10)
    lu = ayatori.splu(A)
    for wrong, error in ((np.ones(9), "incompatible size"), (np.ones((10, 2, 2)), "object too deep")):
        with pytest.raises(ValueError, match=error):
            lu.solve(wrong)
    with pytest.raises(ValueError, match="trans"):
        lu.solve(np.ones(10), "X")
    with pytest.raises(ValueError, match="square"):
        ayatori.splu(A[:, :9])
    with pytest.raises(ValueError, match="square"):
        ayatori.spsolve(A[:, :9], np.ones(10))
    A.data[3] = np.inf
    with pytest.raises(ValueError, match="infinite"):
        ayatori.splu(A)


def test_factors_live_as_long_as_they_are_used():
    solve = ayatori.factorized(random_matrix(60))
    A = random_matrix(60)
    assert residual(A, solve(np.ones(60)), np.ones(60)) < 1e-13
