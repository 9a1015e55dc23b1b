import os
import signal
import threading
import time

import ayatori
import numpy as np
import pytest
import scipy.sparse as sparse
from conftest import residual


def test_solves_and_proves_it(poisson):
    A, b = poisson
    result = ayatori.solve(A, b, rtol=1e-9)
    assert result.converged and result.status == "converged"
    assert residual(A, result.x, b) <= 1e-9
    assert result.relative_residual == pytest.approx(residual(A, result.x, b), rel=1e-3)
    assert result.choice["method"] in result.explain()
    assert result.choice["method"] in result._repr_html_() and "<script" not in result._repr_html_()
    assert result.report["schema"] == "ayatori.solve/1" and result.report["history"][0]["iterations"]


def test_says_how_sure_it_is(poisson):
    A, b = poisson
    result = ayatori.solve(A, b, rtol=1e-9)
    assert 0 < result.residual_error_bound < 1e-13 and result.relative_residual + result.residual_error_bound <= 1e-9
    x = result.x
    assert result.backward_error == pytest.approx(np.linalg.norm(b - A @ x) / (8 * np.linalg.norm(x) + np.linalg.norm(b)), rel=1e-3)
    assert result.rounding_residual is None and result.condition_estimate is None and result.boundary_rows == 0
    assert "+-" in str(result) and "backward error" in result._repr_html_()


def test_says_where_doubles_hold_no_solution():
    n = 12
    A = 1 / (np.arange(n)[:, None] + np.arange(n) + 1)  # Hilbert's
    result = ayatori.solve(A, np.ones(n), rtol=1e-14)
    assert result.status == "limited by rounding" and not result.converged and result.backward_error < 1e-15
    assert 1e-12 < result.rounding_residual < 1e-6
    assert result.condition_estimate is None or result.condition_estimate > 1e13  # there are no complete factors without MUMPS


def test_counts_boundary_rows(poisson):
    A, b = poisson
    A, b = A.tolil(), b.copy()
    A[0, 0], b[0] = 1e30, 1e30
    result = ayatori.solve(A, b)
    assert result.converged and result.boundary_rows == 1
    assert residual(A.tocsr()[1:], result.x, b[1:]) <= 1e-7


@pytest.mark.parametrize("convert", [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.lil_array, sparse.dia_array,
                                     sparse.csr_matrix, lambda A: A.toarray(), lambda A: A.toarray(order="F"),
                                     lambda A: A.astype(np.float32), lambda A: A.astype(np.int32)])
def test_takes_matrices_of_any_kind(poisson, convert):
    A, b = poisson
    assert residual(A, ayatori.solve(convert(A), b).x, b) <= 1e-8


def test_sums_entries_given_twice_and_leaves_the_matrix_as_it_is():
    A = sparse.csr_array((np.array([1.0, 1.0, 3.0]), np.array([0, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    assert ayatori.solve(A, [2.0, 3.0]).x == pytest.approx([1, 1])
    assert A.nnz == 3


def test_takes_indices_of_64_bits(poisson):
    A, b = poisson
    wide = sparse.csr_array((A.data, A.indices.astype(np.int64), A.indptr.astype(np.int64)), shape=A.shape)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    assert wide.indices.dtype == np.int64
    assert residual(A, ayatori.solve(wide, b).x, b) <= 1e-8
    assert residual(A, ayatori.cg(wide, b, rtol=1e-8)[0], b) <= 1e-8


def test_starting_guess_is_used_and_left_alone(poisson):
    A, b = poisson
    x0 = ayatori.solve(A, b, rtol=1e-10).x
    kept = x0.copy()
    result = ayatori.solve(A, b, x0, rtol=1e-8)
    assert result.iterations == 0 and np.array_equal(x0, kept)


def test_what_is_forced_is_chosen(poisson):
    A, b = poisson
    choice = ayatori.solve(A, b, method="gmres", restart=17, preconditioner="jacobi", kernel="csr", orthogonalization="mgs").choice
    assert (choice["method"], choice["restart"], choice["preconditioner"], choice["kernel"], choice["orthogonalization"]) == (
        "gmres", 17, "jacobi", "csr", "mgs")


def test_a_solver_begins_with_what_it_has_found(poisson):
    A, b = poisson
    solver = ayatori.Solver(A, rtol=1e-8)
    first = solver.solve(b)
    second = solver.solve(b[::-1])  # not contiguous
    assert first.converged and second.converged and residual(A, second.x, b[::-1]) <= 1e-8
    trial = second.report["trials"][0]
    assert trial["kept_set_up"]
    assert [trial["choice"][name] for name in ("method", "preconditioner")] == [first.choice[name] for name in ("method", "preconditioner")]


def test_a_solver_keeps_its_set_up(poisson):
    A, b = poisson
    solver = ayatori.Solver(A, rtol=1e-8, method="cg", preconditioner="block-ilu0", kernel="csr")
    assert solver.solve(b).converged
    second = solver.solve(b[::-1])
    assert len(second.report["trials"]) == 1 and second.report["trials"][0]["kept_set_up"]
    assert solver.reuse.startswith("1 set-up served 2 solves")


def test_a_solver_goes_on_with_other_values(poisson):
    A, b = poisson
    solver = ayatori.Solver(A, rtol=1e-8)
    assert solver.reuse == "" and solver.solve(b).converged
    B = A * 1.5
    solver.update(B)
    second = solver.solve(b)
    assert second.converged and residual(B, second.x, b) <= 1e-8
    assert second.report["trials"][0]["kept_set_up"]
    other = B + B @ B  # another pattern
    solver.update(other)
    third = solver.solve(b)
    assert third.converged and residual(other, third.x, b) <= 1e-8
    assert not third.report["trials"][0]["kept_set_up"]
    with pytest.raises(ValueError, match="rows"):
        solver.update(A[:-1, :-1])
    with pytest.raises(TypeError):
        solver.update(A * 1j)
    assert solver.solve(b).converged


def test_a_solver_serves_other_numbers_of_threads(poisson):
    threadpoolctl = pytest.importorskip("threadpoolctl")
    A, b = poisson
    solver = ayatori.Solver(A)
    for threads in (2, 1, 2):
        with threadpoolctl.threadpool_limits(threads, user_api="openmp"):
            result = solver.solve(b)
        assert result.converged and residual(A, result.x, b) <= 1e-8


def test_what_does_not_converge_is_said_not_to(poisson):
    A, b = poisson
    result = ayatori.solve(A, b, rtol=1e-12, max_iterations=3)
    assert not result.converged and result.relative_residual > 1e-12
    assert residual(A, result.x, b) == pytest.approx(result.relative_residual, rel=1e-3)


@pytest.mark.parametrize("options, words", [
    ({"method": "sor"}, "sor"), ({"rtol": 2.0}, "tolerance"), ({"restart": 5, "method": "cg"}, "restart"),
    ({"max_iterations": -1}, "max_iterations"), ({"profile": "no-such-machine"}, "no-such-machine"),
    ({"threads": 10**6}, "threads"), ({"exclude": ["cg", "minres", "bicgstab", "idr", "gmres", "fgmres"]}, "exclude"), ({"tuning_share": 3.0}, "share")])
def test_wrong_options_are_value_errors(poisson, options, words):
    with pytest.raises(ValueError, match=words):
        ayatori.solve(*poisson, **options)


def test_unknown_options_are_type_errors(poisson):
    with pytest.raises(TypeError):
        ayatori.solve(*poisson, preconditoner="jacobi")


def test_wrong_matrices_and_vectors_are_refused(poisson):
    A, b = poisson
    with pytest.raises(ValueError, match="square"):
        ayatori.solve(A[:10], b[:10])
    with pytest.raises(ValueError, match="shape"):
        ayatori.solve(A, b[:-1])
    with pytest.raises(ValueError, match="NaN"):
        ayatori.solve(A, b * np.nan)
    broken = A.copy()
    broken.indices[7] = 10**6
    broken.has_canonical_format = True
    with pytest.raises(ValueError, match=r"^A.indices\[7\] is 1000000"):
        ayatori.solve(broken, b)


def test_progress_is_told_and_its_exceptions_come_through(poisson):
    A, b = poisson
    told = []
    ayatori.solve(A, b, progress=lambda *words: told.append(words))
    choice, iteration, norm = told[-1]
    assert isinstance(choice, str) and iteration >= 1 and norm < 1

    def fail(*_):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        ayatori.solve(A, b, progress=fail)


def hard():
    """A solve that would take for ever."""
    return ayatori.load("poisson2d-5:n=200"), np.ones(40000), {"rtol": 1e-15, "method": "gmres", "restart": 5,
                                                             "preconditioner": "none", "exclude": ["cg"]}


def test_ctrl_c_ends_a_solve():
    A, b, options = hard()
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        ayatori.solve(A, b, **options)
    assert time.monotonic() - start < 30


def test_other_threads_run_during_a_solve():
    A, b, options = hard()
    counted = []
    worker = threading.Thread(target=lambda: ayatori.solve(A, b, time_limit=0.5, **options))
    worker.start()
    while worker.is_alive():
        counted.append(time.monotonic())
        time.sleep(0.01)
    assert len(counted) > 5


def test_time_limit(poisson):
    A, b, options = hard()
    result = ayatori.solve(A, b, time_limit=0.2, **options)
    assert result.status == "time limit reached" and not result.converged


def test_no_unknowns():
    result = ayatori.solve(sparse.csr_array((0, 0)), [])
    assert result.converged and result.x.shape == (0,)
    assert ayatori.cg(sparse.csr_array((0, 0)), [])[1] == 0


def test_load():
    A = ayatori.load("poisson2d-5:n=4")
    assert A.shape == (16, 16) and A.nnz == 64 and abs(A - A.T).max() == 0
    with pytest.raises(ValueError, match="poisson9d"):
        ayatori.load("poisson9d:n=4")
