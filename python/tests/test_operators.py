"""Operators in the place of matrices, and preconditioners of the caller's."""

import json
import pathlib
import pickle

import jsonschema
import numpy as np
import pytest
import scipy.sparse as sparse
from conftest import residual
from scipy.sparse.linalg import LinearOperator, aslinearoperator

import ayatori

SCHEMA = json.loads((pathlib.Path(__file__).parents[2] / "docs/operator-solve.schema.json").read_text())


class Product:
    """A callable with a shape, and nothing else."""

    def __init__(self, A):
        self.A, self.shape, self.calls = A, A.shape, 0

    def __call__(self, x):
        self.calls += 1
        return self.A @ x


@pytest.mark.parametrize("wrap", [aslinearoperator, Product, lambda A: LinearOperator(A.shape, matvec=lambda x: (A @ x)[:, None], dtype=float)])
def test_operators_are_solved_with(poisson, wrap):
    A, b = poisson
    result = ayatori.solve(wrap(A), b, rtol=1e-9)
    assert result.converged and residual(A, result.x, b) <= 1.01e-9
    assert result.choice == {"method": "gmres", "preconditioner": "none"}
    jsonschema.validate(result.report, SCHEMA)
    assert "gmres" in repr(result) and "gmres" in str(result) and "gmres" in result._repr_html_()
    near = ayatori.solve(wrap(A), b, near=A, rtol=1e-9)
    assert near.converged and near.choice["preconditioner"] == "ilu" and near.iterations < result.iterations
    definite = ayatori.solve(wrap(A), b, near=A, method="cg", rtol=1e-9)
    assert definite.converged and definite.choice == {"method": "cg", "preconditioner": "ic"}
    assert ayatori.solve(wrap(A), b, definite.x, rtol=1e-8).iterations == 0


def test_several_right_hand_sides(poisson):
    A, b = poisson
    B = np.stack([b, b[::-1]], 1)
    result = ayatori.solve(Product(A), B, near=A)
    assert result.converged and result.x.shape == B.shape and len(result.columns) == 2
    assert np.linalg.norm(B - A @ result.x) <= 1.01e-8 * np.linalg.norm(B)


def preconditioners(A):
    diagonal = 1 / A.diagonal()
    ours = ayatori.preconditioner(A, "ic", threads=1)
    return {"ours": ours, "operator": ours.aspreconditioner(), "callable": lambda r: diagonal * r,
            "sparse": sparse.diags_array(diagonal), "dense": np.diag(diagonal)}


@pytest.mark.parametrize("kind", ["ours", "operator", "callable", "sparse", "dense"])
@pytest.mark.parametrize("wrap", [lambda A: A, Product])
def test_preconditioners_of_the_caller(poisson, kind, wrap):
    A, b = poisson
    M = preconditioners(A)[kind]
    result = ayatori.solve(wrap(A), b, M=M, rtol=1e-9)
    assert result.converged and residual(A, result.x, b) <= 1.01e-9
    assert result.choice == {"method": "fgmres", "preconditioner": "given"}
    assert ayatori.solve(wrap(A), b, M=M, method="cg").converged
    if kind in ("ours", "operator"):
        assert result.iterations < ayatori.solve(wrap(A), b, M=np.eye(400), rtol=1e-9).iterations


def test_the_claim_with_a_matrix_is_about_its_entries(poisson):
    A, b = poisson
    result = ayatori.solve(A, b, M=lambda r: r / 4)
    assert result.residual_error_bound > ayatori.solve(Product(A), b, M=lambda r: r / 4).residual_error_bound


def test_single_precision(poisson):
    A, b = poisson
    A, b = A.astype(np.float32), b.astype(np.float32)
    result = ayatori.solve(aslinearoperator(A), b)
    assert result.x.dtype == np.float32 and result.converged and residual(A.astype(float), result.x.astype(float), b.astype(float)) <= 1.01e-5


def test_exceptions_come_through(poisson):
    A, b = poisson

    def fail(x):
        raise LookupError("enough")

    for call in (lambda: ayatori.solve(LinearOperator(A.shape, matvec=fail, dtype=float), b), lambda: ayatori.solve(A, b, M=fail)):
        with pytest.raises(LookupError, match="enough"):
            call()
    with pytest.raises(LookupError):
        ayatori.solve(Product(A), b, progress=lambda *_: fail(None))
    with pytest.raises(ValueError, match="^a product of A has shape .3,., but A has 400 rows$"):
        ayatori.solve(Short(), b)
    with pytest.raises(TypeError, match="^a product of M holds complex128"):
        ayatori.solve(A, b, M=lambda r: r * 1j)


class Short:
    shape = (400, 400)

    def __call__(self, x):
        return np.zeros(3)


def test_nan_of_a_product_is_no_solution(poisson):
    A, b = poisson
    result = ayatori.solve(Product(A * np.nan), b)
    assert not result.converged and "not finite" in result.report["reason"]


def test_a_report_is_written(poisson, tmp_path):
    A, b = poisson
    ayatori.write_report(tmp_path / "r.html", ayatori.solve(Product(A), b), ayatori.solve(A, np.stack([b, b], 1)))
    assert "operator-solve" in (tmp_path / "r.html").read_text()
    with pytest.raises(OSError, match="no/r.html: cannot be written: No such file or directory"):
        ayatori.write_report(tmp_path / "no" / "r.html", {"schema": "ayatori.solve/1"})
    assert not (tmp_path / "no").exists()
    (tmp_path / "full.html").symlink_to("/dev/full")
    with pytest.raises(OSError, match="full.html: cannot be written: No space left on device"):
        ayatori.write_report(tmp_path / "full.html", {"schema": "ayatori.solve/1"})
    assert (tmp_path / "full.html").is_symlink()


@pytest.mark.parametrize("options, error, words", [
    ({"kernel": "csr"}, ValueError, "^kernel has no meaning with an operator, where nothing is tuned$"), ({"knowledge": "auto"}, ValueError, "^knowledge has no meaning"),
    ({"near_nullspace": np.ones(400)}, ValueError, "^near_nullspace has no meaning with an operator: make M by"),
    ({"preconditioner": "amg"}, ValueError, "made of a matrix: give one near"), ({"near": sparse.eye_array(3)}, ValueError, "^near is 3 x 3"),
    ({"M": np.eye(3)}, ValueError, "^M is 3 x 3, but A has 400 rows: want 400 x 400$"), ({"M": "amg"}, TypeError, "^M is 'amg', but has to be .*: give preconditioner='amg'$"),
    ({"M": lambda r: r, "preconditioner": "ilu"}, ValueError, "another one is given"),
    ({"M": lambda r: r, "near": sparse.eye_array(400)}, ValueError, "give one of them")])
def test_what_has_no_meaning_is_refused(poisson, options, error, words):
    A, b = poisson
    with pytest.raises(error, match=words):
        ayatori.solve(Product(A), b, **options)


def test_a_solver_with_an_operator(poisson):
    A, b = poisson
    solver = ayatori.Solver(Product(A), near=A, rtol=1e-9)
    assert solver.shape == A.shape and solver.reuse == ""
    for right in (b, b[::-1]):
        assert residual(A, solver.solve(right).x, right) <= 1.01e-9
    with pytest.raises(ValueError, match="make another one"):
        solver.update(A)
    with pytest.raises(ValueError, match=r"^A is 3 x 4"):
        ayatori.Solver(LinearOperator((3, 4), matvec=lambda x: x[:3], dtype=float))


def test_solvers_and_preconditioners_say_why_they_do_not_pickle(poisson):
    A, b = poisson
    for thing in (ayatori.Solver(A), ayatori.Solver(Product(A)), ayatori.preconditioner(A, "jacobi")):
        with pytest.raises(TypeError, match="cannot be pickled: pickle A") as caught:
            pickle.dumps(thing)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("columns", [1, 2])
def test_results_pickle_and_are_read(poisson, columns):
    A, b = poisson
    result = ayatori.solve(A, b if columns == 1 else np.stack([b] * columns, 1))
    copy = pickle.loads(pickle.dumps(result))
    assert copy.converged and np.array_equal(copy.x, result.x) and repr(copy) == repr(result) and copy.explain() == result.explain()
    lines = repr(result).splitlines()
    assert 8 <= len(lines) <= 12 and all(len(line) <= 145 for line in lines)
    for word in ("converged", "proved", result.choice["method"], "iterations", "because", "s: choosing"):
        assert word in repr(result)
