"""Graphs, Markov chains and circuits."""

import numpy as np
import scipy.sparse as sp
import scipy.spatial

from . import diffusion


def laplacian_of(first, second, weight, size):
    keep = first != second
    return diffusion.graph_laplacian(first[keep], second[keep], weight[keep], size)


def preferential(size, rng, links=3):
    """Edges of a graph that grows: every new node is linked to ends of earlier edges, so that few have very many."""
    size = max(int(size), 20)
    first = np.repeat(np.arange(1, size), links)
    ends = np.empty(2 * len(first), np.int64)
    draws = rng.random(len(first))
    second = np.empty_like(first)
    for k, node in enumerate(first):
        second[k] = 0 if k < links else ends[int(draws[k] * 2 * (k - k % links))]
        ends[2 * k], ends[2 * k + 1] = node, second[k]
    return first, second, size


def recursive(size, rng, links=8, skew=0.57):
    """Edges of a recursive random graph: communities in communities, and degrees by a power law."""
    levels = max(int(np.ceil(np.log2(size))), 5)
    count = int(size) * links
    first, second = np.zeros(count, np.int64), np.zeros(count, np.int64)
    side = (1 - skew) / 3
    for _ in range(levels):
        quarter = rng.choice(4, count, p=[skew, side, side, side])
        first, second = 2 * first + quarter // 2, 2 * second + quarter % 2
    used, numbers = np.unique(np.concatenate([first, second]), return_inverse=True)
    return numbers[:count], numbers[count:], len(used)


def small_world(size, rng, links=4, rewired=0.05):
    size = max(int(size), 20)
    first = np.tile(np.arange(size), links)
    second = (first + np.repeat(np.arange(1, links + 1), size)) % size
    moved = rng.random(len(first)) < rewired
    second[moved] = rng.integers(0, size, moved.sum())
    return first, second, size


def roads(size, rng, kept=0.75, chain=3):
    """Edges of a road network: crossings of a plane grid of which streets are missing, and points along the streets."""
    n = diffusion.cube(size / (1 + 1.5 * (chain - 1) * kept), 2)[0]
    first, second, _ = diffusion.edges_of_grid((n, n))
    keep = rng.random(len(first)) < kept
    first, second = first[keep], second[keep]
    middle = n * n + np.arange(len(first) * (chain - 1)).reshape(len(first), chain - 1)
    path = np.hstack([first[:, None], middle, second[:, None]])
    a, c, size = path[:, :-1].ravel(), path[:, 1:].ravel(), n * n + middle.size
    graph = sp.coo_matrix((np.ones(len(a)), (a, c)), shape=(size, size))
    _, label = sp.csgraph.connected_components(graph, directed=False)
    inside = label == np.bincount(label).argmax()
    number = np.cumsum(inside) - 1
    keep = inside[a]
    return number[a[keep]], number[c[keep]], int(inside.sum())


def geometric(size, rng, neighbours=6, dimension=2):
    """Each point of a random set and those nearest to it."""
    points = rng.random((max(int(size), 20), dimension))
    _, near = scipy.spatial.cKDTree(points).query(points, neighbours + 1)
    return np.repeat(np.arange(len(points)), neighbours), near[:, 1:].ravel(), len(points)


GRAPHS = {"preferential": preferential, "recursive": recursive, "small-world": small_world, "roads": roads, "geometric": geometric}


def graph(size, rng, kind="roads", shift=1e-3, spread=0.0):
    """A graph's Laplacian plus a multiple of the identity; `spread`: decades of the weights."""
    first, second, count = GRAPHS[kind](size, rng)
    weight = 10 ** (spread * rng.random(len(first)))
    return laplacian_of(first, second, weight, count) + shift * sp.identity(count), rng.standard_normal(count)


def directed(first, second, size, rng):
    """Transition matrix by columns: from every node to those it links to, or to itself."""
    links = sp.coo_matrix((rng.uniform(0.5, 1, len(first)), (second, first)), shape=(size, size)).tocsr()
    out = np.asarray(links.sum(axis=0)).ravel()
    return links @ sp.diags(1 / np.where(out > 0, out, 1)) + sp.diags((out == 0).astype(float))


def page_rank(size, rng, kind="recursive", damping=0.85):
    """I - damping P for the links of a network of pages."""
    first, second, count = GRAPHS[kind](size, rng)
    return sp.identity(count) - damping * directed(first, second, count, rng), np.full(count, (1 - damping) / count)


def absorbing_chain(size, rng, kind="preferential", absorbed=1e-3):
    """Expected times of a Markov chain: I - P^T with a small chance to end in every state, more in a few."""
    first, second, count = GRAPHS[kind](size, rng)
    both = np.concatenate([first, second]), np.concatenate([second, first])
    moves = directed(*both, count, rng).T
    end = np.full(count, absorbed)
    end[rng.integers(0, count, count // 100 + 1)] = 0.5
    return sp.identity(count) - sp.diags(1 - end) @ moves, np.ones(count)


def queues(size, rng, load=0.9, discount=1e-4):
    """Two queues in a row: the generator of the chain of their lengths, transposed, and a small discount."""
    n = diffusion.cube(size, 2)[0]
    up, down = sp.diags([np.ones(n - 1)], [1], shape=(n, n)), sp.diags([np.ones(n - 1)], [-1], shape=(n, n))
    one = sp.identity(n)
    arrivals = load * sp.kron(up, one)
    passing = sp.kron(down, up)
    leaving = 1.1 * sp.kron(one, down)
    rates = arrivals + passing + leaving + 0.01 * sp.kron(one, sp.coo_matrix((np.ones(n - 1), (np.arange(1, n), np.zeros(n - 1, int))), shape=(n, n)))
    generator = rates - sp.diags(np.asarray(rates.sum(axis=1)).ravel())
    return discount * sp.identity(n * n) - generator.T, None


def reacting_network(size, rng, links=4, time=10.0):
    """Implicit step of a master equation over random states: rates over many decades."""
    count = int(size)
    first = np.repeat(np.arange(count), links)
    second = np.clip(first + rng.integers(-200, 201, len(first)), 0, count - 1)
    rate = 10 ** rng.uniform(-4, 2, len(first))
    moves = sp.coo_matrix((rate, (second, first)), shape=(count, count)).tocsr()
    return sp.identity(count) - time * (moves - sp.diags(np.asarray(moves.sum(axis=0)).ravel())), None


def resistors(size, rng, hubs=3, spread=4.0, ground=1e-6):
    """A resistor network with a few nets, such as supplies, to which very many nodes are tied; symmetric."""
    first, second, count = small_world(size, rng, 2, 0.02)
    tied = rng.integers(0, hubs, count // 4), rng.integers(hubs, count, count // 4)
    first, second = np.r_[first, tied[0]], np.r_[second, tied[1]]
    conductance = 10 ** (-spread * rng.random(len(first)))
    return laplacian_of(first, second, conductance, count) + ground * sp.identity(count), None


def nodal_analysis(size, rng, sources=0.05, controlled=0.05, capacity=0.0):
    """Modified nodal analysis: nodes, then currents of voltage sources with no diagonal; transconductances make it unsymmetric."""
    nodes = max(int(size / (1 + sources)), 20)
    first, second, count = small_world(nodes, rng, 2, 0.05)
    matrix = laplacian_of(first, second, 10 ** rng.uniform(-5, 0, len(first)), count) + 1e-9 * sp.identity(count)
    if capacity:
        matrix = matrix + sp.diags(capacity * 10 ** rng.uniform(-3, 0, count))
    amplifiers = int(controlled * count)
    if amplifiers:
        out, control = rng.integers(0, count, (2, amplifiers))
        matrix = matrix + sp.coo_matrix((10 ** rng.uniform(-3, -1, amplifiers), (out, control)), shape=(count, count))
    m = int(sources * count)
    plus = rng.choice(count, m, replace=False)
    incidence = sp.coo_matrix((np.ones(m), (plus, np.arange(m))), shape=(count, m)).tolil()
    for k, minus in enumerate(rng.integers(0, count, m)):
        if rng.random() < 0.3 and minus != plus[k]:
            incidence[minus, k] = -1
    matrix = sp.bmat([[matrix, incidence], [incidence.T, -1e-12 * sp.identity(m)]]).tocsr()
    return matrix, np.concatenate([np.zeros(count), rng.choice([0.9, 1.8, 3.3], m)])


def power_grid(size, rng, layers=4, pads=0.01, capacity=0.0):
    """Supply wires of a chip: meshes of wires in layers, joined by vias, tied to pads on top; a time step adds capacities."""
    n = diffusion.cube(size / layers, 2)[0]
    pieces = [[], [], []]
    for layer in range(layers):
        first, second, axis = diffusion.edges_of_grid((n, n))
        keep = (axis == layer % 2) | (rng.random(len(first)) < 0.02)
        pieces[0].append(first[keep] + layer * n * n)
        pieces[1].append(second[keep] + layer * n * n)
        pieces[2].append(np.full(keep.sum(), 3.0**layer) * rng.uniform(0.8, 1.2, keep.sum()))
        if layer:
            via = np.flatnonzero(rng.random(n * n) < 0.5 / layer)
            pieces[0].append(via + (layer - 1) * n * n)
            pieces[1].append(via + layer * n * n)
            pieces[2].append(np.full(len(via), 20.0))
    count = layers * n * n
    matrix = laplacian_of(*map(np.concatenate, pieces), count)
    tied = np.zeros(count)
    tied[count - n * n + rng.choice(n * n, max(int(pads * n * n), 1), replace=False)] = 1e3
    tied[: n * n] += capacity * rng.uniform(0.5, 2, n * n)
    draw = np.zeros(count)
    draw[: n * n] = -rng.random(n * n)
    return matrix + sp.diags(tied + 1e-9), draw + tied


def load_flow(size, rng, tight=0.3):
    """Newton's step of a power network: angles and voltages, two unknowns at a bus, unsymmetric values."""
    first, second, count = roads(size / 2, rng, 0.7, 2)
    angle = 0.1 * rng.standard_normal(count)
    reactance = 1 / rng.uniform(0.01, 0.3, len(first))
    resistance = tight * reactance
    drop = angle[first] - angle[second]
    blocks = {}
    for name, weight in (("pp", reactance * np.cos(drop)), ("qq", reactance * np.cos(drop) * 1.1)):
        blocks[name] = laplacian_of(first, second, weight, count)
    turned = sp.coo_matrix((resistance * np.sin(drop + 0.1), (first, second)), shape=(count, count))
    turned = turned - turned.T + sp.diags(np.asarray(turned.sum(axis=1)).ravel())
    loads = sp.diags(0.05 + 0.1 * rng.random(count))
    matrix = sp.bmat([[blocks["pp"] + loads, turned], [-turned, blocks["qq"] + loads]]).tocsr()
    order = np.arange(2 * count).reshape(2, -1).T.ravel()
    return matrix[order][:, order], None


def pipes(size, rng, loops=0.3):
    """Newton's step of a water network: conductances over many decades in a graph of long branches."""
    first, second, count = roads(size, rng, 0.55 + 0.4 * loops, 4)
    flow = 10 ** rng.uniform(-6, 0, len(first))
    weight = 1 / (rng.uniform(1, 100, len(first)) * np.maximum(flow, 1e-6) ** 0.852)
    tanks = np.zeros(count)
    tanks[rng.choice(count, max(count // 300, 1), replace=False)] = weight.max()
    return laplacian_of(first, second, weight, count) + sp.diags(tanks), None
