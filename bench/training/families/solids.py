"""Elastic bodies, plates, shells, frames: several unknowns at each point."""

import numpy as np
import scipy.sparse as sp
import scipy.spatial

from . import diffusion
from . import finite_elements as fe


def moduli(young, poisson):
    return young * poisson / ((1 + poisson) * (1 - 2 * poisson)), young / (2 * (1 + poisson))


def elasticity(size, rng, dimension=2, order=1, poisson=0.3, contrast=1.0, stretch=1.0, inertia=0.0):
    """A body clamped on one side under its weight; `contrast`: stiff inclusions, `stretch`: long in one direction,
    `inertia`: of an implicit time step, against stiffness."""
    points, cells = fe.mesh(size / order**dimension / dimension, dimension, rng, delaunay=dimension == 2)
    of = fe.space(points, cells, order)
    clamped = np.repeat(np.abs(of.nodes[:, 0]) < 1e-9, dimension)
    of.points = of.points * np.array([stretch] + [1.0] * (dimension - 1))
    centres = points[cells].mean(axis=1)
    young = np.where(((centres * 4).astype(int) % 2).sum(axis=1) == dimension, contrast, 1.0)
    lame, shear = moduli(young, poisson)
    matrix = fe.elasticity(of, lame, shear)
    weight = np.zeros((of.size, dimension))
    weight[:, -1] = -fe.load(of)
    if inertia:
        matrix = matrix + sp.kron(inertia * fe.mass(of), sp.identity(dimension))
    return fe.without(matrix, clamped, weight.ravel())


def plate(size, rng, foundation=0.0, clamped=True, ratio=1.0):
    """Kirchhoff's plate by differences: the biharmonic operator, on an elastic foundation or not."""
    n = diffusion.cube(size, 2)[0]
    second = sp.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(n, n))
    one = sp.identity(n)
    laplacian = sp.kron(second, one) + ratio * sp.kron(one, second)
    matrix = laplacian @ laplacian
    if clamped:
        ends = sp.diags(2.0 * np.isin(np.arange(n), (0, n - 1)))
        matrix = matrix + sp.kron(ends, one) + ratio**2 * sp.kron(one, ends)
    return matrix + foundation * sp.identity(n * n), np.ones(n * n)


def cahn_hilliard(size, rng, step=1e-4, width=0.02):
    """Implicit step of phase separation, a fourth-order operator with a concave part, on a torus."""
    n = diffusion.cube(size, 2)[0]
    ring = sp.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(n, n)).tolil()
    ring[0, n - 1] = ring[n - 1, 0] = 1
    laplacian = n**2 * (sp.kron(ring, sp.identity(n)) + sp.kron(sp.identity(n), ring)).tocsr()
    phase = np.tanh(2 * diffusion.smooth_noise((n, n), rng))
    return (sp.identity(n * n) + step * (width**2 * laplacian @ laplacian - laplacian @ sp.diags(3 * phase**2 - 1)), phase)


def shallow_shell(size, rng, curvature=20.0, thickness=1e-2):
    """Donnell's shell: bending and a stress function, coupled by the curvature; symmetric and indefinite."""
    n = diffusion.cube(size / 2, 2)[0]
    second = sp.diags([1.0, -2.0, 1.0], [-1, 0, 1], shape=(n, n)) * n**2
    one = sp.identity(n)
    laplacian = sp.kron(second, one) + sp.kron(one, second)
    biharmonic = laplacian @ laplacian
    bent = curvature * sp.kron(second, one)
    matrix = sp.bmat([[thickness**2 / 10.9 * biharmonic, bent], [bent.T, -biharmonic]]).tocsr()
    return matrix, np.concatenate([np.ones(n * n), np.zeros(n * n)])


def frame(size, rng, dimension=2, slenderness=50.0, irregular=True):
    """Beams between the joints of a building: displacements and rotations of very different stiffness."""
    per_joint = 3
    n = diffusion.cube(size / per_joint, 2)[0]
    first, second, axis = diffusion.edges_of_grid((n, n))
    keep = rng.random(len(first)) < (0.9 if irregular else 1.0)
    keep |= axis == 0
    first, second = first[keep], second[keep]
    places = np.stack(np.divmod(np.arange(n * n), n), 1).astype(float)
    if irregular:
        places += rng.uniform(-0.1, 0.1, places.shape)
    along = places[second] - places[first]
    length = np.linalg.norm(along, axis=1)
    c, s = (along / length[:, None]).T
    area = rng.choice([1.0, 1.5, 3.0], len(first))
    bending = area**2 / slenderness**2
    axial, k12, k6, k4 = area / length, 12 * bending / length**3, 6 * bending / length**2, 4 * bending / length
    zero = np.zeros_like(axial)
    local = np.array([[axial, zero, zero, -axial, zero, zero], [zero, k12, k6, zero, -k12, k6], [zero, k6, k4, zero, -k6, k4 / 2],
                      [-axial, zero, zero, axial, zero, zero], [zero, -k12, -k6, zero, k12, -k6], [zero, k6, k4 / 2, zero, -k6, k4]])
    local = np.moveaxis(local, 2, 0)
    turn = np.zeros((len(first), 6, 6))
    for at in (0, 3):
        turn[:, at, at], turn[:, at, at + 1], turn[:, at + 1, at], turn[:, at + 1, at + 1], turn[:, at + 2, at + 2] = c, s, -s, c, 1
    blocks = np.swapaxes(turn, 1, 2) @ local @ turn
    dofs = np.hstack([3 * first[:, None] + np.arange(3), 3 * second[:, None] + np.arange(3)])
    matrix = fe.scatter(blocks, dofs, dofs, (3 * n * n, 3 * n * n))
    ground = np.repeat(np.arange(n * n) < n, 3)
    push = np.zeros((n * n, 3))
    push[:, 0] = -1
    return fe.without(matrix, ground, push.ravel())


def spring_lattice(size, rng, dimension=2, link=1e4):
    """A lattice of springs with random stiffness and weak shear: as in models of discrete particles."""
    points = rng.random((max(int(size / dimension), 60), dimension))
    cells = scipy.spatial.Delaunay(points).simplices
    pairs = np.unique(np.sort(np.vstack([cells[:, [i, j]] for i in range(dimension + 1) for j in range(i)]), axis=1), axis=0)
    along = points[pairs[:, 1]] - points[pairs[:, 0]]
    length = np.linalg.norm(along, axis=1)
    short = length < 3 * np.median(length)
    pairs, along, length = pairs[short], along[short], length[short]
    unit = along / length[:, None]
    k = link ** rng.random(len(pairs))
    normal = unit[:, :, None] * unit[:, None, :]
    block = k[:, None, None] * (normal + 0.05 * (np.eye(dimension) - normal))
    whole = np.block([[block, -block], [-block, block]])
    dofs = (dimension * pairs[:, :, None] + np.arange(dimension)).reshape(len(pairs), -1)
    rows = dimension * len(points)
    matrix = fe.scatter(whole, dofs, dofs, (rows, rows))
    held = np.repeat(points[:, 0] < 0.05, dimension)
    matrix, = fe.without(matrix, held)
    return matrix, None
