"""pytest plugin: SciPy's own tests of its solvers, run over ours.

    pytest -p scipy_substitution --pyargs scipy.sparse.linalg._isolve.tests.test_iterative

Of each module the tests stay that concern our functions. What is left out of those, and why, is in LEFT_OUT.
"""

import ayatori
import pytest
import scipy.sparse.linalg as linalg
import scipy.sparse.linalg._dsolve as dsolve
import scipy.sparse.linalg._isolve as isolve

PLACES = {
    isolve: ("bicgstab", "cg", "gmres", "minres"),
    dsolve: ("factorized", "splu", "spsolve"),
}
OURS = {name: getattr(ayatori, name) for names in PLACES.values() for name in names}
for place, names in PLACES.items():
    for name in names:
        setattr(place, name, OURS[name])
        setattr(linalg, name, OURS[name])

LEFT_OUT = {
    "test_show": "is about tfqmr",
    "TestGMRES::test_callback": "wants the norm of the residual times the preconditioner: ours is that of b - A x",
    "test_defective_precond_breakdown": "compares what is 0 but for rounding with 0, without tolerance",
    "test_convergence[sym-nonpd-bicgstab]": "wants a breakdown: ours starts anew and converges",
    "test_call_with_cast_to_complex_without_umfpack": "wants complex right-hand sides of a real matrix refused: ours solves",
    "TestSplu::test_bad_inputs": "the same",
    "test_splu_perm": "wants perm_r and perm_c: our libraries keep them",
    "test_natural_permc": "the same",
    "test_lu_refcount": "the same",
    "test_lu_attr": "the same, and L and U",
}

# Parts of the names of tests that concern functions which are not ours.
OF_OTHERS = ("QMR", "spilu", "gssv", "GstrsErrors", "SpsolveTriangular", "is_sptriangular")


def solvers_of(item):
    """The names of what a test is about; none where it does not say."""
    parameters = getattr(item, "callspec", None)
    values = parameters.params.values() if parameters else ()
    return {getattr(getattr(value, "solver", value), "__name__", None) for value in values} - {None}


def is_of_others(item):
    return any(part in item.nodeid for part in OF_OTHERS) or (solvers_of(item) and not solvers_of(item) & OURS.keys())


def is_left_out(item):
    return any(item.nodeid.endswith(part) or part in item.name for part in LEFT_OUT)


def pytest_collection_modifyitems(config, items):
    about_others = [item for item in items if is_of_others(item)]
    left_out = [item for item in items if item not in about_others and is_left_out(item)]
    config.hook.pytest_deselected(items=about_others + left_out)
    items[:] = [item for item in items if item not in about_others and item not in left_out]


def pytest_configure(config):
    for marker in ("fail_slow", "thread_unsafe", "parallel_threads_limit", "slow", "xslow"):
        config.addinivalue_line("markers", f"{marker}: of SciPy's own plugin")


@pytest.fixture(autouse=True)
def _numbers_of_scipy_are_not_tested():
    assert all(getattr(place, name) is OURS[name] for place, names in PLACES.items() for name in names)
