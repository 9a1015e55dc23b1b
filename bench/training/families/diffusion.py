"""Diffusion by finite elements, differences and volumes: steady, in time, with jumps, anisotropic, in graded cells."""

import numpy as np
import scipy.sparse as sp

from . import finite_elements as fe


def heat(size, rng, dimension=2, order=1, step=1e-3, penalty=0.0, held=1.0, lumped=False):
    """Implicit step of the heat equation, M + step K; a penalty holds the boundary at some value as some packages do."""
    of = fe.space(*fe.mesh(size / order**dimension, dimension, rng, delaunay=dimension == 2), order)
    matrix = fe.mass(of, lumped=lumped) + step * fe.stiffness(of)
    b = fe.load(of, lambda x: np.sin(7 * x[..., 0]) + x[..., 1] ** 2)
    border = fe.on_boundary(of.nodes)
    if penalty:
        return matrix + sp.diags(penalty * border), np.where(border, penalty * held * of.nodes[:, 0], b)
    return fe.without(matrix, border, b)


def poisson(size, rng, dimension=2, order=1, spread=0.0, shuffled=False):
    """Poisson's equation on an unstructured mesh; `spread`: decades of a rough coefficient."""
    points, cells = fe.mesh(size / order**dimension, dimension, rng, delaunay=dimension == 2)
    if shuffled:
        points, cells = fe.renumbered(points, cells, rng)
    of = fe.space(points, cells, order)
    coefficient = 10 ** rng.uniform(0, spread, len(cells)) if spread else None
    return fe.without(fe.stiffness(of, coefficient), fe.on_boundary(of.nodes), fe.load(of))


def identity_rows(size, rng, dimension=2, symmetric=True):
    """Poisson's equation whose boundary rows are those of the identity, with their columns or without."""
    of = fe.space(*fe.mesh(size, dimension, rng, delaunay=dimension == 2))
    border = fe.on_boundary(of.nodes)
    b = np.where(border, 1.0, fe.load(of))
    return fe.with_identity_rows(fe.stiffness(of), border, symmetric), b


def anisotropic_elements(size, rng, ratio=1e-3, angle=0.5):
    """Diffusion along fibres on unstructured triangles: strong along an angle, weak across."""
    of = fe.space(*fe.mesh(size, 2, rng, delaunay=True))
    c, s = np.cos(angle), np.sin(angle)
    turn = np.array([[c, -s], [s, c]])
    return fe.without(fe.stiffness(of, turn @ np.diag([1, ratio]) @ turn.T), fe.on_boundary(of.nodes), fe.load(of))


def edges_of_grid(shape):
    """(first, second, axis): neighbouring cells of a regular grid."""
    number = np.arange(np.prod(shape)).reshape(shape)
    pairs = []
    for axis in range(len(shape)):
        low = number.take(range(shape[axis] - 1), axis).ravel()
        high = number.take(range(1, shape[axis]), axis).ravel()
        pairs.append((low, high, np.full(len(low), axis)))
    return [np.concatenate(parts) for parts in zip(*pairs)]


def graph_laplacian(first, second, weight, size):
    """Sum of the weights of edges on the diagonal, less these beside it."""
    off = sp.coo_matrix((-weight, (first, second)), shape=(size, size))
    off = (off + off.T).tocsr()
    return (off - sp.diags(np.asarray(off.sum(axis=1)).ravel())).tocsr()


def smooth_noise(shape, rng, passes=4):
    """A random field with correlated neighbours, of mean 0 and deviation 1."""
    field = rng.standard_normal(shape)
    for _ in range(passes):
        for axis in range(len(shape)):
            field = field + (np.roll(field, 1, axis) + np.roll(field, -1, axis)) / 2
    return ((field - field.mean()) / field.std()).ravel()


def cube(size, dimension):
    return (max(round(size ** (1 / dimension)), 3),) * dimension


def harmonic(k, first, second):
    return 2 * k[first] * k[second] / (k[first] + k[second])


def groundwater(size, rng, dimension=2, deviation=3.0, wells=5, zones=False, layers=0):
    """Finite volumes with transmissivities that jump: lognormal fields, or zones of clay and gravel. Heads are held by
    rivers, which leak, and by a fixed column of cells."""
    shape = cube(size, dimension) if not layers else (*cube(size / layers, 2), layers)
    count = int(np.prod(shape))
    field = smooth_noise(shape, rng, 3)
    k = np.exp(deviation * (np.sign(field) if zones else field))
    first, second, axis = edges_of_grid(shape)
    weight = harmonic(k, first, second) * np.where((axis == 2) & bool(layers), 1e-3, 1.0)
    matrix = graph_laplacian(first, second, weight, count)
    leak = np.zeros(count)
    leak[: int(np.prod(shape[1:]))] = 1
    leak[rng.integers(0, count, count // 200 + 1)] += 0.01
    b = leak * 10
    b[rng.integers(0, count, wells)] -= 100
    return matrix + sp.diags(leak), b


def graded(size, rng, dimension=3, ratio=100.0, clustered=True):
    """Cells that grow geometrically away from walls, as in boundary layers and atmospheres."""
    shape = cube(size, dimension)
    widths = []
    for axis, n in enumerate(shape):
        growth = ratio ** (1 / n) if axis < (1 if clustered else dimension) else 1.0
        width = growth ** np.arange(n)
        widths.append(width / width.sum())
    grid = np.meshgrid(*widths, indexing="ij")
    volume = np.prod(grid, axis=0).ravel()
    first, second, axis = edges_of_grid(shape)
    w = np.stack([g.ravel() for g in grid])
    distance = (w[axis, first] + w[axis, second]) / 2
    matrix = graph_laplacian(first, second, volume[first] / w[axis, first] / distance, int(np.prod(shape)))
    ground = np.zeros(shape)
    ground[0] = 1
    ground = ground.ravel()
    return matrix + sp.diags(ground * 2 * volume / w[0] ** 2), volume


def neumann(size, rng, dimension=2, deviation=0.0):
    """Pressure of incompressible flow: no Dirichlet boundary, a constant null vector, b in the range."""
    shape = cube(size, dimension)
    k = np.exp(deviation * smooth_noise(shape, rng))
    first, second, _ = edges_of_grid(shape)
    matrix = graph_laplacian(first, second, harmonic(k, first, second), int(np.prod(shape)))
    return matrix, matrix @ rng.standard_normal(matrix.shape[0])


def wells_and_fractures(size, rng, contrast=1e6, share=0.05):
    """Diffusion in rock that few thin fractures, which conduct far better, cross."""
    shape = cube(size, 3)
    k = np.ones(shape)
    for _ in range(max(int(share * shape[0] * 3), 2)):
        axis, place = rng.integers(3), rng.integers(shape[0])
        cut = [slice(None)] * 3
        cut[axis] = place
        k[tuple(cut)] = contrast
    k = k.ravel()
    first, second, _ = edges_of_grid(shape)
    matrix = graph_laplacian(first, second, harmonic(k, first, second), k.size)
    storage = sp.diags(np.full(k.size, 1e-3))
    b = np.zeros(k.size)
    b[rng.integers(0, k.size, 8)] = rng.choice([-1, 1], 8)
    return matrix + storage, b


def time_space(size, rng, steps=8, step=1e-2):
    """All implicit Euler steps of the heat equation at once."""
    of = fe.space(*fe.mesh(size / steps, 2, rng))
    border = fe.on_boundary(of.nodes)
    m, = fe.without(fe.mass(of), border)
    k, f = fe.without(fe.stiffness(of), border, fe.load(of))
    backward = sp.diags([np.ones(steps), -np.ones(steps - 1)], [0, -1])
    return sp.kron(backward, m) + step * sp.kron(sp.identity(steps), k), np.tile(step * f, steps)


def fractional(size, rng, order=1.5, step=1e-2, width=40):
    """Space-fractional diffusion by Gruenwald's weights, long tails cut off; each row has many entries."""
    n = max(round(size), 50)
    weights = np.empty(width)
    weights[0] = 1
    for k in range(1, width):
        weights[k] = -weights[k - 1] * (order - k + 1) / k
    left = sp.diags([np.full(n - abs(1 - k), weights[k]) for k in range(width)], [1 - k for k in range(width)], shape=(n, n))
    rate = 10 ** smooth_noise((n,), rng, 6) * step * n**order / 100
    share = rng.uniform(0.3, 0.7)
    return sp.identity(n) - sp.diags(rate) @ (share * left + (1 - share) * left.T), np.sin(np.linspace(0, 9, n))


def black_scholes(size, rng, correlation=0.6, step=0.02):
    """Implicit step for an option on two assets: diffusion that vanishes at a corner, mixed derivatives, drift."""
    n = cube(size, 2)[0]
    s = np.linspace(1 / n, 3, n)
    h = s[1] - s[0]
    second = sp.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(n, n)) / h**2
    first = sp.diags([-1.0, 1.0], [-1, 1], shape=(n, n)) / (2 * h)
    d1, d2, one = sp.diags(s) @ first, sp.diags(s**2) @ second, sp.identity(n)
    a, c, r = rng.uniform(0.1, 0.5), rng.uniform(0.1, 0.5), 0.05
    operator = (a**2 / 2 * sp.kron(d2, one) + c**2 / 2 * sp.kron(one, d2) + correlation * a * c * sp.kron(d1, d1)
                + r * (sp.kron(d1, one) + sp.kron(one, d1)) - r * sp.identity(n * n))
    payoff = np.maximum(s[:, None] + s[None, :] - 3, 0).ravel()
    return sp.identity(n * n) - step * operator, payoff
