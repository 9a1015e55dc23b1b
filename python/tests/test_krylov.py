"""What SciPy's own tests (scipy_substitution.py) leave open."""

from fractions import Fraction

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


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("method", ALL)
def test_right_hand_sides_whose_squares_leave_the_range_of_double(poisson, method, scale):
    A, b = poisson
    x, info = method(A, scale * b, rtol=1e-9)
    assert info == 0 and residual(A, x / scale, b) <= 1.0001e-9
    norms = []
    ayatori.gmres(A, scale * b, rtol=1e-9, callback=norms.append, callback_type="pr_norm")
    assert 1e-3 < norms[0] < 1 and norms[-1] <= 1e-9


@pytest.mark.parametrize("method", ALL)
def test_no_claim_that_rounding_may_have_made(method):
    """Plain sums give a residual of 0; that of the x they suggest is 1."""
    large = 1e17
    A = np.array([[large, 1, -large], [1, 1, 1], [-large, 1, -large]])
    b = np.array([0.0, 3, -2 * large])
    assert not np.any(b - A @ np.ones(3))
    x, info = method(A, b, np.ones(3), rtol=1e-18)
    exact = [Fraction(float(right)) - sum(Fraction(float(a)) * Fraction(float(v)) for a, v in zip(row, x)) for right, row in zip(b, A)]
    assert info != 0 or sum(r * r for r in exact) <= Fraction(1e-18) ** 2 * sum(Fraction(float(right)) ** 2 for right in b)


def test_the_shift_of_minres_is_not_rounded():
    """1 - 1e-17 is 1 in doubles."""
    A, b = np.eye(4), np.ones(4)
    assert ayatori.minres(A, b, np.ones(4), shift=1e-17, rtol=1e-5)[1] == 0
    assert ayatori.minres(A, b, np.ones(4), shift=1e-17, rtol=1e-18)[1] != 0
    A[0, 1] = A[1, 0] = 0.25
    x, info = ayatori.minres(A, b, shift=0.5, rtol=1e-10)
    assert info == 0 and residual(A - 0.5 * np.eye(4), x, b) <= 1.0001e-10


def test_what_single_precision_makes_of_x_is_what_is_claimed(poisson):
    A, b = (values.astype(np.float32) for values in poisson)
    x, info = ayatori.cg(A, b, rtol=1e-4)
    assert info == 0 and residual(A.astype(float), x.astype(float), b.astype(float)) <= 1e-4
    assert ayatori.cg(A, b, rtol=1e-12)[1] > 0
    assert ayatori.cg(A, b.astype(float), rtol=1e-12)[1] == 0


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
