"""Complex systems, which the core solves as real ones of twice the size."""

import subprocess
import sys

import ayatori
import numpy as np
import pytest
import scipy.sparse as sparse
import scipy.sparse.linalg as peer
from conftest import residual
from scipy.sparse.linalg import LinearOperator

ALL = [ayatori.cg, ayatori.minres, ayatori.bicgstab, ayatori.gmres]


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


def test_solve_refuses(hermitian):
    A, b = hermitian
    with pytest.raises(TypeError, match="complex"):
        ayatori.solve(A, b)


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
