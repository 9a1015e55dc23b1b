"""Saddle points and other coupled systems: flow, porous media, control, electromagnetics."""

import numpy as np
import scipy.sparse as sp

from . import complex_systems, diffusion, transport
from . import finite_elements as fe


def taylor_hood(size, rng, dimension=2, reynolds=0.0, reaction=0.0, stabilised=0.0):
    """Stokes' or Oseen's equations by elements of order 2 and 1: velocities, then pressures, with no diagonal there."""
    per_point = {2: 9.0, 3: 25.0}[dimension]
    points, cells = fe.mesh(size / per_point, dimension, rng, delaunay=dimension == 2)
    velocity, pressure = fe.space(points, cells, 2), fe.space(points, cells, 1)
    scalar = fe.stiffness(velocity)
    if reynolds:
        scalar = scalar / reynolds + fe.advection(velocity, transport.vortex)
    if reaction:
        scalar = scalar + reaction * fe.mass(velocity)
    free = np.repeat(~fe.on_boundary(velocity.nodes), dimension)
    flow = sp.kron(scalar, sp.identity(dimension)).tocsr()[free][:, free]
    incompressible = fe.divergence(velocity, pressure)[1:, free]  # pressures are up to a constant
    corner = -stabilised * fe.mass(pressure)[1:, 1:] if stabilised else None
    matrix = sp.bmat([[flow, -incompressible.T], [-incompressible, corner]]).tocsr()
    force = np.zeros((velocity.size, dimension))
    force[:, 0] = fe.load(velocity, lambda x: np.sin(3 * x[..., 1]))
    return matrix, np.concatenate([force.ravel()[free], np.zeros(pressure.size - 1)])


def differences(n):
    """From cells to the faces between them, on a line."""
    return sp.diags([-np.ones(n - 1), np.ones(n - 1)], [0, 1], shape=(n - 1, n))


def staggered(n, dimension):
    """Gradients from the cells of a grid to its inner faces, along every axis."""
    one = sp.identity(n)
    return [transport.tensor([differences(n) if other == axis else one for other in range(dimension)]).tocsr()
            for axis in range(dimension)]


def marker_and_cell(size, rng, dimension=2, reynolds=0.0, contrast=1.0, step=0.0):
    """Stokes' equations on a staggered grid, viscosity constant or jumping; `step`: of an implicit time step."""
    n = max(round((size / (dimension + 1)) ** (1 / dimension)), 4)
    gradient = sp.vstack(staggered(n, dimension)) * n
    viscosity = contrast ** (diffusion.smooth_noise((n,) * dimension, rng) > 0)
    blocks = []
    for axis in range(dimension):
        shape = tuple(n - 1 if other == axis else n for other in range(dimension))
        first, second, along = diffusion.edges_of_grid(shape)
        count = int(np.prod(shape))
        at_face = viscosity.reshape((n,) * dimension).take(range(n - 1), axis).ravel()
        laplacian = diffusion.graph_laplacian(first, second, n**2 * diffusion.harmonic(at_face, first, second), count)
        block = laplacian + sp.diags(n**2 * at_face * (2 * dimension - np.bincount(np.r_[first, second], minlength=count)))
        if reynolds:
            wind = np.ones((dimension, count)) * rng.uniform(0.3, 1, (dimension, 1))
            block = block / reynolds + n * transport.upwind_edges(shape, wind)
        if step:
            block = sp.identity(count) + step * block
        blocks.append(block)
    gradient = gradient.tocsr()[:, 1:]
    matrix = sp.bmat([[sp.block_diag(blocks), gradient], [gradient.T, None]]).tocsr()
    faces = gradient.shape[0]
    return matrix, np.concatenate([rng.standard_normal(faces), np.zeros(matrix.shape[0] - faces)])


def mixed_darcy(size, rng, dimension=2, deviation=2.0):
    """Fluxes through faces and pressures of cells (Raviart-Thomas elements of lowest order)."""
    n = max(round((size / (dimension + 1)) ** (1 / dimension)), 4)
    gradient = sp.vstack(staggered(n, dimension)).tocsr()
    resistance = np.exp(-deviation * diffusion.smooth_noise((n,) * dimension, rng))
    masses = []
    for axis in range(dimension):
        field = resistance.reshape((n,) * dimension)
        low = field.take(range(n - 1), axis)
        high = field.take(range(1, n), axis)
        inside = field.take(range(1, n - 1), axis) / 6
        shape, stride = low.shape, int(np.prod(low.shape[axis + 1:]))
        beside = np.zeros(shape)
        index = [slice(None)] * dimension
        index[axis] = slice(0, n - 2)
        beside[tuple(index)] = inside
        beside = beside.ravel()
        off = sp.diags(beside[: beside.size - stride], stride, shape=(beside.size,) * 2)
        masses.append(sp.diags(((low + high) / 3).ravel()) + off + off.T)
    cells = gradient.shape[1]
    matrix = sp.bmat([[sp.block_diag(masses), gradient], [gradient.T, -1e-6 * sp.identity(cells)]]).tocsr()
    source = np.zeros(cells)
    source[0], source[-1] = 1, -1
    return matrix, np.concatenate([np.zeros(gradient.shape[0]), source])


def poroelastic(size, rng, permeability=1e-4, poisson=0.3, storage=1e-6):
    """Biot's consolidation, an implicit step: displacements of order 2, pressures of order 1."""
    points, cells = fe.mesh(size / 9.0, 2, rng, delaunay=True)
    solid, fluid = fe.space(points, cells, 2), fe.space(points, cells, 1)
    lame, shear = poisson / ((1 + poisson) * (1 - 2 * poisson)), 1 / (2 * (1 + poisson))
    free = np.repeat(np.abs(solid.nodes[:, 1]) > 1e-9, 2)
    elastic = fe.elasticity(solid, lame, shear)[free][:, free]
    open_ = np.abs(fluid.nodes[:, 1] - 1) > 1e-9
    coupling = fe.divergence(solid, fluid)[open_][:, free]
    flow = (storage * fe.mass(fluid) + permeability * fe.stiffness(fluid))[open_][:, open_]
    matrix = sp.bmat([[elastic, -coupling.T], [-coupling, -flow]]).tocsr()
    push = np.zeros((solid.size, 2))
    push[:, 1] = -fe.load(solid)
    return matrix, np.concatenate([push.ravel()[free], np.zeros(flow.shape[0])])


def optimal_control(size, rng, beta=1e-4, dimension=2):
    """Distributed control of Poisson's equation: state, control and adjoint."""
    of = fe.space(*fe.mesh(size / 3, dimension, rng, delaunay=dimension == 2))
    border = fe.on_boundary(of.nodes)
    mass, = fe.without(fe.mass(of), border)
    stiff, = fe.without(fe.stiffness(of), border)
    matrix = sp.bmat([[mass, None, stiff], [None, beta * mass, -mass], [stiff, -mass, None]]).tocsr()
    n = mass.shape[0]
    return matrix, np.concatenate([mass @ np.sin(np.arange(n) / n * 20), np.zeros(2 * n)])


def curl_curl(size, rng, conductivity=1e-3, contrast=1.0):
    """Magnetic fields on the edges of a grid: curl curl and a small mass, with the gradients nearly in the null space."""
    n = max(round((size / 3) ** (1 / 3)), 3)
    d, one, inner = differences(n + 1), sp.identity(n), sp.identity(n + 1)
    # Circulation around faces normal to x, y, z.
    cxy = transport.tensor([inner, one, d])
    cxz = transport.tensor([inner, d, one])
    cyx = transport.tensor([one, inner, d])
    cyz = transport.tensor([d, inner, one])
    czx = transport.tensor([one, d, inner])
    czy = transport.tensor([d, one, inner])
    curl = sp.bmat([[None, -cxy, cxz], [cyx, None, -cyz], [-czx, czy, None]]).tocsr()
    permeability = sp.diags(contrast ** rng.integers(0, 2, curl.shape[0]).astype(float))
    matrix = curl.T @ permeability @ curl + conductivity * sp.identity(curl.shape[1])
    return matrix, curl.T @ rng.standard_normal(curl.shape[0])


def bidomain(size, rng, step=0.1, ratio=9.0):
    """The heart's tissue: potentials inside and outside of cells, each conducting along fibres; symmetric."""
    of = fe.space(*fe.mesh(size / 2, 2, rng, delaunay=True))
    c, s = np.cos(0.6), np.sin(0.6)
    turn = np.array([[c, -s], [s, c]])
    inside = fe.stiffness(of, turn @ np.diag([1, 1 / ratio]) @ turn.T) * 1e-3
    outside = fe.stiffness(of, turn @ np.diag([2, 1.0]) @ turn.T) * 1e-3
    mass = fe.mass(of)
    matrix = sp.bmat([[mass + step * inside, step * inside], [step * inside, step * (inside + outside)]]).tocsr()
    order = np.arange(2 * of.size).reshape(2, -1).T.ravel()[:-1]  # the last potential outside is the ground
    return matrix[order][:, order], None


def monodomain(size, rng, step=0.05, ratio=20.0, dimension=3):
    """A step of the heart's electric wave: mass and diffusion along fibres."""
    of = fe.space(*fe.mesh(size, dimension, rng))
    conduct = np.diag([1.0] + [1 / ratio] * (dimension - 1))
    return fe.mass(of) + step * 1e-2 * fe.stiffness(of, conduct), None


def semiconductor(size, rng, bias=10.0, coupled=False):
    """Scharfetter and Gummel's carrier fluxes in a junction: weights that differ by exp(bias); or coupled to the potential."""
    per_point = 3 if coupled else 1
    n = diffusion.cube(size / per_point, 2)[0]
    shape = (n, n)
    first, second, _ = diffusion.edges_of_grid(shape)
    x = np.repeat(np.linspace(-1, 1, n), n)
    potential = bias * np.tanh(8 * x + 0.5 * diffusion.smooth_noise(shape, rng))
    drop = potential[second] - potential[first]

    def bernoulli(t):
        small = np.abs(t) < 1e-6
        return np.where(small, 1 - t / 2, t / np.expm1(np.where(small, 1, t)))

    def carriers(sign):
        there, back = bernoulli(sign * drop), bernoulli(-sign * drop)
        rows, columns = np.r_[first, first, second, second], np.r_[first, second, first, second]
        values = np.r_[there, -back, -there, back]
        border = np.repeat(np.isin(np.arange(n), (0, n - 1)), n)
        return sp.coo_matrix((values, (rows, columns)), shape=(n * n,) * 2).tocsr() + sp.diags(border + 1e-6)

    if not coupled:
        return carriers(-1), None
    laplacian = diffusion.graph_laplacian(first, second, np.ones(len(first)), n * n) + sp.diags(np.repeat(np.isin(np.arange(n), (0, n - 1)), n) + 0.0)
    density = np.exp(-np.abs(potential) / 2)
    couple = sp.diags(density)
    matrix = sp.bmat([[laplacian, 0.1 * couple, -0.1 * couple], [laplacian @ couple, carriers(-1), 0.01 * couple],
                      [-laplacian @ couple, 0.01 * couple, carriers(1)]]).tocsr()
    order = np.arange(3 * n * n).reshape(3, -1).T.ravel()
    return matrix[order][:, order], None


def reservoir(size, rng, phases=3, step=1.0, dimension=3):
    """Pressure and saturations of each cell of a reservoir, coupled in full blocks: elliptic and hyperbolic at once."""
    shape = diffusion.cube(size / phases, dimension)
    count = int(np.prod(shape))
    k = np.exp(1.5 * diffusion.smooth_noise(shape, rng))
    first, second, axis = diffusion.edges_of_grid(shape)
    weight = diffusion.harmonic(k, first, second)
    pressure = diffusion.graph_laplacian(first, second, weight, count)
    flow = np.zeros((dimension, count))
    flow[0] = 1 + 0.5 * rng.random(count)
    carried = transport.upwind_edges(shape, flow)
    mobility = rng.uniform(0.2, 1, (phases, phases))
    to_pressure, to_saturation = np.zeros((phases, phases)), np.zeros((phases, phases))
    to_pressure[:, 0] = mobility[:, 0]
    to_saturation[:, 1:] = mobility[:, 1:] * 0.3
    to_saturation[np.arange(1, phases), np.arange(1, phases)] += 1
    local = rng.uniform(0, 0.2, (count, phases, phases)) + np.eye(phases) * np.r_[0.01, np.ones(phases - 1)]
    blocks = sp.bsr_matrix((local, np.arange(count), np.arange(count + 1))).tocsr()
    return blocks + step * (sp.kron(pressure, to_pressure) + sp.kron(carried, to_saturation)), None


def kinetics(size, rng, species=8, step=1e-3, stiffness=6.0, diffusing=1.0):
    """Implicit step of reacting species that diffuse: dense stiff blocks in every cell."""
    n = diffusion.cube(size / species, 2)[0]
    first, second, _ = diffusion.edges_of_grid((n, n))
    laplacian = diffusion.graph_laplacian(first, second, np.full(len(first), float(n * n)), n * n)
    reactions = 2 * species
    exchange = np.zeros((reactions, species))
    for row in exchange:
        a, c = rng.choice(species, 2, replace=False)
        row[a], row[c] = -1, 1
    rates = 10 ** rng.uniform(-1, stiffness, reactions)
    from_which = (exchange < 0).astype(float)
    heat = np.exp(0.5 * diffusion.smooth_noise((n, n), rng))
    block = exchange.T @ (rates[:, None] * from_which)
    jacobian = sp.kron(sp.diags(heat), block)
    spread = sp.kron(laplacian, np.diag(diffusing * 10 ** rng.uniform(-3, 0, species)))
    return sp.identity(species * n * n) + step * (spread - jacobian), None


def contact(size, rng, penalty=0.0):
    """Poisson's equation on two meshes that do not match, tied by multipliers along the seam, or by a penalty."""
    left = fe.space(*fe.mesh(size / 2, 2, rng, delaunay=True))
    right = fe.space(*fe.mesh(size / 2.5, 2, rng, delaunay=True))
    seam_left, seam_right = np.flatnonzero(left.nodes[:, 0] > 1 - 1e-9), np.flatnonzero(right.nodes[:, 0] < 1e-9)
    rows, columns, values = [], [], []
    heights = right.nodes[seam_right, 1]
    order = np.argsort(heights)
    heights, seam_right = heights[order], seam_right[order]
    for row, node in enumerate(seam_left):
        after = np.clip(np.searchsorted(heights, left.nodes[node, 1]), 1, len(heights) - 1)
        share = np.clip((left.nodes[node, 1] - heights[after - 1]) / (heights[after] - heights[after - 1]), 0, 1)
        rows += [row] * 3
        columns += [node, left.size + seam_right[after - 1], left.size + seam_right[after]]
        values += [1, share - 1, -share]
    tie = sp.coo_matrix((values, (rows, columns)), shape=(len(seam_left), left.size + right.size)).tocsr()
    stiff = sp.block_diag([fe.stiffness(left), fe.stiffness(right)]).tocsr()
    b = np.concatenate([fe.load(left), fe.load(right)])
    fixed = np.concatenate([np.abs(left.nodes[:, 0]) < 1e-9, right.nodes[:, 0] > 1 - 1e-9])
    free = np.flatnonzero(~fixed)
    stiff, tie, b = stiff[free][:, free], tie[:, free], b[free]
    if penalty:
        return stiff + penalty * tie.T @ tie, b
    return sp.bmat([[stiff, tie.T], [tie, None]]).tocsr(), np.concatenate([b, np.zeros(tie.shape[0])])


def lattice_fermions(size, rng, mass=0.1, disorder=0.5):
    """Wilson's Dirac operator with a random U(1) field in two dimensions, its complex entries as real blocks."""
    matrix, _ = complex_systems.wilson(size / 2, rng, mass, disorder)
    return sp.kron(matrix.real, np.eye(2)) + sp.kron(matrix.imag, np.array([[0, -1], [1, 0]])), None


def anderson(size, rng, disorder=8.0, energy=0.5, dimension=3):
    """An electron in a disordered crystal, at an energy inside the spectrum: symmetric and indefinite."""
    shape = diffusion.cube(size, dimension)
    first, second, _ = diffusion.edges_of_grid(shape)
    count = int(np.prod(shape))
    off = sp.coo_matrix((-np.ones(len(first)), (first, second)), shape=(count, count))
    return off + off.T + sp.diags(disorder * rng.uniform(-0.5, 0.5, count) - energy), None
