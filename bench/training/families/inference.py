"""What is learned or inferred: regressions, posteriors, scenes, mattes, communities.

Packages are optional (requirements.txt): without one of them its systems cannot be made.
"""

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg
import scipy.spatial
from scipy.spatial.transform import Rotation

from . import data_fitting, diffusion, networks
from . import finite_elements as fe
from .plans import sparse


# Statistics
def clicks(size, rng, fields=6, ridge=1e-2, skew=3.0):
    """Newton's step of a logistic regression on categories of a few fields: some categories are frequent, most are rare."""
    counts = np.geomspace(3, size / 2, fields)
    counts = np.maximum(counts * size / counts.sum(), 3).astype(int)
    samples = 2 * int(size)
    chosen = np.cumsum(np.r_[0, counts[:-1]]) + (counts * rng.random((samples, fields)) ** skew).astype(int)
    features = sparse(np.ones(chosen.size), np.repeat(np.arange(samples), fields), chosen.ravel(), (samples, counts.sum()))
    chance = 1 / (1 + np.exp(2 - 2 * rng.standard_normal(samples)))
    hessian = features.T @ sp.diags(chance * (1 - chance)) @ features
    return hessian + ridge * sp.identity(counts.sum()), features.T @ ((rng.random(samples) < chance) - chance)


def disease_map(size, rng, years=20, stiff=10.0):
    """Posterior precision of a disease's risk by district and year: second differences in time by neighbours in space, and counted cases."""
    first, second, districts = networks.geometric(max(size / years, 10), rng)
    space = networks.laplacian_of(first, second, np.ones(len(first)), districts) + 1e-3 * sp.identity(districts)
    bend = sp.diags([1.0, -2.0, 1.0], [0, 1, 2], shape=(years - 2, years))
    cases = (10 ** rng.normal(-0.5, 0.8, (districts, 1)) * rng.uniform(0.5, 1.5, (districts, years))).ravel()
    return stiff * sp.kron(space, bend.T @ bend + 1e-3 * sp.identity(years)) + sp.diags(cases), rng.poisson(cases) - cases


def vecchia(size, rng, neighbours=8, reach=0.1, noise=0.0, dimension=2):
    """Precision of a Gaussian process by Vecchia: each place is conditioned on its neighbours among coarser places; `noise` of observations."""
    count = max(int(size), 50)
    places = rng.random((count, dimension))
    rows, columns, values = [np.arange(count)], [np.arange(count)], [np.ones(count)]
    spread = np.full(count, 1.0)
    covariance = lambda a, b: (1 + (d := np.linalg.norm(a - b, axis=-1) * 3**0.5 / reach)) * np.exp(-d)  # noqa: E731
    start = 2 * neighbours
    while start < count:
        finer = np.arange(start, min(2 * start, count))
        near = scipy.spatial.cKDTree(places[:start]).query(places[finer], neighbours)[1]
        to = covariance(places[finer][:, None], places[near])
        among = covariance(places[near][:, :, None], places[near][:, None]) + 1e-6 * np.eye(neighbours)
        weight = np.linalg.solve(among, to[:, :, None])[:, :, 0]
        spread[finer] = np.maximum(1 - (weight * to).sum(axis=1), 1e-6)
        rows.append(np.repeat(finer, neighbours))
        columns.append(near.ravel())
        values.append(-weight.ravel())
        start *= 2
    factor = sparse(*map(np.concatenate, (values, rows, columns)), (count, count))
    precision = factor.T @ sp.diags(1 / spread) @ factor
    return precision + sp.diags(np.full(count, 1 / noise**2 if noise else 0.0)), rng.standard_normal(count)


def players(size, rng, restless=0.01, prior=1.0):
    """Newton's step for the strengths of players over their careers: a chain of days each, and games between players of the same day."""
    days = rng.geometric(0.02, max(int(size / 50), 8))
    player = np.repeat(np.arange(len(days)), days)
    count = len(player)
    begin = np.repeat(np.cumsum(days) - days, days)
    day = np.repeat(rng.integers(0, 300, len(days)), days) + np.arange(count) - begin
    order = np.lexsort((rng.random(count), day))
    games = np.stack([order[:-1], order[1:]])[:, rng.random(count - 1) < 0.8]
    games = games[:, (day[games[0]] == day[games[1]]) & (player[games[0]] != player[games[1]])]
    chain = np.flatnonzero(np.diff(player) == 0)
    chance = 1 / (1 + np.exp(-1.5 * rng.standard_normal(games.shape[1])))
    weights = np.r_[1 / (restless * rng.geometric(0.3, len(chain))), chance * (1 - chance)]
    matrix = networks.laplacian_of(np.r_[chain, games[0]], np.r_[chain + 1, games[1]], weights, count)
    missed = rng.uniform(-1, 1, games.shape[1])
    return matrix + prior * sp.diags((np.arange(count) == begin) + 1e-8), np.bincount(games[0], missed, count) - np.bincount(games[1], missed, count)


def entropic_transport(size, rng, sharp=1e-2, near=20):
    """Newton's step of an optimal transport with entropy: both potentials, and the plan between near places of two clouds."""
    count = max(int(size / 2), 40)
    from_, to = rng.random((count, 2)), (rng.integers(0, 4, (count, 1)) + rng.random((count, 2)) ** 2) / 4 % 1
    from_, to = (cloud[np.lexsort((cloud[:, 1], (cloud[:, 0] * count**0.5 / 2).astype(int)))] for cloud in (from_, to))
    distance, at = scipy.spatial.cKDTree(to).query(from_, near)
    plan = sparse(np.exp(-(distance**2 * count / 100 / sharp).clip(0, 30)).ravel(), np.repeat(np.arange(count), near), at.ravel(), (count, count))
    plan = plan + sp.identity(count) * 1e-6
    for _ in range(10):
        for axis in (1, 0):
            scale = sp.diags(1 / np.asarray(plan.sum(axis=axis)).ravel())
            plan = scale @ plan if axis else plan @ scale
    sums = [sp.diags(np.asarray(plan.sum(axis=axis)).ravel()) for axis in (1, 0)]
    return sp.bmat([[sums[0], plan], [plan.T, sums[1]]]) + 1e-6 * sp.identity(2 * count), rng.standard_normal(2 * count)


# Scenes
def slam(size, rng, ring=50, turn=0.01, lost=0.0):
    """A flying robot's poses on rings around a sphere: measured from pose to pose and to the ring below; `lost`: the share not measured below."""
    count = max(int(size / 6), 40)
    ring = min(ring, count // 4)
    height = np.arange(count) / count * 1.8 - 0.9
    angle = 2 * np.pi * np.arange(count) / ring
    radius = 10 * (1 - height**2) ** 0.5
    places = np.stack([radius * np.cos(angle), radius * np.sin(angle), 10 * height], 1)
    heading = Rotation.from_euler("zyx", np.stack([angle, height, 0 * angle], 1)) * Rotation.from_rotvec(0.05 * rng.standard_normal((count, 3)))
    below = np.flatnonzero(rng.random(count - ring) >= lost)
    first, second = np.r_[np.arange(count - 1), below], np.r_[np.arange(1, count), below + ring]
    back = heading[second].inv()
    relative, shift = (back * heading[first]).as_matrix(), back.apply(places[first] - places[second])
    x, y, z = shift.T
    zero = 0 * x
    cross = np.stack([zero, -z, y, z, zero, -x, -y, x, zero], 1).reshape(-1, 3, 3)
    adjoint = np.block([[relative, cross @ relative], [np.zeros_like(relative), relative]])
    trust = np.r_[np.full(3, 1.0), np.full(3, 1 / turn)] * 10 ** rng.uniform(-0.3, 0.3, (len(first), 1))
    jacobian = np.concatenate([-adjoint, np.broadcast_to(np.eye(6), adjoint.shape)], axis=2) * trust[:, :, None]
    dofs = np.concatenate([6 * end[:, None] + np.arange(6) for end in (first, second)], axis=1)
    matrix = fe.scatter(jacobian.transpose(0, 2, 1) @ jacobian, dofs, dofs, (6 * count,) * 2)
    return matrix + sp.diags(np.r_[np.full(6, 1e2), np.zeros(6 * count - 6)] + 1e-6), None


def scene(size, rng, reduced=True, seen=5, damping=1e-4):
    """Cameras along a closed street that see points around it, by a pinhole's derivatives; `reduced`: without the points, by their complement."""
    per_camera = 12 if reduced else 4
    cameras = max(int(size / (6 if reduced else 6 + 3 * per_camera)), 3 * seen)
    points = per_camera * cameras
    way = 2 * np.pi * np.arange(cameras) / cameras
    radius = cameras / 2 / np.pi
    out = np.stack([np.cos(way), np.sin(way), 0 * way], 1)
    aside = np.stack([np.sin(way), -np.cos(way), 0 * way], 1)
    places = radius * out + 0.1 * rng.standard_normal((cameras, 3))
    heading = Rotation.from_matrix(np.stack([aside, np.broadcast_to([0, 0, -1.0], out.shape), out], 2)) * Rotation.from_rotvec(0.1 * rng.standard_normal((cameras, 3)))
    middle = np.arange(points) // per_camera
    seen_by = (middle[:, None] + np.arange(seen) - seen // 2) % cameras
    depth = rng.uniform(3, 30, points)
    targets = places[middle] + depth[:, None] * (out[middle] + rng.uniform(-0.3, 0.3, (points, 1)) * aside[middle])
    targets[:, 2] += rng.uniform(-1, 3, points)
    camera, point = seen_by.ravel(), np.repeat(np.arange(points), seen)
    turned = heading[camera].as_matrix().transpose(0, 2, 1)
    x, y, z = local = np.einsum("kij,kj->ik", turned, targets[point] - places[camera])
    z = np.where(abs(z) < 1, 1.0, z)
    zero = 0 * x
    project = 500 * np.stack([1 / z, zero, -x / z**2, zero, 1 / z, -y / z**2], 1).reshape(-1, 2, 3)
    cross = np.stack([zero, -local[2], y, local[2], zero, -x, -y, x, zero], 1).reshape(-1, 3, 3)
    rows, count = np.arange(2 * len(camera)).reshape(-1, 2), 2 * len(camera)
    to_camera = fe.scatter(project @ np.concatenate([cross, -turned], axis=2), rows, 6 * camera[:, None] + np.arange(6), (count, 6 * cameras))
    to_point = fe.scatter(project @ turned, rows, 3 * point[:, None] + np.arange(3), (count, 3 * points))
    missed = rng.standard_normal(count)
    own, shared, others = (a.T @ b for a, b in ((to_camera, to_camera), (to_camera, to_point), (to_point, to_point)))
    own, others = (block + damping * sp.diags(block.diagonal() + 1.0) for block in (own, others))
    if not reduced:
        return sp.bmat([[own, shared], [shared.T, others]]), np.r_[to_camera.T @ missed, to_point.T @ missed]
    blocks = sp.bsr_matrix(others, blocksize=(3, 3)).sorted_indices()
    inverse = sp.bsr_matrix((np.linalg.inv(blocks.data), blocks.indices, blocks.indptr), shape=others.shape).tocsr()
    return own - shared @ inverse @ shared.T, to_camera.T @ missed - shared @ (inverse @ (to_point.T @ missed))


def bilateral(size, rng, smooth=16.0, cell=4, tones=16):
    """Smoothing that keeps edges, in cells of place and tone that a picture fills: neighbouring cells are alike, some are known."""
    n = max(round((3.5 * size) ** 0.5), 24)
    tone = data_fitting.picture((n, n), rng)
    tone = (tone - tone.min()) / np.ptp(tone) * tones
    x, y = np.divmod(np.arange(n * n), n)
    shape = (n // cell + 3, n // cell + 3, tones + 3)
    cells, of, pixels = np.unique(np.ravel_multi_index((x // cell + 1, y // cell + 1, tone.astype(int) + 1), shape), return_inverse=True, return_counts=True)
    count = len(cells)
    blur = 2.0 * sp.identity(count, format="csr") * 3
    for step in (shape[1] * shape[2], shape[2], 1):
        at = np.searchsorted(cells, cells + step).clip(0, count - 1)
        first = np.flatnonzero(cells[at] == cells + step)
        link = sparse(np.ones(len(first)), first, at[first], (count, count))
        blur = blur + link + link.T
    scale = np.ones(count)
    for _ in range(10):
        scale = np.sqrt(scale * pixels / (blur @ scale))
    alike = sp.diags(scale) @ blur @ sp.diags(scale)
    known = np.bincount(of, rng.random(n * n) ** 8, count)
    return smooth * (sp.diags(np.asarray(alike.sum(axis=1)).ravel()) - alike) + sp.diags(known + 1e-6), known * np.sin(np.arange(count) / 50)


# By pymatting, networkit and scikit-learn
def matting(size, rng, neighbours=0, known=100.0, band=0.15):
    """How much of each pixel a hairy thing before a blurred ground covers: by lines of colours in windows, or by pixels of like colours and places."""
    import pymatting

    n = max(round(size**0.5), 12)
    x, y = (np.indices((n, n)) - n / 2) / n
    hairs = 0.04 * np.sin(40 * np.arctan2(y, x)) * rng.uniform(0.5, 1.5) + 0.05 * diffusion.smooth_noise((n, n), rng, 2).reshape(n, n)
    inside = 0.3 - np.hypot(x, y) + hairs
    cover = np.clip(0.5 + inside / 0.05, 0, 1)[:, :, None]
    thing, ground = (np.stack([diffusion.smooth_noise((n, n), rng, passes).reshape(n, n) for _ in range(3)], 2) for passes in (3, 20))
    seen = cover * (0.6 + 0.1 * thing) + (1 - cover) * (0.3 + 0.1 * ground)
    seen = np.clip(seen + 0.01 * rng.standard_normal(seen.shape), 0, 1)
    laplacian = pymatting.knn_laplacian(seen, n_neighbors=[neighbours, neighbours // 2]) if neighbours else pymatting.cf_laplacian(seen)
    sure = known * (abs(inside) > band / 2).ravel()
    return laplacian + sp.diags(sure + 1e-9 * known), sure * cover.ravel()


def of_networkit(make, seed):
    """(adjacency, count) of a graph that its `make(package)` generates, the same for the same seed."""
    import networkit

    networkit.setNumberOfThreads(1)
    networkit.setSeed(int(seed), False)
    links = networkit.algebraic.adjacencyMatrix(make(networkit), matrixType="sparse").tocsr()
    return links, links.shape[0]


def communities(size, rng, mixed=0.2, ground=1e-4):
    """Currents between members of communities of uneven sizes and degrees, `mixed`: the share of links that leave them; each leaks to the ground."""
    def make(package):
        graphs = package.generators.LFRGenerator(max(int(size), 200))
        graphs.generatePowerlawDegreeSequence(10, 50, -2)
        graphs.generatePowerlawCommunitySizeSequence(20, 100, -1)
        graphs.setMu(mixed)
        return graphs.generate()

    links, count = of_networkit(make, rng.integers(2**31))
    laplacian = sp.diags(np.asarray(links.sum(axis=1)).ravel() + ground) - links
    return laplacian, np.bincount(rng.choice(count, 2, replace=False), [1.0, -1.0], count)


def katz(size, rng, share=0.9, degree=8, power=2.6):
    """Katz's centrality in a hyperbolic graph, whose few hubs have very many links: I - a A, with `share` of the largest a that there is."""
    links, count = of_networkit(lambda package: package.generators.HyperbolicGenerator(max(int(size), 50), k=degree, gamma=power).generate(), rng.integers(2**31))
    largest = scipy.sparse.linalg.eigsh(links, 1, which="LA", v0=np.ones(count), return_eigenvectors=False)[0]
    return sp.identity(count) - share / largest * links, np.ones(count)


def unrolled(size, rng, neighbours=10, noise=0.05, shift=1e-6):
    """A rolled sheet of points that is laid flat: each point by its neighbours' weights, (I - W)^T (I - W), shifted to find its least modes."""
    from sklearn.datasets import make_swiss_roll
    from sklearn.manifold._locally_linear import barycenter_kneighbors_graph

    points, _ = make_swiss_roll(max(int(size), 50), noise=noise, random_state=int(rng.integers(2**31)))
    missed = sp.identity(len(points)) - barycenter_kneighbors_graph(points, neighbours, reg=1e-3)
    return missed.T @ missed + shift * sp.identity(len(points)), rng.standard_normal(len(points))
