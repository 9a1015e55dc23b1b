"""eigsh: what SciPy's own tests (scipy_substitution.py) leave open."""

import ayatori
import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as peer
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator


def laplacian_values(m):
    one = 2 - 2 * np.cos(np.pi * np.arange(1, m + 1) / (m + 1))
    return np.sort((one[:, None] + one).ravel())


def check(A, w, v, M=None, tolerance=1e-11):
    B = sp.eye_array(A.shape[0]) if M is None else M
    assert np.abs(A @ v - (B @ v) * w).max() <= tolerance * abs(A).max()
    assert np.abs(v.conj().T @ (B @ v) - np.eye(len(w))).max() <= 1e-11


@pytest.mark.parametrize("which", ["LM", "SM", "LA", "SA", "BE"])
def test_multiplicities_are_complete(which):
    A, values = ayatori.load("poisson2d-5:n=12"), laplacian_values(12)  # most values are double
    for k in (1, 2, 5, 8):
        w, v = ayatori.eigsh(A, k, which=which, ncv=60)
        wanted = {"LM": values[-k:], "LA": values[-k:], "SM": values[:k], "SA": values[:k],
                  "BE": np.r_[values[: k // 2], values[k // 2 - k:]]}[which]
        assert w == pytest.approx(wanted, abs=1e-11)
        check(A, w, v)


@pytest.mark.parametrize("sigma", [0.0, 3.3, -1.0])
def test_shift_invert_finds_the_nearest_with_their_multiplicities(sigma):
    A, values = ayatori.load("poisson2d-5:n=30"), laplacian_values(30)
    w, v = ayatori.eigsh(A, 7, sigma=sigma)
    nearest = np.sort(np.sort(np.abs(values - sigma))[:7])
    assert np.sort(np.abs(w - sigma)) == pytest.approx(nearest, abs=1e-10)
    assert (np.diff(w) >= 0).all()
    check(A, w, v)


def test_a_cluster_of_many_equal_values():
    A = sp.diags_array(np.r_[np.full(9, 5.0), np.linspace(0, 4, 200)], format="csr")
    assert ayatori.eigsh(A, 9, which="LA", return_eigenvectors=False) == pytest.approx(np.full(9, 5.0), abs=1e-13)
    assert ayatori.eigsh(A, 9, sigma=5.5, return_eigenvectors=False) == pytest.approx(np.full(9, 5.0), abs=1e-13)


@pytest.mark.parametrize("mode", ["normal", "cayley"])
def test_generalized_problems(mode):
    A = ayatori.load("poisson2d-5:n=15")
    M = sp.diags_array(np.linspace(1, 3, 225), format="csr") + 0.1 * A
    w, v = ayatori.eigsh(A, 5, M, sigma=0.2, mode=mode)
    theirs = peer.eigsh(A.tocsc(), 5, M.tocsc(), sigma=0.2, mode=mode)[0]
    assert w == pytest.approx(np.sort(theirs), abs=1e-10)
    check(A, w, v, M, 1e-10)


def test_hermitian_problems_with_and_without_degenerate_values():
    rng = np.random.default_rng(2)
    X = np.linalg.qr(rng.standard_normal((40, 40)) + 1j * rng.standard_normal((40, 40)))[0]
    values = np.r_[3, 3, 3, 2.5, np.linspace(-2, 2, 36)]
    A = X @ np.diag(values) @ X.conj().T
    for which, wanted in (("LA", [2.5, 3, 3, 3]), ("BE", [-2, values[5], 3, 3]), ("SA", np.linspace(-2, 2, 36)[:4])):
        w, v = ayatori.eigsh(A, 4, which=which)
        assert w == pytest.approx(np.asarray(wanted), abs=1e-12)
        check(A, w, v)
    w, v = ayatori.eigsh(A, 3, sigma=3.1)
    assert w == pytest.approx(np.full(3, 3.0), abs=1e-12)


def test_operators_and_known_inverses():
    A = ayatori.load("poisson2d-5:n=10")
    op = LinearOperator(A.shape, matvec=lambda x: A @ x, dtype=float)
    values = laplacian_values(10)
    assert ayatori.eigsh(op, 3, which="LA", return_eigenvectors=False) == pytest.approx(values[-3:], abs=1e-11)
    assert ayatori.eigsh(op, 3, sigma=0.0, return_eigenvectors=False) == pytest.approx(values[:3], abs=1e-9)
    lu = ayatori.splu(A)
    inverse = LinearOperator(A.shape, matvec=lu.solve, dtype=float)
    assert ayatori.eigsh(op, 3, sigma=0.0, OPinv=inverse, return_eigenvectors=False) == pytest.approx(values[:3], abs=1e-11)


def test_all_pairs_of_small_matrices():
    for n in (1, 2, 3):
        A = sp.csr_array(np.diag(np.arange(n) + 1.0))
        w, v = ayatori.eigsh(A, n)
        assert w == pytest.approx(np.arange(n) + 1.0) and v.shape == (n, n)
    with pytest.warns(RuntimeWarning, match="all 3 are found"):
        assert len(ayatori.eigsh(A, 5, return_eigenvectors=False)) == 3


def test_what_has_converged_comes_with_the_exception():
    A = ayatori.load("poisson2d-5:n=40")
    with pytest.raises(ArpackNoConvergence, match="of 6 eigenpairs converged") as caught:
        ayatori.eigsh(A, 6, which="SA", maxiter=12)
    w, v = caught.value.eigenvalues, caught.value.eigenvectors
    assert len(w) < 6 and v.shape == (1600, len(w))
    if len(w):
        check(A, w, v)


@pytest.mark.parametrize("offset", [0.0, 1e-15, -1e-12, 1e-9, 1e-5])
@pytest.mark.parametrize("spec, k", [("neumann2d:n=20", 5), ("poisson2d-5:n=12", 7)])
def test_a_shift_that_is_an_eigenvalue_or_next_to_one(spec, k, offset):
    A = ayatori.load(spec)
    exact = np.linalg.eigvalsh(A.toarray())
    w, v = ayatori.eigsh(A, k, sigma=exact[0] + offset)
    assert w == pytest.approx(exact[:k], abs=1e-11)
    check(A, w, v)
    found = ayatori.eigs(A, 3, sigma=exact[0] + offset, return_eigenvectors=False)
    assert np.sort(found.real) == pytest.approx(exact[:3], abs=1e-9)


@pytest.mark.parametrize("mode", ["normal", "buckling", "cayley"])
def test_a_shift_next_to_an_eigenvalue_in_every_mode(mode):
    A = sp.diags_array(np.arange(1.0, 51), format="csr")
    assert ayatori.eigsh(A, 3, sigma=7 + 1e-13, mode=mode)[0] == pytest.approx([6, 7, 8], abs=1e-10)


def test_pairs_that_a_known_inverse_drowns_are_warned_of():
    A = sp.diags_array(np.arange(1.0, 51), format="csr")
    shift = 7 + 1e-15 * 7
    inverse = LinearOperator((50, 50), matvec=lambda x: x / (np.arange(1.0, 51) - shift), dtype=float)
    noisy = LinearOperator((50, 50), matvec=lambda x: inverse @ (x + 1e-3 * np.linalg.norm(x) * np.sin(np.arange(50))), dtype=float)
    with pytest.warns(RuntimeWarning, match="take another sigma"):
        ayatori.eigsh(A, 4, sigma=shift, OPinv=noisy)


@pytest.mark.parametrize("which", ["LM", "SM", "LA", "SA", "BE"])
def test_a_shift_that_is_a_multiple_eigenvalue(which):
    rng = np.random.default_rng(3)
    Q = np.linalg.qr(rng.standard_normal((52, 52)))[0]
    exact = np.sort(rng.integers(-6, 7, 52)) * 1.0
    A = Q @ np.diag(exact) @ Q.T
    w, v = ayatori.eigsh(A, 3, sigma=0.0, which=which)
    check(A, w, v, tolerance=1e-8)  # of values far from the shift, what the factors beside it leave
    if which == "LM":
        assert np.count_nonzero(exact == 0) >= 3 and w == pytest.approx(np.zeros(3), abs=1e-10)


def test_a_matrix_of_zeros():
    for sigma in (None, 0.0, 0.3):
        w, v = ayatori.eigsh(np.zeros((9, 9)), 2, sigma=sigma)
        assert w == pytest.approx([0, 0], abs=1e-14) and np.abs(v.T @ v - np.eye(2)).max() < 1e-14


def test_single_precision_stays():
    w, v = ayatori.eigsh(ayatori.load("poisson2d-5:n=8").astype(np.float32), 2)
    assert w.dtype == v.dtype == np.float32


def test_wrong_input():
    A = ayatori.load("poisson2d-5:n=5")
    for arguments, error in (({"which": "XX"}, "which"), ({"k": 0}, "greater than 0"), ({"ncv": 3}, "ncv"), ({"maxiter": 0}, "maxiter"),
                             ({"mode": "cayley"}, "needs sigma"), ({"sigma": 1j}, "real"), ({"v0": np.ones(3)}, "v0"),
                             ({"M": np.eye(3)}, "wrong M")):
        with pytest.raises(ValueError, match=error):
            ayatori.eigsh(A, **{"k": 3, **arguments})
    with pytest.raises(ValueError, match="square"):
        ayatori.eigsh(A[:, :9], 2)
    with pytest.raises(ValueError, match="NaN"):
        ayatori.eigsh(sp.diags_array(np.r_[np.ones(9), np.nan]), 2)
    with pytest.raises(ValueError, match="positive definite"):
        ayatori.eigsh(A, 2, -sp.eye_array(25, format="csr"))
    with pytest.raises(KeyError):
        ayatori.eigsh(LinearOperator((9, 9), matvec=lambda x: {}["no"], dtype=float), 2)


def unsymmetric(n=200, dtype=float):
    rng = np.random.default_rng(5)
    A = sp.random_array((n, n), density=0.03, rng=rng) + sp.diags_array(np.linspace(-1, 2, n))
    if dtype is complex:
        A = A + 1j * sp.random_array((n, n), density=0.02, rng=rng)
    return A.tocsr()


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("which", ["LM", "LR", "SR", "LI", "SI"])
def test_eigs_finds_every_part_of_the_spectrum(which, dtype):
    A = unsymmetric(dtype=dtype)
    exact = np.linalg.eigvals(A.toarray())
    w, v = ayatori.eigs(A, 5, which=which, ncv=100, maxiter=2000, tol=1e-12) if which != "SI" else ayatori.eigs(A, 5, which=which, ncv=200)
    imag = exact.imag if dtype is complex else np.abs(exact.imag)
    key = {"LM": -np.abs(exact), "LR": -exact.real, "SR": exact.real, "LI": -imag, "SI": imag}[which]
    mine = {"LM": -np.abs(w), "LR": -w.real, "SR": w.real, "LI": -(w.imag if dtype is complex else np.abs(w.imag)),
            "SI": w.imag if dtype is complex else np.abs(w.imag)}[which]
    assert mine == pytest.approx(np.sort(key)[:5], abs=1e-8)
    assert np.abs(A @ v - v * w).max() < 1e-9 and np.linalg.norm(v, axis=0) == pytest.approx(1)


@pytest.mark.parametrize("sigma", [0.7, 0.3 + 0.4j])
@pytest.mark.parametrize("dtype", [float, complex])
def test_eigs_by_shift_invert_finds_the_nearest(sigma, dtype):
    A = unsymmetric(dtype=dtype)
    M = sp.diags_array(np.linspace(1, 2, 200), format="csr")
    exact = np.linalg.eigvals(A.toarray() / np.linspace(1, 2, 200)[:, None])
    w, v = ayatori.eigs(A, 4, M, sigma=sigma, tol=1e-12)
    assert np.abs(A @ v - (M @ v) * w).max() < 1e-8
    if dtype is complex or np.imag(sigma) == 0:
        assert np.sort(np.abs(w - sigma)) == pytest.approx(np.sort(np.abs(exact - sigma))[:4], abs=1e-8)


def desired(values, which, is_complex):
    """What counts, ascending from the most wanted."""
    imag = values.imag if is_complex else np.abs(values.imag)
    return np.sort({"LM": -np.abs(values), "SM": np.abs(values), "LR": -values.real, "SR": values.real, "LI": -imag, "SI": imag}[which])


@pytest.mark.parametrize("sigma", [None, 0.3, 0.2 + 0.5j])
@pytest.mark.parametrize("which", ["LM", "SM", "LR", "SR", "LI", "SI"])
@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("n", [5, 17, 31, 52, 60])
def test_eigs_of_small_matrices_are_those_of_the_dense_solver(n, dtype, which, sigma):
    rng = np.random.default_rng(n)
    A = rng.standard_normal((n, n)) + (1j * rng.standard_normal((n, n)) if dtype is complex else 0)
    for M in (None, np.diag(rng.uniform(0.5, 2, n)) + 0.1 * np.eye(n, k=1) + 0.1 * np.eye(n, k=-1)):
        exact = np.linalg.eigvals(A if M is None else np.linalg.solve(M, A))
        w, v = ayatori.eigs(A, 3, M, sigma=sigma, which=which)
        assert np.abs(A @ v - (v if M is None else M @ v) * w).max() < 1e-9 * np.abs(exact).max()
        assert all(np.abs(exact - value).min() < 1e-9 * np.abs(exact).max() for value in w) and len(set(np.round(w, 9))) == 3
        is_part = dtype is float and np.imag(sigma or 0) != 0
        seen = (lambda t: t) if sigma is None else (lambda t: 1 / (t - sigma)) if not is_part else (lambda t: (1 / (t - sigma) + 1 / (t - np.conj(sigma))) / 2)
        assert desired(seen(w), which, dtype is complex) == pytest.approx(desired(seen(exact), which, dtype is complex)[:3], abs=1e-8)


def test_of_a_conjugate_pair_both_are_found_next_to_each_other():
    A = np.kron(np.diag([1.0, 2.0, 3.0, 4.0]), [[1.0, 2.0], [-2.0, 1.0]])  # pairs j (1 + 2i), j (1 - 2i)
    for which, wanted in (("LM", [4, 4, 3, 3]), ("SM", [1, 1, 2, 2]), ("LI", [4, 4, 3, 3]), ("SI", [1, 1, 2, 2])):
        w = ayatori.eigs(A, 4, which=which, return_eigenvectors=False)
        assert w == pytest.approx(np.array(wanted) * np.tile([1 + 2j, 1 - 2j], 2))


def test_eigs_with_what_has_converged():
    for which, advice in (("SM", "sigma=0"), ("SI", "larger ncv")):
        with pytest.raises(ArpackNoConvergence, match=advice):
            ayatori.eigs(unsymmetric(), 6, which=which, maxiter=2)


@pytest.mark.parametrize("shape", [(80, 30), (30, 80), (40, 40)])
@pytest.mark.parametrize("dtype", [np.float64, np.complex128, np.float32])
def test_svds_agrees_with_the_dense_one(shape, dtype):
    rng = np.random.default_rng(8)
    A = rng.standard_normal(shape).astype(dtype)
    if np.iscomplexobj(A):
        A = A + 1j * rng.standard_normal(shape)
    s_all = np.linalg.svd(A, compute_uv=False)
    tolerance = 1e-4 if dtype is np.float32 else 1e-9
    for which, wanted in (("LM", s_all[:4][::-1]), ("SM", s_all[-4:][::-1])):
        u, s, vh = ayatori.svds(A, 4, which=which)
        assert s == pytest.approx(wanted, rel=tolerance) and u.dtype == A.dtype
        assert np.abs(A @ vh.conj().T - u * s).max() < 10 * tolerance
    assert ayatori.svds(A, 4, return_singular_vectors=False) == pytest.approx(s_all[:4][::-1], rel=tolerance)


def test_svds_of_graded_matrices_has_all_digits():
    s = 10.0 ** -np.arange(12)
    assert ayatori.svds(np.diag(s), 3, which="SM", return_singular_vectors=False) == pytest.approx(s[:-4:-1], rel=1e-10)


def test_svds_of_rank_deficient_matrices_and_multiple_values():
    A = np.zeros((30, 20))
    A[np.arange(6), np.arange(6)] = [3, 3, 3, 2, 2, 1]
    u, s, vh = ayatori.svds(A, 8)
    assert s == pytest.approx([0, 0, 1, 2, 2, 3, 3, 3], abs=1e-12)
    assert np.abs(u.T @ u - np.eye(8)).max() < 1e-12 and np.abs((u * s) @ vh - A).max() < 1e-12


@pytest.mark.parametrize("shape", [(120, 110), (110, 120)])
def test_svds_obeys_the_arguments_of_every_solver(shape):
    A = np.random.default_rng(4).standard_normal(shape)
    wanted = np.linalg.svd(A, compute_uv=False)[2::-1]
    for solver, v0, more in (("arpack", np.ones(110), {}), ("lobpcg", np.ones(110), {"ncv": 1}), ("propack", np.ones(shape[0]), {"ncv": 1})):
        assert ayatori.svds(A, 3, solver=solver, v0=v0, return_singular_vectors=False, **more) == pytest.approx(wanted)
    with pytest.raises(ValueError, match="v0"):
        ayatori.svds(A, 3, solver="propack", v0=np.ones(shape[0] + 1))
    with pytest.raises(ValueError, match="solver must be one of"):
        ayatori.svds(A, 3, solver="lapack")


@pytest.mark.parametrize("scale", [1e-300, 1e-200, 1e160, 1e300])
@pytest.mark.parametrize("n", [8, 12])
def test_svds_of_matrices_whose_squares_are_no_numbers(n, scale):
    A = ayatori.load(f"poisson2d-5:n={n}")
    values = laplacian_values(n)
    assert ayatori.svds(scale * A, 2, return_singular_vectors=False) / scale == pytest.approx(values[-2:], rel=1e-10)
    assert ayatori.svds(scale * A, 2, which="SM", return_singular_vectors=False) / scale == pytest.approx(values[:2], rel=1e-8)


@pytest.mark.parametrize("function", [ayatori.eigsh, ayatori.eigs, ayatori.svds])
def test_numbers_that_are_none_are_named(function):
    A = ayatori.load("poisson2d-5:n=5").tocsr()
    A.data[3] = np.nan
    with pytest.raises(ValueError, match=r"^A\[1, 0\] is NaN \(counted from 0\)$"):
        function(A, 2)
    with pytest.raises(ValueError, match="^A has no rows$|must not be empty"):
        function(np.zeros((0, 0)), 1)
    if function is not ayatori.svds:
        A.data[3] = -1
        with pytest.raises(TypeError, match="^k is 2.5, but must be a whole number$"):
            function(A, 2.5)
        for arguments, words in (({"sigma": np.nan}, "^sigma is nan"), ({"tol": np.nan}, "^tol is nan"),
                                 ({"v0": np.full(25, np.inf)}, r"^v0\[0\] is infinite")):
            with pytest.raises(ValueError, match=words):
                function(A, 2, **arguments)
