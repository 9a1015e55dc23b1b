"""Convection, transport, waves and discontinuous Galerkin methods."""

import numpy as np
import scipy.sparse as sp

from . import diffusion
from . import finite_elements as fe


def vortex(places):
    """A wind that goes round: divergence-free, and no boundary lets it in."""
    x, y = places[..., 0], places[..., 1]
    wind = np.zeros_like(places)
    wind[..., 0] = np.sin(np.pi * x) * np.cos(np.pi * y)
    wind[..., 1] = -np.cos(np.pi * x) * np.sin(np.pi * y)
    return wind


def constant_wind(places):
    wind = np.zeros_like(places)
    wind[..., 0], wind[..., 1] = 0.8, 0.6
    return wind


def streamline_upwind(size, rng, peclet=1e3, recirculating=False, dimension=2, step=0.0):
    """Convection and diffusion on unstructured simplices, stabilised along the streamlines (SUPG)."""
    points, cells = fe.mesh(size, dimension, rng, delaunay=dimension == 2)
    of = fe.space(points, cells)
    wind = vortex if recirculating else constant_wind
    centres = points[cells].mean(axis=1)
    w = wind(centres)
    width = 1 / max(len(points) ** (1 / dimension), 2)
    speed = np.linalg.norm(w, axis=1) + 1e-12
    tau = width / (2 * speed) * np.maximum(1 - 2 / (peclet * speed * width), 0)
    table = fe.tabulate(of, 1)
    along = np.einsum("qcid,cd->qci", table.gradients, w)
    stream = fe.scatter(np.einsum("qc,qci,qcj->cij", table.weights * tau, along, along), of.dofs, of.dofs, (of.size, of.size))
    matrix = fe.stiffness(of) / peclet + fe.advection(of, wind) + stream
    if step:
        matrix = fe.mass(of) + step * matrix
    return fe.without(matrix, fe.on_boundary(of.nodes), fe.load(of))


def upwind_edges(shape, wind):
    """Finite-volume fluxes of first order: (matrix, outflow through the border on the diagonal)."""
    first, second, axis = diffusion.edges_of_grid(shape)
    flux = wind[axis, first]
    rows = np.concatenate([first, first, second, second])
    columns = np.concatenate([first, second, first, second])
    out, back = np.maximum(flux, 0), np.minimum(flux, 0)
    matrix = sp.coo_matrix((np.concatenate([out, back, -out, -back]), (rows, columns)), shape=(np.prod(shape),) * 2).tocsr()
    return matrix


def tracer(size, rng, dimension=3, step=100.0, heterogeneous=True):
    """Implicit step of a tracer that a flow through a rock carries, upwind: no diffusion but the scheme's."""
    shape = diffusion.cube(size, dimension)
    count = int(np.prod(shape))
    wind = np.zeros((dimension, count))
    wind[0] = 1
    if heterogeneous:  # the flow of a pressure that jumping permeabilities make
        potential = [diffusion.smooth_noise(shape, rng, 3).reshape(shape) for _ in range(dimension)]
        for axis in range(dimension):
            other = (axis + 1) % dimension
            wind[axis] += 2 * np.gradient(potential[axis], axis=other).ravel()
            wind[other] -= 2 * np.gradient(potential[axis], axis=axis).ravel()
    matrix = upwind_edges(shape, wind)
    inflow = np.zeros(count)
    inflow[: int(np.prod(shape[1:]))] = 1
    return sp.diags(1 + step * inflow) + step * (matrix + 1e-8 * sp.identity(count)), inflow


def discrete_ordinates(size, rng, directions=8, scattering=0.9, thickness=10.0):
    """Neutron transport in a plane: a sweep for each direction, coupled by scattering in every cell."""
    n = diffusion.cube(size / directions, 2)[0]
    back = sp.diags([np.ones(n), -np.ones(n - 1)], [0, -1])
    forth = back.T
    one = sp.identity(n)
    total = thickness / n * np.exp(0.7 * diffusion.smooth_noise((n, n), rng))
    blocks = []
    for k in range(directions):
        angle = 2 * np.pi * (k + 0.5) / directions
        c, s = np.cos(angle), np.sin(angle)
        blocks.append(abs(c) * sp.kron(back if c > 0 else forth, one) + abs(s) * sp.kron(one, back if s > 0 else forth) + sp.diags(total))
    spread = sp.kron(np.full((directions, directions), 1 / directions), sp.diags(scattering * total))
    return sp.block_diag(blocks) - spread, np.ones(directions * n * n)


def reference_element(order):
    """Nodes, weights and the derivative matrix of Gauss, Lobatto and Legendre on [-1, 1]."""
    legendre = np.polynomial.legendre.Legendre.basis(order)
    nodes = np.concatenate([[-1], np.sort(legendre.deriv().roots().real), [1]]) if order > 1 else np.array([-1.0, 1.0])
    weights = 2 / (order * (order + 1) * legendre(nodes) ** 2)
    difference = nodes[:, None] - nodes[None, :]
    np.fill_diagonal(difference, 1)
    product = difference.prod(axis=1)
    slopes = product[:, None] / product[None, :] / difference
    np.fill_diagonal(slopes, 0)
    np.fill_diagonal(slopes, -slopes.sum(axis=1))
    return nodes, weights, slopes


def line_dg(cells, order, penalty=10.0):
    """On a line: (diffusion by symmetric interior penalty, upwind advection, mass) of discontinuous polynomials."""
    _, weights, slopes = reference_element(order)
    h, count = 1 / cells, order + 1
    mass = np.diag(weights) * h / 2
    stiff = slopes.T @ np.diag(weights) @ slopes * 2 / h
    left, right = np.eye(count)[0], np.eye(count)[-1]
    slope_left, slope_right = slopes[0] * 2 / h, slopes[-1] * 2 / h
    weight = penalty * order**2 / h
    diffusion_, advection_ = sp.lil_matrix((cells * count,) * 2), sp.lil_matrix((cells * count,) * 2)
    for cell in range(cells):
        at = slice(cell * count, (cell + 1) * count)
        diffusion_[at, at] += stiff
        advection_[at, at] += -(slopes.T @ np.diag(weights)) + np.outer(right, right)
        if cell + 1 < cells:
            to = slice((cell + 1) * count, (cell + 2) * count)
            jump = np.concatenate([right, -left])
            mean = np.concatenate([slope_right, slope_left]) / 2
            face = weight * np.outer(jump, jump) - np.outer(mean, jump) - np.outer(jump, mean)
            both = np.r_[at, to]
            diffusion_[np.ix_(both, both)] += face
            advection_[to, at] += -np.outer(left, right)
    for end, slope, sign, at in ((left, slope_left, -1, slice(0, count)), (right, slope_right, 1, slice((cells - 1) * count, None))):
        diffusion_[at, at] += 2 * weight * np.outer(end, end) - sign * (np.outer(slope, end) + np.outer(end, slope))
    return diffusion_.tocsr(), advection_.tocsr(), sp.kron(sp.identity(cells), mass).tocsr()


def by_element(matrix, cells, order, dimension):
    """The unknowns of an element together."""
    count = order + 1
    numbers = np.arange((cells * count) ** dimension).reshape((cells, count) * dimension)
    permutation = numbers.transpose([2 * axis for axis in range(dimension)] + [2 * axis + 1 for axis in range(dimension)]).ravel()
    return matrix.tocsr()[permutation][:, permutation]


def tensor(pieces):
    """Kronecker product of several matrices."""
    product = pieces[0]
    for piece in pieces[1:]:
        product = sp.kron(product, piece, format="csr")
    return product


def interior_penalty(size, rng, dimension=2, order=2, reaction=0.0, ratio=1.0):
    """Poisson's equation by a discontinuous Galerkin method, blocks of an element's unknowns."""
    cells = max(round(size ** (1 / dimension) / (order + 1)), 3)
    stiff, _, mass = line_dg(cells, order)
    matrix = sum(ratio**axis * tensor([stiff if other == axis else mass for other in range(dimension)]) for axis in range(dimension))
    matrix = matrix + reaction * tensor([mass] * dimension)
    return by_element(matrix, cells, order, dimension), None


def dg_advection(size, rng, dimension=3, order=1, step=0.0):
    """Advection by a discontinuous Galerkin method with upwind fluxes, steady with decay or a step in time."""
    cells = max(round(size ** (1 / dimension) / (order + 1)), 3)
    _, drift, mass = line_dg(cells, order)
    wind = rng.uniform(0.3, 1, dimension)
    matrix = sum(w * tensor([drift if other == axis else mass for other in range(dimension)]) for axis, w in enumerate(wind))
    whole = tensor([mass] * dimension)
    matrix = whole + step * matrix if step else matrix + 0.1 * whole
    return by_element(matrix, cells, order, dimension), None


def spectral_elements(size, rng, dimension=2, order=6, shift=0.0):
    """Continuous elements of high order: dense blocks that share nodes; `shift` < 0: Helmholtz's equation."""
    cells = max(round(size ** (1 / dimension) / order), 2)
    _, weights, slopes = reference_element(order)
    h = 1 / cells
    n = cells * order + 1
    mass, stiff = sp.lil_matrix((n, n)), sp.lil_matrix((n, n))
    for cell in range(cells):
        at = np.arange(cell * order, cell * order + order + 1)
        mass[np.ix_(at, at)] += np.diag(weights) * h / 2
        stiff[np.ix_(at, at)] += slopes.T @ np.diag(weights) @ slopes * 2 / h
    mass, stiff = mass.tocsr()[1:-1, 1:-1], stiff.tocsr()[1:-1, 1:-1]
    matrix = sum(tensor([stiff if other == axis else mass for other in range(dimension)]) for axis in range(dimension))
    return matrix + shift * tensor([mass] * dimension), None


def helmholtz(size, rng, dimension=2, points_per_wave=12.0, damping=0.0, layered=False):
    """Waves of one frequency by differences, real: symmetric and indefinite, more so in larger domains."""
    shape = diffusion.cube(size, dimension)
    first, second, _ = diffusion.edges_of_grid(shape)
    count = int(np.prod(shape))
    laplacian = diffusion.graph_laplacian(first, second, np.ones(len(first)), count)
    border = 2 * dimension - np.asarray((laplacian != 0).sum(axis=1)).ravel() + 1
    speed = np.exp(0.3 * diffusion.smooth_noise(shape, rng)) if layered else np.ones(count)
    k = (2 * np.pi / points_per_wave / speed) ** 2
    matrix = laplacian + sp.diags(border - k * (1 - damping))
    b = np.zeros(count)
    b[count // 2 + shape[-1] // 2] = 1
    return matrix, b


def damped_waves(size, rng, points_per_wave=12.0, damping=0.1):
    """Helmholtz's equation with absorption, its real and imaginary parts as blocks: unsymmetric, indefinite."""
    shape = diffusion.cube(size / 2, 2)
    first, second, _ = diffusion.edges_of_grid(shape)
    count = int(np.prod(shape))
    laplacian = diffusion.graph_laplacian(first, second, np.ones(len(first)), count)
    k = (2 * np.pi / points_per_wave) ** 2
    real = laplacian - k * sp.identity(count)
    edge = np.asarray((laplacian != 0).sum(axis=1)).ravel() < 5
    imaginary = sp.diags(damping * k + edge * np.sqrt(k))
    matrix = sp.bmat([[real, -imaginary], [imaginary, real]]).tocsr()
    order = np.arange(2 * count).reshape(2, count).T.ravel()
    b = np.zeros(2 * count)
    b[count // 2] = 1
    return matrix[order][:, order], b[order]


def shallow_water(size, rng, courant=10.0, rotation=0.1):
    """Implicit step of gravity waves on a rotating staggered grid: velocities and heights."""
    n = diffusion.cube(size / 3, 2)[0]
    back = sp.diags([np.ones(n), -np.ones(n - 1)], [0, -1])
    one, all_ = sp.identity(n), sp.identity(n * n)
    gx, gy = sp.kron(back, one), sp.kron(one, back)
    depth = sp.diags(np.exp(0.5 * diffusion.smooth_noise((n, n), rng)))
    matrix = sp.bmat([[all_, -rotation * courant * all_, -courant * gx.T], [rotation * courant * all_, all_, -courant * gy.T],
                      [courant * gx @ depth, courant * gy @ depth, all_]]).tocsr()
    order = np.arange(3 * n * n).reshape(3, -1).T.ravel()
    return matrix[order][:, order], None


def flux_jacobians(size, rng, equations=4, courant=20.0):
    """Implicit step of a compressible flow: full blocks of upwind fluxes between cells, cell after cell."""
    n = diffusion.cube(size / equations, 2)[0]
    first, second, axis = diffusion.edges_of_grid((n, n))
    basis = np.linalg.qr(rng.standard_normal((equations, equations)))[0] + 0.2 * rng.standard_normal((equations, equations))
    inverse = np.linalg.inv(basis)
    speed = np.concatenate([[1.5, -0.5], np.full(equations - 2, 0.5)])
    speeds = speed + 0.3 * rng.standard_normal((len(first), 1)) + 0.2 * (axis == 1)[:, None]
    plus = basis @ (np.maximum(speeds, 0)[:, :, None] * inverse)
    minus = basis @ (np.minimum(speeds, 0)[:, :, None] * inverse)
    number = lambda cell: equations * cell[:, None] + np.arange(equations)  # noqa: E731
    rows = equations * n * n
    a, c = number(first), number(second)
    matrix = sum(fe.scatter(block, i, j, (rows, rows)) for block, i, j in
                 ((plus, a, a), (minus, a, c), (-plus, c, a), (-minus, c, c)))
    local = np.exp(rng.uniform(-1, 1, n * n))
    return sp.identity(rows) + courant * sp.diags(np.repeat(local, equations)) @ matrix, None
