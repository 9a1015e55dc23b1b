"""lsqr and lsmr: what SciPy's own tests (scipy_substitution.py) leave open."""

import ayatori
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator, aslinearoperator

BOTH = [ayatori.lsqr, ayatori.lsmr]
TIGHT = {"atol": 1e-14, "btol": 1e-14, "conlim": 0}


def problem(shape, is_complex=False):
    rng = np.random.default_rng(4)
    A = sp.random_array(shape, density=0.3, rng=rng).tocsr() + sp.eye_array(*shape)
    if is_complex:
        A = A + 1j * sp.random_array(shape, density=0.3, rng=rng)
    b = rng.standard_normal(shape[0])
    return sp.csr_array(A), b + 1j * rng.standard_normal(shape[0]) if is_complex else b


@pytest.mark.parametrize("function", BOTH)
@pytest.mark.parametrize("shape", [(60, 20), (20, 60)])
@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("damp", [0.0, 0.7])
def test_finds_the_solution_of_least_norm(function, shape, is_complex, damp):
    A, b = problem(shape, is_complex)
    extended = np.vstack([A.toarray(), damp * np.eye(shape[1])])
    wanted = np.linalg.lstsq(extended, np.r_[b, np.zeros(shape[1])], rcond=None)[0]
    for matrix in (A, A.toarray(), aslinearoperator(A)):
        x, istop, *rest = function(matrix, b, damp, **TIGHT, **{"iter_lim" if function is ayatori.lsqr else "maxiter": 500})
        assert x == pytest.approx(wanted, abs=1e-10) and istop in (1, 2, 4)


@pytest.mark.parametrize("function", BOTH)
def test_norms_are_those_of_the_x_returned(function):
    A, b = problem((60, 20))
    x0 = np.linspace(0, 1, 20)
    for damp in (0.0, 2.0):
        done = function(A, b, damp, x0=x0, **{"iter_lim" if function is ayatori.lsqr else "maxiter": 5})
        x, r = done[0], b - A @ done[0]
        whole = np.hypot(np.linalg.norm(r), damp * np.linalg.norm(x - x0))
        normal = np.linalg.norm(A.T @ r - damp**2 * (x - x0))
        assert done[1:3] == (7, 5)
        if function is ayatori.lsqr:
            assert done[3:5] + done[7:9] == pytest.approx((np.linalg.norm(r), whole, normal, np.linalg.norm(x)))
        else:
            assert done[3:5] + done[7:8] == pytest.approx((whole, normal, np.linalg.norm(x)))


@pytest.mark.parametrize("function", BOTH)
@pytest.mark.parametrize("unit", [2.0**660, 2.0**-660])  # whose squares overflow, or vanish
def test_scales_do_not_matter(function, unit):
    A, b = problem((60, 20))
    x0 = np.linspace(0, 1, 20)
    usual = function(A, b, 0.5, x0=x0)
    scaled = function(A, unit * b, 0.5, x0=unit * x0)
    lengths = [3, 4, 7, 8] if function is ayatori.lsqr else [3, 4, 7]
    assert scaled[1:3] == usual[1:3]
    assert np.array_equal(scaled[0], unit * usual[0])
    assert [scaled[k] for k in lengths] == pytest.approx([unit * usual[k] for k in lengths], rel=1e-12, abs=0)


@pytest.mark.parametrize("function", BOTH)
def test_why_it_ended(function):
    A, b = problem((60, 20))
    limit = {"iter_lim" if function is ayatori.lsqr else "maxiter": 500}
    assert function(A, b, **TIGHT, **limit)[1] == 2  # no x does better
    assert function(A, A @ np.ones(20), atol=1e-8, btol=1e-8)[1] == 1
    assert function(A, np.zeros(60))[1] == 0
    almost = sp.diags_array(np.logspace(0, -9, 20)).tocsr()
    assert function(almost, np.ones(20), atol=0, btol=0, conlim=1e3, **limit)[1] == 3
    x, istop, *_ = function(sp.csr_array((5, 3)), np.ones(5))
    assert istop in (0, 2) and not x.any()


@pytest.mark.parametrize("function", BOTH)
@pytest.mark.parametrize("is_complex", [False, True])
@pytest.mark.parametrize("damp", [0.0, 0.7])
def test_preconditioners_lead_to_the_same_solution(function, is_complex, damp):
    A, b = problem((60, 20), is_complex)
    A = sp.csr_array(A @ sp.diags_array(np.logspace(0, -4, 20)))  # of columns that differ
    limit = {"iter_lim" if function is ayatori.lsqr else "maxiter": 2000}
    plain = function(A, b, damp, **TIGHT, **limit)
    start = np.linspace(0, 1, 20)
    for name in ("jacobi", "ic", "direct"):
        for matrix in (A, A.toarray(), A.tocoo()):
            done = function(matrix, b, damp, preconditioner=name, **TIGHT, **limit)
            assert done[0] == pytest.approx(plain[0], rel=1e-6) and done[0].shape == (20,) and done[1] in (1, 2, 4)
            assert done[3] == pytest.approx(plain[3]) and (damp or done[2] < plain[2])
        away = function(A, b, damp, x0=start, preconditioner=name, **TIGHT, **limit)[0]
        assert away == pytest.approx(function(A, b, damp, x0=start, **TIGHT, **limit)[0], rel=1e-5)
    done = function(A, b, damp, preconditioner="jacobi", **{name: 3 for name in limit})
    x, r = done[0], b - A @ done[0]
    assert done[1] == 7 and done[3] == pytest.approx(np.hypot(np.linalg.norm(r), 0 if function is ayatori.lsqr else damp * np.linalg.norm(x)))
    normal = np.linalg.norm(A.conj().T @ r - damp**2 * x)
    assert done[7 if function is ayatori.lsqr else 4] == pytest.approx(normal)


@pytest.mark.parametrize("function", BOTH)
def test_preconditioners_that_do_not_fit(function):
    A, b = problem((60, 20))
    for name, words in (("ilu", "^preconditioner ilu is not symmetric, as least squares needs it: choose one of"), ("magic", "unknown preconditioner 'magic'")):
        with pytest.raises(ValueError, match=words):
            function(A, b, preconditioner=name)
    with pytest.raises(TypeError, match="^A is an operator: preconditioner and comm want a matrix$"):
        function(aslinearoperator(A), b, preconditioner="jacobi")
    with pytest.raises(ValueError, match="^calc_var: .*without preconditioner and comm$"):
        ayatori.lsqr(A, b, calc_var=True, preconditioner="jacobi")
    assert function(A, b, preconditioner="none")[0] == pytest.approx(function(A, b)[0])
    x, istop, *_ = function(sp.csr_array((5, 3)), np.ones(5), preconditioner="jacobi")
    assert istop in (0, 2) and not x.any()


def test_the_variance():
    A, b = problem((60, 12))
    done = ayatori.lsqr(A, b, calc_var=True, iter_lim=12, **TIGHT)
    assert done[9] == pytest.approx(np.diag(np.linalg.inv((A.T @ A).toarray())), rel=1e-4)
    with pytest.raises(ValueError, match="calc_var"):
        ayatori.lsqr(A, b, damp=1, calc_var=True)


@pytest.mark.parametrize("function", BOTH)
def test_wrong_input(function, capsys):
    A, b = problem((6, 4))
    for wrong in (b[:5], np.ones((6, 2))):
        with pytest.raises(ValueError, match="b has"):
            function(A, wrong)
    with pytest.raises(ValueError, match=r"^x0 has shape \(3,\), but A has 4 columns"):
        function(A, b, x0=np.ones(3))
    with pytest.raises(ValueError, match=r"^b\[0\] is NaN .*5 more are not finite$"):
        function(A, b * np.nan)
    A.data[2] = np.nan
    with pytest.raises(ValueError, match=r"^A\[1, 2\] is NaN"):
        function(A, b)
    with pytest.raises(TypeError, match="^(iter_lim|maxiter) is 'all', but must be a whole number$"):
        function(*problem((6, 4)), **{"iter_lim" if function is ayatori.lsqr else "maxiter": "all"})
    with pytest.raises(KeyError):
        function(LinearOperator((6, 4), matvec=lambda x: {}["no"], rmatvec=lambda y: np.ones(4), dtype=float), b)
    function(*problem((6, 4)), show=True)
    assert function.__name__ in capsys.readouterr().out
