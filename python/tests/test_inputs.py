"""What is given in every form that has a meaning, and one message for every kind that has none."""

import collections
import fractions

import numpy as np
import pytest
import scipy.sparse as sparse
from conftest import residual
from scipy.sparse.linalg import LinearOperator

import ayatori

QUIET = {"profile": "none", "threads": 1}


def put(A, place, value):
    A = A.tolil()
    A[place] = value
    return A.tocsr()


@pytest.mark.parametrize("make, error, words", [
    (lambda A: put(A, (3, 4), np.nan), ValueError, r"^A\[3, 4\] is NaN \(counted from 0\)$"),
    (lambda A: put(put(A, (7, 7), -np.inf), (9, 9), np.nan), ValueError, r"^A\[7, 7\] is infinite .*, and 1 more is not finite$"),
    (lambda A: A.toarray().astype(object), TypeError, "^A holds Python objects"),
    (lambda A: [[fractions.Fraction(1, 3)]], TypeError, "^A holds Python objects"),
    (lambda A: put(A.astype(complex), (3, 4), complex(0, np.nan)), ValueError, r"^A\[3, 4\] is NaN \(counted from 0\)$"),
    (lambda A: put(A.astype(complex), (7, 8), complex(0, -np.inf)), ValueError, r"^A\[7, 8\] is infinite \(counted from 0\)$"),
    (lambda A: np.array([["1"]]), TypeError, "^A holds strings .dtype <U1.: make numbers of them by"),
    (lambda A: [[1.0, 2.0], [3.0]], ValueError, "^A has rows of different lengths$"),
    (lambda A: "matrix.mtx", TypeError, "read a file by ayatori.load.'matrix.mtx'"),
    (lambda A: None, TypeError, "^A is None: give a sparse matrix or an array of numbers$"),
    (lambda A: collections.OrderedDict(), TypeError, "^A is a OrderedDict"),
    (lambda A: lambda x: x, TypeError, "^A is a function: give its shape by"),
    (lambda A: np.ma.masked_less(A.toarray(), 0), TypeError, "masked"),
    (lambda A: A[:10], ValueError, "^A is 10 x 400, but has to be square$"),
    (lambda A: A.toarray()[0], ValueError, "^A has 1 dimension, but has to have 2"),
    (lambda A: np.zeros((2, 2, 2)), ValueError, "^A has 3 dimensions"),
    (lambda A: np.array([[2**60 + 1]]), ValueError, r"^A holds whole numbers beyond 2\*\*53")])
def test_wrong_matrices(poisson, make, error, words):
    A, b = poisson
    for call in (lambda wrong: ayatori.solve(wrong, b), ayatori.Solver, ayatori.preconditioner):
        with pytest.raises(error, match=words) as caught:
            call(make(A))
        assert "\n" not in str(caught.value) and len(str(caught.value)) < 200


@pytest.mark.parametrize("make, error, words", [
    (lambda b: np.where(np.arange(400) == 5, np.nan, b), ValueError, r"^b\[5\] is NaN"),
    (lambda b: np.stack([b, np.where(np.arange(400) > 397, np.inf, b)], 1), ValueError, r"^b\[398, 1\] is infinite .*1 more is"),
    (lambda b: b.astype(object), TypeError, "^b holds Python objects"), (lambda b: np.where(np.arange(400) == 5, 1j * np.nan, b), ValueError, r"^b\[5\] is NaN"),
    (lambda b: b[:-1], ValueError, r"^b has shape \(399,\), but A has 400 rows: want \(400,\) or \(400, k\)$"),
    (lambda b: b[None], ValueError, "transpose it by b.T$"), (lambda b: 1.0, ValueError, r"^b has shape \(\)"),
    (lambda b: np.zeros((400, 0)), ValueError, "^b has no columns$"), (lambda b: "ones", TypeError, "^b is a str"),
    (lambda b: None, TypeError, "^b is None: give"),
    (lambda b: sum, TypeError, "^b is a function: give its shape"), (lambda b: {1.0}, TypeError, "^b is a set: give"),
    (lambda b: b.astype(str), TypeError, "^b holds strings"), (lambda b: b.astype("M8[s]"), TypeError, "^b holds datetime64.* has to hold real numbers$")])
def test_wrong_right_hand_sides(poisson, make, error, words):
    A, b = poisson
    with pytest.raises(error, match=words):
        ayatori.solve(A, make(b))


def test_wrong_guesses_and_words(poisson):
    A, b = poisson
    for options, words in (({"x0": b * np.nan}, r"^x0\[0\] is NaN"), ({"x0": np.zeros((400, 2))}, "a guess for each"),
                           ({"block": 4}, "^block is for several"), ({"near": A}, "^near is for an operator"),
                           ({"near_nullspace": np.ones(399)}, "^near_nullspace has shape"),
                           ({"near_nullspace": np.full(400, np.inf)}, r"^near_nullspace\[0\] is infinite"),
                           ({"fields": np.full(400, 2)}, "0 or 1")):
        with pytest.raises(ValueError, match=words):
            ayatori.solve(A, b, **options)
    with pytest.raises(ValueError, match="^block 9: want auto, off, or 1 to 8$"):
        ayatori.solve(A, np.ones((400, 2)), block=9)


@pytest.mark.parametrize("kind", [bool, np.int8, np.int64, np.uint16, np.float16, np.float32, np.longdouble])
def test_types_of_numbers(kind):
    A = np.eye(5, dtype=kind)
    b = np.ones(5, dtype=kind)
    for matrix in (A, sparse.csr_array(A) if kind is not np.float16 else A):
        result = ayatori.solve(matrix, b, **QUIET)
        assert result.converged and np.array_equal(result.x, np.ones(5))
        assert result.x.dtype == (np.float32 if kind is np.float32 else np.float64)


def test_single_precision_comes_back_and_is_proved_in_double(poisson):
    A, b = poisson
    A32, b32 = A.astype(np.float32), b.astype(np.float32)
    result = ayatori.solve(A32, b32, **QUIET)
    assert result.x.dtype == np.float32 and result.converged and result.report["rtol"] == 1e-5
    exact = residual(A32.astype(float), result.x.astype(float), b32.astype(float))
    assert result.relative_residual == pytest.approx(exact, rel=1e-6) and exact <= 1e-5
    closer = ayatori.solve(A32, b32, rtol=1e-12, **QUIET)
    assert closer.status == "limited by rounding" and not closer.converged and closer.relative_residual > 1e-12
    assert ayatori.solve(A32, b, rtol=1e-12, **QUIET).converged  # b asks for double


def test_several_right_hand_sides(poisson):
    A, b = poisson
    B = np.stack([b, 0 * b, b[::-1]], 1)
    for form in (B, np.asfortranarray(B), sparse.csc_array(B), sparse.coo_array(B), B.tolist()):
        result = ayatori.solve(A, form, rtol=1e-9, **QUIET)
        assert result.converged and result.x.shape == B.shape
        assert [column["status"] for column in result.columns] == ["converged"] * 3
        assert all(np.linalg.norm(B[:, k] - A @ result.x[:, k]) <= 1e-9 * np.linalg.norm(B[:, k]) for k in range(3))
    assert result.relative_residual == max(column["relative_residual"] for column in result.columns)
    assert result.report["sequence"]["solves"] == 3
    one_by_one = ayatori.solve(A, B, block="off", method="cg", preconditioner="none", **QUIET)
    together = ayatori.solve(A, B, block=2, method="cg", preconditioner="none", **QUIET)
    assert one_by_one.converged and together.converged
    assert ayatori.solve(A, B, x0=one_by_one.x, **QUIET).iterations == 0
    assert ayatori.solve(A, b[:, None], **QUIET).x.shape == (400, 1)
    assert ayatori.solve(A, sparse.coo_array(b), **QUIET).x.shape == (400,)


def test_one_of_several_that_does_not_converge_is_told(poisson):
    A, b = poisson
    result = ayatori.solve(A, np.stack([b, 0 * b], 1), rtol=1e-12, max_iterations=2, method="cg", preconditioner="none", **QUIET)
    assert not result.converged and result.status == "not converged"
    assert [column["converged"] for column in result.columns] == [False, True]


def test_single_precision_of_several_columns(poisson):
    A, b = poisson
    B = np.stack([b, b[::-1]], 1).astype(np.float32)
    result = ayatori.solve(A.astype(np.float32), B, **QUIET)
    assert result.converged and result.x.dtype == np.float32 and result.x.shape == B.shape
    assert not ayatori.solve(A.astype(np.float32), B, rtol=1e-12, **QUIET).converged


def test_a_near_null_space_helps():
    A = ayatori.load("elasticity3d:n=6")
    n = A.shape[0]
    nodes = n // 3
    edge = round(nodes ** (1 / 3))
    grid = np.stack(np.meshgrid(*(np.arange(edge + 1.0),) * 3, indexing="ij"), -1).reshape(-1, 3)[:nodes]
    modes = np.zeros((nodes, 3, 6))
    for k in range(3):
        modes[:, k, k] = 1
        modes[:, :, 3 + k] = np.cross(np.eye(3)[k], grid)
    modes = modes.reshape(n, 6)
    options = {"method": "cg", "preconditioner": "amg", **QUIET}
    by_grid = ayatori.solve(A, np.ones(n), coordinates=grid, **options)
    given = ayatori.solve(A, np.ones(n), near_nullspace=modes, **options)
    assert given.converged and given.iterations == pytest.approx(by_grid.iterations, abs=2)
    assert "near null space as given" in given.explain()
    constant = ayatori.solve(A, np.ones(n), near_nullspace=np.ones(n), **options)
    assert constant.converged and constant.iterations > given.iterations
    M = ayatori.preconditioner(A, "amg", near_nullspace=modes, threads=1)
    assert "near null space as given" in M.why
    with pytest.raises(ValueError, match="near_nullspace and coordinates"):
        ayatori.solve(A, np.ones(n), near_nullspace=modes, coordinates=grid)


def test_fields_of_a_saddle_point():
    A = sparse.block_array([[sparse.eye_array(30) * 2, sparse.eye_array(30, 10)], [sparse.eye_array(10, 30), None]]).tocsr()
    marks = np.arange(40) >= 30
    result = ayatori.solve(A, np.ones(40), preconditioner="schur", fields=marks, **QUIET)
    assert result.converged and result.report["replay"]["fields"]


def test_operators_are_no_matrices_where_a_matrix_is_wanted(poisson):
    A, _ = poisson
    operator = LinearOperator(A.shape, matvec=lambda x: A @ x)
    with pytest.raises(TypeError, match="^A is a _CustomLinearOperator, of which only products are known"):
        ayatori.preconditioner(operator)
