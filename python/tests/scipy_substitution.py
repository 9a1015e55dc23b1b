"""pytest plugin: SciPy's own tests of its iterative solvers, run over ours.

    pytest -p scipy_substitution --pyargs scipy.sparse.linalg._isolve.tests.test_iterative

Of each module the tests stay that concern our functions. What is left out of those, and why, is in LEFT_OUT.
"""

import ayatori
import pytest
import scipy.sparse.linalg._isolve as isolve

OURS = {name: getattr(ayatori, name) for name in ("bicgstab", "cg", "gmres", "minres")}
for name, function in OURS.items():
    setattr(isolve, name, function)

LEFT_OUT = {
    "test_show": "is about tfqmr",
    "TestGMRES::test_callback": "wants the norm of the residual times the preconditioner: ours is that of b - A x",
    "test_defective_precond_breakdown": "compares what is 0 but for rounding with 0, without tolerance",
    "test_convergence[sym-nonpd-bicgstab]": "wants a breakdown: ours starts anew and converges",
}


def solvers_of(item):
    """The names of what a test is about; none where it does not say."""
    parameters = getattr(item, "callspec", None)
    values = parameters.params.values() if parameters else ()
    return {getattr(getattr(value, "solver", value), "__name__", None) for value in values} - {None}


def is_left_out(item):
    return any(item.nodeid.endswith(part) or part in item.name for part in LEFT_OUT)


def pytest_collection_modifyitems(config, items):
    about_others = [item for item in items if (solvers_of(item) and not solvers_of(item) & OURS.keys()) or "QMR" in item.nodeid]
    left_out = [item for item in items if item not in about_others and is_left_out(item)]
    config.hook.pytest_deselected(items=about_others + left_out)
    items[:] = [item for item in items if item not in about_others and item not in left_out]


def pytest_configure(config):
    config.addinivalue_line("markers", "fail_slow: of SciPy's own plugin")


@pytest.fixture(autouse=True)
def _numbers_of_scipy_are_not_tested():
    assert all(getattr(isolve, name) is function for name, function in OURS.items())
