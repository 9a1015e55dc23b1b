"""Systems that other programs assemble: finite volumes, geophysics, electric grids, landscapes.

The packages are optional (requirements.txt): without one of them its systems cannot be made.
"""

import functools
import os

import numpy as np
import scipy.sparse as sp

from . import diffusion


# FiPy: finite volumes
def fipy():
    """The package, which else asks the command line and other solvers' packages for a solver."""
    os.environ.setdefault("FIPY_SOLVERS", "scipy")
    import fipy as package

    return package


def assembled(equation, step=None, variable=None):
    """(matrix, right-hand side) of an equation of FiPy, which is not solved."""
    equation.cacheMatrix()
    equation.cacheRHSvector()
    equation.justResidualVector(variable, dt=step)
    return equation.matrix.matrix.tocsr(), np.array(equation.RHSvector)


def carried_solute(size, rng, peclet=100.0, step=0.0, spread=0.0):
    """A solute in a vortex and its diffusion, on triangles of two sizes, with fluxes by the power law; all triangles of a kind come together."""
    package = fipy()
    n = max(round((size / 4) ** 0.5), 3)
    mesh = package.Tri2D(nx=n, ny=n, dx=1 / n, dy=1 / n)
    solute = package.CellVariable(mesh=mesh, value=0.0)
    solute.constrain(1.0, mesh.facesLeft)
    solute.constrain(0.0, mesh.facesRight)
    x, y = mesh.faceCenters.value
    wind = package.FaceVariable(mesh=mesh, rank=1, value=[np.sin(np.pi * x) * np.cos(np.pi * y), -np.cos(np.pi * x) * np.sin(np.pi * y)])
    conduct = package.FaceVariable(mesh=mesh, value=10 ** (spread * rng.uniform(0, 1, mesh.numberOfFaces)))
    equation = package.PowerLawConvectionTerm(coeff=peclet * wind) == package.DiffusionTerm(coeff=conduct)
    return assembled(package.TransientTerm() + equation if step else equation, step or None, solute)


def dendrites(size, rng, step=5e-4):
    """Crystals that grow into a melt: phase and temperature at once, interfaces that prefer six directions; all phases come before temperatures."""
    package = fipy()
    n = max(round((size / 2) ** 0.5), 5)
    width = 0.025
    mesh = package.Grid2D(nx=n, ny=n, dx=width, dy=width)
    noise = diffusion.smooth_noise((n, n), rng, passes=8)
    solid = package.CellVariable(mesh=mesh, value=1 / (1 + np.exp(-(noise - np.quantile(noise, 0.6)) / 0.1)), hasOld=True)
    cold = package.CellVariable(mesh=mesh, value=-0.5 * (1 - solid.value), hasOld=True)
    gradient = solid.faceGrad
    angle = np.pi / 8 + package.numerix.arctan2(gradient[1], gradient[0])
    turned = package.numerix.tan(3 * angle)
    along = (1 - turned**2) / (1 + turned**2)
    across = -6 * 2 * turned / (1 + turned**2)
    stretch = 1 + 0.02 * along
    stiffness = 0.015**2 * stretch * (package.FaceVariable(mesh=mesh, value=[[1, 0], [0, 1]]) * stretch
                                      + package.FaceVariable(mesh=mesh, value=[[0, -1], [1, 0]]) * 0.02 * across)
    drive = solid - 0.5 - 0.9 / np.pi * package.numerix.arctan(20 * cold)
    growth = (package.TransientTerm(coeff=3e-4, var=solid)
              == package.DiffusionTerm(coeff=[stiffness], var=solid) + package.ImplicitSourceTerm(coeff=drive * (1 - solid), var=solid))
    heat = package.TransientTerm(var=cold) == package.DiffusionTerm(coeff=2.25, var=cold) + package.TransientTerm(var=solid)
    return assembled(growth & heat, step)


def unmixing(size, rng, dimension=2, step=1.0, periodic=False):
    """Two liquids that part, by one equation of fourth order: a spread that is negative where they are mixed, less a bending of interfaces."""
    package = fipy()
    n = max(round(size ** (1 / dimension)), 4)
    lengths = dict(zip(("nx", "ny", "nz"), [n] * dimension)) | dict(zip(("dx", "dy", "dz"), [0.25] * dimension))
    mesh = getattr(package, ("Periodic" if periodic else "") + f"Grid{dimension}D")(**lengths)
    mix = package.CellVariable(mesh=mesh, value=np.clip(0.5 + 0.3 * diffusion.smooth_noise((n,) * dimension, rng), 0, 1))
    mean = mix.arithmeticFaceValue
    spread = package.DiffusionTerm(coeff=1 - 6 * mean * (1 - mean))
    return assembled(package.TransientTerm() == spread - package.DiffusionTerm(coeff=(1.0, 0.25)), step, mix)


# discretize: what SimPEG solves for currents in the ground
def ground(size, rng, per_cell):
    """(octree of the ground and the air above, conductivity of cells, electrodes): fine cells of 10 m at electrodes on hills, and an ore body."""
    from discretize import TreeMesh

    depth = 3 if size < 1000 else 5 if size < 10000 else 6 if size < 30000 else 7
    width = 10.0 * 2**depth
    hills = diffusion.smooth_noise((16, 16), rng).reshape(16, 16)
    hills *= width / 16 / abs(hills).max()

    def height(x, y):
        return hills[tuple(np.clip((axis / width + 0.5) * 16, 0, 15).astype(int) for axis in (x, y))]

    places = rng.uniform(-0.4, 0.4, (size, 2)) * width
    electrodes = np.column_stack([places, height(*places.T)])
    count = 4
    while True:
        mesh = TreeMesh([np.full(2**depth, 10.0)] * 3, origin="CCC", diagonal_balance=True)
        mesh.refine_points(electrodes[:count], level=-1, padding_cells_by_level=[1, 1, 1], finalize=True)
        if mesh.n_cells * per_cell >= size or count >= size:
            break
        count = round(count * 1.4)
    x, y, z = mesh.cell_centers.T
    conducts = 1e-2 * 10 ** rng.normal(0, 0.3, mesh.n_cells)
    conducts[np.linalg.norm((mesh.cell_centers + [0, 0, width / 5]) * [1, 2, 1], axis=1) < width / 6] = 1.0
    conducts[z > height(x, y)] = 1e-8
    return mesh, conducts, electrodes[:count]


def survey(size, rng, tilted=1.0):
    """Potentials of direct currents in the ground, at corners of an octree's cells, zero far away; `tilted`: rocks conduct better along their layers."""
    mesh, conducts, electrodes = ground(size, rng, 0.65)
    if tilted > 1:  # layers that dip by 30 degrees
        c, s = np.cos(np.pi / 6), np.sin(np.pi / 6)
        along = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])
        tensor = along @ np.diag([tilted, tilted, 1]) @ along.T
        conducts = conducts[:, None] * tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
    gradient = mesh.nodal_gradient
    matrix = (gradient.T @ mesh.get_edge_inner_product(conducts) @ gradient).tocsr()
    b = np.zeros(mesh.n_nodes)
    for place, current in zip(electrodes[:2], (1.0, -1.0)):
        b[np.argmin(np.linalg.norm(mesh.nodes - place, axis=1))] += current
    width = abs(mesh.nodes).max()
    inside = np.flatnonzero((abs(mesh.nodes[:, :2]).max(axis=1) < width) & (mesh.nodes[:, 2] > -width))
    return matrix[inside][:, inside], b[inside]


def induction(size, rng, step=1e-4):
    """Electric fields after a current in a loop is switched off, along edges of an octree's cells: one of the steps in time, of this many seconds."""
    mesh, conducts, electrodes = ground(size, rng, 2.2)
    curl = mesh.edge_curl
    matrix = curl.T @ mesh.get_face_inner_product(1 / (4e-7 * np.pi)) @ curl + mesh.get_edge_inner_product(conducts) / step
    fluxes = np.zeros(mesh.n_faces)
    fluxes[np.argmin(np.linalg.norm(mesh.faces - electrodes[0], axis=1) + 1e9 * (abs(mesh.face_normals[:, 2]) < 0.5))] = 1.0
    return matrix, curl.T @ fluxes / step


def cased_well(size, rng, around=1, casing=1e4):
    """Potentials around a well with a casing of steel, in cylindrical cells from millimetres at the wall to a hundred metres far away."""
    from discretize import CylindricalMesh

    n = max(round((size / around) ** 0.5), 6)
    thickness = np.concatenate([np.full(3, 0.025), np.full(2, 0.005), 0.01 * np.geomspace(1, 1e4, n)])
    layers = np.concatenate([np.geomspace(50, 1, n // 4 + 1), np.full(n - 2 * (n // 4) - 2, 1.0), np.geomspace(1, 50, n // 4 + 1)])
    mesh = CylindricalMesh([thickness[:n], np.full(around, 2 * np.pi / around), layers], origin="00C")
    radius, _, z = mesh.cell_centers.T
    bed = rng.integers(0, 12, mesh.n_cells) if around > 1 else np.digitize(z, np.sort(rng.uniform(z.min(), z.max(), 12)))
    conducts = (10 ** rng.uniform(-3, 0, 13))[bed]
    steel = (radius > 0.075) & (radius < 0.085) & (abs(z - z.mean()) < 0.3 * n)
    conducts[steel] *= casing
    divergence = sp.diags(mesh.cell_volumes) @ mesh.face_divergence
    matrix = divergence @ mesh.get_face_inner_product(conducts, invert_model=True, invert_matrix=True) @ divergence.T
    return matrix, np.where((radius < 0.05) & (abs(z - z.mean()) < 1.01), 1.0, 0.0)


# pandapower: electric grids
GRIDS = {118: "case118", 300: "case300", 1354: "case1354pegase", 2869: "case2869pegase", 9241: "case9241pegase"}  # by their buses


@functools.cache
def solved_grid(name):
    """(admittances, voltages, generators' buses, other buses): of a grid that comes with the package, as its power flow ends; without the reference."""
    import pandapower.networks

    grid = getattr(pandapower.networks, name)()
    pandapower.runpp(grid, numba=False)
    inside = grid._ppc["internal"]
    return inside["Ybus"].tocsr(), inside["V"], inside["pv"], inside["pq"]


def regions(size, rng, ties=20):
    """(admittances, voltages, generators' buses, other buses): as many copies of the largest grid that is small enough, with lines between."""
    count = max(buses for buses in GRIDS if buses <= max(size, min(GRIDS)))
    admittance, voltage, generators, others = solved_grid(GRIDS[count])
    copies = max(round(size / count), 1)
    matrix = sp.block_diag([admittance] * copies).tocsr()
    first, second = rng.integers(0, count, (2, ties * (copies - 1)))
    first, second = (end + count * (np.arange(len(end)) // ties + shift) for shift, end in enumerate((first, second)))
    tie = sp.coo_matrix((np.ones(len(first)), (first, second)), shape=matrix.shape) * (-1 / (0.01 + 0.1j))
    tie = tie + tie.T
    matrix = (matrix + tie - sp.diags(np.asarray(tie.sum(axis=1)).ravel())).tocsr()
    steps = count * np.arange(copies)[:, None]
    return matrix, np.tile(voltage, copies), (generators + steps).ravel(), (others + steps).ravel()


def load_flow_step(size, rng, loaded=0.02):
    """Newton's step of a power flow: angles and magnitudes of voltages that miss injected powers, on real grids side by side."""
    from pandapower.pypower.dSbus_dV import dSbus_dV

    admittance, voltage, generators, others = regions(size / 1.8, rng)
    voltage = voltage * (1 + loaded * rng.normal(0, 0.3, len(voltage))) * np.exp(1j * loaded * rng.standard_normal(len(voltage)))
    by_magnitude, by_angle = dSbus_dV(admittance, voltage)
    angles = np.concatenate([generators, others])
    matrix = sp.bmat([[by_angle.real[angles][:, angles], by_magnitude.real[angles][:, others]],
                      [by_angle.imag[others][:, angles], by_magnitude.imag[others][:, others]]])
    missed = 0.1 * rng.standard_normal(len(voltage)) + 0.03j * rng.standard_normal(len(voltage))
    return matrix, np.concatenate([missed.real[angles], missed.imag[others]])


def grid_estimate(size, rng, metered=0.5):
    """The state of electric grids by weighted least squares from meters: injections everywhere, some voltages; normal equations."""
    from pandapower.pypower.dSbus_dV import dSbus_dV

    admittance, voltage, generators, others = regions(size / 2, rng)
    by_magnitude, by_angle = dSbus_dV(admittance, voltage)
    angles, count = np.concatenate([generators, others]), len(voltage)
    powers = sp.bmat([[by_angle.real[:, angles], by_magnitude.real], [by_angle.imag[:, angles], by_magnitude.imag]])
    phasors = sp.identity(len(angles) + count, format="csr")[rng.random(len(angles) + count) < metered]
    return powers.T @ powers / 0.01**2 + phasors.T @ phasors / 0.004**2


# landlab: landscapes
def landscape(size, rng, years=1e5, diffusivity=0.01, erodibility=1e-5):
    """An implicit step of hills and rivers on hexagons: soil creeps down slopes, water cuts into the bed along the steepest way down."""
    from landlab import HexModelGrid
    from landlab.components import FlowAccumulator, StreamPowerEroder
    from landlab.utils.matrix import get_core_node_matrix

    n, width = max(round(size**0.5), 8), 50.0
    grid = HexModelGrid((n, n), spacing=width, node_layout="rect")
    height = grid.add_zeros("topographic__elevation", at="node")
    height += rng.random(height.size)
    water, rivers = FlowAccumulator(grid), StreamPowerEroder(grid, K_sp=1e-5)
    for _ in range(20):
        height[grid.core_nodes] += 10.0
        water.run_one_step()
        rivers.run_one_step(1e4)
    water.run_one_step()
    area = width**2 * 3**0.5 / 2
    slopes, held = get_core_node_matrix(grid, height)
    creep = diffusivity / 3**0.5  # of a side of a hexagon, over the distance of middles
    core = grid.core_nodes
    cut = area * erodibility * grid.at_node["drainage_area"][core] ** 0.5 / width
    place = np.full(grid.number_of_nodes, -1)
    place[core] = np.arange(len(core))
    receiver = place[grid.at_node["flow__receiver_node"][core]]
    cut[receiver == np.arange(len(core))] = 0  # pits
    down = sp.coo_matrix((cut[receiver >= 0], (np.flatnonzero(receiver >= 0), receiver[receiver >= 0])), shape=(len(core), len(core)))
    outside = np.where(receiver < 0, cut * height[grid.at_node["flow__receiver_node"][core]], 0)
    return sp.diags(area / years + cut) - creep * slopes - down, area / years * height[core] - creep * held.ravel() + outside
