"""OpenBLAS on processors that are newer than it is."""

import contextlib
import os
import platform

VARIABLE = "OPENBLAS_CORETYPE"  # which OpenBLAS reads once, when it is loaded


@contextlib.contextmanager
def best_kernels():
    """While the core is loaded: an OpenBLAS that does not know the processor would compute by its oldest kernels, far slower.

    Where the user has set the variable, it stays. Others that load an OpenBLAS of their own later do not see ours.
    """
    core_type = "" if VARIABLE in os.environ or platform.machine() != "x86_64" else _core_type()
    if core_type:
        os.environ[VARIABLE] = core_type
    try:
        yield
    finally:
        if core_type:
            del os.environ[VARIABLE]


def _core_type():
    try:
        with open("/proc/cpuinfo") as file:
            flags = next((line.split() for line in file if line.startswith("flags")), ())
    except OSError:
        return ""
    if {"avx512f", "avx512bw", "avx512dq", "avx512vl"}.issubset(flags):
        return "SKYLAKEX"
    return "HASWELL" if {"avx2", "fma"}.issubset(flags) else ""
