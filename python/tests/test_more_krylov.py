"""cgs, qmr, tfqmr, lgmres and gcrotmk: what SciPy's own tests (scipy_substitution.py) leave open."""

import ayatori
import numpy as np
import pytest
import scipy.sparse as sp
from conftest import residual
from scipy.sparse.linalg import LinearOperator, aslinearoperator

ALL = [ayatori.cgs, ayatori.qmr, ayatori.tfqmr, ayatori.lgmres, ayatori.gcrotmk]
EVERY = [*ALL, ayatori.cg, ayatori.minres, ayatori.bicgstab, ayatori.gmres]


def unsymmetric(n=300):
    rng = np.random.default_rng(3)
    return sp.csr_array(sp.random_array((n, n), density=0.02, rng=rng) + 4 * sp.eye_array(n)), rng.standard_normal(n)


@pytest.mark.parametrize("method", ALL)
@pytest.mark.parametrize("is_complex", [False, True])
def test_converges_as_claimed(method, is_complex):
    A, b = unsymmetric()
    A, b = (A + 1j * sp.diags_array(np.linspace(0, 1, 300)), b * (1 + 2j)) if is_complex else (A, b)
    for matrix in (A, A.toarray(), aslinearoperator(A)):
        x, info = method(matrix, b, rtol=1e-11)
        assert info == 0 and residual(A, x, b) <= 1e-11


@pytest.mark.parametrize("method", ALL)
def test_a_hard_tolerance_is_met_or_not_claimed(method, poisson):
    A, b = poisson
    for rtol in (1e-8, 1e-15, 1e-18):
        x, info = method(A, b, rtol=rtol)
        assert info != 0 or residual(A, x, b) <= rtol * (1 + 1e-10)
    assert residual(A, x, b) <= 1e-12  # the best there is, all the same


@pytest.mark.parametrize("method", ALL)
def test_preconditioners_save_iterations(method, poisson):
    A, b = poisson
    lu = ayatori.splu(A + 0.01 * sp.eye_array(A.shape[0]))
    M = LinearOperator(A.shape, matvec=lu.solve, rmatvec=lambda x: lu.solve(x, "T"), dtype=float)
    counts = []
    for options in ({}, {"M2" if method is ayatori.qmr else "M": M}):
        iterates = []
        x, info = method(A, b, rtol=1e-9, callback=iterates.append, **options)
        assert info == 0 and residual(A, x, b) <= 1e-9 and residual(A, iterates[-1], b) <= 1e-8
        counts.append(len(iterates))
    assert counts[1] < counts[0] or counts[0] == 1


@pytest.mark.parametrize("method", ALL)
def test_an_unfinished_solve_says_so(method, poisson):
    A, b = poisson
    short = {"inner_m": 3} if method is ayatori.lgmres else {"m": 3, "k": 2} if method is ayatori.gcrotmk else {}
    assert method(A, b, rtol=1e-10, maxiter=2, **short)[1] == 2


@pytest.mark.parametrize("method", ALL)
def test_singular_systems_end(method):
    A = sp.diags_array(np.r_[np.ones(9), 0]).tocsr()
    x, info = method(A, np.ones(10))
    assert info != 0 and np.isfinite(x).all()


def test_what_lgmres_and_gcrot_keep_helps_the_next_solve(poisson):
    A, b = poisson
    for method, kept, options in ((ayatori.lgmres, "outer_v", {"inner_m": 10, "outer_k": 10}), (ayatori.gcrotmk, "CU", {"m": 10, "k": 10})):
        vectors, first, second = [], [], []
        method(A, b, rtol=1e-8, callback=first.append, **options, **{kept: vectors})
        assert 0 < len(vectors) <= 10
        x, info = method(A, b, rtol=1e-8, callback=second.append, **options, **{kept: vectors})
        assert info == 0 and len(second) < len(first)
    for truncate in ("oldest", "smallest"):
        x, info = ayatori.gcrotmk(A, b, rtol=1e-8, m=8, k=4, truncate=truncate)
        assert info == 0 and residual(A, x, b) <= 1e-8
    with pytest.raises(ValueError, match="truncate"):
        ayatori.gcrotmk(A, b, truncate="newest")


def test_qmr_needs_an_adjoint():
    A, b = unsymmetric(30)
    with pytest.raises(ValueError, match="adjoint of M1"):
        ayatori.qmr(A, b, M1=type("Half", (), {"matvec": staticmethod(lambda x: x), "shape": (30, 30)})())


@pytest.mark.parametrize("method", EVERY)
@pytest.mark.parametrize("of_a, of_b", [(660, 0), (-660, 0), (0, 660), (0, -660), (660, 660), (-1000, -900)])  # powers of two
def test_scales_do_not_matter(method, of_a, of_b, poisson):
    A, b = poisson
    A, start = A.tocsr(), np.linspace(0, 1, b.size)
    M = sp.diags_array(1 / A.diagonal())
    name = "M2" if method is ayatori.qmr else "M"
    told = []
    usual, _ = method(A, b, start, rtol=1e-9, **{name: M})
    big = A.copy()
    big.data = np.ldexp(A.data, of_a)
    for inverse in (M * 2.0**-of_a, aslinearoperator(M * 2.0**-of_a)) if abs(of_a) < 1000 else (None,):
        x, info = method(big, np.ldexp(b, of_b), np.ldexp(start, of_b - of_a), rtol=1e-9, **{name: inverse},
                         **({} if method is ayatori.gmres else {"callback": told.append}))
        assert info == 0
        assert np.ldexp(x, of_a - of_b) == pytest.approx(usual, rel=1e-5, abs=1e-5)
        assert method is ayatori.gmres or np.ldexp(told[-1], of_a - of_b) == pytest.approx(usual, rel=1e-5, abs=1e-5)
