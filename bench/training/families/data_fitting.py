"""Optimization, least squares, images and statistics."""

import numpy as np
import scipy.sparse as sp
import scipy.spatial

from . import diffusion, networks
from . import finite_elements as fe


def constraints(rows, columns, rng, kind):
    """The matrix of a linear programme: transport between places, stages in time, or random."""
    if kind == "transport":
        sources = max(rows // 2, 2)
        from_, to = rng.integers(0, sources, columns), rng.integers(sources, rows, columns)
        return sp.coo_matrix((np.ones(2 * columns), (np.r_[from_, to], np.tile(np.arange(columns), 2))), shape=(rows, columns)).tocsr()
    if kind == "flow":
        first, second, count = networks.recursive(rows / 2, rng, max(columns // rows, 2))
        return sp.coo_matrix((np.r_[np.ones(len(first)), -np.ones(len(first))], (np.r_[first, second], np.tile(np.arange(len(first)), 2))),
                             shape=(count, len(first))).tocsr()
    if kind == "stages":
        width = 20
        column = np.arange(columns)
        base = (column * rows // columns)[:, None]
        at = np.clip(base + rng.integers(0, width, (columns, 4)), 0, rows - 1)
        return sp.coo_matrix((rng.standard_normal(at.size), (at.ravel(), np.repeat(column, 4))), shape=(rows, columns)).tocsr()
    per_column = 3
    at = rng.integers(0, rows, (columns, per_column))
    matrix = sp.coo_matrix((rng.standard_normal(at.size), (at.ravel(), np.repeat(np.arange(columns), per_column))), shape=(rows, columns)).tocsr()
    dense = rng.random(columns) < 2 / columns
    return sp.hstack([matrix, sp.random(rows, int(dense.sum()) + 1, 0.02, random_state=rng)]).tocsr()


def barrier(count, rng, mu):
    """Squared ratios of primal and dual variables near the end of an interior-point method: far from 1, either way."""
    return mu ** rng.choice([-1.0, 1.0, 0.0], count, p=[0.3, 0.5, 0.2]) * 10 ** rng.uniform(-0.5, 0.5, count)


def normal_equations(size, rng, kind="transport", mu=1e-2, regular=1e-8):
    """A D A^T of a linear programme in an interior-point method; definite by a small regularisation."""
    matrix = constraints(max(int(size), 20), 3 * max(int(size), 20), rng, kind)
    d = barrier(matrix.shape[1], rng, mu)
    product = (matrix @ sp.diags(d) @ matrix.T).tocsr()
    return product + regular * product.diagonal().max() * sp.identity(product.shape[0]), None


def interior_point(size, rng, kind="stages", mu=1e-2, quadratic=True):
    """The KKT matrix of an interior-point method: a Hessian with barriers, and the constraints."""
    rows = max(int(size / 3), 10)
    a = constraints(rows, 2 * rows, rng, kind)
    rows, columns = a.shape
    hessian = sp.diags(barrier(columns, rng, mu) + 1e-8)
    if quadratic:
        hessian = hessian + sp.diags([1.0, 0.3, 0.3], [0, 1, -1], shape=(columns, columns))
    matrix = sp.bmat([[hessian, a.T], [a, -1e-8 * sp.identity(rows)]]).tocsr()
    return matrix, None


def geodesy(size, rng, dimension=2, directions=True, spread=1.0):
    """Normal equations of a geodetic network: distances, directions with an unknown orientation at each station, few fixed points."""
    stations = max(int(size / (dimension + (1 if directions else 0))), 20)
    places = rng.random((stations, dimension))
    places = places[np.argsort((places[:, 0] * 30).astype(int) + places[:, 1] / 2)]
    _, near = scipy.spatial.cKDTree(places).query(places, 6)
    first, second = np.repeat(np.arange(stations), 5), near[:, 1:].ravel()
    along = places[second] - places[first]
    length = np.linalg.norm(along, axis=1)
    unit = along / length[:, None]
    count = len(first)
    rows = np.repeat(np.arange(count), dimension)
    axes = np.arange(dimension)
    unknown = lambda at: (dimension * at[:, None] + axes).ravel()  # noqa: E731
    total = dimension * stations + (stations if directions else 0)
    distances = sp.coo_matrix((np.r_[unit.ravel(), -unit.ravel()], (np.r_[rows, rows], np.r_[unknown(second), unknown(first)])), shape=(count, total))
    observed = [sp.diags(10 ** (spread * rng.random(count)) * 1e2) @ distances]
    if directions:
        across = np.stack([-unit[:, 1], unit[:, 0]] + [np.zeros(count)] * (dimension - 2), 1) / length[:, None]
        turn = sp.coo_matrix((np.r_[across.ravel(), -across.ravel(), -np.ones(count)],
                              (np.r_[rows, rows, np.arange(count)], np.r_[unknown(second), unknown(first), dimension * stations + first])),
                             shape=(count, total))
        observed.append(turn)
    if dimension == 3:
        observed.append(sp.coo_matrix((np.r_[np.ones(count), -np.ones(count)], (np.tile(np.arange(count), 2), np.r_[3 * second + 2, 3 * first + 2])),
                                      shape=(count, total)))
    design = sp.vstack(observed).tocsr()
    fixed = np.zeros(total)
    for station in rng.choice(stations, max(stations // 500, 3), replace=False):
        fixed[dimension * station: dimension * (station + 1)] = 1e6
    return design.T @ design + sp.diags(fixed + 1e-6), design.T @ rng.standard_normal(design.shape[0])


def bundle_adjustment(size, rng, seen=4, damping=1e-3):
    """Damped normal equations of cameras and points: a small dense arrow beside small blocks."""
    cameras = max(int(size / 3 / 50), 4)
    points = max(int((size - 6 * cameras) / 3), 20)
    of = np.clip((np.arange(points) * cameras // points)[:, None] + rng.integers(-3, 4, (points, seen)), 0, cameras - 1)
    count = points * seen
    camera, point = of.ravel(), np.repeat(np.arange(points), seen)
    rows = np.arange(2 * count).reshape(count, 2)
    to_camera = rng.standard_normal((count, 2, 6)) * np.array([1, 1, 1, 10, 10, 10])
    to_point = rng.standard_normal((count, 2, 3))
    total = 6 * cameras + 3 * points
    j = (fe.scatter(to_camera, rows, 6 * camera[:, None] + np.arange(6), (2 * count, total))
         + fe.scatter(to_point, rows, 6 * cameras + 3 * point[:, None] + np.arange(3), (2 * count, total)))
    normal = (j.T @ j).tocsr()
    return normal + damping * sp.diags(normal.diagonal()), j.T @ rng.standard_normal(2 * count)


def gradients(shape):
    """Differences of neighbouring pixels."""
    first, second, _ = diffusion.edges_of_grid(shape)
    edges = np.arange(len(first))
    return sp.coo_matrix((np.r_[-np.ones(len(first)), np.ones(len(first))], (np.r_[edges, edges], np.r_[first, second])),
                         shape=(len(first), int(np.prod(shape)))).tocsr()


def picture(shape, rng):
    """Patches of a few tones with some noise."""
    smooth = diffusion.smooth_noise(shape, rng, 8)
    return (np.round(2 * smooth) + 0.05 * rng.standard_normal(smooth.size)) / 4


def poisson_editing(size, rng):
    """A patch of irregular shape pasted into a picture: Poisson's equation inside, given tones around."""
    n = diffusion.cube(2 * size, 2)[0]
    mask = diffusion.smooth_noise((n, n), rng, 10) > 0
    d = gradients((n, n))
    inside = np.flatnonzero(mask)
    whole = (d.T @ d).tocsr()
    b = whole[inside] @ picture((n, n), rng) - whole[inside][:, np.flatnonzero(~mask)] @ picture((n, n), rng)[~mask]
    return whole[inside][:, inside], b


def total_variation(size, rng, strength=1.0, sharp=1e-3):
    """A step of denoising: identity plus a Laplacian whose weights fall at edges."""
    shape = diffusion.cube(size, 2)
    image = picture(shape, rng)
    d = gradients(shape)
    weight = 1 / np.sqrt((d @ image) ** 2 + sharp**2)
    return sp.identity(image.size) + strength * d.T @ sp.diags(weight) @ d, image


def optical_flow(size, rng, smooth=0.1):
    """Horn and Schunck's motion of two pictures: two unknowns at a pixel, coupled where there is texture."""
    shape = diffusion.cube(size / 2, 2)
    image = picture(shape, rng).reshape(shape) * 4
    gy, gx = (part.ravel() for part in np.gradient(image))
    d = gradients(shape)
    laplacian = smooth * (d.T @ d) + 1e-6 * sp.identity(gx.size)
    matrix = sp.bmat([[laplacian + sp.diags(gx**2), sp.diags(gx * gy)], [sp.diags(gx * gy), laplacian + sp.diags(gy**2)]]).tocsr()
    order = np.arange(2 * gx.size).reshape(2, -1).T.ravel()
    return matrix[order][:, order], None


def colouring(size, rng, sharp=0.05, marked=0.02):
    """Colours spread from marked pixels to neighbours of like tone: weights over decades in 3 x 3 windows; unsymmetric rows."""
    n = diffusion.cube(size, 2)[0]
    image = picture((n, n), rng).reshape(n, n)
    number = np.arange(n * n).reshape(n, n)
    rows, columns, values = [], [], []
    for dy in (-1, 0, 1):
        for dx in (-1, 0, 1):
            if dy or dx:
                here = number[max(-dy, 0):n - max(dy, 0), max(-dx, 0):n - max(dx, 0)].ravel()
                there = number[max(dy, 0):n - max(-dy, 0), max(dx, 0):n - max(-dx, 0)].ravel()
                rows.append(here)
                columns.append(there)
                values.append(np.exp(-((image.ravel()[here] - image.ravel()[there]) ** 2) / (2 * sharp**2)) + 1e-6)
    weights = sp.coo_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), shape=(n * n,) * 2).tocsr()
    weights = sp.diags(1 / np.asarray(weights.sum(axis=1)).ravel()) @ weights
    known = rng.random(n * n) < marked
    return sp.identity(n * n) - sp.diags((~known).astype(float)) @ weights, known * rng.random(n * n)


def tomography(size, rng, smooth=1e-2):
    """Normal equations of rays through a grid, regularised by smoothness."""
    n = diffusion.cube(size, 2)[0]
    rays = n * 12
    steps = np.linspace(0, 1, n)
    start, end = rng.random((rays, 2)), rng.random((rays, 2))
    place = (start[:, None] + steps[None, :, None] * (end - start)[:, None]) * (n - 1)
    cell = np.round(place).astype(int) @ np.array([n, 1])
    a = sp.coo_matrix((np.full(cell.size, 1 / n), (np.repeat(np.arange(rays), n), cell.ravel())), shape=(rays, n * n)).tocsr()
    d = gradients((n, n))
    return a.T @ a + smooth * d.T @ d / n + 1e-8 * sp.identity(n * n), None


def covariance(size, rng, dimension=2, neighbours=30, nugget=1e-2, clustered=False):
    """Wendland's compact covariance between scattered points, as in kriging and radial basis functions."""
    count = max(int(size), 50)
    points = rng.random((count, dimension))
    if clustered:
        points = rng.random((max(count // 100, 3), dimension))[rng.integers(0, max(count // 100, 3), count)] + 0.03 * rng.standard_normal(points.shape)
    points = points[np.argsort((points[:, 0] * 20).astype(int) + points[:, 1] / 2)]
    tree = scipy.spatial.cKDTree(points)
    distance, _ = tree.query(points, min(neighbours, count))
    radius = np.median(distance[:, -1])
    pairs = tree.query_pairs(radius, output_type="ndarray")
    r = np.linalg.norm(points[pairs[:, 0]] - points[pairs[:, 1]], axis=1) / radius
    value = (1 - r) ** 4 * (4 * r + 1)
    off = sp.coo_matrix((value, (pairs[:, 0], pairs[:, 1])), shape=(count, count))
    return off + off.T + (1 + nugget) * sp.identity(count), rng.standard_normal(count)


def kriging(size, rng, nugget=1e-2):
    """The same with the polynomials of a drift as constraints: three dense rows and columns."""
    kernel, _ = covariance(size - 3, rng, nugget=nugget)
    n = kernel.shape[0]
    drift = sp.csr_matrix(np.column_stack([np.ones(n), rng.random((n, 2))]))
    return sp.bmat([[kernel, drift], [drift.T, None]]).tocsr(), np.r_[rng.standard_normal(n), 0, 0, 0]


def spline_fit(size, rng, dimension=2, smooth=1e-3, gaps=True):
    """Least squares by cubic B-splines with a penalty on curvature: bands, some of them nearly empty of data."""
    from scipy.interpolate import BSpline

    n = diffusion.cube(size, dimension)[0]
    knots = np.r_[[0] * 3, np.linspace(0, 1, n - 2), [1] * 3]
    samples = 4 * n if dimension == 1 else 3 * n
    x = np.sort(rng.random(samples) ** (2 if gaps else 1))
    basis = BSpline.design_matrix(x, knots, 3).tocsr()
    line = (basis.T @ basis).tocsr() / samples
    d = sp.diags([1.0, -2.0, 1.0], [0, 1, 2], shape=(n - 2, n))
    rough = (d.T @ d).tocsr()
    if dimension == 1:
        return line + smooth * rough + 1e-10 * sp.identity(n), None
    small = line + 1e-8 * sp.identity(n)
    return sp.kron(small, small) + smooth / n * (sp.kron(rough, small) + sp.kron(small, rough)), None


def banded(size, rng, width=10, dominance=0.8, symmetric=False):
    """A random band, dense inside, that the diagonal does not quite dominate."""
    n = int(size)
    offsets = [k for k in range(-width, width + 1) if k]
    matrix = sp.diags([rng.uniform(-1, 1, n - abs(k)) for k in offsets], offsets, shape=(n, n)).tocsr()
    if symmetric:
        matrix = (matrix + matrix.T) / 2
    return matrix + sp.diags(dominance * np.asarray(abs(matrix).sum(axis=1)).ravel()), None


def mixed_models(size, rng, groups=0.2, ratio=0.1):
    """Henderson's equations of animal breeding: fixed effects with long rows, and relatives."""
    animals = max(int(size * 0.9), 30)
    herds = max(int(size * 0.1), 3)
    parents = np.arange(2, animals)
    sire, dam = (parents * rng.random((2, len(parents)))).astype(int)
    t = sp.coo_matrix((np.r_[np.ones(animals), np.full(2 * len(parents), -0.5)],
                       (np.r_[np.arange(animals), parents, parents], np.r_[np.arange(animals), sire, dam])), shape=(animals, animals)).tocsr()
    related = t.T @ t * 2
    herd = np.minimum((rng.pareto(1.0, animals) * herds / 10).astype(int), herds - 1)
    x = sp.coo_matrix((np.ones(animals), (np.arange(animals), herd)), shape=(animals, herds)).tocsr()
    matrix = sp.bmat([[x.T @ x + 1e-6 * sp.identity(herds), x.T], [x, sp.identity(animals) + related / ratio]]).tocsr()
    return matrix, None


def input_output(size, rng, sectors=40, share=0.8):
    """Leontief's I - A of regions and sectors: dense blocks inside regions, few entries between them."""
    regions = max(int(size / sectors), 2)
    blocks = [rng.random((sectors, sectors)) ** 4 for _ in range(regions)]
    inside = sp.block_diag(blocks).tocsr()
    between = sp.random(regions * sectors, regions * sectors, 5 / (regions * sectors), random_state=rng)
    use = (inside + between).tocsr()
    use = use @ sp.diags(share / np.asarray(use.sum(axis=0)).ravel())
    return sp.identity(use.shape[0]) - use, rng.random(use.shape[0])
