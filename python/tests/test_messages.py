"""What is none of the things wanted is named for what it is, in every function that takes it."""

import ayatori
import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.sparse.linalg import aslinearoperator

METHODS = [ayatori.cg, ayatori.minres, ayatori.bicgstab, ayatori.gmres, ayatori.cgs, ayatori.tfqmr, ayatori.qmr, ayatori.lgmres, ayatori.gcrotmk]
LEAST_SQUARES = [ayatori.lsqr, ayatori.lsmr]
SYSTEMS = [*METHODS, *LEAST_SQUARES, ayatori.spsolve, ayatori.solve]
OF_A = [ayatori.eigh, ayatori.splu, ayatori.factorized, ayatori.preconditioner, ayatori.Solver]
NO_NUMBERS = [(None, "None: give a sparse matrix or an array of numbers$"), ("A.mtx", "a str: read a file by"), (len, "a function"), ({}, "a dict: give"),
              (np.array([["1"]]), r"strings \(dtype <U1\)"), (np.array([[None]]), r"Python objects \(dtype object\)")]


@pytest.mark.parametrize("wrong, words", NO_NUMBERS)
@pytest.mark.parametrize("function", [*SYSTEMS, *OF_A])
def test_matrices(poisson, function, wrong, words):
    with pytest.raises(TypeError, match=f"^A (is|holds) {words}"):
        function(wrong, poisson[1]) if function in SYSTEMS else function(wrong)


@pytest.mark.parametrize("wrong, words", NO_NUMBERS)
@pytest.mark.parametrize("function", SYSTEMS)
def test_right_hand_sides(poisson, function, wrong, words):
    with pytest.raises(TypeError, match=f"^b (is|holds) {words}"):
        function(poisson[0], wrong)


@pytest.mark.parametrize("wrong, words", [case for case in NO_NUMBERS if case[0] is not None and not isinstance(case[0], str)])
@pytest.mark.parametrize("function", [*METHODS, *LEAST_SQUARES, ayatori.solve])
def test_starting_guesses(poisson, function, wrong, words):
    with pytest.raises(TypeError, match=f"^x0 (is|holds) {words}"):
        function(*poisson, x0=wrong)


@pytest.mark.parametrize("function", [*METHODS, ayatori.solve])
@pytest.mark.parametrize("wrong, words", [(3, "a single number"), (np.ones(100), "a vector of 100"), (np.eye(3), "3 x 3")])
def test_preconditioners(poisson, function, wrong, words):
    name = "M1" if function is ayatori.qmr else "M"
    if function is not ayatori.solve and np.ndim(wrong) == 1:
        words = "has 1 dimension, but"
    with pytest.raises(ValueError, match=f"^{name} .*{words}"):
        function(*poisson, **{name: wrong})


def test_names_of_preconditioners(poisson):
    with pytest.raises(TypeError, match="^M is 'ilu', .*: give preconditioner='ilu'$"):
        ayatori.solve(*poisson, M="ilu")
    with pytest.raises(TypeError, match=r"^M is 'ilu', .*: make it by ayatori.preconditioner\(A, 'ilu'\).aspreconditioner\(\)$"):
        ayatori.cg(*poisson, M="ilu")


@pytest.mark.parametrize("function", SYSTEMS)
@pytest.mark.parametrize("value, word", [(np.nan, "NaN"), (np.inf, "infinite")])
def test_what_is_not_finite(poisson, function, value, word):
    A, b = poisson
    if function is not ayatori.spsolve:  # which gives NaN for NaN, as SciPy's
        with pytest.raises(ValueError, match=rf"^b\[5\] is {word}"):
            function(A, np.where(np.arange(400) == 5, value, b))
    wrong = A.tolil()
    wrong[3, 4] = value
    for matrix in (wrong.tocsr(), wrong.tocsc(), wrong, wrong.todok(), wrong.tobsr(), wrong.toarray()):
        if function in (ayatori.lgmres, ayatori.gcrotmk):
            assert function(matrix, b)[1] != 0  # as SciPy's tests have it
            continue
        with pytest.raises(ValueError, match=rf"^A\[3, 4\] is {word} .counted from 0.$"):
            function(matrix, b)
    if function in METHODS:
        name = "M1" if function is ayatori.qmr else "M"
        with pytest.raises(ValueError, match=rf"^{name}\[3, 4\] is {word}"):
            function(A, b, **{name: wrong.tocsr()})
        with pytest.raises(ValueError, match=rf"^x0\[0\] is {word}"):
            function(A, b, x0=b * 0 + value)


def broken(A, form, place, value):
    """A copy with a place that the matrix does not have."""
    matrix = A.asformat(form).copy()
    array = matrix.coords[int(place)] if place.isdigit() else getattr(matrix, place)
    array[7] = value
    return matrix


@pytest.mark.parametrize("function", [*SYSTEMS, *OF_A])
@pytest.mark.parametrize("form, place, words", [("csr", "indices", r"A.indices\[7\]"), ("csc", "indices", r"A.indices\[7\]"), ("bsr", "indices", r"A.indices\[7\]"),
                                                ("coo", "0", r"A.coords\[0\]\[7\]"), ("coo", "1", r"A.coords\[1\]\[7\]")])
def test_entries_outside_of_the_matrix(poisson, function, form, place, words):
    A, b = poisson
    for value in (10**6, -2):
        wrong = broken(A, form, place, value)
        with pytest.raises(ValueError, match=f"^{words} is {value}, but has to be 0 to 399$"):
            function(wrong, b) if function in SYSTEMS else function(wrong)


@pytest.mark.parametrize("starts", [10**6, 0])
def test_row_pointers_that_are_none(poisson, starts):
    A, b = poisson
    for call in (lambda wrong: ayatori.solve(wrong, b), ayatori.splu, lambda wrong: ayatori.predict(wrong, profile="altix3700bx2")):
        with pytest.raises(ValueError, match="^A.indptr has to begin with 0, never to fall, and to end with the number of entries, 1920$"):
            call(broken(A, "csr", "indptr", starts))


def test_options_of_another_type(poisson):
    for name in ("threads", "max_iterations", "rtol", "drop", "method", "exclude"):
        with pytest.raises(TypeError, match=f"^{name} is True, but must be of type"):
            ayatori.solve(*poisson, **{name: True})
    with pytest.raises(TypeError, match="^reproducible is 1, but must be of type bool$"):
        ayatori.solve(*poisson, reproducible=1)
    for name in ("knowledge", "method", "network", "profile"):
        with pytest.raises(ValueError, match=f"^{name} is empty: name "):
            ayatori.solve(*poisson, **{name: ""})


def test_counts_and_tolerances(poisson):
    for method in METHODS:
        with pytest.raises(TypeError, match="^maxiter is 'all', but must be a whole number$"):
            method(*poisson, maxiter="all")
        for wrong in ("small", -1.0, np.nan):
            with pytest.raises(ValueError, match="^rtol is .*, but must be a number, and not negative$"):
                method(*poisson, rtol=wrong)


@pytest.mark.parametrize("function, wrong, right", [
    (ayatori.cg, "tol", "rtol"), (ayatori.gmres, "max_iter", "maxiter"), (ayatori.minres, "preconditioner", "M"), (ayatori.bicgstab, "m", "M"),
    (ayatori.gmres, "restrt", "restart"), (ayatori.lsqr, "maxiter", "iter_lim"), (ayatori.lsmr, "iter_lim", "maxiter"), (ayatori.lsmr, "tol", "btol"),
    (ayatori.qmr, "callbak", "callback"), (ayatori.solve, "tol", "rtol"), (ayatori.solve, "maxiter", "max_iterations"), (ayatori.solve, "n_jobs", "threads"),
    (ayatori.solve, "callback", "progress"), (ayatori.solve, "guess", "x0"), (ayatori.solve, "precond", "preconditioner"), (ayatori.Solver, "solver", "method"),
    (ayatori.spsolve, "use_umfpak", "use_umfpack"), (ayatori.eigh, "tol", "tolerance"), (ayatori.eigh, "small", "smallest"),
    (ayatori.preconditioner, "nthreads", "threads")])
def test_the_right_word(poisson, function, wrong, right):
    with pytest.raises(TypeError, match=f"^there is no option {wrong}: did you mean {right}[?]$"):
        function(*poisson[:1 if function in OF_A else 2], **{wrong: 1})


@pytest.mark.parametrize("call, error, words", [
    (lambda A, b: ayatori.gmres(A, b, restart="x"), TypeError, "restart is 'x', but must be a whole number$"),
    (lambda A, b: ayatori.lgmres(A, b, inner_m=1.5), TypeError, "inner_m is 1.5, but must be a whole number$"),
    (lambda A, b: ayatori.gcrotmk(A, b, k="x"), TypeError, "k is 'x', but must be a whole number$"),
    (lambda A, b: ayatori.cg(A, b, callback=3), TypeError, "callback is 3, but must be a function$"),
    (lambda A, b: ayatori.tfqmr(A, b, callback=3), TypeError, "callback is 3, but must be a function$"),
    (lambda A, b: ayatori.minres(A, b, shift="x"), ValueError, "shift is 'x', but must be a number$"),
    (lambda A, b: ayatori.lsmr(A, b, damp="x"), ValueError, "damp is 'x', but must be a number, and not negative$"),
    (lambda A, b: ayatori.lsqr(A, b, atol=None), ValueError, "atol is None, but must be a number, and not negative$"),
    (lambda A, b: ayatori.eigh(A, smallest="x"), TypeError, "smallest is 'x', but must be a whole number$"),
    (lambda A, b: ayatori.eigh(A, subset_by_index=3), ValueError, "subset_by_index is 3, but must be two numbers: the first and the last$"),
    (lambda A, b: ayatori.eigh(A, subset_by_value=(0, "x")), ValueError, "subset_by_value is 'x', but must be a number$"),
    (lambda A, b: ayatori.cg(3, b), ValueError, "A is a single number, but has to have rows and columns$"),
    (lambda A, b: ayatori.load(""), ValueError, "source is '', but must be the name of a file, or of a generator$"),
    (lambda A, b: ayatori.load(None), ValueError, "source is None, but must be"),
    (lambda A, b: ayatori.save("A.txt", A), ValueError, "A.txt: the name of a file to write ends in one of .mtx, .mtx.gz, .petsc, .npz, .npy, .mat, .h5, .hdf5$")])
def test_numbers_and_names(poisson, call, error, words):
    with pytest.raises(error, match=f"^{words}"):
        call(*poisson)


def test_what_superlu_does_not_take():
    A, b = sparse.eye_array(5).tocsc(), np.ones(5)
    for call in (lambda: ayatori.splu(A, permc_spec="FOO"), lambda: ayatori.spsolve(A, b, permc_spec="FOO")):
        with pytest.raises(ValueError, match="^permc_spec is 'FOO', but must be one of NATURAL, MMD_ATA, MMD_AT_PLUS_A, COLAMD;"):
            call()
    for name, value in (("relax", "much"), ("panel_size", 0.5), ("diag_pivot_thresh", "low")):
        with pytest.raises(TypeError, match=f"^{name} is {value!r}, but must be a "):
            ayatori.splu(A, **{name: value})
    assert ayatori.splu(A, permc_spec="COLAMD", relax=1, panel_size=2, diag_pivot_thresh=0.5).shape == (5, 5)


def test_a_solver_shows_itself(poisson):
    A, b = poisson
    solver = ayatori.Solver(A, method="cg", rtol=1e-6, threads=1)
    assert repr(solver) == "<Solver of 400 x 400, real, method='cg', threads=1, rtol=1e-06; 0 solves, nothing is set up yet>"
    solver.solve(b)
    solver.solve(np.stack([b, b], 1))
    assert "; 3 solves, 1 set-up served" in repr(solver) and "\n" not in repr(solver)
    by_products = ayatori.Solver(aslinearoperator(A * 1j))
    by_products.solve(b)
    assert repr(by_products) == "<Solver of 400 x 400, complex; 1 solve, nothing is kept between solves>"
