"""Complex matrices: waves and currents of one frequency, quantum mechanics, integral transforms."""

import numpy as np
import scipy.sparse as sp

from . import diffusion
from . import finite_elements as fe
from . import networks
from . import solids
from . import transport


def simplices(size, dimension, rng, order=1):
    return fe.space(*fe.mesh(size / order**dimension, dimension, rng, delaunay=dimension == 2), order)


def grid_laplacian(size, dimension):
    """(shape, laplacian): differences on a cube, where the solution vanishes beyond the border."""
    shape = diffusion.cube(size, dimension)
    first, second, _ = diffusion.edges_of_grid(shape)
    laplacian = diffusion.graph_laplacian(first, second, np.ones(len(first)), int(np.prod(shape)))
    return shape, laplacian + sp.diags(1.0 * missing_neighbours(laplacian, dimension))


def missing_neighbours(laplacian, dimension):
    """Of each cell of a cube, beyond the border."""
    return 2 * dimension + 1 - np.diff(laplacian.indptr)


def along_all_axes(line, dimension):
    """The sum over the axes of a cube of what a line of its cells has."""
    n = line.shape[0]
    return sum(sp.kron(sp.kron(sp.identity(n**axis), line), sp.identity(n ** (dimension - axis - 1))) for axis in range(dimension))


def acoustics(size, rng, dimension=2, order=1, points_per_wave=12.0, absorbed=1.0):
    """Sound in a room, K - k^2 M - i k B on simplices; `absorbed`: by the walls."""
    of = simplices(size, dimension, rng, order)
    width = of.size ** (-1 / dimension)
    k = 2 * np.pi / (points_per_wave * width)
    walls = fe.on_boundary(of.nodes) * width ** (dimension - 1)
    return fe.stiffness(of) - k**2 * fe.mass(of) - sp.diags(1j * k * absorbed * walls), fe.load(of, lambda x: np.exp(-((x - 0.3) ** 2).sum(axis=-1) / 0.01))


def matched_layers(size, rng, dimension=2, points_per_wave=10.0, share=0.15, heterogeneous=False):
    """Helmholtz's equation between perfectly matched layers: coordinates that turn complex near the border. Unsymmetric, as rows are not scaled."""
    shape = diffusion.cube(size, dimension)
    n = shape[0]
    k = 2 * np.pi / points_per_wave  # of cells of width 1
    places = np.arange(2 * n + 1) / 2
    depth = np.maximum(share * n - np.minimum(places, n - places), 0) / (share * n)
    stretch = 1 + 1j * (15 / (k * share * n)) * depth**2
    inside, faces = stretch[1::2], stretch[0::2]
    line = sp.diags([1 / (inside[1:] * faces[1:-1]), -(1 / faces[:-1] + 1 / faces[1:]) / inside, 1 / (inside[:-1] * faces[1:-1])], [-1, 0, 1]).tocsr()
    speed = np.exp(0.2 * diffusion.smooth_noise(shape, rng)) if heterogeneous else np.ones(n**dimension)
    return (-along_all_axes(line, dimension) - sp.diags((k / speed) ** 2)).tocsr(), None


def vibration(size, rng, dimension=2, modes=20.0, loss=0.02, viscous=0.0):
    """An elastic body that is shaken: K (1 + i loss) - w^2 M + i w C, at a frequency above some of its modes."""
    of = simplices(size / dimension, dimension, rng)
    clamped = np.repeat(np.abs(of.nodes[:, 0]) < 1e-9, dimension)
    stiff = fe.elasticity(of, *solids.moduli(1.0, 0.3))
    mass = sp.kron(fe.mass(of), sp.identity(dimension))
    w = np.pi * modes ** (1 / dimension) / 2
    weight = np.zeros((of.size, dimension))
    weight[:, -1] = -fe.load(of)
    return fe.without((1 + 1j * loss) * stiff - w**2 * mass + 1j * w * viscous * mass, clamped, weight.ravel())


def eddy_currents(size, rng, dimension=2, frequency=1e3, conducting=0.3, contrast=1.0):
    """A magnetic potential in and around conductors: div(1/mu grad) with i w sigma where there is metal."""
    of = simplices(size, dimension, rng)
    centres = of.nodes[of.dofs].mean(axis=1)
    metal = (np.sin(9 * centres).prod(axis=1) > 1 - 2 * conducting).astype(float)
    matrix = fe.stiffness(of, 1 / (1 + (contrast - 1) * metal)) + 1j * frequency * fe.mass(of, metal)
    return fe.without(matrix, fe.on_boundary(of.nodes), fe.load(of))


def quantum_step(size, rng, dimension=2, step=1.0, depth=1.0):
    """A step of Crank and Nicolson of Schroedinger's equation in a random potential, 1 + i dt/2 H."""
    shape, laplacian = grid_laplacian(size, dimension)
    hamiltonian = laplacian / 2 + sp.diags(depth * diffusion.smooth_noise(shape, rng))
    return sp.identity(len(laplacian.indptr) - 1) + 0.5j * step * hamiltonian, None


def resolvent(size, rng, dimension=3, disorder=8.0, energy=0.5, width=0.05):
    """Green's function of an electron in a disordered crystal: H - (E + i width)."""
    shape, laplacian = grid_laplacian(size, dimension)
    count = int(np.prod(shape))
    return laplacian + sp.diags(disorder * rng.uniform(-0.5, 0.5, count) - 2 * dimension - energy - 1j * width), None


def magnetic(size, rng, flux=0.05, energy=0.5, width=0.05, disorder=1.0):
    """The same in a magnetic field on a plane, which gives hops phases: H is Hermitian, and the matrix equals no transpose."""
    shape = diffusion.cube(size, 2)
    first, second, axis = diffusion.edges_of_grid(shape)
    count = int(np.prod(shape))
    phase = np.where(axis == 1, np.exp(2j * np.pi * flux * (first // shape[1])), 1)
    hop = sp.coo_matrix((-phase, (first, second)), shape=(count, count)).tocsr()
    return hop + hop.conj().T + sp.diags(disorder * rng.uniform(-0.5, 0.5, count) - energy - 1j * width), None


def photons(size, rng, dimension=3, frequency=1.0, absorption=0.02, deviation=0.5):
    """Light that is modulated in a scattering body: -div D grad + mu + i w / c, with a border that lets it out."""
    shape = diffusion.cube(size, dimension)
    first, second, _ = diffusion.edges_of_grid(shape)
    count = int(np.prod(shape))
    d = np.exp(deviation * diffusion.smooth_noise(shape, rng))
    laplacian = diffusion.graph_laplacian(first, second, diffusion.harmonic(d, first, second), count)
    border = missing_neighbours(laplacian, dimension)
    b = np.zeros(count)
    b[count // 2 + shape[-1] // 2] = 1
    return laplacian + sp.diags(0.5 * border + absorption + 0.05j * frequency), b


def oscillating_flow(size, rng, dimension=2, peclet=20.0, frequency=1.0):
    """Something that a steady wind carries and that is given off periodically: convection, diffusion and i w."""
    of = simplices(size, dimension, rng)
    width = of.size ** (-1 / dimension)
    matrix = fe.stiffness(of) + min(peclet, 1 / width) * fe.advection(of, transport.vortex) + 1j * frequency * fe.mass(of)
    return fe.without(matrix, fe.on_boundary(of.nodes), fe.load(of))


def impedances(size, rng, kind="small-world", frequency=1.0, spread=3.0, shifters=0.0):
    """Admittances of a network of resistors, coils and capacitors; `shifters`: share of links that turn the phase, which are not symmetric."""
    first, second, count = networks.GRAPHS[kind](size, rng)
    keep = first != second
    first, second = first[keep], second[keep]
    part = 10 ** rng.uniform(-spread / 2, spread / 2, len(first))
    choice = rng.integers(0, 3, len(first))
    y = np.where(choice == 0, part, np.where(choice == 1, 1j * frequency * part, 1 / (0.1 + 1j * frequency * part)))
    turn = np.where(rng.random(len(first)) < shifters, np.exp(1j * rng.uniform(-0.5, 0.5, len(first))), 1)
    ground = 1e-3 * (1 + 1j * frequency)
    off = sp.coo_matrix((np.r_[-y * turn, -y / turn], (np.r_[first, second], np.r_[second, first])), shape=(count, count))
    own = sum(np.bincount(ends, part, count) * factor for ends in (first, second) for part, factor in ((y.real, 1), (y.imag, 1j)))
    return off.tocsr() + sp.diags(own + ground), None


def generating_function(size, rng, kind="preferential", radius=0.99, angle=1.0):
    """Times of a Markov chain by their generating function: I - z P with z in the unit circle."""
    first, second, count = networks.GRAPHS[kind](size, rng)
    moves = networks.directed(np.r_[first, second], np.r_[second, first], count, rng)
    return sp.identity(count) - radius * np.exp(1j * angle) * moves, np.ones(count)


def wilson(size, rng, mass=0.1, disorder=0.5):
    """Wilson's Dirac operator with a random U(1) field in two dimensions."""
    n = diffusion.cube(size / 2, 2)[0]
    number = np.arange(n * n).reshape(n, n)
    pauli = [np.array([[0, 1], [1, 0]], complex), np.array([[0, -1j], [1j, 0]])]
    matrix = sp.kron(sp.identity(n * n), (2 + mass) * np.eye(2)).astype(complex)
    for axis in range(2):
        phase = np.exp(1j * disorder * np.pi * rng.uniform(-1, 1, n * n))
        hop = sp.coo_matrix((phase, (number.ravel(), np.roll(number, -1, axis).ravel())), shape=(n * n, n * n)).tocsr()
        matrix = matrix - 0.5 * (sp.kron(hop, np.eye(2) - pauli[axis]) + sp.kron(hop.conj().T, np.eye(2) + pauli[axis]))
    return matrix.tocsr(), None


def transformed_heat(size, rng, dimension=2, order=1, radius=100.0, angle=2.0, spread=0.0):
    """Heat conduction at a point of a contour, on which transforms are inverted and spectra counted: s M + K with a complex s."""
    of = simplices(size, dimension, rng, order)
    coefficient = 10 ** rng.uniform(0, spread, len(of.dofs)) if spread else None
    return fe.without(fe.stiffness(of, coefficient) + radius * np.exp(1j * angle) * fe.mass(of), fe.on_boundary(of.nodes), fe.load(of))


def crystal(size, rng, dimension=2, momentum=0.3, points_per_wave=15.0, loss=0.01):
    """Waves in a periodic medium, of a momentum that gives wraps a phase, with a small loss."""
    shape = diffusion.cube(size, dimension)
    n = shape[0]
    turn = np.exp(2j * np.pi * momentum)
    line = sp.diags([-np.ones(n - 1), 2 * np.ones(n), -np.ones(n - 1)], [-1, 0, 1]).tolil().astype(complex)
    line[0, n - 1], line[n - 1, 0] = -turn, -np.conj(turn)
    medium = np.where(diffusion.smooth_noise(shape, rng) > 0.5, 4.0, 1.0)
    k = 2 * np.pi / points_per_wave
    return (along_all_axes(line.tocsr(), dimension) - sp.diags(k**2 * medium * (1 + 1j * loss))).tocsr(), None


def random_complex(size, rng, per_row=8, dominance=1.2):
    """Entries at random places and of random phases; `dominance`: of the diagonal over the others' expected sum."""
    count = max(int(size), 20)
    rows = np.repeat(np.arange(count), per_row)
    values = rng.standard_normal(len(rows)) + 1j * rng.standard_normal(len(rows))
    off = sp.coo_matrix((values, (rows, rng.integers(0, count, len(rows)))), shape=(count, count))
    return off + sp.diags(dominance * per_row * np.exp(2j * np.pi * rng.random(count))), None
