"""`progress=True`: the line of the command line, on a terminal alone."""

import os
import pty
import subprocess
import sys

import numpy as np
import pytest

import ayatori

CODE = """
import ayatori, numpy
A = ayatori.load("elliptic2d-5:n=120")
result = ayatori.solve(A, numpy.ones(A.shape[0]), progress={progress}, method="gmres", restart=2, preconditioner="none", time_limit=1.0)
assert not result.converged
"""


def stderr_of(progress):
    """What goes to the terminal that is stderr."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([sys.executable, "-c", CODE.format(progress=progress)], stderr=theirs, env=os.environ | {"TERM": "xterm"})
    os.close(theirs)
    sent = b""
    try:
        while piece := os.read(ours, 65536):
            sent += piece
    except OSError:
        pass
    os.close(ours)
    assert process.wait(timeout=60) == 0, sent
    return sent.decode()


def test_a_line_on_a_terminal():
    sent = stderr_of(True)
    assert "gmres(2)" in sent and sent.endswith("\r\x1b[K")
    assert stderr_of(False) == ""


def test_silent_elsewhere():
    done = subprocess.run([sys.executable, "-c", CODE.format(progress=True)], capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def test_anything_else_is_an_error():
    with pytest.raises(TypeError, match="progress"):
        ayatori.solve(np.eye(3), np.ones(3), progress=3)


def test_a_result_prints_as_its_summary():
    result = ayatori.solve(2 * np.eye(3), np.ones(3))
    assert str(result) == result.summary and "converged: true relative residual" in str(result)
