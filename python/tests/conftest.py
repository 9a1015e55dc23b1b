import numpy as np
import pytest
import scipy.sparse as sparse


@pytest.fixture
def poisson():
    """The 5-point Laplacian on 20 x 20 points, and a right-hand side."""
    line = sparse.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(20, 20))
    return sparse.kronsum(line, line).tocsr(), np.sin(np.arange(400.0))


def residual(A, x, b):
    return np.linalg.norm(b - A @ x) / np.linalg.norm(b)
