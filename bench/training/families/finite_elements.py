"""Simplex meshes and Lagrange elements of order 1 and 2 on them, assembled by numpy."""

import dataclasses
import itertools
import math

import numpy as np
import scipy.sparse as sp
import scipy.spatial


def jittered_points(per_edge, dimension, rng, jitter):
    """The points of a regular grid in the unit cube, inner ones moved by up to `jitter` edges."""
    axes = [np.linspace(0, 1, per_edge)] * dimension
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, dimension)
    inner = ((points > 1e-9) & (points < 1 - 1e-9)).all(axis=1)
    points[inner] += rng.uniform(-jitter, jitter, (inner.sum(), dimension)) / (per_edge - 1)
    return points


def cube_cells(per_edge, dimension):
    """Kuhn's simplices of a regular grid: dimension! of them in each cube."""
    strides = per_edge ** np.arange(dimension - 1, -1, -1)
    corner = np.stack(np.meshgrid(*[np.arange(per_edge - 1)] * dimension, indexing="ij"), -1).reshape(-1, dimension) @ strides
    cells = []
    for order in itertools.permutations(range(dimension)):
        walk = np.concatenate([[0], np.cumsum(strides[list(order)])])
        cells.append(corner[:, None] + walk)
    return np.concatenate(cells)


def mesh(points_wanted, dimension, rng, jitter=0.2, delaunay=False):
    """(points, cells) of the unit square or cube with about this many points; `delaunay`: of unstructured ones."""
    per_edge = max(round(points_wanted ** (1 / dimension)), 3)
    points = jittered_points(per_edge, dimension, rng, 0.45 if delaunay else jitter)
    if not delaunay:
        return points, cube_cells(per_edge, dimension)
    cells = scipy.spatial.Delaunay(points).simplices
    volume = np.abs(np.linalg.det(points[cells[:, 1:]] - points[cells[:, :1]]))
    return points, cells[volume > 1e-3 * np.median(volume)]


def renumbered(points, cells, rng):
    """The same mesh with its points in the order of a mesh generator that does not care: in random chunks."""
    order = np.argsort(rng.integers(0, max(len(points) // 50, 1), len(points)), kind="stable")
    number = np.empty(len(points), np.int64)
    number[order] = np.arange(len(points))
    return points[order], number[cells]


@dataclasses.dataclass
class Space:
    """Continuous piecewise polynomials: which of them live on each cell, and where their nodes are."""

    points: np.ndarray
    cells: np.ndarray
    dofs: np.ndarray   # [cell, local]
    nodes: np.ndarray  # [dof, axis]
    order: int

    @property
    def size(self):
        return len(self.nodes)


def space(points, cells, order=1):
    used, inverse = np.unique(cells, return_inverse=True)
    points, cells = points[used], inverse.reshape(cells.shape)
    if order == 1:
        return Space(points, cells, cells, points, 1)
    pairs = list(itertools.combinations(range(cells.shape[1]), 2))
    ends = np.sort(np.stack([cells[:, list(pair)] for pair in pairs], axis=1), axis=2).reshape(-1, 2)
    edges, number = np.unique(ends[:, 0] * np.int64(len(points)) + ends[:, 1], return_inverse=True)
    middles = (points[edges // len(points)] + points[edges % len(points)]) / 2
    dofs = np.hstack([cells, len(points) + number.reshape(len(cells), -1)])
    return Space(points, cells, dofs, np.vstack([points, middles]), 2)


def simplex_quadrature(dimension, count):
    """Gauss points of a cube, collapsed into the unit simplex: (barycentric coordinates, weights that sum to 1)."""
    x, w = np.polynomial.legendre.leggauss(count)
    x, w = (x + 1) / 2, w / 2
    grid = np.stack(np.meshgrid(*[x] * dimension, indexing="ij"), -1).reshape(-1, dimension)
    weights = np.prod(np.stack(np.meshgrid(*[w] * dimension, indexing="ij"), -1).reshape(-1, dimension), axis=1)
    left, coordinates = np.ones(len(grid)), []
    for axis in range(dimension):
        coordinates.append(left * grid[:, axis])
        weights = weights * (1 - grid[:, axis]) ** (dimension - 1 - axis)
        left = left * (1 - grid[:, axis])
    barycentric = np.stack([left, *coordinates], axis=1)
    return barycentric, weights * math.factorial(dimension)


@dataclasses.dataclass
class Table:
    """A space's basis at quadrature points q of cells c: values[q, i], gradients[q, c, i, axis], weights[q, c], places[q, c, axis]."""

    values: np.ndarray
    gradients: np.ndarray
    weights: np.ndarray
    places: np.ndarray


def tabulate(of, count=None):
    dimension = of.points.shape[1]
    barycentric, weights = simplex_quadrature(dimension, count or of.order + 1)
    corners = of.points[of.cells]
    edges = corners[:, 1:] - corners[:, :1]
    inverse = np.linalg.inv(edges)
    slopes = np.concatenate([-inverse.sum(axis=2)[:, None, :], np.swapaxes(inverse, 1, 2)], axis=1)  # [c, i, axis]
    volume = np.abs(np.linalg.det(edges)) / math.factorial(dimension)
    if of.order == 1:
        values = barycentric
        gradients = np.broadcast_to(slopes, (len(weights), *slopes.shape))
    else:
        pairs = list(itertools.combinations(range(dimension + 1), 2))
        values = np.hstack([barycentric * (2 * barycentric - 1)] +
                           [4 * barycentric[:, [i]] * barycentric[:, [j]] for i, j in pairs])
        at = barycentric[:, None, :, None]
        gradients = np.concatenate(
            [(4 * at - 1) * slopes] +
            [4 * (at[:, :, [i]] * slopes[:, [j]] + at[:, :, [j]] * slopes[:, [i]]) for i, j in pairs], axis=2)
    places = np.einsum("qi,cid->qcd", barycentric, corners)
    return Table(values, gradients, weights[:, None] * volume, places)


def scatter(blocks, rows, columns, shape):
    """The sum of the cells' dense blocks [c, i, j] as compressed sparse rows."""
    i = np.broadcast_to(rows[:, :, None], blocks.shape)
    j = np.broadcast_to(columns[:, None, :], blocks.shape)
    return sp.coo_matrix((blocks.ravel(), (i.ravel(), j.ravel())), shape=shape).tocsr()


def stiffness(of, coefficient=None, table=None):
    """Integral of coefficient grad u . grad v; the coefficient is a number for each cell or a matrix [axis, axis] for all."""
    table = table or tabulate(of, of.order)
    gradients, weights = table.gradients, table.weights
    if coefficient is None:
        turned = gradients
    elif np.ndim(coefficient) == 1:
        turned, weights = gradients, weights * coefficient
    else:
        turned = gradients @ np.asarray(coefficient)
    blocks = np.einsum("qc,qcid,qcjd->cij", weights, turned, gradients, optimize=True)
    return scatter(blocks, of.dofs, of.dofs, (of.size, of.size))


def mass(of, coefficient=None, lumped=False):
    table = tabulate(of)
    weights = table.weights if coefficient is None else table.weights * coefficient
    blocks = np.einsum("qc,qi,qj->cij", weights, table.values, table.values, optimize=True)
    matrix = scatter(blocks, of.dofs, of.dofs, (of.size, of.size))
    return sp.diags(np.asarray(matrix.sum(axis=1)).ravel()).tocsr() if lumped else matrix


def load(of, density=1.0):
    """Integral of a constant or of density(places) times each basis function."""
    table = tabulate(of)
    at = density(table.places) if callable(density) else density
    blocks = np.einsum("qc,qi->ci", table.weights * at, table.values)
    return np.bincount(of.dofs.ravel(), blocks.ravel(), of.size)


def advection(of, wind):
    """Integral of (wind . grad u) v; the wind is a function of places[..., axis]."""
    table = tabulate(of)
    along = np.einsum("qcid,qcd->qci", table.gradients, wind(table.places))
    blocks = np.einsum("qc,qi,qcj->cij", table.weights, table.values, along, optimize=True)
    return scatter(blocks, of.dofs, of.dofs, (of.size, of.size))


def vector_dofs(of):
    """The numbers of displacements, those of a node together: [c, i * dimension + axis]."""
    dimension = of.points.shape[1]
    return (of.dofs[:, :, None] * dimension + np.arange(dimension)).reshape(len(of.dofs), -1)


def elasticity(of, lame, shear):
    """Integral of lame div u div v + 2 shear e(u) : e(v); moduli are numbers or one for each cell."""
    table = tabulate(of, of.order)
    g, dimension = table.gradients, of.points.shape[1]
    of_shear, of_lame = table.weights * shear, table.weights * lame
    inner = np.einsum("qc,qcid,qcjd->cij", of_shear, g, g, optimize=True)
    crossed = np.einsum("qc,qcib,qcja->ciajb", of_shear, g, g, optimize=True)
    divergence = np.einsum("qc,qcia,qcjb->ciajb", of_lame, g, g, optimize=True)
    blocks = crossed + divergence + np.einsum("cij,ab->ciajb", inner, np.eye(dimension))
    count = of.dofs.shape[1] * dimension
    dofs = vector_dofs(of)
    size = of.size * dimension
    return scatter(blocks.reshape(-1, count, count), dofs, dofs, (size, size))


def divergence(velocity, pressure):
    """Integral of q div u, u in the vectors of one space and q in the other, on the same cells."""
    of_velocity, of_pressure = tabulate(velocity, 3), tabulate(pressure, 3)
    blocks = np.einsum("qc,qj,qcia->cjia", of_velocity.weights, of_pressure.values, of_velocity.gradients, optimize=True)
    blocks = blocks.reshape(len(blocks), pressure.dofs.shape[1], -1)
    return scatter(blocks, pressure.dofs, vector_dofs(velocity), (pressure.size, velocity.size * velocity.points.shape[1]))


def on_boundary(nodes, sides=None):
    """Nodes on the border of the unit cube, or on some of its sides: (axis, 0 or 1) each."""
    if sides is None:
        return ((nodes < 1e-9) | (nodes > 1 - 1e-9)).any(axis=1)
    return np.logical_or.reduce([np.abs(nodes[:, axis] - end) < 1e-9 for axis, end in sides])


def without(matrix, fixed, *vectors):
    """The rows and columns that are not fixed, and so of vectors."""
    free = np.flatnonzero(~fixed)
    return matrix.tocsr()[free][:, free].tocsr(), *(vector[free] for vector in vectors)


def with_identity_rows(matrix, fixed, symmetric=True):
    """Fixed rows become those of the identity; their columns go too, for symmetry."""
    keep = sp.diags((~fixed).astype(float))
    return (keep @ matrix @ (keep if symmetric else sp.identity(len(fixed))) + sp.diags(fixed.astype(float))).tocsr()
