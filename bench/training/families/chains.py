"""Chains of states, circuits, prices, molecules, economies and networks of heat."""

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg
import scipy.spatial
import scipy.special

from . import diffusion, networks
from .plans import sparse


# Circuits
def crossbar(size, rng, wire=2.0, contrast=1e3):
    """A memory of resistors where lines cross: every word line and bit line is a wire of many pieces, driven at one end."""
    n = max(round((size / 2) ** 0.5), 6)
    at = np.arange(n * n).reshape(n, n)
    cells = 1e-3 * contrast ** -rng.choice([0.0, 1.0], n * n) * rng.uniform(0.8, 1.2, n * n)
    first = np.r_[at.ravel(), at[:, :-1].ravel(), n * n + at[:-1].ravel()]
    second = np.r_[n * n + at.ravel(), at[:, 1:].ravel(), n * n + at[1:].ravel()]
    matrix = networks.laplacian_of(first, second, np.r_[cells, np.full(2 * n * (n - 1), 1 / wire)], 2 * n * n)
    ends = np.r_[at[:, 0], n * n + at[-1]]
    driven = np.zeros(2 * n * n)
    driven[ends] = 1e-2
    volts = np.zeros(2 * n * n)
    volts[at[:, 0]] = 0.3 * rng.integers(0, 2, n)
    return matrix + sp.diags(driven), driven * volts


def logic(size, rng, step=1e-11, near=200):
    """A step in time of gates with two inputs: an output, the node between stacked transistors, and a wire of two pieces to later gates."""
    gates = max(int(size / 4), 30)
    out, inner, half, end = (4 * np.arange(gates) + k for k in range(4))
    inputs = end[(np.arange(gates)[:, None] - rng.geometric(1 / near, (gates, 2))) % gates]
    parts = [[], [], []]

    def stamp(value, row, column):
        for part, one in zip(parts, np.broadcast_arrays(value, row, column)):
            part.append(one)

    def between(value, a, b):
        for sign, row, column in ((1, a, a), (1, b, b), (-1, a, b), (-1, b, a)):
            stamp(sign * value, row, column)

    conducts = 10 ** rng.choice([-9.0, -5.5, -3.7], (gates, 3), p=[0.4, 0.2, 0.4]) * rng.uniform(0.7, 1.4, (gates, 3))
    gains = 10 ** rng.choice([-9.0, -4.0, -3.3], (gates, 3), p=[0.5, 0.2, 0.3])
    between(conducts[:, 0], out, inner)
    stamp(conducts[:, 1], inner, inner)
    stamp(conducts[:, 2], out, out)
    for gain, row, driver, sign in ((0, out, 0, 1), (0, inner, 0, -1), (1, inner, 1, 1), (2, out, 1, 1)):
        stamp(sign * gains[:, gain], row, inputs[:, driver])
    resistance = 10 ** rng.uniform(1, 3.5, gates)
    between(1 / resistance, out, half)
    between(1 / resistance, half, end)
    for k in range(2):
        between(1e-16 / step * rng.uniform(0.5, 1, gates), inputs[:, k], out)
    stamp(rng.uniform(2e-16, 5e-15, 4 * gates) / step, np.arange(4 * gates), np.arange(4 * gates))
    matrix = sparse(*map(np.concatenate, parts), (4 * gates,) * 2)
    return matrix, matrix @ rng.choice([0.0, 0.9], 4 * gates) + 1e-6 * rng.standard_normal(4 * gates)


def amplifiers(size, rng, gain=1e5, step=1e-5):
    """A step of a bank of active filters: three operational amplifiers each with an input, an output and a current that no diagonal has."""
    cells = max(int(size / 9), 10)
    source = (np.arange(cells) * rng.uniform(0.7, 1, cells)).astype(int)
    node = 9 * np.arange(cells)[:, None] + np.arange(9)
    inputs, outputs, currents = node[:, 0:3], node[:, 3:6], node[:, 6:9]
    conducts = 10 ** rng.uniform(-5, -3, (cells, 7))
    stored = 10 ** rng.uniform(-9, -7, (cells, 2)) / step
    links = [(inputs[:, 0], outputs[source, 1], conducts[:, 0]), (inputs[:, 0], outputs[:, 0], conducts[:, 1]), (inputs[:, 0], outputs[:, 1], conducts[:, 2]),
             (inputs[:, 0], outputs[:, 2], conducts[:, 3]), (inputs[:, 1], outputs[:, 0], conducts[:, 4]), (inputs[:, 1], outputs[:, 1], stored[:, 0]),
             (inputs[:, 2], outputs[:, 1], conducts[:, 5]), (inputs[:, 2], outputs[:, 2], stored[:, 1])]
    matrix = networks.laplacian_of(*map(np.concatenate, zip(*links)), 9 * cells)
    ones = np.ones(3 * cells)
    output, law = outputs.ravel(), currents.ravel()
    follow = sparse(np.r_[-ones, ones / gain, ones], np.r_[output, law, law], np.r_[law, output, inputs.ravel()], (9 * cells,) * 2)
    return matrix + follow, None


# Chains of states
def reliability(size, rng, discount=1e-3, common=0.01, crews=1):
    """Parts that fail and are repaired, the first broken ones first, and sometimes fail in pairs: a chain of all sets of broken parts."""
    parts = max(round(np.log2(size)), 4)
    count = 2**parts
    states = np.arange(count)
    broken = (states[:, None] >> np.arange(parts)) & 1
    fails, mends = 10 ** rng.uniform(-4, -1, parts), 10 ** rng.uniform(-1, 1, parts)
    served = broken.astype(bool) & (np.cumsum(broken, axis=1) <= crews)
    rows, columns, rates = [], [], []
    for k in range(parts):
        works, waits = np.flatnonzero(broken[:, k] == 0), np.flatnonzero(served[:, k])
        pair = (1 << k) | (1 << ((k + 1) % parts))
        for at, to, rate in ((works, works | (1 << k), fails[k]), (works, works | pair, common * fails[k]), (waits, waits ^ (1 << k), mends[k])):
            rows.append(at)
            columns.append(to)
            rates.append(np.full(len(at), rate))
    moves = sparse(*map(np.concatenate, (rates, rows, columns)), (count, count))
    return discount * sp.identity(count) - (moves - sp.diags(np.asarray(moves.sum(axis=1)).ravel())), (broken.sum(axis=1) < parts / 2).astype(float)


def toggle(size, rng, step=10.0, made=0.8, sharp=3.0):
    """A step of the chances of two proteins' counts in a cell that each hinder the other from being made."""
    n = diffusion.cube(size, 2)[0]
    counts = np.arange(float(n))
    one, hindered = sp.identity(n), 1 / (1 + (counts / (0.25 * n)) ** sharp)
    birth = sp.diags([np.ones(n - 1)], [-1]) - sp.diags(np.r_[np.ones(n - 1), 0.0])
    death = sp.diags([counts[1:]], [1]) - sp.diags(counts)
    generator = made * n * (sp.kron(birth, sp.diags(hindered)) + sp.kron(sp.diags(hindered), birth)) + sp.kron(death, one) + sp.kron(one, death)
    start = np.exp(-((counts - 0.5 * n) ** 2) / n)
    return sp.identity(n * n) - step * generator, np.outer(start, start).ravel()


def heston(size, rng, step=0.02, correlation=-0.7, early=0.0):
    """A step of an option's price by the asset's price and its variance, on graded points; `early`: the penalty where it is exercised early."""
    n = max(round(size**0.5), 8)
    price = 100 * np.maximum(1 + 0.3 * np.sinh(np.linspace(np.arcsinh(-1 / 0.3), np.arcsinh(7 / 0.3), n)), 0)
    variance = np.sinh(np.linspace(0, np.arcsinh(5 / 0.02), n)) * 0.02

    def slopes(at, upwind):
        h = np.diff(at)
        left, right = np.r_[h[0], h], np.r_[h, h[-1]]
        second = sp.diags([2 / (left * (left + right))[1:], -2 / (left * right), 2 / (right * (left + right))[:-1]], [-1, 0, 1]).tolil()
        first = sp.diags([-(right / (left * (left + right)))[1:], (right - left) / (left * right), (left / (right * (left + right)))[:-1]], [-1, 0, 1]).tolil()
        lean = sp.diags([np.where(upwind[1:] < 0, -1 / left[1:], 0), np.where(upwind < 0, 1 / left, -1 / right), np.where(upwind[:-1] < 0, 0, 1 / right[:-1])], [-1, 0, 1]).tolil()
        for matrix in (second, first):
            matrix[0], matrix[-1] = 0, 0
        lean[-1, -1] = 0 if upwind[-1] >= 0 else lean[-1, -1]
        return first.tocsr(), second.tocsr(), lean.tocsr()

    drift = 1.5 * (0.04 - variance)
    by_price, twice_price, _ = slopes(price, np.ones(n))
    by_variance, twice_variance, towards = slopes(variance, drift)
    spread = 0.3
    generator = (sp.kron(sp.diags(price**2 / 2) @ twice_price, sp.diags(variance)) + 0.02 * sp.kron(sp.diags(price) @ by_price, sp.identity(n))
                 + correlation * spread * sp.kron(sp.diags(price) @ by_price, sp.diags(variance) @ by_variance)
                 + sp.kron(sp.identity(n), sp.diags(spread**2 / 2 * variance) @ twice_variance + sp.diags(drift) @ towards) - 0.02 * sp.identity(n * n))
    worth = np.repeat(np.maximum(100 - price, 0), n)
    held = early * (np.repeat(price, n) < 75 - 10 * np.tile(variance, n))
    return sp.identity(n * n) - step * generator + sp.diags(held), worth * (1 + held)


# Molecules
def charges(size, rng, reach=6.0, shared=False):
    """Charges that level the atoms' potentials in water: shielded attractions within a reach in Angstrom, then a sum for each molecule, or for all."""
    n = max(round((size / 4) ** (1 / 3)), 3)
    count = n**3
    middle = 3.1 * (np.stack(np.meshgrid(*[np.arange(n)] * 3, indexing="ij"), -1).reshape(-1, 3) + rng.uniform(-0.15, 0.15, (count, 3)))
    arms = rng.standard_normal((count, 2, 3))
    arms *= 0.96 / np.linalg.norm(arms, axis=2, keepdims=True)
    places = np.concatenate([middle[:, None], middle[:, None] + arms], axis=1).reshape(-1, 3)
    pairs = scipy.spatial.cKDTree(places).query_pairs(reach, output_type="ndarray")
    distance = np.linalg.norm(places[pairs[:, 0]] - places[pairs[:, 1]], axis=1)
    pull = 14.4 * scipy.special.erfc(distance / (0.4 * reach)) / (distance**3 + 1.2) ** (1 / 3)
    hardness = np.tile([17.0, 13.5, 13.5], count)
    both = sparse(np.r_[pull, pull], np.r_[pairs[:, 0], pairs[:, 1]], np.r_[pairs[:, 1], pairs[:, 0]], (3 * count,) * 2) + sp.diags(hardness)
    sums = sp.csr_matrix(np.ones((3 * count, 1))) if shared else sp.kron(sp.identity(count), np.ones((3, 1)))
    return sp.bmat([[both, sums], [sums.T, None]]), np.r_[np.tile([-8.7, -4.5, -4.5], count) * rng.uniform(0.9, 1.1, 3 * count), np.zeros(sums.shape[1])]


def bilayer(size, rng, level=0.3, turned=5.0, missing=0.01):
    """Electrons of two sheets of graphene, one turned by some degrees, with atoms missing: by jumps between near atoms, less an energy in eV."""
    n = max(round((size / 4) ** 0.5), 6)
    cell = np.stack(np.meshgrid(np.arange(n), np.arange(n), indexing="ij"), -1).reshape(-1, 1, 2) @ [[2.46, 0], [1.23, 2.1304]]
    sheet = (cell + np.array([[0, 0], [0, 1.42]])).reshape(-1, 2)
    sheet -= sheet.mean(axis=0)
    c, s = np.cos(np.radians(turned)), np.sin(np.radians(turned))
    places = np.concatenate([np.c_[sheet, np.zeros(len(sheet))], np.c_[sheet @ [[c, s], [-s, c]], np.full(len(sheet), 3.35)]])
    places = places[rng.random(len(places)) >= missing]
    places = places[np.lexsort((places[:, 1], np.round(places[:, 0])))]
    pairs = scipy.spatial.cKDTree(places).query_pairs(4.4, output_type="ndarray")
    distance, rise = (np.linalg.norm(along := places[pairs[:, 0]] - places[pairs[:, 1]], axis=1), along[:, 2])
    tilt = (rise / distance) ** 2
    jump = -2.7 * np.exp(-(distance - 1.42) / 0.453) * (1 - tilt) + 0.48 * np.exp(-(distance - 3.35) / 0.453) * tilt
    both = sparse(np.r_[jump, jump], np.r_[pairs[:, 0], pairs[:, 1]], np.r_[pairs[:, 1], pairs[:, 0]], (len(places),) * 2)
    return both - level * sp.identity(len(places)), rng.standard_normal(len(places))


# Plans
def foresight(size, rng, countries=6, patience=0.96, adjust=2.0):
    """Countries that save and trade with all of the future known: consumption, capital, investment, output and its price, by periods; a bond for all."""
    width = 5 * countries + 1
    periods = max(int(size / width), 5)
    land = np.arange(countries)
    c, k, i, y, q = (5 * land + shift for shift in range(5))
    bond, parts = 5 * countries, {-1: np.zeros((width, width)), 0: np.zeros((width, width)), 1: np.zeros((width, width))}
    weight = rng.dirichlet(np.ones(countries))
    for when, row, column, value in ((0, y, y, 1), (-1, y, k, -0.33), (0, k, k, 1), (-1, k, k, -0.975), (0, k, i, -0.025), (0, i, q, 1), (0, i, i, -adjust),
                                     (-1, i, k, adjust), (0, q, q, 1), (1, q, q, -patience * 0.975), (1, q, y, patience * 0.975 - 1), (0, q, k, 1 - patience * 0.975),
                                     (0, q, bond, 1), (0, c, c, 1), (1, c, c, -1), (0, c, bond, rng.uniform(0.3, 1, countries)),
                                     (0, bond, y, weight), (0, bond, c, -0.75 * weight), (0, bond, i, -0.25 * weight)):
        parts[when][row, column] += value
    parts[0][np.ix_(y, y)] -= 0.3 * rng.dirichlet(np.ones(countries), countries)
    matrix = sum(sp.kron(sp.diags([1.0], [when], shape=(periods, periods)), part) for when, part in parts.items())
    shock = np.zeros((periods, width))
    shock[:, y] = 0.9 ** np.arange(periods)[:, None] * rng.standard_normal(countries)
    return matrix, shock.ravel()


def heating(size, rng, step=300.0, loops=0.3):
    """A step of a town's heat by water: temperatures of the way there and back, carried along pipes that lose some, cooled where it is used."""
    first, second, count = networks.roads(size / 2, rng, 0.55 + 0.4 * loops, 4)
    use = rng.exponential(0.05, count) * (rng.random(count) < 0.5)
    plant = rng.choice(count, max(count // 4000, 1), replace=False)
    law = networks.laplacian_of(first, second, 10 ** rng.uniform(-1, 1, len(first)), count)
    drop = sp.linalg.spsolve((law + sp.diags(np.isin(np.arange(count), plant) * 1e6 + 1e-9)).tocsc(), -use)
    pipes = sp.coo_matrix(sp.diags(law.diagonal()) - law)
    mass = pipes.data * (drop[pipes.row] - drop[pipes.col])
    keep = mass > 1e-12
    from_, to, mass = pipes.row[keep], pipes.col[keep], mass[keep]
    left = np.exp(-1e-3 / np.maximum(mass, 1e-3))
    there, back = sparse(mass * left, to, from_, (count, count)), sparse(mass * left, from_, to, (count, count))
    volume = rng.uniform(100, 1000, count) / step * 1e-2
    inflow = np.bincount(to, mass, count) + 1e3 * np.isin(np.arange(count), plant)
    return sp.bmat([[sp.diags(volume + inflow) - there, None], [-sp.diags(0.6 * use), sp.diags(volume + np.bincount(from_, mass, count) + use) - back]]), \
        np.r_[volume * 60 + 9e4 * np.isin(np.arange(count), plant), volume * 40 + use * 10]
