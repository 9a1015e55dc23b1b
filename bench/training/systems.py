#!/usr/bin/env python3
"""Systems to train the tuner on: which families there are, with which parameters and sizes, and in which order they are made.

usage: bench/training/systems.py            lists the families
       bench/training/systems.py NAME       makes the system of this name and says what it is

A system's name is FAMILY:KEY=VALUE,...:SIZE:SEED, such as heat:dimension=2,step=0.001:4000:0, and all that it takes to make it again.
"""

import dataclasses
import itertools
import sys
import zlib

import numpy as np
import scipy.sparse as sp

from families import diffusion, ours

SIZES = (1000, 4000, 16000, 64000, 250000, 1000000)  # rows, about


@dataclasses.dataclass(frozen=True)
class Family:
    """`make(size, rng, **parameters)` gives a matrix, or a matrix and its right-hand side. Systems of a family are made with each of the
    settings of parameters. `symmetric` and `definite` are what every one of them is (positive semidefinite where `singular`)."""

    name: str
    kind: str
    make: object
    settings: tuple
    symmetric: bool = False
    definite: bool = False
    singular: bool = False
    most: int = 1000000  # rows: more take too long to make, or too much memory


@dataclasses.dataclass(frozen=True)
class Recipe:
    """What a system is made from."""

    family: Family
    parameters: dict
    size: int
    seed: int

    @property
    def name(self):
        words = ",".join(f"{key}={value}" for key, value in self.parameters.items())
        return f"{self.family.name}:{words}:{self.size}:{self.seed}"


@dataclasses.dataclass(frozen=True)
class System:
    recipe: Recipe
    matrix: sp.csr_matrix  # sorted, without duplicates
    b: np.ndarray


def spd(name, kind, make, *settings, **more):
    return Family(name, kind, make, settings, symmetric=True, definite=True, **more)


def symmetric(name, kind, make, *settings, **more):
    return Family(name, kind, make, settings, symmetric=True, **more)


def general(name, kind, make, *settings, **more):
    return Family(name, kind, make, settings, **more)


FAMILIES = (
    # Diffusion
    spd("heat", "diffusion", diffusion.heat, dict(step=1e-4), dict(step=1e-2), dict(dimension=3, step=1e-3), dict(order=2, step=1e-3),
        dict(step=1e-6), dict(step=1.0), dict(step=1e-3, lumped=True), dict(dimension=3, order=2, step=1e-2)),
    spd("heat-penalty", "diffusion", diffusion.heat, dict(step=1e-3, penalty=1e30), dict(dimension=3, step=1e-2, penalty=1e30),
        dict(step=1e-1, penalty=1e10)),
    spd("poisson-elements", "diffusion", diffusion.poisson, dict(), dict(dimension=3), dict(order=2), dict(dimension=3, order=2),
        dict(shuffled=True), dict(dimension=3, shuffled=True)),
    spd("rough-coefficient", "diffusion", diffusion.poisson, dict(spread=3), dict(dimension=3, spread=2), dict(order=2, spread=6)),
    general("identity-rows", "diffusion", diffusion.identity_rows, dict(symmetric=False), dict(symmetric=True),
            dict(dimension=3, symmetric=False)),
    spd("anisotropic-elements", "diffusion", diffusion.anisotropic_elements, dict(ratio=1e-2), dict(ratio=1e-4), dict(ratio=1e-3, angle=0)),
    spd("groundwater", "diffusion", diffusion.groundwater, dict(deviation=2.0), dict(deviation=4.0, zones=True),
        dict(dimension=3, deviation=1.5), dict(layers=5, deviation=1.0), dict(deviation=0.5)),
    spd("graded-cells", "diffusion", diffusion.graded, dict(ratio=1e3), dict(ratio=1e2, clustered=False), dict(dimension=2, ratio=1e4)),
    spd("neumann", "diffusion", diffusion.neumann, dict(), dict(dimension=3), dict(deviation=2.0), singular=True),
    spd("fractures", "diffusion", diffusion.wells_and_fractures, dict(contrast=1e6), dict(contrast=1e3)),
    general("time-space", "diffusion", diffusion.time_space, dict(step=1e-2), dict(steps=32, step=1e-3), dict(step=1.0)),
    general("fractional", "diffusion", diffusion.fractional, dict(order=1.5), dict(order=1.8, step=1.0), dict(order=1.2), most=64000),
    general("black-scholes", "diffusion", diffusion.black_scholes, dict(), dict(step=1.0), dict(correlation=0.95, step=0.1)),
    # The library's own generators
    spd("own-poisson", "own", ours.generated, dict(spec="poisson2d-5"), dict(spec="poisson3d-7", dimension=3), dict(spec="poisson3d-27", dimension=3)),
    general("own-elliptic", "own", ours.generated, dict(spec="elliptic2d-5"), dict(spec="elliptic3d-7", dimension=3), dict(reaction=-50, spec="elliptic2d-5"),
            dict(convection=1000, spec="elliptic2d-5")),
    general("own-convection", "own", ours.generated, dict(spec="convection2d", peclet=1000), dict(spec="convection3d", dimension=3, peclet=100),
            dict(spec="convection2d", peclet=100000), dict(spec="convection2d", peclet=50, upwind=0), dict(spec="convection3d", dimension=3, peclet=1e4, recirculating=0)),
    spd("own-anisotropic", "own", ours.generated, dict(spec="anisotropic2d"), dict(spec="anisotropic3d", dimension=3), dict(spec="anisotropic2d", epsilon=1e-4, angle=0)),
    spd("own-jump", "own", ours.generated, dict(spec="jump2d"), dict(spec="jump3d", dimension=3), dict(spec="jump2d", ratio=1e6, seed=3)),
    spd("own-elasticity", "own", ours.generated, dict(spec="elasticity3d", dimension=3, per_point=3), dict(spec="elasticity3d", dimension=3, per_point=3, nu=0.49)),
    spd("own-tetrahedra", "own", ours.generated, dict(spec="tetrahedra3d", dimension=3), dict(spec="tetrahedra3d", dimension=3, seed=7)),
    general("own-random", "own", ours.generated, dict(spec="random", dimension=1), dict(spec="random", dimension=1, dominance=0.6), dict(spec="random", dimension=1, dominance=3)),
    spd("own-random-spd", "own", ours.generated, dict(spec="random-spd", dimension=1), dict(spec="random-spd", dimension=1, per_row=30)),
)


def recipes(families=None, most_rows=max(SIZES)):
    """The recipes of all systems, cheap and different ones first: families take turns. The first pass makes one system of each size,
    with one setting after the other; the next passes shift settings, and later ones seeds. A pass costs as much as four times the size."""
    planned = []
    wanted = [family for family in FAMILIES if not families or family.name in families or family.kind in families]
    for (place, size), shift in itertools.product(enumerate(SIZES), range(12)):
        for order, family in enumerate(wanted):
            seed, setting = divmod(shift, len(family.settings))
            if size <= min(most_rows, family.most):
                parameters = family.settings[(setting + place) % len(family.settings)]
                planned.append((place + shift, place, order, Recipe(family, parameters, size, seed)))
    return [recipe for *_, recipe in sorted(planned, key=lambda entry: entry[:3])]


def value_of(word):
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            pass
    return {"True": True, "False": False}.get(word, word)


def recipe_of(name):
    """The recipe of a system's name. Raises KeyError for a family that is not there."""
    family, words, size, seed = name.split(":")
    parameters = dict(word.split("=") for word in words.split(",") if word)
    return Recipe({one.name: one for one in FAMILIES}[family], {key: value_of(word) for key, word in parameters.items()}, int(size), int(seed))


def make(recipe):
    """The same system for the same recipe, whatever was made before."""
    rng = np.random.default_rng([zlib.crc32(recipe.name.rsplit(":", 2)[0].encode()), recipe.size, recipe.seed])
    made = recipe.family.make(recipe.size, rng, **recipe.parameters)
    matrix, b = made if isinstance(made, tuple) else (made, None)
    matrix = sp.csr_matrix(matrix, dtype=np.float64)
    matrix.sum_duplicates()
    if recipe.family.symmetric:
        matrix = ((matrix + matrix.T) / 2).tocsr()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    if b is None:
        b = matrix @ rng.uniform(-1, 1, matrix.shape[0])
    return System(recipe, matrix, np.asarray(b, dtype=np.float64))


def main():
    if len(sys.argv) > 1:
        system = make(recipe_of(sys.argv[1]))
        print(f"{system.recipe.name}: {system.matrix.shape[0]} rows, {system.matrix.nnz} nonzeros")
        return
    for family in FAMILIES:
        print(f"{family.name:24} {family.kind:16} {len(family.settings)} settings: {(family.make.__doc__ or '').strip().splitlines()[0]}")


if __name__ == "__main__":
    main()
