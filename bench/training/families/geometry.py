"""Shapes: surfaces, clouds of particles, cut and refined cells, thin layers, long reaches."""

import numpy as np
import scipy.sparse as sp
import scipy.spatial

from . import diffusion, networks


def sphere(size, rng, bumps=0.3):
    """Points and triangles of a bumpy sphere."""
    points = rng.standard_normal((max(int(size), 50), 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    triangles = scipy.spatial.ConvexHull(points).simplices
    radius = 1 + bumps * np.sin(5 * points[:, 0]) * np.sin(4 * points[:, 1] + 3 * points[:, 2])
    return points * radius[:, None], triangles


def cotangent_laplacian(points, triangles):
    """(stiffness, lumped areas) of linear elements on a surface."""
    count = len(points)
    parts, area = [], np.zeros(count)
    for k in range(3):
        a, b, c = triangles[:, k], triangles[:, (k + 1) % 3], triangles[:, (k + 2) % 3]
        u, v = points[b] - points[a], points[c] - points[a]
        cross = np.maximum(np.linalg.norm(np.cross(u, v), axis=1), 1e-12)
        parts.append((b, c, (u * v).sum(axis=1) / cross / 2))
        np.add.at(area, a, cross / 6)
    first, second, weight = (np.concatenate(part) for part in zip(*parts))
    return networks.laplacian_of(first, second, weight, count), area


def surface(size, rng, step=1e-2):
    """A step of the heat method for distances on a surface: lumped areas plus a stiffness whose weights may be negative."""
    points, triangles = sphere(size, rng)
    stiffness, area = cotangent_laplacian(points, triangles)
    b = np.zeros(len(points))
    b[rng.integers(0, len(points), 3)] = 1.0
    return sp.diags(area) + step * stiffness, b


def fairing(size, rng, stiff=1e-4):
    """A surface made smooth: bending energy by the squared Laplacian, some points held by springs."""
    points, triangles = sphere(size, rng)
    stiffness, area = cotangent_laplacian(points, triangles)
    held = np.where(rng.random(len(points)) < 0.05, 1.0, 1e-6)
    return stiff * (stiffness @ sp.diags(1 / area) @ stiffness) + sp.diags(held * area), held * area * points[:, 0]


def particles(size, rng, neighbours=30, dimension=3, free=0.1):
    """Pressure of a cloud of particles (moving-particle methods): weights that fall with distance, zero pressure at a free surface."""
    points = rng.random((max(int(size), 100), dimension))
    distance, near = scipy.spatial.cKDTree(points).query(points, neighbours + 1)
    reach = distance[:, -1:]
    weight = (reach / np.maximum(distance[:, 1:], 0.05 * reach) - 1).ravel()
    matrix = networks.laplacian_of(np.repeat(np.arange(len(points)), neighbours), near[:, 1:].ravel(), weight, len(points))
    inside = np.flatnonzero(points[:, -1] < 1 - free)
    return matrix.tocsr()[inside][:, inside], None


def peridynamic(size, rng, horizon=3, dimension=2, damage=0.0):
    """Nonlocal diffusion: every cell exchanges with all within a horizon; `damage`: share of broken bonds."""
    shape = diffusion.cube(size, dimension)
    number = np.arange(np.prod(shape)).reshape(shape)
    pieces = []
    for offset in np.ndindex(*(2 * horizon + 1,) * dimension):
        move = np.array(offset) - horizon
        length = np.linalg.norm(move)
        if not 0 < length <= horizon or tuple(move) < tuple(-move):
            continue
        here = tuple(slice(max(0, -m), n - max(0, m)) for m, n in zip(move, shape))
        there = tuple(slice(max(0, m), n - max(0, -m)) for m, n in zip(move, shape))
        a, c = number[here].ravel(), number[there].ravel()
        keep = rng.random(len(a)) >= damage
        pieces.append((a[keep], c[keep], np.full(keep.sum(), 1 / length)))
    first, second, weight = (np.concatenate(part) for part in zip(*pieces))
    matrix = networks.laplacian_of(first, second, weight, number.size)
    held = np.zeros(shape)
    held[:horizon] = 10.0
    return matrix + sp.diags(held.ravel() + 1e-8), None


def cut_cells(size, rng, dimension=2, smallest=1e-6):
    """Poisson's equation outside of spheres on a regular grid: cells and faces that the spheres cut are as small as can be."""
    shape = diffusion.cube(size, dimension)
    place = np.stack(np.meshgrid(*[(np.arange(n) + 0.5) / n for n in shape], indexing="ij"), axis=-1).reshape(-1, dimension)
    gap = np.full(len(place), np.inf)
    for centre, radius in zip(rng.random((12, dimension)), rng.uniform(0.03, 0.12, 12)):
        gap = np.minimum(gap, np.linalg.norm(place - centre, axis=1) - radius)
    width = 1 / shape[0]
    open_share = np.clip(gap / width + 0.5, 0, 1)
    open_share = np.where((open_share > 0) & (open_share < 1), np.maximum(open_share**4, smallest), open_share)
    first, second, _ = diffusion.edges_of_grid(shape)
    weight = np.minimum(open_share[first], open_share[second])
    keep = weight > 0
    matrix = networks.laplacian_of(first[keep], second[keep], weight[keep], len(place))
    held = np.zeros(shape)
    held[0] = 1.0
    matrix = (matrix + sp.diags(held.ravel() * open_share)).tocsr()
    inside = np.flatnonzero((open_share > 0) & (matrix.diagonal() > 0))
    return matrix[inside][:, inside], open_share[inside]


def hanging_nodes(size, rng, levels=3):
    """Finite volumes on a grid that is refined here and there; fluxes across levels are not symmetric."""
    n = diffusion.cube(size / 2.0, 2)[0]
    cells = [(0, i, j) for i in range(n) for j in range(n)]
    done = []
    for level in range(levels):
        fine, centre = [], rng.random(2)
        for cell in cells:
            _, i, j = cell
            side = n * 2**level
            near = np.hypot((i + 0.5) / side - centre[0], (j + 0.5) / side - centre[1]) < 0.35 / 2**level
            if near and level < levels - 1:
                fine += [(level + 1, 2 * i + a, 2 * j + b) for a in (0, 1) for b in (0, 1)]
            else:
                done.append(cell)
        cells = fine
    number = {cell: k for k, cell in enumerate(done)}
    rows, columns, values = [], [], []
    diagonal = np.zeros(len(done))
    for cell, k in number.items():
        level, i, j = cell
        for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            side = n * 2**level
            u, v = i + a, j + b
            if not (0 <= u < side and 0 <= v < side):
                diagonal[k] += 2.0
                continue
            if (level, u, v) in number:
                others, weight = [(level, u, v)], 1.0
            elif (level - 1, u // 2, v // 2) in number:
                others, weight = [(level - 1, u // 2, v // 2)], 2 / 3
            else:
                others = [(level + 1, 2 * u + (x if a == 0 else (a < 0)), 2 * v + (x if b == 0 else (b < 0))) for x in (0, 1)]
                weight = 0.6
            for other in others:
                if other in number:
                    rows.append(k)
                    columns.append(number[other])
                    values.append(-weight)
                    diagonal[k] += weight
    return sp.coo_matrix((values, (rows, columns)), shape=(len(done),) * 2).tocsr() + sp.diags(diagonal), None


def circuit_board(size, rng, layers=8, contrast=1000.0, thin=30.0):
    """Heat in a board of thin layers, copper and glass by turns, with vias through them, cooled at the top."""
    shape = (*diffusion.cube(size / layers, 2), layers)
    k = np.where(np.arange(layers) % 2 == 0, contrast, 1.0) * np.ones(shape)
    k[::2][rng.random(k[::2].shape) < 0.3] = 1.0
    vias = rng.integers(0, shape[0], (shape[0] * shape[1] // 50 + 1, 2))
    k[vias[:, 0], vias[:, 1]] = contrast
    k = k.ravel()
    first, second, axis = diffusion.edges_of_grid(shape)
    weight = diffusion.harmonic(k, first, second) * np.where(axis == 2, thin**2, 1.0)
    cooled = np.zeros(shape)
    cooled[..., -1] = 0.01
    return diffusion.graph_laplacian(first, second, weight, k.size) + sp.diags(cooled.ravel()), rng.random(k.size)


def branches(size, rng, step=1e-2, turns=2.0):
    """A tree of long branches, such as a nerve cell or a river: an implicit step of what diffuses along them."""
    count = max(int(size), 20)
    reach = rng.integers(1, 40, count)
    parent = np.where(reach > 2, np.arange(count) - 1, (np.arange(count) * rng.random(count) ** (1 / turns)).astype(int))
    parent[0] = 0
    first, second = np.arange(1, count), np.minimum(parent[1:], np.arange(count - 1))
    conductance = 10 ** rng.uniform(0, 2, count - 1)
    return sp.diags(rng.uniform(0.5, 2, count)) + step * 1e4 * networks.laplacian_of(first, second, conductance, count), None
