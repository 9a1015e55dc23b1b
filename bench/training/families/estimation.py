"""Estimates and plans: random fields, poses, ratings, smoothing in time, decisions."""

import numpy as np
import scipy.sparse as sp

from . import diffusion, networks


def blocks_of(first, second, count, width, rng, spread=0.3):
    """The normal equations of relations between pairs of `width` unknowns each: J^T W J with random turns."""
    links = len(first)
    turn = np.linalg.qr(np.eye(width) + spread * rng.standard_normal((links, width, width)))[0]
    scale = 10 ** rng.uniform(-0.5, 0.5, (links, 1, 1))
    rows = np.arange(links * width).reshape(links, width, 1) + np.zeros((1, 1, width), int)
    columns = np.arange(width)[None, None, :] + np.zeros((links, width, 1), int)
    jacobian = sp.coo_matrix((np.concatenate([(turn * scale).ravel(), (-np.eye(width)[None] * scale).ravel()]),
                              (np.concatenate([rows.ravel()] * 2),
                               np.concatenate([(first[:, None, None] * width + columns).ravel(), (second[:, None, None] * width + columns).ravel()]))),
                             shape=(links * width, count * width)).tocsr()
    return (jacobian.T @ jacobian).tocsr()


def random_field(size, rng, reach=0.1, dimension=2, seen=0.05, noise=0.1):
    """Precision of a Matern field on a grid, (kappa - Laplacian)^2, and sparse noisy observations."""
    shape = diffusion.cube(size, dimension)
    first, second, _ = diffusion.edges_of_grid(shape)
    count = int(np.prod(shape))
    operator = diffusion.graph_laplacian(first, second, np.ones(len(first)), count) + 8 / (reach * shape[0]) ** 2 * sp.identity(count)
    observed = np.where(rng.random(count) < seen, 1 / noise**2, 0.0)
    return operator @ operator + 1e-2 * sp.diags(observed), observed * diffusion.smooth_noise(shape, rng)


def pose_graph(size, rng, width=3, loops=0.2):
    """Poses along a robot's way, each related to the last one and, where it came by again, to earlier ones."""
    count = max(int(size / width), 20)
    walk = np.cumsum(rng.standard_normal((count, 2)), axis=0)
    order = np.lexsort((walk[:, 1], np.round(walk[:, 0] / 4)))
    again = rng.random(count - 1) < loops
    first = np.concatenate([np.arange(1, count), order[1:][again]])
    second = np.concatenate([np.arange(count - 1), order[:-1][again]])
    matrix = blocks_of(first, second, count, width, rng, 0.05)
    return matrix + sp.diags(np.r_[np.full(width, 1e3), np.full((count - 1) * width, 1e-6)]), None


def ratings(size, rng, viewed=8, damping=0.1):
    """Effects of people and of things from ratings: a bipartite graph in which few things are rated by very many."""
    people = int(size * 0.8)
    things = max(int(size) - people, 5)
    first = np.repeat(np.arange(people), viewed)
    second = (things * rng.random(len(first)) ** 3).astype(int)
    counts = sp.coo_matrix((np.ones(len(first)), (first, second)), shape=(people, things)).tocsr()
    own = sp.diags(np.asarray(counts.sum(axis=1)).ravel() + damping), sp.diags(np.asarray(counts.sum(axis=0)).ravel() + damping)
    return sp.bmat([[own[0], counts], [counts.T, own[1]]]), None


def smoothing(size, rng, width=4, coupled=0.5):
    """States over time from noisy observations (a Kalman smoother at once): a chain of small blocks."""
    count = max(int(size / width), 10)
    matrix = blocks_of(np.arange(1, count), np.arange(count - 1), count, width, rng, coupled)
    observed = np.where(np.arange(count * width) % width == 0, 1.0, 1e-4)
    return matrix + sp.diags(observed), None


def decisions(size, rng, discount=0.99, choices=6, near=0.0):
    """The value of a plan in a Markov decision process: I - discount P, each state leads to a few others."""
    count = int(size)
    first = np.repeat(np.arange(count), choices)
    second = rng.integers(0, count, len(first)) if not near else np.clip(first + rng.integers(-int(near), int(near) + 1, len(first)), 0, count - 1)
    chance = rng.random(len(first)) ** 4
    moves = sp.coo_matrix((chance, (first, second)), shape=(count, count)).tocsr()
    moves = sp.diags(1 / np.asarray(moves.sum(axis=1)).ravel()) @ moves
    return sp.identity(count) - discount * moves, rng.random(count)


def drifting(size, rng, drift=5.0, step=0.1):
    """Fokker and Planck's equation of a drift to the middle and of noise: an implicit step on a plane of states, upwind."""
    shape = diffusion.cube(size, 2)
    n = shape[0]
    place = np.linspace(-3, 3, n)
    h = place[1] - place[0]
    towards = -drift * place
    up, down = np.maximum(towards, 0) / h + 1 / h**2, np.maximum(-towards, 0) / h + 1 / h**2
    move = sp.diags([up[:-1], down[1:]], [-1, 1], shape=(n, n)).tocsr()
    move = move - sp.diags(np.asarray(move.sum(axis=0)).ravel())
    one = sp.identity(n)
    swirl = sp.kron(sp.diags(np.abs(place)), move)
    return sp.identity(n * n) - step * (sp.kron(move, one) + swirl), None


def groups(size, rng, count=6, scattering=0.4, upward=0.05):
    """Neutrons of several energies that diffuse, slow down and fission: symmetric in space, not between energies."""
    cells = diffusion.cube(size / count, 2)
    first, second, _ = diffusion.edges_of_grid(cells)
    total = int(np.prod(cells))
    material = np.where(diffusion.smooth_noise(cells, rng) > 0, 1.0, 0.2)
    space = diffusion.graph_laplacian(first, second, diffusion.harmonic(material, first, second), total)
    size_of_cell = 40.0 / cells[0]
    between = np.zeros((count, count))
    for a in range(count):
        for b in range(count):
            between[a, b] = scattering / (1 + abs(a - b)) * (1.0 if a > b else upward if a < b else 0.0)
    fission = 0.05 * np.outer(np.exp(-np.arange(count)), np.ones(count))
    removed = between.sum(axis=0) + 0.1 * (1 + np.arange(count))
    matrix = sp.kron(space / size_of_cell**2, sp.diags(1.0 / (1 + np.arange(count))))
    matrix = matrix + sp.kron(sp.identity(total), sp.diags(removed) - between) - sp.kron(sp.diags(material), fission)
    return matrix, np.tile(np.exp(-np.arange(count)), total)


def plant(size, rng, units=20, recycled=0.02):
    """The flow sheet of a plant: chains of stages with balances of a few quantities, streams fed back, equations in any order."""
    stages = max(int(size / 5), units)
    width = 5
    base = np.arange(stages) * width
    rows, columns, values = [], [], []
    for a in range(width):
        for b in range(width):
            inside = rng.random(stages) < (1.0 if a == b else 0.5)
            rows.append(base[inside] + a)
            columns.append(base[inside] + b)
            values.append(rng.uniform(-1, 1, inside.sum()) * 10 ** rng.uniform(-2, 2, inside.sum()) + (3.0 if a == b else 0.0))
        before = np.flatnonzero(np.arange(stages) % max(stages // units, 2))
        rows.append(base[before] + a)
        columns.append(base[before - 1] + a)
        values.append(-rng.uniform(0.5, 1.5, len(before)))
        after = before[rng.random(len(before)) < 0.5]
        rows.append(base[after - 1] + a)
        columns.append(base[after] + a)
        values.append(-rng.uniform(0.1, 0.8, len(after)))
    back = rng.integers(0, stages, (2, max(int(recycled * stages), 1)))
    rows.append(base[back[0]])
    columns.append(base[back[1]])
    values.append(-rng.uniform(0.1, 0.5, back.shape[1]))
    matrix = sp.coo_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(stages * width,) * 2).tocsr()
    return matrix[rng.permutation(matrix.shape[0])] if units % 2 else matrix, None
