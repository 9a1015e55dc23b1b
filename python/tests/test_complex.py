"""Complex systems: solved, preconditioned, read, and in the place of scipy.sparse.linalg."""

import pickle
import subprocess
import sys

import ayatori
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sparse
import scipy.sparse.linalg as peer
from conftest import residual
from scipy.sparse.linalg import LinearOperator

ALL = [ayatori.cg, ayatori.minres, ayatori.bicgstab, ayatori.gmres]
QUIET = {"profile": "none", "threads": 1}


@pytest.fixture
def hermitian():
    """Positive definite, with as much in its imaginary part as in its real one."""
    n = 300
    A = sparse.diags_array([-1 + 1j, 3.5, -1 - 1j], offsets=[-1, 0, 1], shape=(n, n), dtype=complex).tocsr()
    return A, np.exp(1j * np.arange(n))


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("form", ["sparse", "dense", "operator", "int64"])
def test_every_form(hermitian, method, form):
    A, b = hermitian
    matrix = {"sparse": A, "dense": A.toarray(), "operator": peer.aslinearoperator(A), "int64": A.tocoo()}[form]
    if form == "int64":
        matrix = matrix.tocsr()
        matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    x, info = method(matrix, b, rtol=1e-9)
    assert info == 0 and x.dtype == np.complex128 and x.shape == b.shape
    assert residual(A, x, b) <= 1.0001e-9


def test_cg_iterates_are_those_of_scipy(hermitian):
    A, b = hermitian
    ours, theirs = [], []
    ayatori.cg(A, b, rtol=1e-8, callback=lambda xk: ours.append(xk.copy()))
    peer.cg(A, b, rtol=1e-8, callback=lambda xk: theirs.append(xk.copy()))
    assert len(ours) > 10
    for mine, other in zip(ours[:10], theirs[:10], strict=True):
        assert mine == pytest.approx(other, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("method", ALL)
def test_one_complex_argument_is_enough(method):
    A = sparse.diags_array([-1.0, 3.0, -1.0], offsets=[-1, 0, 1], shape=(50, 50)).tocsr()
    b = np.arange(50.0)
    for arguments in ((A, b * 1j), (A * (1 + 0j), b)):
        x, info = method(*arguments, rtol=1e-9)
        assert info == 0 and x.dtype == np.complex128 and residual(A, x, arguments[1]) <= 1.0001e-9
    x, info = method(A, b, np.full(50, 1 + 1j), rtol=1e-9)
    assert info == 0 and x.dtype == np.complex128 and residual(A, x, b) <= 1.0001e-9


@pytest.mark.parametrize("method", [ayatori.bicgstab, ayatori.gmres])
def test_unsymmetric_with_a_preconditioner(method):
    n = 200
    A = sparse.diags_array([-1 - 0.5j, 4 + 2j, -0.3 + 1j], offsets=[-1, 0, 1], shape=(n, n), dtype=complex).tocsr()
    b = np.exp(2j * np.arange(n))
    calls = []

    def divide(r):
        calls.append(r.dtype)
        return r / (4 + 2j)

    M = LinearOperator(A.shape, divide, dtype=complex)
    x, info = method(A, b, M=M, rtol=1e-9)
    assert info == 0 and residual(A, x, b) <= 1.0001e-9 and set(calls) == {np.dtype(complex)}
    x, info = method(A, b, "Mb", M=sparse.diags_array(1 / A.diagonal()), rtol=1e-9)
    assert info == 0 and residual(A, x, b) <= 1.0001e-9


def test_single_precision(hermitian):
    A, b = hermitian
    x, info = ayatori.cg(A.astype(np.complex64), b.astype(np.complex64))
    assert info == 0 and x.dtype == np.complex64
    assert ayatori.cg(A.astype(np.complex64), b)[0].dtype == np.complex128
    assert ayatori.cg(A.astype(np.complex64), 0 * b.astype(np.complex64))[0].dtype == np.complex64


def test_shift_and_check_of_minres(hermitian):
    A, b = hermitian
    x, info = ayatori.minres(A, b, shift=0.3, rtol=1e-9, check=True)
    assert info == 0 and residual(A - 0.3 * sparse.eye_array(300), x, b) <= 1.0001e-9
    with pytest.raises(ValueError, match="not symmetric"):
        ayatori.minres(1j * A, b, check=True)


@pytest.mark.parametrize("method", [ayatori.bicgstab, ayatori.gmres])
def test_iterates_are_those_of_complex_arithmetic(method):
    A, b = SYSTEMS["unsymmetric"]
    ours, theirs = [], []
    options = {"callback_type": "pr_norm", "restart": 30} if method is ayatori.gmres else {}
    method(A, b, rtol=1e-8, callback=lambda told: ours.append(np.copy(told)), **options)
    getattr(peer, method.__name__)(A, b, rtol=1e-8, callback=lambda told: theirs.append(np.copy(told)), **options)
    assert len(ours) > 6
    for mine, other in zip(ours[:6], theirs[:6], strict=True):
        assert mine == pytest.approx(other, rel=1e-6)


def test_nothing_is_left_behind():
    """The core says at the end what nobody has freed."""
    done = subprocess.run([sys.executable, "-c", """
import ayatori, numpy
A = numpy.diag([2.0, 3.0 + 1j])
for operator in (A, ayatori._matrix.as_real_form(A)):
    ayatori.gmres(operator, numpy.ones(len(operator.toarray() if hasattr(operator, "toarray") else operator)))
from scipy.sparse.linalg import aslinearoperator
ayatori.gmres(aslinearoperator(A), numpy.ones(2), M=aslinearoperator(A))
"""], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def make_systems():
    line = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(20, 20))
    waves = sparse.csr_array(sparse.kronsum(line, line) - (0.7 - 0.3j) * sparse.eye_array(400))
    turned = sparse.diags_array([-1 + 1j, 3.5, -1 - 1j], offsets=[-1, 0, 1], shape=(400, 400)).tocsr()
    unsymmetric = sparse.diags_array([-1 - 0.5j, 3 + 2j, -0.3 + 1j], offsets=[-1, 0, 1], shape=(400, 400)).tocsr()
    b = np.exp(1j * np.arange(400.0) ** 2)
    return {"symmetric": (waves, b), "Hermitian": (turned, b), "unsymmetric": (unsymmetric, b)}


SYSTEMS = make_systems()


@pytest.fixture(params=SYSTEMS)
def system(request):
    return SYSTEMS[request.param]


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array, lambda A: A.toarray(), lambda A: A.toarray().tolist()])
def test_solve_takes_every_form(system, form):
    A, b = system
    result = ayatori.solve(form(A), b, rtol=1e-10, **QUIET)
    assert result.converged and result.x.dtype == np.complex128 and result.x.shape == b.shape
    assert residual(A, result.x, b) <= 1.0001e-10
    assert result.x == pytest.approx(peer.spsolve(A.tocsc(), b), rel=1e-8)


def test_results_speak_of_the_complex_matrix():
    for kind, (A, b) in SYSTEMS.items():
        result = ayatori.solve(A, b, **QUIET)
        assert result.report["matrix"]["rows"] == 400 and result.report["matrix"]["nonzeros"] == A.nnz
        assert "400 complex rows" in result.summary and kind in result.summary
        again = pickle.loads(pickle.dumps(result))
        assert again.x.dtype == np.complex128 and again.converged


def test_entries_given_twice_and_out_of_order_are_summed():
    A, b = SYSTEMS["unsymmetric"]
    coo = A.tocoo()
    turned = sparse.coo_array((np.tile(coo.data[::-1], 2) / 2, np.tile((coo.row[::-1], coo.col[::-1]), 2)), shape=A.shape)
    for form in (turned, sparse.csr_array((A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64)), shape=A.shape)):
        assert residual(A, ayatori.solve(form, b, rtol=1e-10, **QUIET).x, b) <= 1.0001e-10


def test_right_hand_sides_and_guesses(system):
    A, b = system
    for right in (b.real, b.imag.astype(np.float32), b[:, None], list(b), sparse.coo_array(b)):
        whole = right.toarray() if sparse.issparse(right) else np.asarray(right)
        result = ayatori.solve(A, right, rtol=1e-9, **QUIET)
        assert result.converged and result.x.dtype == np.complex128 and result.x.shape == whole.shape
        assert residual(A, result.x, whole) <= 1.0001e-9
    B = np.stack([b, 1j * b.real, b.imag], 1)
    for form in (B, np.asfortranarray(B), sparse.csc_array(B)):
        result = ayatori.solve(A, form, rtol=1e-9, **QUIET)
        assert [column["converged"] for column in result.columns] == [True] * 3 and result.x.shape == B.shape
        assert all(residual(A, result.x[:, k], B[:, k]) <= 1.0001e-9 for k in range(3))
    guess = result.x.copy()
    assert ayatori.solve(A, B, x0=guess, rtol=1e-9, **QUIET).iterations == 0 and np.array_equal(guess, result.x)
    assert ayatori.solve(A, b, x0=np.ones(400), **QUIET).converged


def test_what_is_wrong_is_one_line(system):
    A, b = system
    for make, words in ((lambda: ayatori.solve(A, b[:-1]), r"^b has shape \(399,\), but A has 400 rows"),
                        (lambda: ayatori.solve(A, np.where(np.arange(400) == 7, np.inf * 1j, b)), r"^b\[7\] is (NaN|infinite)"),
                        (lambda: ayatori.solve(A, b, x0=b[:-1]), r"^x0 has shape"),
                        (lambda: ayatori.solve(A[:10], b), "^A is 10 x 400, but has to be square$"),
                        (lambda: ayatori.solve(A, b, coordinates=np.ones((200, 3))), "^coordinates are for real matrices"),
                        (lambda: ayatori.preconditioner(A).apply(b[:-1]), r"^r has shape \(399,\)")):
        with pytest.raises(ValueError, match=words) as caught:
            make()
        assert "\n" not in str(caught.value)
    for value, word in ((complex(np.nan, 0), "NaN"), (complex(0, np.inf), "infinite")):
        broken = A.copy()
        broken.data[broken.indptr[399]] = value
        for call in (ayatori.Solver, ayatori.preconditioner, ayatori.splu):
            with pytest.raises(ValueError, match=rf"^A\[399, {broken.indices[broken.indptr[399]]}\] is {word} \(counted from 0\)$"):
                call(broken)


def test_single_precision_comes_back(system):
    A, b = system
    A, b = A.astype(np.complex64), b.astype(np.complex64)
    for right in (b, np.stack([b, 2 * b], 1), b.real):
        result = ayatori.solve(A, right, **QUIET)
        assert result.converged and result.x.dtype == np.complex64 and result.report["rtol"] == 1e-5
        assert residual(A.astype(complex), result.x.astype(complex), right) <= 1e-5
    assert ayatori.solve(A, b.astype(complex), **QUIET).x.dtype == np.complex128
    closer = ayatori.solve(A, b, rtol=1e-12, **QUIET)
    assert closer.status == "limited by rounding" and not closer.converged


def test_updates():
    A, b = SYSTEMS["unsymmetric"]
    solver = ayatori.Solver(A, rtol=1e-9, **QUIET)
    assert solver.shape == (400, 400) and solver.solve(b).converged
    for other in (A * (1.1 - 0.2j), A.real, SYSTEMS["symmetric"][0]):
        solver.update(other)
        x = solver.solve(b).x
        assert x.dtype == np.complex128 and residual(other, x, b) <= 1.0001e-9
    with pytest.raises(ValueError, match="^A has 200 rows, but the matrix before has 400$"):
        solver.update(A[:200, :200])
    solver = ayatori.Solver(A.real.tocsr(), **QUIET)
    with pytest.raises(TypeError, match="^A holds complex values, but this Solver has a real matrix"):
        solver.update(A)


def test_complex_right_hand_sides_of_a_real_matrix(poisson):
    A, b = poisson
    B = np.stack([b + 2j * b[::-1], 1j * b, b + 0j], 1)
    for right in (B[:, 0], B[:, 1], B[:, 2], B[:, :1], B):
        for options in ({}, {"M": sparse.diags_array(1 / A.diagonal())}, {"x0": np.full(right.shape, 1j)}):
            result = ayatori.solve(A, right, rtol=1e-9, **options, **QUIET)
            assert result.converged and result.status == "converged" and result.x.shape == right.shape
            assert residual(A, result.x, right) <= 1.0001e-9 and result.relative_residual <= 1e-9
            assert len(result.columns) == (1 if right.ndim == 1 else right.shape[1])
    assert pickle.loads(pickle.dumps(result)).columns == result.columns
    assert not ayatori.solve(A, B, rtol=1e-12, max_iterations=2, method="cg", preconditioner="none", **QUIET).converged
    assert ayatori.solve(A, b, x0=1j * b, **QUIET).x.dtype == np.complex128
    single = ayatori.solve(A.astype(np.float32), B.astype(np.complex64), **QUIET)
    assert single.converged and single.x.dtype == np.complex64
    product = LinearOperator(A.shape, matvec=lambda x: A @ x, dtype=float)
    assert ayatori.solve(product, B, near=A, **QUIET).converged


def test_operators_and_preconditioners_of_ones_own(system):
    A, b = system
    calls = []

    def product(x):
        calls.append(x.dtype)
        return A @ x

    operator = LinearOperator(A.shape, matvec=product, dtype=complex)
    built = ayatori.preconditioner(A, "ilut", threads=1)
    real = ayatori.preconditioner(abs(A).tocsr(), "jacobi", threads=1)
    for given, options in ((operator, {}), (operator, {"near": A}), (operator, {"M": built}), (A, {"M": built}), (A, {"M": real}),
                           (A, {"M": lambda r: r / (3 + 1j)}), (A, {"M": sparse.diags_array(1 / A.diagonal())})):
        result = ayatori.solve(given, np.stack([b, b[::-1]], 1), rtol=1e-9, **options, **QUIET)
        assert result.converged and result.x.dtype == np.complex128
        assert residual(A, result.x[:, 0], b) <= 1.0001e-9
    assert set(calls) == {np.dtype(complex)}
    assert ayatori.solve(operator, b, rtol=1e-9, **QUIET).iterations <= 1.2 * iterations_of_scipy(A, b) + 2


def iterations_of_scipy(A, b):
    norms = []
    peer.gmres(A, b, rtol=1e-9, restart=30, callback=norms.append, callback_type="pr_norm")
    return len(norms)


@pytest.mark.parametrize("name", ["auto", "jacobi", "block-jacobi", "ilu", "ilut", "direct", "amg"])
def test_preconditioners_are_linear_in_complex_numbers(system, name):
    A, b = system
    M = ayatori.preconditioner(A, name, threads=1)
    z = M.apply(b)
    assert M.shape == (400, 400) and M.dtype == np.complex128 and z.dtype == np.complex128
    assert M.apply((2 - 3j) * b) == pytest.approx((2 - 3j) * z, rel=1e-6, abs=1e-6 * np.abs(z).max())
    x, info = peer.gmres(A, b, M=M.aspreconditioner(), rtol=1e-8)
    assert info == 0 and residual(A, x, b) <= 1e-6


def test_a_real_preconditioner_takes_complex_vectors(poisson):
    A, b = poisson
    M = ayatori.preconditioner(A, threads=1)
    assert M.apply(b + 2j * b[::-1]) == pytest.approx(M.apply(b) + 2j * M.apply(b[::-1]))
    x, info = ayatori.bicgstab(A, b * 1j, M=M.aspreconditioner(), rtol=1e-9)
    assert info == 0 and residual(A, x, b * 1j) <= 1.0001e-9


def test_row_facts_are_of_complex_rows():
    A, b = SYSTEMS["Hermitian"]
    vectors = np.stack([np.ones(400), np.exp(1j * np.arange(400))], 1)
    result = ayatori.solve(A, b, near_nullspace=vectors, preconditioner="amg", **QUIET)
    assert result.converged and result.report["replay"]["near_null_space"]
    saddle = sparse.block_array([[(2 + 1j) * sparse.eye_array(30), sparse.eye_array(30, 10)], [sparse.eye_array(10, 30), None]]).tocsr()
    result = ayatori.solve(saddle, b[:40], preconditioner="schur", fields=np.arange(40) >= 30, **QUIET)
    assert result.converged and result.report["replay"]["fields"]


def test_complex_factors_say_so():
    assert "complex" in ayatori.splu(SYSTEMS["unsymmetric"][0]).note


@pytest.mark.parametrize("write", [scipy.io.mmwrite, sparse.save_npz])
def test_files_give_complex_matrices(system, write, tmp_path):
    A, b = system
    path = tmp_path / ("A.npz" if write is sparse.save_npz else "A.mtx")
    write(path, A)
    loaded = ayatori.load(path)
    assert loaded.dtype == np.complex128 and loaded.has_canonical_format and (loaded != A).nnz == 0
    assert ayatori.solve(loaded, b, **QUIET).converged


def test_generators_give_complex_matrices():
    A = ayatori.load("helmholtz2d:n=20")
    assert A.dtype == np.complex128 and A.shape == (400, 400) and abs(A - A.T).max() <= 1e-12 * abs(A).max()
    b = A @ np.ones(400)
    assert residual(A, ayatori.solve(A, b, rtol=1e-9, **QUIET).x, b) <= 1.0001e-9
    H = ayatori.load("hamiltonian2d:n=10")
    assert (H != H.conj().T).nnz == 0 and np.iscomplex(H.data).any()
