"""Programmes on the way of Clarabel's interior-point method: what its steps solve, early or late.

The package is optional (requirements.txt): without it these systems cannot be made.
"""

import numpy as np
import scipy.sparse as sp

from . import data_fitting, networks
from .plans import sparse


def slack_and_price(quadratic, linear, a, b, cones, iterations):
    """The slacks and multipliers of min x^T P x / 2 + q^T x, b - A x in the cones, after these iterations."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter, settings.max_threads, settings.presolve_enable = False, iterations, 1, False
    kinds = {"zero": clarabel.ZeroConeT, "positive": clarabel.NonnegativeConeT, "second": clarabel.SecondOrderConeT}
    solution = clarabel.DefaultSolver(sp.triu(quadratic).tocsc(), linear, a.tocsc(), b, [kinds[kind](count) for kind, count in cones], settings).solve()
    return np.array(solution.s), np.array(solution.z)


def kkt(quadratic, linear, a, b, equalities, iterations):
    """The next step's matrix of a programme whose first rows are equalities, the others at most b; and what misses dual feasibility."""
    slack, price = slack_and_price(quadratic, linear, a, b, [("zero", equalities), ("positive", len(b) - equalities)], iterations)
    ratio = np.where(np.arange(len(b)) < equalities, 0.0, slack / np.where(price == 0, 1.0, price))
    return sp.bmat([[quadratic + 1e-8 * sp.identity(len(linear)), a.T], [a, -sp.diags(ratio + 1e-8)]]), np.r_[-linear, b]


def portfolio(size, rng, factors=20, iterations=5):
    """Shares of assets for the best return less the risk, by factors that move many of them; none is sold short."""
    assets = max(int(size / 2) - factors, 20)
    exposed = sp.random(factors, assets, 0.5, random_state=rng, data_rvs=rng.standard_normal)
    quadratic = sp.diags(np.r_[rng.uniform(0, factors**0.5, assets), np.ones(factors)])
    a = sp.bmat([[exposed, -sp.identity(factors)], [np.ones((1, assets)), None], [-sp.identity(assets), None]])
    b = np.r_[np.zeros(factors), 1.0, np.zeros(assets)]
    return kkt(quadratic, np.r_[-rng.standard_normal(assets), np.zeros(factors)], a, b, factors + 1, iterations)


def trends(size, rng, strength=1.0, iterations=6, kind="roads"):
    """Levels of a noisy signal along a graph: squares of misfits and sizes of jumps, each jump bounded from both sides."""
    first, second, count = networks.GRAPHS[kind](size / (5 if kind == "roads" else 19), rng)
    keep = first != second
    jumps = sparse(np.repeat([1.0, -1.0], keep.sum()), np.tile(np.arange(keep.sum()), 2), np.r_[first[keep], second[keep]], (keep.sum(), count))
    one = sp.identity(keep.sum())
    signal = np.round(np.cumsum(rng.standard_normal(count)) / count**0.5) + 0.3 * rng.standard_normal(count)
    return kkt(sp.diags(np.r_[np.ones(count), np.zeros(keep.sum())]), np.r_[-signal, np.full(keep.sum(), strength)],
               sp.bmat([[jumps, -one], [-jumps, -one]]), np.zeros(2 * keep.sum()), 0, iterations)


def generation(size, rng, units=40, regions=5, iterations=8):
    """What power plants yield hour by hour: limits, ramps, demand of regions and the lines of a ring between these."""
    width = units + regions
    hours = max(int(size / (5 * units + regions * 4)), 2)
    region, most = rng.integers(0, regions, units), 10 ** rng.uniform(1, 2.5, units)
    home = np.hstack([np.eye(regions)[:, region], np.eye(regions) - np.roll(np.eye(regions), 1, axis=0)])
    one, all_of = sp.identity(hours), sp.identity(width * hours)
    ramp = sp.kron(sp.diags([-1.0, 1.0], [0, 1], shape=(hours - 1, hours)), np.eye(units, width))
    load = most.sum() / regions * (0.6 + 0.2 * np.sin(np.arange(hours)[:, None] / 24 * 2 * np.pi + rng.uniform(0, 1, regions)))
    upper, lower = np.tile(np.r_[most, np.full(regions, most.mean())], hours), np.tile(np.r_[np.zeros(units), np.full(regions, most.mean())], hours)
    a = sp.vstack([sp.kron(one, home), all_of, -all_of, ramp, -ramp])
    b = np.r_[load.ravel(), upper, lower, np.tile(0.1 * most, 2 * hours - 2)]
    price = np.tile(np.r_[rng.uniform(10, 80, units), np.zeros(regions)], hours)
    return kkt(sp.diags(np.tile(np.r_[rng.uniform(0, 0.1, units), np.full(regions, 1e-4)], hours)), price, a, b, regions * hours, iterations)


def shipping(size, rng, iterations=8, kind="roads"):
    """The cheapest flow on a graph with capacities: the normal equations of its nodes' potentials."""
    first, second, count = networks.GRAPHS[kind](size, rng)
    first, second = np.r_[first, second][(both := np.r_[first != second, first != second])], np.r_[second, first][both]
    links = len(first)
    flow = sparse(np.repeat([1.0, -1.0], links), np.r_[first, second], np.tile(np.arange(links), 2), (count, links))
    capacity, one = rng.uniform(1, 10, links), sp.identity(links)
    wanted = flow @ (capacity * rng.random(links) ** 2)
    slack, price = slack_and_price(sp.csc_matrix((links, links)), rng.exponential(1.0, links), sp.vstack([flow, one, -one]), np.r_[wanted, capacity, np.zeros(links)],
                                   [("zero", count), ("positive", 2 * links)], iterations)
    stiff = (price[count:] / slack[count:]).reshape(2, links).sum(axis=0)
    product = flow @ sp.diags(1 / stiff) @ flow.T
    return product + 1e-10 * product.diagonal().max() * sp.identity(count), wanted


def sharp_picture(size, rng, strength=0.2, iterations=6):
    """A picture without noise: squares of misfits and lengths of slopes, a cone of second order for each pixel."""
    n = max(round((size / 5) ** 0.5), 6)
    count = n * n
    one = sp.identity(n)
    slope = sp.diags([-1.0, 1.0], [0, 1], shape=(n, n)).tolil()
    slope[-1] = 0
    empty = sp.csr_matrix((count, count))
    a = sp.bmat([[empty, -sp.identity(count)], [-sp.kron(slope, one), empty], [-sp.kron(one, slope), empty]]).tocsr()
    a = a[np.arange(3 * count).reshape(3, -1).T.ravel()]
    quadratic = sp.diags(np.r_[np.ones(count), np.full(count, 1e-8)])
    linear = np.r_[-data_fitting.picture((n, n), rng), np.full(count, strength)]
    pairs = slack_and_price(quadratic, linear, a, np.zeros(3 * count), [("second", 3)] * count, iterations)
    mirror = np.array([1.0, -1, -1])
    slack, price = (one.reshape(-1, 3) for one in pairs)
    lengths = [np.sqrt(np.maximum((one**2) @ mirror, 1e-30))[:, None] for one in (slack, price)]
    slack, price = slack / lengths[0], price / lengths[1]
    middle = (slack + mirror * price) / np.sqrt(2 + 2 * (slack * price).sum(axis=1, keepdims=True))
    scaling = (lengths[0] / lengths[1])[:, :, None] * (2 * middle[:, :, None] * middle[:, None, :] - np.diag(mirror))
    blocks = sp.bsr_matrix((scaling, np.arange(count), np.arange(count + 1)), shape=(3 * count, 3 * count))
    return sp.bmat([[quadratic, a.T], [a, -blocks]]), np.r_[-linear, np.zeros(3 * count)]
