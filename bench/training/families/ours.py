"""The generators of the library, by `ayatori.load`."""

import numpy as np


def generated(size, rng, spec="poisson2d-5", dimension=2, per_point=1, **parameters):
    import ayatori

    n = max(round((size / per_point) ** (1 / dimension)), 3)
    words = ",".join(f"{key}={value}" for key, value in {"n": n, **parameters}.items())
    matrix = ayatori.load(f"{spec}:{words}")
    return matrix, matrix @ rng.uniform(-1, 1, matrix.shape[0])


def normal_equations(size, rng, spec="least-squares", **parameters):
    """A^T A of a rectangular one, and A^T b of observations with errors."""
    import ayatori

    n = max(round((size / 3) ** 0.5), 3)
    matrix = ayatori.load(f"{spec}:" + ",".join(f"{key}={value}" for key, value in {"n": n, **parameters}.items()))
    errors = 0.1 * rng.standard_normal(matrix.shape[0])
    return matrix.T @ matrix, matrix.T @ (matrix @ rng.uniform(-1, 1, matrix.shape[1]) + errors)
