"""Fields of earth and engineering: air, sea, soil, ice, gas, films, batteries, molecules."""

import numpy as np
import scipy.sparse as sp
import scipy.spatial

from . import diffusion
from . import finite_elements as fe


def neighbours(shape, cyclic):
    """(first, second, axis) of neighbouring cells, also across the ends of the axes that are cyclic."""
    number = np.arange(np.prod(shape)).reshape(shape)
    wraps = [(number.take(-1, axis).ravel(), number.take(0, axis).ravel(), np.full(number.size // shape[axis], axis)) for axis in cyclic]
    return [np.concatenate(parts) for parts in zip(diffusion.edges_of_grid(shape), *wraps)]


def interlaced(blocks, count):
    """Blocks of fields of `count` values each as one matrix, the unknowns of a place together."""
    order = np.arange(len(blocks) * count).reshape(len(blocks), count).T.ravel()
    return sp.bmat(blocks).tocsr()[order][:, order]


def atmosphere(size, rng, spacing=1e4, step=600.0, levels=30, terrain=0.0):
    """Pressure of a semi-implicit step of the atmosphere: flat cells that grow upwards, columns after columns, cyclic, over hills or not."""
    shape = (*diffusion.cube(size / levels, 2), levels)
    thickness = np.geomspace(40, 1500, levels)
    height = np.cumsum(thickness) - thickness / 2
    hills = terrain * diffusion.smooth_noise(shape[:2], rng, 8)
    thick = (np.exp(-hills / height[-1])[:, None] * thickness).ravel()
    density = np.tile(np.exp(-height / 8000), hills.size)
    first, second, axis = neighbours(shape, (0, 1))
    mean = (density[first] + density[second]) / 2
    weight = mean * np.where(axis == 2, 2 * spacing**2 / (thick[first] + thick[second]), (thick[first] + thick[second]) / 2)
    mass = density * thick * spacing**2
    matrix = diffusion.graph_laplacian(first, second, weight, mass.size) + sp.diags(mass / (300 * step) ** 2)
    up = sp.diags([-1.0, 1.0], [-1, 1], shape=(levels, levels))
    up = sp.diags(1 / (2 * thick)) @ sp.kron(sp.identity(hills.size), up)
    for direction in (0, 1):  # pressure gradients along the levels lean on the hills
        lean = np.gradient(hills.reshape(shape[:2]), spacing, axis=direction).ravel()[:, None] * np.exp(-height / 4000)
        along = axis == direction
        difference = sp.coo_matrix((np.repeat([0.5 / spacing, -0.5 / spacing], along.sum()), (np.r_[first[along], second[along]], np.r_[second[along], first[along]])),
                                   shape=matrix.shape)
        matrix = matrix - difference.T @ sp.diags(mass * lean.ravel()) @ up
    return matrix, mass * diffusion.smooth_noise(shape, rng)


def ocean(size, rng, step=3600.0, land=False):
    """Implicit free surface of an ocean basin with coasts and islands: depths of 10 m to 6 km, cells that narrow to the north; land is left out, or has rows of the identity."""
    shape = diffusion.cube(size / (1 if land else 0.7), 2)
    depth = np.clip(3000 * (diffusion.smooth_noise(shape, rng, shape[0] // 4) + 0.5), 0, 6000)
    wet = depth > 0
    north = 3e6 / shape[0]
    east = np.repeat(north * np.cos(np.radians(np.linspace(10, 70, shape[0]))), shape[1])
    first, second, axis = diffusion.edges_of_grid(shape)
    weight = np.minimum(depth[first], depth[second]) + 10.0 * (wet[first] & wet[second])
    ratio = np.where(axis == 1, north / east[first], east[first] / north)
    storage = np.where(wet, north * east / (9.81 * step**2), 0)
    matrix = diffusion.graph_laplacian(first, second, weight * ratio, wet.size) + sp.diags(storage + ~wet)
    b = storage * diffusion.smooth_noise(shape, rng, shape[0] // 8)
    return (matrix, b) if land else fe.without(matrix, ~wet, b)


SOILS = np.array([(14.5, 2.68, 8.3e-5), (3.6, 1.56, 2.9e-6), (0.8, 1.2, 5.6e-7)])  # sand, loam, clay: 1 / m, a power, m / s


def unsaturated(size, rng, step=3600.0, deep=3.0, dry=1.0):
    """Newton step for water in soil (Richards' equation): columns over a water table, conductivities over ten decades, upstream."""
    levels = 40
    shape = (*diffusion.cube(size / levels, 2), levels)
    rise, across = deep / levels, 1.0
    above = np.tile((np.arange(levels) + 0.5) * rise, shape[0] * shape[1])
    soil = SOILS[np.digitize(diffusion.smooth_noise(shape, rng), (-0.4, 0.6))]
    head = dry * (0.4 * deep - above) * np.exp(0.3 * diffusion.smooth_noise(shape, rng))

    def state(at):
        alpha, n, conducts = soil.T
        full = (1 + (alpha * np.maximum(-at, 0)) ** n) ** (1 / n - 1)
        m = 1 - 1 / n
        return 0.05 + 0.35 * full, conducts * np.maximum(np.sqrt(full) * (1 - (1 - full ** (1 / m)) ** m) ** 2, 1e-10)

    move = 1e-5 * (1 + np.abs(head))
    (low, slow), (high, fast) = state(head - move), state(head + move)
    capacity, change = (high - low) / (2 * move), (fast - slow) / (2 * move)
    conducts = state(head)[1]
    first, second, axis = diffusion.edges_of_grid(shape)
    drop = head[first] - head[second] + above[first] - above[second]
    upstream = np.where(drop > 0, first, second)
    area = np.where(axis == 2, across**2 / rise, rise)
    weight, slope = conducts[upstream] * area, change[upstream] * area * drop
    volume = across**2 * rise
    lowest = np.tile(np.arange(levels) == 0, shape[0] * shape[1])
    table = lowest * conducts * across**2 / (rise / 2)
    both, signs = np.r_[first, second], np.repeat([1.0, -1.0], len(first))
    moved = sp.coo_matrix((np.tile(slope, 2) * signs, (both, np.tile(upstream, 2))), shape=(head.size,) * 2)
    matrix = diffusion.graph_laplacian(first, second, weight, head.size) + moved + sp.diags(volume * (capacity + 1e-5) / step + table)
    rain = np.tile(np.arange(levels) == levels - 1, shape[0] * shape[1]) * across**2 * 1e-6
    return matrix, rain - np.bincount(both, np.tile(weight * drop, 2) * signs, head.size)


def ice(size, rng, slippery=1e-3, floating=False):
    """Flow of an ice sheet of 200 km over its bed (shelfy stream): viscosities by Glen's law, friction that differs by decades, or a shelf afloat."""
    of = fe.space(*fe.mesh(size / 2, 2, rng, delaunay=True))
    side = max(round((size / 2) ** 0.5), 3)
    centres = of.nodes[of.cells].mean(axis=1)
    inland, square = centres[:, 0], tuple((centres * (side - 1)).astype(int).T)
    strain = np.exp(1.5 * diffusion.smooth_noise((side, side), rng, 6)).reshape(side, side)[square] * 1e-3 / 3.15e7
    thick = 2500 - 2000 * inland
    viscosity = thick * 0.5 * 1.5e8 * strain ** (-2 / 3)
    stream = diffusion.smooth_noise((side, side), rng, side // 4).reshape(side, side)[square] > 0
    friction = 1e11 * np.where(stream, slippery, 1.0) * ~(floating & (inland > 0.5))
    ridge = np.repeat(fe.on_boundary(of.nodes, [(0, 0)]), 2)
    of.points = of.points * 2e5
    matrix = fe.elasticity(of, 2 * viscosity, viscosity) + sp.kron(fe.mass(of, friction), sp.identity(2))
    drive = np.zeros((of.size, 2))
    drive[:, 0] = 910 * 9.81 * 0.01 * 1500 * fe.load(of)
    return fe.without(matrix, ridge, drive.ravel())


def euler(size, rng, mach=0.5, courant=100.0):
    """Implicit step of a gas (Euler's equations) by upwind finite volumes on unstructured triangles: density, momentum and energy in SI units."""
    points, cells = fe.mesh(size / 8, 2, rng, delaunay=True)
    count = len(cells)
    ends = np.sort(cells[:, [[0, 1], [1, 2], [2, 0]]], axis=2).reshape(-1, 2)
    order = np.lexsort(ends.T)
    ends, owner = ends[order], order // 3
    pair = np.flatnonzero((ends[1:] == ends[:-1]).all(axis=1))
    outer = np.setdiff1d(np.arange(len(ends)), np.r_[pair, pair + 1])
    centre = points[cells].mean(axis=1)
    sound, density, gamma = 340.0, 1.2, 1.4
    wind = mach * sound * np.stack([1 + 0.3 * np.sin(5 * centre[:, 1]), 0.3 * np.cos(4 * centre[:, 0])], axis=1)

    def outflow(face, cell):
        """Jacobians of the flux out of a cell over a face that wind and sound of the cell make, and of the flux in: [face, 4, 4] each."""
        edge = points[ends[face, 1]] - points[ends[face, 0]]
        normal = np.stack([edge[:, 1], -edge[:, 0]], axis=1)
        away = points[ends[face, 0]] - centre[cell]
        normal *= np.sign((normal * away).sum(axis=1))[:, None]
        v = wind[cell]
        symmetric = np.einsum("f,ij->fij", (v * normal).sum(axis=1), np.eye(4))
        symmetric[:, 0, 1:3] = symmetric[:, 1:3, 0] = sound * normal
        speeds, basis = np.linalg.eigh(symmetric)
        of_state = np.zeros((len(face), 4, 4))  # from dp / (density sound), velocities and entropy to what is conserved
        of_state[:, 0, 0], of_state[:, 0, 3] = density / sound, -density / sound
        of_state[:, 1:3] = v[:, :, None] * of_state[:, :1]
        of_state[:, 1, 1] = of_state[:, 2, 2] = density
        of_state[:, 3] = (v**2).sum(axis=1)[:, None] / 2 * of_state[:, 0]
        of_state[:, 3, 0] += density * sound / (gamma - 1)
        of_state[:, 3, 1:3] += density * v
        left, right = of_state @ basis, np.swapaxes(basis, 1, 2) @ np.linalg.inv(of_state)
        return left * np.maximum(speeds, 0)[:, None] @ right, left * np.minimum(speeds, 0)[:, None] @ right, np.abs(speeds).max(axis=1)

    a, c = owner[pair], owner[pair + 1]
    out, back, fast = outflow(pair, a)
    leaving, _, faster = outflow(outer, owner[outer])
    number = lambda cell: 4 * cell[:, None] + np.arange(4)  # noqa: E731
    matrix = sum(fe.scatter(block, number(i), number(j), (4 * count,) * 2) for block, i, j in
                 ((out, a, a), (back, a, c), (-out, c, a), (-back, c, c), (leaving, owner[outer], owner[outer])))
    rate = np.bincount(np.r_[a, c, owner[outer]], np.r_[fast, fast, faster], count)
    return matrix + sp.diags(np.repeat(rate / courant, 4)), None


def solvated(size, rng, salt=0.1, charged=1.0):
    """Potential of a molecule in salt water (Poisson and Boltzmann): permittivities of 2 and 80, and outside ions, more where the potential is high."""
    shape = diffusion.cube(size, 3)
    width = 60.0 / shape[0]  # in Angstrom
    place = (np.stack(np.meshgrid(*[np.arange(n) for n in shape], indexing="ij"), axis=-1).reshape(-1, 3) + 0.5) * width
    atoms = 30 + np.cumsum(rng.standard_normal((300, 3)), axis=0) % 16 - 8
    gap = scipy.spatial.cKDTree(atoms).query(place)[0] - 1.8
    permittivity = np.where(gap < 0, 2.0, 80.0)
    first, second, _ = diffusion.edges_of_grid(shape)
    weight = diffusion.harmonic(permittivity, first, second) * width
    matrix = diffusion.graph_laplacian(first, second, weight, len(place))
    border = 6 - np.bincount(np.r_[first, second], minlength=len(place))
    ions = np.where(gap > 2, 8.49 * salt * np.cosh(charged * 3 * np.exp(-np.maximum(gap - 2, 0) / 4)), 0) * width**3
    charges = np.bincount(np.ravel_multi_index((atoms // width).astype(int).T, shape), 7000 * rng.choice([-0.5, 0.3, 0.2], len(atoms)), len(place))
    return matrix + sp.diags(ions + 2 * 80 * width * border), charges


def battery(size, rng, step=10.0, shells=7, rate=1.0):
    """A cell of a battery: potentials and salt of electrodes and separator, at each place the lithium inside of a ball; in SI units, all coupled by the reaction."""
    n = diffusion.cube(size / (3 + shells), 2)[0]
    count = n * n
    across, along = 2e-4 / n, 0.05 / n
    depth = np.repeat((np.arange(n) + 0.5) / n, n)
    solid = np.abs(depth - 0.5) > 0.06
    first, second, axis = diffusion.edges_of_grid((n, n))
    weight = np.where(axis == 0, 1 / across**2, 1 / along**2)
    electrons = 100 * diffusion.graph_laplacian(first, second, weight * solid[first] * solid[second], count) + sp.diags(200 / across**2 * (depth < 1 / n))
    pores = diffusion.graph_laplacian(first, second, weight * np.exp(0.2 * diffusion.smooth_noise((n, n), rng))[first], count)
    faraday, surface = 96485.0, 3e5
    reaction = sp.diags(39.0 * rate * solid)  # A / (m^2 V)
    radii = np.linspace(0, 5e-6, shells + 1)
    volume, gaps = np.diff(radii**3) / 3, 1e-14 * radii[1:-1] ** 2 / radii[1]
    ball = diffusion.graph_laplacian(np.arange(shells - 1), np.arange(1, shells), gaps, shells).toarray() / volume[:, None] + np.eye(shells) / step
    by_voltage, by_lithium = surface / faraday * reaction, surface / faraday * 5e-5 * reaction
    out = radii[-1] ** 2 / faraday / volume[-1] * reaction
    blocks = [[None] * (3 + shells) for _ in range(3 + shells)]
    blocks[0][:2] = electrons / faraday + by_voltage + sp.diags(1.0 * ~solid), -by_voltage
    blocks[1][:3] = -by_voltage, 0.3 / faraday * pores + by_voltage, -0.3 * 3e-5 / faraday * pores
    blocks[2][:3] = -0.6 * by_voltage, 0.6 * by_voltage, sp.identity(count) * 0.3 / step + 1e-10 * pores
    blocks[0][-1], blocks[1][-1], blocks[2][-1] = by_lithium, -by_lithium, -0.6 * by_lithium
    for k in range(shells):
        for other in range(max(k - 1, 0), min(k + 2, shells)):
            blocks[3 + k][3 + other] = sp.diags(np.where(solid, ball[k, other], 1.0 * (k == other)))
    blocks[-1][:2] = out, -out
    blocks[-1][-1] = blocks[-1][-1] + 5e-5 * out
    b = np.zeros((count, 3 + shells))
    b[depth > 1 - 1 / n, 0] = 30 / across / faraday
    b[:, :3] += 0.1 * solid[:, None] * rng.standard_normal((count, 1)) * np.array([1, -1, -0.6])
    return interlaced(blocks, count), b.ravel()


def central(size, rng, dimension=3, courant=5.0, viscous=0.0):
    """Crank and Nicolson's step of what a flow carries round a periodic box, by central differences: the identity and a skew matrix."""
    shape = diffusion.cube(size, dimension)
    first, second, axis = neighbours(shape, range(dimension))
    angle = 2 * np.pi * np.stack(np.unravel_index(first, shape)) / shape[0]
    places = np.arange(len(first))
    wind = (np.sin(angle[(axis + 1) % dimension, places]) + np.cos(angle[(axis - 1) % dimension, places])) / 2
    carried = sp.coo_matrix((np.r_[wind, -wind] / 2, (np.r_[first, second], np.r_[second, first])), shape=(np.prod(shape),) * 2).tocsr()
    half = courant / 2 * (carried + viscous * diffusion.graph_laplacian(first, second, np.ones(len(first)), np.prod(shape)))
    before = diffusion.smooth_noise(shape, rng)
    return sp.identity(len(before)) + half, before - half @ before


def bearing(size, rng, eccentric=0.8, step=1e-2, cavity=0.8):
    """Film of oil in a bearing (Reynolds, Elrod and Adams): diffusion by the cube of the gap where it is full, mere transport where it has burst."""
    m = diffusion.cube(size / 4, 2)[0]
    shape = (4 * m, m)
    along, wide = 2 * np.pi * 0.025 / (4 * m), 0.03 / m
    angle, height = (axis.ravel() for axis in np.meshgrid((np.arange(4 * m) + 0.5) * np.pi / 2 / m, (np.arange(m) + 0.5) / m, indexing="ij"))
    gap = 3e-5 * (1 + eccentric * np.cos(angle)) * (1 + 0.02 * diffusion.smooth_noise(shape, rng))
    full = (np.abs(angle - 1.55 * np.pi) > 0.4 * np.pi) | (np.abs(height - 0.5) >= cavity / 2)
    first, second, axis = neighbours(shape, (0,))
    conducts = 7e7 * gap**3 / 12 / 0.02
    weight = diffusion.harmonic(conducts, first, second) * np.where(axis == 0, wide / along, along / wide)
    ends = 2 * conducts * along / wide * (np.abs(height - 0.5) > 0.5 - 0.6 / m)
    turned = axis == 0
    carried = 5.0 * gap[first[turned]] * wide
    moved = sp.coo_matrix((np.r_[carried, -carried], (np.r_[first[turned], second[turned]], np.tile(first[turned], 2))), shape=(gap.size,) * 2)
    storage = gap * along * wide / step
    squeezed = diffusion.graph_laplacian(first, second, weight, gap.size) + sp.diags(ends)
    return squeezed @ sp.diags(1.0 * full) + moved + sp.diags(storage), squeezed @ full + storage * np.where(full, 1, 0.7)


def vorticity(size, rng, reynolds=100.0, rate=0.0):
    """Newton step of a flow in a box under a lid: vorticity and stream function of each point, with walls where one gives the other."""
    n = diffusion.cube(size / 2, 2)[0]
    h = 1 / (n - 1)
    first = sp.diags([-1.0, 1.0], [-1, 1], shape=(n, n)) / (2 * h)
    second = sp.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(n, n)) / h**2
    one = sp.identity(n)
    by_x, by_y, laplacian = sp.kron(first, one), sp.kron(one, first), sp.kron(second, one) + sp.kron(one, second)
    i, j = np.divmod(np.arange(n * n), n)
    inside = (i % (n - 1) > 0) & (j % (n - 1) > 0)
    stream = -0.1 * np.sin(np.pi * i * h) ** 2 * np.sin(np.pi * j * h) ** 2 * (1 + 0.3 * j * h)
    spin = -(laplacian @ stream) * inside
    carried = sp.diags(by_y @ stream) @ by_x - sp.diags(by_x @ stream) @ by_y
    turned = sp.diags(by_x @ spin) @ by_y - sp.diags(by_y @ spin) @ by_x
    within, wall = sp.diags(1.0 * inside), sp.diags(1.0 * ~inside)
    nearest = np.clip(i, 1, n - 2) * n + np.clip(j, 1, n - 2)
    thom = sp.coo_matrix((np.where(inside, 0, 2 / h**2), (np.arange(n * n), nearest)), shape=(n * n,) * 2)
    matrix = interlaced([[within @ (rate * sp.identity(n * n) + carried - laplacian / reynolds) + wall, within @ turned + thom],
                         [-within, wall - within @ laplacian]], n * n)
    return matrix, np.stack([np.where(inside, rate * spin, -2 / h * (j == n - 1)), np.zeros(n * n)], axis=1).ravel()


def flame(size, rng, step=1e-5, species=7):
    """Implicit step of a flame in a channel: mass fractions and temperature of each cell, which react, diffuse and are blown along; thin cells at the front."""
    fields, n = species + 1, diffusion.cube(size / (species + 1), 2)[0]
    place = 0.01 * (0.9 * np.linspace(-1, 1, n + 1) ** 3 + 0.1 * np.linspace(-1, 1, n + 1))
    width, across = np.diff(place), 0.01 / n
    ahead = np.add.outer((place[1:] + place[:-1]) / 2, 1e-3 * np.sin(np.linspace(0, 9, n))).ravel()
    heat = 300 + 1900 / (1 + np.exp(-ahead / 3e-4))
    wide = np.repeat(width, n)
    first, second, axis = diffusion.edges_of_grid((n, n))
    weight = np.where(axis == 0, 2 * across / (wide[first] + wide[second]), wide[first] / across)
    volume = wide * across
    spread = diffusion.graph_laplacian(first, second, 2e-5 * (heat[first] / 300) ** 1.7 * weight, n * n)
    blown = sp.diags(0.4 * heat / 300) @ (across * sp.kron(sp.diags([1.0, -1.0], [0, -1], shape=(n, n)), sp.identity(n)))
    space = sp.diags(1 / volume) @ (spread + blown)
    kinetics = np.zeros((n * n, fields, fields))
    shares = np.exp(-5 * np.abs((heat[:, None] - 300) / 1900 - np.arange(species) / (species - 1)))  # one after the other
    for made in range(1, species):
        for gone in {made - 1, int(rng.integers(0, made))}:
            activation = rng.uniform(5e3, 2e4)
            pace = 10 ** rng.uniform(6, 9) * np.exp(-activation / heat)
            by_heat = pace * shares[:, gone] * activation / heat**2
            for what, sign in ((made, 1.0), (gone, -1.0), (species, 400.0)):
                kinetics[:, what, gone] += sign * pace
                kinetics[:, what, species] += sign * by_heat
    reactions = sp.bsr_matrix((np.eye(fields) / step - kinetics, np.arange(n * n), np.arange(n * n + 1))).tocsr()
    return reactions + sp.kron(space, sp.diags(np.r_[rng.uniform(0.3, 3, species), 1.2])), (np.hstack([shares, heat[:, None]]) / step).ravel()
