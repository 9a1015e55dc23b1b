"""What comes from no mesh: plans, networks of pipes and cells, mechanisms, molecules, pictures, words and games of chance."""

import numpy as np
import scipy.sparse as sp
import scipy.spatial

from . import data_fitting, diffusion, networks
from . import finite_elements as fe


def sparse(values, rows, columns, shape):
    return sp.coo_matrix((values, (rows, columns)), shape=shape).tocsr()


def label_spreading(size, rng, kept=0.99, dimension=6, classes=20):
    """Labels that spread to alike items: the normalized Laplacian of a graph of ten nearest neighbours among clustered features."""
    count = max(int(size), 60)
    which = np.sort(rng.integers(0, classes, count))
    items = 2 * rng.standard_normal((classes, dimension))[which] + 10 ** rng.uniform(-0.5, 0.2, (count, 1)) * rng.standard_normal((count, dimension))
    distance, near = scipy.spatial.cKDTree(items).query(items, 11)
    weights = sparse(np.exp(-(distance[:, 1:] ** 2) / 2).ravel() + 1e-12, np.repeat(np.arange(count), 10), near[:, 1:].ravel(), (count, count))
    weights = weights.maximum(weights.T)
    scale = sp.diags(1 / np.sqrt(np.asarray(weights.sum(axis=1)).ravel()))
    return sp.identity(count) - kept * scale @ weights @ scale, np.where(rng.random(count) < 0.05, 2.0 * (which % 2) - 1, 0.0) + 1e-3


def commodities(size, rng, kinds=4, decades=2.0, graph="roads"):
    """Goods that share the roads' capacity: their potentials in an interior-point method, all goods of a node together."""
    first, second, count = networks.GRAPHS[graph](size / kinds, rng)
    keep = first != second
    first, second = first[keep], second[keep]
    weight = 10 ** rng.uniform(-decades, decades, (len(first), kinds))
    total = weight.sum(axis=1) + 10 ** rng.uniform(-decades, decades, len(first))
    block = weight[:, :, None] * np.eye(kinds) - weight[:, :, None] * weight[:, None, :] / total[:, None, None]
    ends = np.concatenate([first, second, first, second]), np.concatenate([first, second, second, first])
    dofs = [kinds * end[:, None] + np.arange(kinds) for end in ends]
    matrix = fe.scatter(np.concatenate([block, block, -block, -block]), *dofs, (kinds * count,) * 2)
    goal = np.zeros((count, kinds))
    goal[rng.integers(0, count, kinds), np.arange(kinds)] = 10.0**decades
    return matrix + sp.diags(goal.ravel() + 1e-8 * 10.0**decades), rng.standard_normal(kinds * count)


def gas(size, rng, linepack=0.0, compressors=0.03):
    """Newton's step of a gas network: pressures in bar at nodes, flows in pipes and through compressors; balances, then laws of pipes."""
    first, second, count = networks.roads(size / 2.05, rng, 0.7, 3)
    pipes = np.arange(len(first))
    pressure = rng.uniform(40, 70, count)
    flow = 10 ** rng.uniform(-2, 1.5, len(first))
    moved = rng.random(len(first)) < compressors
    ends = np.where(moved, -rng.uniform(1.1, 1.5, len(first)), 2 * pressure[first]), np.where(moved, 1.0, -2 * pressure[second])
    law = sparse(np.concatenate(ends), np.r_[pipes, pipes], np.r_[first, second], (len(first), count))
    resistance = sp.diags(np.where(moved, 0.0, -2 * rng.uniform(1, 30, len(first)) * flow))
    source = rng.random(count) < 1 / 200
    source[0] = True
    balance = sparse(np.r_[np.ones(len(first)), -np.ones(len(first))], np.r_[first, second], np.r_[pipes, pipes], (count, len(first)))
    stored = sp.diags(np.where(source, 1.0, linepack * rng.uniform(0.5, 2, count)))
    matrix = sp.bmat([[stored, sp.diags((~source).astype(float)) @ balance], [law, resistance]])
    return matrix, np.r_[np.where(source, 0.0, -rng.random(count)), rng.standard_normal(len(first))]


def predictive_control(size, rng, states=8, inputs=3, decades=1.0, chain=False):
    """Predictive control's KKT matrix stage by stage: states, inputs and multipliers of the dynamics, with barriers of their bounds."""
    width = 2 * states + inputs
    stages = max(int(size / width), 3)
    turn = np.diag(np.ones(states - 1), 1) if chain else rng.standard_normal((states, states)) / np.sqrt(states)
    dynamics = np.eye(states) + 0.1 * (turn - turn.T) - 0.02 * np.eye(states)
    steered = 0.1 * rng.standard_normal((states, inputs))
    inside, before = np.zeros((width, width)), np.zeros((width, width))
    inside[states + inputs:, :states] = -np.eye(states)
    before[states + inputs:, : states + inputs] = np.hstack([dynamics, steered])
    lower = sp.kron(sp.identity(stages), inside) + sp.kron(sp.diags([np.ones(stages - 1)], [-1], shape=(stages, stages)), before)
    price = np.tile(np.r_[np.ones(states), np.full(inputs, 0.1), np.zeros(states)], stages)
    barrier = np.where(rng.random(len(price)) < 0.3, 10 ** rng.uniform(-decades, decades, len(price)), 1.0)
    start = np.zeros(len(price))
    start[-states:] = start[states + inputs: width] = rng.standard_normal(states)
    return lower + lower.T + sp.diags(price * barrier), start


def mechanism(size, rng, tree=False, loops=0.0, compliance=1e-9):
    """Rigid bodies and ball joints: accelerations of a body and the forces of its joint, then those of joints that close loops."""
    bodies = max(int(size / (9 + 3 * loops)), 12)
    parent = (np.arange(bodies) - 1 if not tree else (np.arange(bodies) * rng.uniform(0.9, 1, bodies)).astype(int) - 1).clip(-1)
    closing = int(loops * bodies)
    a = np.r_[np.arange(bodies), rng.integers(0, bodies - 10, closing)]
    b = np.r_[parent, a[bodies:] + rng.integers(2, 10, closing)]
    force = np.r_[9 * np.arange(bodies) + 6, 9 * bodies + 3 * np.arange(closing)][:, None] + np.arange(3)

    def lever(arm):
        x, y, z = arm.T
        zero = np.zeros(len(arm))
        return np.concatenate([np.broadcast_to(np.eye(3), (len(arm), 3, 3)), np.stack([zero, z, -y, -z, zero, x, y, -x, zero], 1).reshape(-1, 3, 3)], axis=2)

    count = 9 * bodies + 3 * closing
    joints = fe.scatter(lever(0.3 * rng.standard_normal((len(a), 3))), force, 9 * a[:, None] + np.arange(6), (count, count))
    held = b >= 0
    joints = joints - fe.scatter(lever(0.3 * rng.standard_normal((held.sum(), 3))), force[held], 9 * b[held, None] + np.arange(6), (count, count))
    mass = np.tile(10 ** rng.uniform(-1, 1, (bodies, 1)), 3)
    turn = np.linalg.qr(rng.standard_normal((bodies, 3, 3)))[0]
    inertia = np.einsum("kij,kj,klj->kil", turn, mass * rng.uniform(0.02, 0.1, (bodies, 3)), turn)
    block = np.zeros((bodies, 6, 6))
    block[:, :3, :3], block[:, 3:, 3:] = mass[:, :, None] * np.eye(3), inertia
    dofs = 9 * np.arange(bodies)[:, None] + np.arange(6)
    masses = fe.scatter(block, dofs, dofs, (count, count))
    yielding = np.zeros(count)
    yielding[force.ravel()] = -compliance
    weight = np.zeros(count)
    weight[9 * np.arange(bodies) + 2] = -9.81 * mass[:, 0]
    return masses + joints + joints.T + sp.diags(yielding), weight


def protein(size, rng, reach=10.0, bonded=1.0, fading=False, shift=1e-3):
    """An elastic network of a folded chain: springs between residues within a reach in Angstrom, stronger along the chain."""
    count = max(int(size / 3), 40)
    radius = (count * 130 * 3 / (4 * np.pi)) ** (1 / 3)
    places, heading = np.zeros((count, 3)), np.array([1.0, 0, 0])
    for k, kick in enumerate(rng.standard_normal((count - 1, 3))):
        heading = heading + 0.7 * kick - (places[k] / radius * 2 if places[k] @ places[k] > radius**2 else 0)
        heading /= np.linalg.norm(heading)
        places[k + 1] = places[k] + 3.8 * heading
    pairs = scipy.spatial.cKDTree(places).query_pairs(reach, output_type="ndarray")
    along = places[pairs[:, 1]] - places[pairs[:, 0]]
    length = np.maximum(np.linalg.norm(along, axis=1), 1.0)
    spring = np.where(fading, (3.8 / length) ** 6, 1.0) * np.where(pairs[:, 1] - pairs[:, 0] == 1, bonded, 1.0)
    unit = along / length[:, None]
    block = spring[:, None, None] * unit[:, :, None] * unit[:, None, :]
    dofs = (3 * pairs[:, :, None] + np.arange(3)).reshape(len(pairs), 6)
    matrix = fe.scatter(np.block([[block, -block], [-block, block]]), dofs, dofs, (3 * count,) * 2)
    return matrix + shift * sp.identity(3 * count), rng.standard_normal(3 * count)


def memory_cells(size, rng, step=1e-11):
    """A step of a static memory's circuit: six transistors a cell, bit lines of wire, word lines, one supply with its current."""
    n = max(round(np.sqrt(size / 4)), 5)
    cells = np.arange(n * n)
    row = cells // n
    left, right, bit, bar = (4 * cells + k for k in range(4))
    word, supply, ground = 4 * n * n + row, np.full(n * n, 4 * n * n + n), np.full(n * n, 4 * n * n + n + 1)
    state = rng.random(n * n) < 0.5

    def between(plus, minus):
        return sparse(np.repeat([1.0, -1.0], n * n), np.r_[plus, minus], np.tile(cells, 2), (4 * n * n + n + 2, n * n))

    def current(out, back, plus, minus, value):
        """From node `out` to node `back`: value times the voltage from `plus` to `minus`."""
        return between(out, back) @ sp.diags(value) @ between(plus, minus).T

    def transistor(gate, drain, source, conducts):
        return (current(drain, source, drain, source, np.where(conducts, 1e-4, 1e-11) * rng.uniform(0.7, 1.4, n * n))
                + current(drain, source, gate, source, np.where(conducts, 3e-5, 1e-12)))

    parts = []
    for out, gate, high in ((left, right, state), (right, left, ~state)):
        parts += [transistor(gate, out, ground, ~high), transistor(gate, out, supply, high)]
    for line, inner in ((bit, left), (bar, right)):
        below = np.where(row < n - 1, line + 4 * n, line)
        parts += [transistor(word, line, inner, row == n // 2), current(line, below, line, below, rng.uniform(0.5, 2, n * n)),
                  current(line, supply, line, supply, np.where(row == 0, 1e-3, 0.0))]
        for a, b, farad in ((inner, ground, 2e-16), (line, ground, 1e-15), (word, line, 1e-16), (word, inner, 1e-16)):
            parts.append(current(a, b, a, b, farad / step * rng.uniform(0.8, 1.2, n * n)))
    ground = 4 * n * n + n + 1
    matrix = sum(parts)[:ground, :ground]
    driver = np.zeros(ground)
    driver[4 * n * n: -1] = 1e-3
    source = sparse([1.0], [ground - 1], [0], (ground, 1))
    draw = np.zeros(ground)
    draw[4 * n * n + n // 2] = 1e-3
    return sp.bmat([[matrix + sp.diags(driver + 1e-12), source], [source.T, None]]), np.r_[draw, 1.0]


def inductors(size, rng, step=1e-12, reach=2.5, mirrored=False):
    """Wires of a chip with coupled inductances: voltages at nodes, then currents, each coupled to parallel ones nearby; `mirrored`: symmetric."""
    n = diffusion.cube(size / 3, 2)[0]
    first, second, axis = diffusion.edges_of_grid((n, n))
    branches = np.arange(len(first))
    middle = (np.stack(np.divmod(first, n)) + np.stack(np.divmod(second, n))).T / 2
    middle = np.column_stack([middle, 100.0 * axis])
    pairs = scipy.spatial.cKDTree(middle).query_pairs(reach, output_type="ndarray")
    r = np.linalg.norm(middle[pairs[:, 0]] - middle[pairs[:, 1]], axis=1) / reach
    mutual = sparse((1 - r) ** 4 * (4 * r + 1), *pairs.T, (len(first),) * 2)
    inductance = 1e-12 * (mutual + mutual.T + sp.identity(len(first)))
    current = sp.diags(rng.uniform(0.02, 0.2, len(first))) + inductance / step
    incidence = sparse(np.r_[np.ones(len(first)), -np.ones(len(first))], np.r_[first, second], np.r_[branches, branches], (n * n, len(first)))
    sign = -1.0 if mirrored else 1.0
    pads = (rng.random(n * n) < 0.01) * 10.0
    matrix = sp.bmat([[sp.diags(pads + 1e-15 / step * rng.uniform(0.5, 2, n * n)), incidence], [-sign * incidence.T, sign * current]])
    return matrix, np.r_[pads - 1e-3 * rng.random(n * n), np.zeros(len(first))]


def harmonic_balance(size, rng, harmonics=3, devices=0.3, frequency=1.0, swing=2.0):
    """Newton's step of harmonic balance: a circuit's node voltages by their harmonics, which devices of changing conductance mix."""
    width = 2 * harmonics + 1
    first, second, count = networks.small_world(size / width, rng, 2, 0.02)
    conductance = networks.laplacian_of(first, second, 10 ** rng.uniform(-3, 0, len(first)), count) + 1e-3 * sp.identity(count)
    capacity = networks.laplacian_of(first, second, 10 ** rng.uniform(-3, -1, len(first)), count) + sp.diags(10 ** rng.uniform(-3, -1, count))
    order, phase = np.arange(1, harmonics + 1), 2 * np.pi * np.arange(width) / width
    waves = np.column_stack([np.ones(width), *(wave(k * phase) for k in order for wave in (np.cos, np.sin))])
    turn = sp.block_diag([0.0, *(frequency * k * np.array([[0, 1], [-1, 0]]) for k in order)])
    out, control = rng.integers(0, count, (2, int(devices * count)))
    course = np.exp(swing * np.sin(phase + rng.uniform(0, 2 * np.pi, (len(out), 1)))) * 0.1
    mixed = np.einsum("ij,kj,jl->kil", np.linalg.inv(waves), course, waves)
    dofs = width * np.stack([out, control])[:, :, None] + np.arange(width)
    matrix = sp.kron(conductance, sp.identity(width)) + sp.kron(capacity, turn) + fe.scatter(mixed, dofs[0], dofs[0], (width * count,) * 2)
    return matrix + 0.5 * fe.scatter(mixed, dofs[0], dofs[1], (width * count,) * 2), None


def inpainting(size, rng, share=0.3, width=4, order=2):
    """Holes of a picture filled in smoothly: bending energy's rows in the holes, rows of the identity where the picture is known."""
    shape = diffusion.cube(size, 2)
    field = diffusion.smooth_noise(shape, rng, width)
    hole = field < np.quantile(field, share)
    d = data_fitting.gradients(shape)
    rows = d.T @ d if order == 1 else d.T @ d @ d.T @ d
    return sp.diags(hole.astype(float)) @ rows + sp.diags((~hole).astype(float)), np.where(hole, 0.0, data_fitting.picture(shape, rng))


def super_resolution(size, rng, radius=2, frames=3, smooth=1e-3, edges=False):
    """A sharp picture from blurred and shifted small ones: wide windows of normal equations, kept smooth, less so across edges."""
    n = diffusion.cube(size, 2)[0]
    offset = np.arange(-radius, radius + 1)
    line = sp.diags([np.full(n - abs(k), np.exp(-((k / radius) ** 2))) for k in offset], offset, shape=(n, n))
    blur = sp.kron(line, line) / line.sum(axis=1).max() ** 2
    phase = (2 * (np.arange(n) % 2)[:, None] + np.arange(n) % 2).ravel()
    seen = np.bincount(rng.integers(0, 4, frames), minlength=4)[phase].astype(float)
    d = data_fitting.gradients((n, n))
    weight = 1 / (np.abs(d @ data_fitting.picture((n, n), rng)) + 0.01) if edges else np.ones(d.shape[0])
    return blur.T @ sp.diags(seen) @ blur + smooth * d.T @ sp.diags(weight) @ d + 1e-6 * sp.identity(n * n), blur.T @ (seen * data_fitting.picture((n, n), rng))


def protocol(size, rng, rounds=40, lost=0.01, again=0.2):
    """The chance that a protocol ends well: rounds of many modes, each leads on, to another mode of its round or, where all is lost, to the start."""
    modes = max(int(size / rounds), 4)
    state = np.arange(rounds * modes)
    on = state < (rounds - 1) * modes
    within = state - state % modes
    step = 2 ** rng.integers(0, max(int(np.log2(modes)), 1), (2, len(state)))
    targets = np.where(on, (within + modes) + (state % modes * 3 + step[0]) % modes, 0), within + (state % modes ^ step[1]) % modes, 0 * state
    stay = again * rng.uniform(0.5, 1.5, len(state))
    chances = np.where(on, 1 - lost - stay, 0.0), stay, np.full(len(state), lost)
    moves = sparse(np.concatenate(chances), np.tile(state, 3), np.concatenate(targets), (len(state),) * 2)
    return sp.identity(len(state)) - moves, np.where(on, 0.0, 1 - lost - stay)


def word_counts(size, rng, damping=1e-2, words=8):
    """Newton's step of a classifier of short texts: few words are in very many texts, most in a few."""
    count = max(int(size), 50)
    texts = np.repeat(np.arange(2 * count), words)
    word = ((count + 1.0) ** rng.random(len(texts)) - 1).astype(int)
    often = np.bincount(word, minlength=count)
    features = sparse(np.log(2 * count / (1 + often[word])) + 0.1, texts, rng.permutation(count)[word], (2 * count, count))
    doubt = 1 / (4 * np.cosh(rng.standard_normal(2 * count) * 3) ** 2)
    return features.T @ sp.diags(doubt) @ features + damping * sp.identity(count), features.T @ rng.choice([-0.5, 0.5], 2 * count)


def basis(size, rng, bump=0.1, slack=0.3):
    """A basis of the simplex method: unit columns and nearly triangular ones around a bump that is not, in no good order."""
    count = max(int(size), 30)
    inner = int(bump * count)
    below = np.repeat(np.flatnonzero(rng.random(count - 1) > slack), 2)
    lower = np.minimum(below + 1 + (rng.random(len(below)) ** 3 * 300).astype(int), count - 1)
    first = rng.integers(0, count - inner)
    block = rng.integers(first, first + inner, 3 * inner)
    block = block, np.clip(block + rng.integers(-50, 51, len(block)), first, first + inner - 1)
    values = np.r_[rng.choice([-1.0, 1.0], count), rng.choice([-1, 1, 0.1, 0.5], len(below)), rng.uniform(-0.5, 0.5, 3 * inner)]
    matrix = sparse(values, np.r_[np.arange(count), lower, block[0]], np.r_[np.arange(count), below, block[1]], (count, count))
    return matrix[rng.permutation(count)][:, rng.permutation(count)], None


def fock(size, rng, level=0.0, gap=2.0, reach=1.9):
    """A solid's electrons in four orbitals an atom, which overlap with those of some twenty atoms: energies from a level in the gap or in a band."""
    n = diffusion.cube(size / 4, 3)[0]
    site = np.stack(np.unravel_index(np.arange(n**3), (n, n, n)), 1)
    places = site + rng.uniform(-0.1, 0.1, site.shape)
    pairs = scipy.spatial.cKDTree(places).query_pairs(reach, output_type="ndarray")
    length = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
    hop = rng.uniform(-1, 1, (len(pairs), 4, 4)) * np.exp(-2 * length)[:, None, None]
    dofs = 4 * pairs[:, :, None] + np.arange(4)
    off = fe.scatter(hop, dofs[:, 0], dofs[:, 1], (4 * n**3,) * 2)
    own = np.repeat(gap * (-1.0) ** site.sum(axis=1), 4) + np.tile([-0.5, 0.2, 0.2, 0.2], n**3) + 0.2 * rng.standard_normal(4 * n**3)
    return off + off.T + sp.diags(own - level), None


def spins(size, rng, cold=1.0, discount=1e-2):
    """A glass of spins on a ring, a row for each of its states: the rates of flips, and a small discount."""
    count = max(round(np.log2(size)), 4)
    state = np.arange(2**count)
    up = 2 * (state[:, None] >> np.arange(count) & 1) - 1
    couple, own = rng.standard_normal((2, count))
    energy = -(up * np.roll(up, 1, axis=1)) @ couple - 0.3 * up @ own
    flipped = state[:, None] ^ 1 << np.arange(count)
    rates = 1 / (1 + np.exp(cold * (energy[flipped] - energy[:, None])))
    return sp.diags(discount + rates.sum(axis=1)) - sparse(rates.ravel(), np.repeat(state, count), flipped.ravel(), (2**count,) * 2), energy
