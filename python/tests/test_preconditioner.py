"""Preconditioners handed to methods of SciPy and PyAMG."""

import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.linalg as la

import ayatori


def systems():
    A = ayatori.load("jump2d:n=40,ratio=1e4")
    yield "symmetric", A, A @ np.linspace(-1, 1, A.shape[0])
    B = ayatori.load("convection2d:n=40,peclet=50")
    yield "general", B, B @ np.linspace(-1, 1, B.shape[0])


def iterations(method, A, b, **options):
    counted = []
    x, info = method(A, b, callback=lambda *_: counted.append(1), **options)
    assert info == 0
    return x, len(counted)


@pytest.mark.parametrize("name", ["auto", "amg", "ilu", "ic", "jacobi"])
def test_scipy_takes_it(name):
    for kind, A, b in systems():
        if kind == "general" and name in ("ic", "jacobi"):  # not for it; its diagonal is constant
            continue
        M = ayatori.preconditioner(A, name, threads=1)
        assert M.shape == A.shape and M.why
        assert name in ("auto", M.name)
        if kind == "symmetric" and name != "ilu":
            assert M.is_symmetric
            _, plain = iterations(la.cg, A, b, maxiter=5000)
            _, preconditioned = iterations(la.cg, A, b, M=M.aspreconditioner(), maxiter=5000)
        else:
            _, plain = iterations(la.gmres, A, b, restart=200, callback_type="pr_norm")
            _, preconditioned = iterations(la.gmres, A, b, M=M.aspreconditioner(), restart=200, callback_type="pr_norm")
        assert preconditioned < plain


def test_it_is_linear_and_symmetric_of_a_symmetric_matrix():
    A = ayatori.load("jump2d:n=12")
    n = A.shape[0]
    dense = ayatori.preconditioner(A, threads=1).aspreconditioner() @ np.eye(n)
    assert np.allclose(dense, dense.T, atol=1e-12 * abs(dense).max())
    assert np.linalg.eigvalsh((dense + dense.T) / 2).min() > 0
    twice = ayatori.preconditioner(A, threads=1).apply(2 * np.ones(n))
    assert np.allclose(twice, 2 * dense @ np.ones(n), rtol=1e-9)


def test_complete_factors_are_the_inverse():
    A = ayatori.load("convection2d:n=20")
    M = ayatori.preconditioner(A, "direct")
    r = np.linspace(0, 1, A.shape[0])
    assert np.allclose(A @ M.apply(r), r, atol=1e-10)
    assert "complete factors" in M.why
    assert M.apply(r[:, None]).shape == r.shape


def test_options_reach_it():
    A = ayatori.load("convection2d:n=20")
    r = np.ones(A.shape[0])
    few, many = (ayatori.preconditioner(A, "ilu", fill=fill, threads=1).apply(r) for fill in (0, 6))
    assert np.linalg.norm(A @ many - r) < np.linalg.norm(A @ few - r)


def test_wrong_input_is_refused():
    A = sp.eye(5, format="csr")
    with pytest.raises(ValueError, match="multigrid"):
        ayatori.preconditioner(A, "multigrid")
    with pytest.raises(TypeError, match="no option rtol"):
        ayatori.preconditioner(A, rtol=1e-3)
    with pytest.raises(ValueError, match="square"):
        ayatori.preconditioner(sp.csr_array(np.ones((2, 3))))
    M = ayatori.preconditioner(A)
    with pytest.raises(ValueError, match="5"):
        M.apply(np.ones(4))
    with pytest.raises(ValueError, match="coordinates"):
        ayatori.preconditioner(A, coordinates=np.ones((2, 2)))
