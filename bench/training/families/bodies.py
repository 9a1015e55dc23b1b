"""Bodies of engineering: designs, rubber, cloth, slabs, steel that is heated, splines, nodes without a mesh."""

import itertools

import numpy as np
import scipy.interpolate
import scipy.sparse as sp
import scipy.spatial

from . import diffusion, solids
from . import finite_elements as fe


def corners_of(elements):
    """The numbers of the corners of the elements of a regular grid, [element, corner], the last axis fastest."""
    number = np.arange(np.prod(np.add(elements, 1))).reshape(np.add(elements, 1))
    offsets = itertools.product((0, 1), repeat=len(elements))
    return np.stack([number[tuple(slice(o, o + n) for o, n in zip(offset, elements))].ravel() for offset in offsets], axis=1)


def linear_shapes(sides):
    """Of a brick of such sides: (values[q, i], gradients[q, i, axis]) of its corners' functions at Gauss points, each of weight volume / 2^d."""
    dimension = len(sides)
    x, _ = np.polynomial.legendre.leggauss(2)
    line = np.stack([(1 - x) / 2, (1 + x) / 2], axis=1)  # [point, end]
    slope = np.array([[-1.0, 1.0]] * 2)
    values = line
    for _ in range(dimension - 1):
        values = np.kron(values, line)
    gradients = []
    for axis, side in enumerate(sides):
        product = np.ones((1, 1))
        for other in range(dimension):
            product = np.kron(product, slope / side if other == axis else line)
        gradients.append(product)
    return values, np.stack(gradients, axis=2)


def topology(size, rng, dimension=2, sharp=3.0, least=1e-9):
    """A design that is being optimized: a cantilever of square elements, whose stiffness is the third power of a density."""
    n = max(round((size / dimension / 2) ** (1 / dimension)), 2)
    elements = (2 * n,) + (n,) * (dimension - 1)
    density = 1 / (1 + np.exp(-sharp * (diffusion.smooth_noise(elements, rng, n // 6 + 1) + 0.6)))
    density.reshape(elements)[-(n // 8 + 1):] = 1
    _, slopes = linear_shapes((1.0,) * dimension)
    lame, shear = solids.moduli(1.0, 0.3)
    dots = np.einsum("qia,qja->ij", slopes, slopes)
    local = (shear * (np.einsum("qib,qja->iajb", slopes, slopes) + np.einsum("ij,ab->iajb", dots, np.eye(dimension)))
             + lame * np.einsum("qia,qjb->iajb", slopes, slopes)) / 2**dimension
    corners = corners_of(elements)
    dofs = (corners[:, :, None] * dimension + np.arange(dimension)).reshape(len(corners), -1)
    nodes = int(np.prod(np.add(elements, 1)))
    matrix = fe.scatter((least + density**3 * (1 - least))[:, None, None] * local.reshape(1, dofs.shape[1], -1), dofs, dofs, (nodes * dimension,) * 2)
    push = np.zeros((nodes, dimension))
    push[-1 - n // 2, -1] = -1
    clamped = np.arange(nodes) < nodes // (2 * n + 1)
    return fe.without(matrix, np.repeat(clamped, dimension), push.ravel())


def stretched(size, rng, dimension=2, stretch=0.4, slender=5.0, lame=10.0):
    """Rubber (neo-Hooke) far from rest: the tangent stiffness of a long body that is stretched, or compressed until it may buckle."""
    points, cells = fe.mesh(size / dimension, dimension, rng, delaunay=dimension == 2)
    of = fe.space(points, cells)
    held = np.repeat(fe.on_boundary(of.nodes, [(0, 0), (0, 1)]), dimension)
    of.points = of.points * np.r_[slender, np.ones(dimension - 1)]
    moved = of.points.copy()
    moved[:, 0] *= 1 + stretch
    moved[:, 1:] *= (1 + stretch) ** (-1 / (dimension - 1))
    moved[:, -1] += 0.1 * np.sin(9 * of.points[:, 0] / slender)
    table = fe.tabulate(of, 1)
    slopes, volume = table.gradients[0], table.weights[0]
    gradient = np.einsum("cia,cid->cad", moved[of.cells], slopes)
    now = np.einsum("cid,cda->cia", slopes, np.linalg.inv(gradient))
    pressure = 1 - lame * np.log(np.linalg.det(gradient))
    blocks = (np.einsum("c,cib,cja->ciajb", volume * pressure, now, now) + lame * np.einsum("c,cia,cjb->ciajb", volume, now, now)
              + np.einsum("c,cid,cjd,ab->ciajb", volume, slopes, slopes, np.eye(dimension), optimize=True))
    dofs = fe.vector_dofs(of)
    matrix = fe.scatter(blocks.reshape(len(cells), dofs.shape[1], -1), dofs, dofs, (of.size * dimension,) * 2)
    weight = np.zeros((of.size, dimension))
    weight[:, -1] = -fe.load(of)
    return fe.without(matrix, held, weight.ravel())


def cloth(size, rng, step=0.01, stiff=1e3):
    """Implicit step of a hanging cloth: masses and springs of threads, shear and bending; stiff in the cloth, nearly free across it."""
    n = diffusion.cube(size / 3, 2)[0]
    number = np.arange(n * n).reshape(n, n)
    x, y = (axis.ravel() for axis in np.meshgrid(*[np.linspace(0, 1, n)] * 2, indexing="ij"))
    place = np.stack([x, y * (1 + 0.02 * x), 0.1 * np.sin(9 * x) * np.sin(7 * y) + 0.1 * x**2], axis=1)
    pairs, rest, strength = [], [], []
    for move, share in (((0, 1), 1.0), ((1, 0), 1.0), ((1, 1), 0.3), ((1, -1), 0.3), ((0, 2), 0.05), ((2, 0), 0.05)):
        sideways = slice(0, n - move[1]) if move[1] >= 0 else slice(-move[1], n)
        there = slice(move[1], n) if move[1] >= 0 else slice(0, n + move[1])
        pairs.append(np.stack([number[: n - move[0], sideways].ravel(), number[move[0]:, there].ravel()], axis=1))
        rest.append(np.full(len(pairs[-1]), np.hypot(*move) / (n - 1)))
        strength.append(np.full(len(pairs[-1]), stiff * share))
    pairs, rest, strength = (np.concatenate(part) for part in (pairs, rest, strength))
    along = place[pairs[:, 1]] - place[pairs[:, 0]]
    length = np.linalg.norm(along, axis=1)
    outer = along[:, :, None] * along[:, None, :] / length[:, None, None] ** 2
    tension = np.maximum(1 - rest / length, 0)
    block = strength[:, None, None] * (outer + tension[:, None, None] * (np.eye(3) - outer))
    dofs = (3 * pairs[:, :, None] + np.arange(3)).reshape(len(pairs), 6)
    springs = fe.scatter(np.block([[block, -block], [-block, block]]), dofs, dofs, (3 * n * n,) * 2)
    mass = 0.2 / n**2
    pull = np.zeros((n * n, 3))
    pull[:, 2] = -9.81 * mass * step
    pull += mass * 0.3 * rng.standard_normal((n * n, 3))
    held = np.repeat((x == 0) & ((y == 0) | (y == 1)), 3)
    return fe.without(mass * sp.identity(3 * n * n) + (step**2 + 0.002 * step) * springs, held, pull.ravel())


def slab(size, rng, thickness=0.2, soil=0.0):
    """A slab of concrete of 20 m by Reissner's and Mindlin's theory: deflections and rotations; simply supported, or on soil (N / m^3)."""
    n = diffusion.cube(size / 3, 2)[0] - 1
    side = 20.0 / n
    young, poisson = 3e10, 0.2
    values, slopes = linear_shapes((side, side))
    strain = np.zeros((4, 3, 4, 3))  # [point, component, corner, unknown]
    strain[:, 0, :, 1], strain[:, 1, :, 2] = slopes[:, :, 0], slopes[:, :, 1]
    strain[:, 2, :, 1], strain[:, 2, :, 2] = slopes[:, :, 1], slopes[:, :, 0]
    bending = young * thickness**3 / 12 / (1 - poisson**2) * np.array([[1, poisson, 0], [poisson, 1, 0], [0, 0, (1 - poisson) / 2]])
    shear = np.zeros((4, 2, 4, 3))  # of edges, so that thin slabs do not lock
    for axis, ends in ((0, ((0, 2), (1, 3))), (1, ((0, 1), (2, 3)))):
        for low, high in ends:
            share = values[:, [low, high]].sum(axis=1)
            shear[:, axis, low, 0], shear[:, axis, high, 0] = -share / side, share / side
            shear[:, axis, [low, high], 1 + axis] = -share[:, None] / 2
    local = (np.einsum("qaix,ab,qbjy->ixjy", strain, bending, strain) + 5 / 6 * young / 2.4 * thickness * np.einsum("qaix,qajy->ixjy", shear, shear)) * side**2 / 4
    local[:, 0, :, 0] += soil * values.T @ values * side**2 / 4
    corners = corners_of((n, n))
    dofs = (3 * corners[:, :, None] + np.arange(3)).reshape(-1, 12)
    nodes = (n + 1) ** 2
    matrix = fe.scatter(np.broadcast_to(local.reshape(12, 12), (n * n, 12, 12)), dofs, dofs, (3 * nodes,) * 2)
    load = np.zeros((nodes, 3))
    load[:, 0] = 5e3 * side**2
    border = np.zeros((nodes, 3), dtype=bool)
    border[:, 0] = fe.on_boundary(np.stack(np.divmod(np.arange(nodes), n + 1), axis=1) / n) & (not soil)
    return fe.without(matrix, border.ravel(), load.ravel())


def thermoelastic(size, rng, dimension=2, step=1e3, coupled=False):
    """Steel that is heated: displacements and temperature of a point together, in SI units, held ones by rows of the identity; `coupled`: strain heats too."""
    of = fe.space(*fe.mesh(size / (dimension + 1), dimension, rng, delaunay=dimension == 2))
    held = fe.on_boundary(of.nodes, [(0, 0)])
    of.points = of.points * 0.1
    lame, shear = solids.moduli(2e11, 0.3)
    expansion = 1.2e-5 * (3 * lame + 2 * shear)
    divergence = fe.divergence(of, of)
    heat = 3.6e6 / step * fe.mass(of) + 45 * fe.stiffness(of)
    matrix = sp.bmat([[fe.elasticity(of, lame, shear), -expansion * divergence.T], [300 / step * expansion * divergence if coupled else None, heat]]).tocsr()
    order = np.concatenate([np.arange(of.size * dimension).reshape(of.size, dimension), of.size * dimension + np.arange(of.size)[:, None]], axis=1).ravel()
    fixed = np.concatenate([np.repeat(held, dimension), held])
    spun = np.where(held, 0, 1e8 * fe.load(of))
    b = np.concatenate([np.kron(spun, np.eye(dimension)[0]), np.where(held, 50.0, 1e6 * fe.load(of))])
    return fe.with_identity_rows(matrix, fixed, False)[order][:, order], b[order]


def splines(size, rng, degree=3, dimension=2, step=0.0):
    """Poisson's equation, or a step of the heat equation, on a quarter of a ring or a pipe by smooth splines (isogeometric)."""
    n = max(round(size ** (1 / dimension)), degree + 2)
    spans = n + 2 - degree
    knots = np.r_[np.zeros(degree), np.linspace(0, 1, spans + 1), np.ones(degree)]
    x, w = np.polynomial.legendre.leggauss(degree + 1)
    at = ((np.arange(spans)[:, None] + (x + 1) / 2) / spans).ravel()
    weight = np.tile(w / 2 / spans, spans)
    basis = scipy.interpolate.BSpline(knots, np.eye(spans + degree), degree)
    value, slope = sp.csr_matrix(basis(at))[:, 1:-1], sp.csr_matrix(basis.derivative()(at))[:, 1:-1]
    mass, stiff = (lambda of=1.0: value.T @ sp.diags(weight * of) @ value), (lambda of=1.0: slope.T @ sp.diags(weight * of) @ slope)
    radius = 1 + at
    plane = sp.kron(stiff(radius), mass()) + (2 / np.pi) ** 2 * sp.kron(mass(1 / radius), stiff())
    whole = sp.kron(mass(radius), mass())
    b = np.kron(value.T @ (weight * radius), value.T @ weight)
    if dimension == 3:
        plane, whole, b = sp.kron(plane, mass()) + sp.kron(whole, stiff()), sp.kron(whole, mass()), np.kron(b, value.T @ weight)
    return (whole + step * plane if step else plane), b


def meshless(size, rng, wind=0.0, near=15):
    """Convection and diffusion on nodes without mesh or order: each row from cubic radial functions and parabolas of its nearest nodes."""
    points = rng.permutation(fe.jittered_points(max(round(size**0.5), 5), 2, rng, 0.35))
    _, found = scipy.spatial.cKDTree(points).query(points, near)
    border = fe.on_boundary(points)
    weights = np.empty(found.shape)
    for part in np.array_split(np.arange(len(points)), len(points) // 4000 + 1):
        local = points[found[part]] - points[part][:, None]
        reach = np.abs(local).max(axis=(1, 2))
        x, y = np.moveaxis(local / reach[:, None, None], 2, 0)
        powers = np.stack([np.ones_like(x), x, y, x * x, x * y, y * y], axis=2)
        distance = np.hypot(x[:, :, None] - x[:, None], y[:, :, None] - y[:, None])
        system = np.block([[distance**3, powers], [np.swapaxes(powers, 1, 2), np.zeros((len(part), 6, 6))]])
        r, peclet = np.hypot(x, y), wind * reach[:, None]
        of_powers = [np.zeros_like(peclet), peclet, *[np.full_like(peclet, v) for v in (0.0, -2.0, 0.0, -2.0)]]
        wanted = np.concatenate([-9 * r - 3 * peclet * r * x, *of_powers], axis=1)
        weights[part] = np.linalg.solve(system, wanted[:, :, None])[:, :near, 0] / reach[:, None] ** 2
    matrix = sp.coo_matrix((weights.ravel(), (np.repeat(np.arange(len(points)), near), found.ravel())), shape=(len(points),) * 2)
    return fe.with_identity_rows(matrix.tocsr(), border, False), np.where(border, points[:, 0], 1.0)


def cracks(size, rng, width=0.02, opened=1e-3):
    """A cracked plate by a phase field, displacements and damage at once: symmetric, with a coupling that may make it indefinite."""
    of = fe.space(*fe.mesh(size / 3, 2, rng, delaunay=True))
    x, y = of.nodes.T
    side = np.tanh((y - 0.5) / width)
    moved = opened * np.stack([0.1 * x * y, y + np.clip(0.7 - x, 0, 1) * side], axis=1)
    lame, shear = solids.moduli(2.1e5, 0.3)  # N / mm^2
    table = fe.tabulate(of, 1)
    slopes, area = table.gradients[0], table.weights[0]
    gradient = np.einsum("cia,cid->cad", moved[of.cells], slopes)
    strain = (gradient + np.swapaxes(gradient, 1, 2)) / 2
    stress = lame * np.trace(strain, axis1=1, axis2=2)[:, None, None] * np.eye(2) + 2 * shear * strain
    centre = of.nodes[of.cells].mean(axis=1)
    sound = 1 - 0.99 * np.exp(-np.hypot(np.maximum(centre[:, 0] - 0.6, 0), centre[:, 1] - 0.5) / width)
    energy = np.einsum("cab,cab->c", stress, strain) / 2 * (sound > 0.5)
    elastic = fe.elasticity(of, lame * (sound**2 + 1e-6), shear * (sound**2 + 1e-6))
    pulled = np.einsum("c,cab,cib->cia", -2 * area * sound * (sound > 0.5) / 3, stress, slopes).reshape(len(centre), 6)
    coupling = fe.scatter(np.repeat(pulled[:, :, None], 3, axis=2), fe.vector_dofs(of), of.dofs, (2 * of.size, of.size))
    damage = fe.mass(of, 2.7 / width + 2 * energy) + 2.7 * width * fe.stiffness(of)
    order = np.hstack([np.arange(2 * of.size).reshape(-1, 2), 2 * of.size + np.arange(of.size)[:, None]]).ravel()
    held = np.stack([fe.on_boundary(of.nodes, [(1, 0), (1, 1)])] * 2 + [np.zeros(of.size, dtype=bool)], axis=1).ravel()
    matrix = sp.bmat([[elastic, coupling], [coupling.T, damage]]).tocsr()[order][:, order]
    b = np.concatenate([elastic @ moved.ravel(), fe.load(of)])[order]
    return fe.without(matrix, held, b)
