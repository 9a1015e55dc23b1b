"""The generators of the library, by `ayatori.load`."""

import numpy as np


def generated(size, rng, spec="poisson2d-5", dimension=2, per_point=1, **parameters):
    import ayatori

    n = max(round((size / per_point) ** (1 / dimension)), 3)
    words = ",".join(f"{key}={value}" for key, value in {"n": n, **parameters}.items())
    matrix = ayatori.load(f"{spec}:{words}")
    return matrix, matrix @ rng.uniform(-1, 1, matrix.shape[0])
