"""What SciPy's own tests (scipy_substitution.py) leave open."""

import ayatori
import numpy as np
import pytest
import scipy.sparse.linalg as peer
from conftest import residual
from scipy.sparse.linalg import LinearOperator

ALL = [ayatori.cg, ayatori.minres, ayatori.bicgstab, ayatori.gmres]


@pytest.mark.parametrize("method", ALL)
def test_agrees_with_scipy(poisson, method):
    A, b = poisson
    ours, info = method(A, b, rtol=1e-10)
    theirs, _ = getattr(peer, method.__name__)(A, b, rtol=1e-10)
    assert info == 0 and np.linalg.norm(ours - theirs) <= 1e-6 * np.linalg.norm(theirs)


@pytest.mark.parametrize("method", [ayatori.cg, ayatori.bicgstab, ayatori.minres])
def test_callback_is_told_every_iterate(poisson, method):
    A, b = poisson
    iterates = []
    x, _ = method(A, b, rtol=1e-8, callback=lambda xk: iterates.append(xk.copy()))
    norms = [residual(A, xk, b) for xk in iterates]
    assert len(norms) > 5 and norms[-1] <= 1e-8 and np.array_equal(iterates[-1], x)
    assert not np.array_equal(iterates[0], iterates[1]) and norms[0] < 1.5


def test_cg_iterates_are_those_of_scipy(poisson):
    A, b = poisson
    ours, theirs = [], []
    ayatori.cg(A, b, rtol=1e-6, callback=lambda xk: ours.append(xk.copy()))
    peer.cg(A, b, rtol=1e-6, callback=lambda xk: theirs.append(xk.copy()))
    for mine, other in zip(ours[:15], theirs[:15]):
        assert mine == pytest.approx(other, rel=1e-9, abs=1e-12)


def test_gmres_tells_true_norms_with_a_preconditioner(poisson):
    A, b = poisson
    norms = []
    x, _ = ayatori.gmres(A, b, M=np.diag(1 / A.diagonal()), rtol=1e-8, callback=norms.append, callback_type="pr_norm")
    assert norms[-1] == pytest.approx(residual(A, x, b), rel=1e-3)


@pytest.mark.parametrize("method", ALL)
def test_operators_and_preconditioners(poisson, method):
    A, b = poisson
    calls = {"A": 0, "M": 0}

    def product(x):
        calls["A"] += 1
        return A @ x

    def divide(r):
        calls["M"] += 1
        return r / 4

    x, info = method(LinearOperator(A.shape, product, dtype=float), b, M=LinearOperator(A.shape, divide, dtype=float), rtol=1e-8)
    assert info == 0 and residual(A, x, b) <= 1e-8 and calls["A"] > 5 and calls["M"] > 5


@pytest.mark.parametrize("method", ALL)
def test_exceptions_of_operators_and_callbacks_come_through(poisson, method):
    A, b = poisson

    def fail(_):
        raise LookupError("enough")

    with pytest.raises(LookupError):
        method(LinearOperator(A.shape, fail, dtype=float), b)
    with pytest.raises(LookupError):
        method(A, b, M=LinearOperator(A.shape, fail, dtype=float))
    with pytest.raises(LookupError):
        method(A, b, callback=fail, **({"callback_type": "x"} if method is ayatori.gmres else {}))


def test_a_preconditioner_may_itself_solve(poisson):
    A, b = poisson
    inner = LinearOperator(A.shape, lambda r: ayatori.cg(A, r, rtol=1e-12)[0], dtype=float)
    x, info = ayatori.gmres(A, b, M=inner, rtol=1e-8, maxiter=1)
    assert info == 0 and residual(A, x, b) <= 1e-8


def test_the_matrix_stays_where_it_is(poisson):
    from ayatori._matrix import as_csr

    A, _ = poisson
    assert all(np.shares_memory(getattr(A, name), getattr(as_csr(A), name)) for name in ("data", "indices", "indptr"))


def test_single_precision_stays_that(poisson):
    A, b = poisson
    assert ayatori.cg(A.astype(np.float32), b.astype(np.float32))[0].dtype == np.float32
    assert ayatori.cg(A.astype(np.float32), b)[0].dtype == np.float64


@pytest.mark.parametrize("method", ALL)
def test_info_counts_iterations(poisson, method):
    A, b = poisson
    assert method(A, b, rtol=1e-14, maxiter=2, **({"restart": 3} if method is ayatori.gmres else {}))[1] == 2


def test_breakdown_is_negative(poisson):
    A, b = poisson
    assert ayatori.cg(-A, b)[1] < 0


@pytest.mark.parametrize("method", ALL)
def test_wrong_input(poisson, method):
    A, b = poisson
    for broken in (lambda: method(A[:5], b[:5]), lambda: method(A, b[:5]), lambda: method(A, b, np.ones(3)),
                   lambda: method(A, b, "guess"), lambda: method(A, b, M=np.eye(3)), lambda: method(A, b, rtol=-1.0)):
        with pytest.raises(ValueError):
            broken()
    with pytest.raises(TypeError, match="object"):
        method(A, b.astype(object))
