"""Systems that other programs assemble of what was scanned: pictures, surfaces, pores of rocks, clouds of points.

The packages are optional (requirements.txt): without one of them its systems cannot be made.
"""

import itertools
import unittest.mock

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
import scipy.spatial

from . import diffusion


# scikit-image
def instead(module, function, call):
    """What `call` hands to a function of a module, which is not called."""
    class Stopped(Exception):
        pass

    def stop(*given, **_):
        raise Stopped(given)

    with unittest.mock.patch.object(module, function, stop):
        try:
            call()
        except Stopped as stopped:
            return stopped.args[0]
    raise RuntimeError(f"{function} was not called")


def blobs(shape, rng, share=0.5, passes=10):
    """Rounded shapes in a picture or volume, of a few times the root of `passes` pixels: true inside."""
    noise = diffusion.smooth_noise(shape, rng, passes)
    return (noise > np.quantile(noise, 1 - share)).reshape(shape)


def walker(size, rng, dimension=2, beta=130.0, noise=0.35, marked=0.02):
    """Which shape random walkers from pixels reach, that avoid edges of a noisy picture or volume; a few pixels are marked."""
    import skimage.segmentation.random_walker_segmentation as module

    shape = diffusion.cube(size, dimension)
    inside = blobs(shape, rng)
    markers = np.where(rng.random(shape) < marked, 1 + inside, 0)
    markers.flat[[0, -1]] = 1, 2
    picture = 2.0 * inside - 1 + noise * rng.standard_normal(shape)
    matrix, b, *_ = instead(module, "_solve_linear_system", lambda: module.random_walker(picture, markers, beta=beta))
    return matrix, b[:, [0]].toarray().ravel()


def inpainting(size, rng, dimension=2, holes=0.4, scattered=False):
    """Pixels that are lost, in blots or scattered, by a biharmonic function of the ones around."""
    import skimage.restoration.inpaint as module

    shape = diffusion.cube(size / holes, dimension)
    lost = rng.random(shape) < holes if scattered else blobs(shape, rng, holes, passes=min(shape[0], 100))
    picture = diffusion.smooth_noise(shape, rng, passes=2).reshape(shape)
    picture /= abs(picture).max()
    matrix, b = instead(module, "spsolve", lambda: module.inpaint_biharmonic(picture, lost))[:2]
    return matrix, b[:, 0]


# libigl and robust_laplacian: surfaces
def scanned(size, rng, kind="gyroid"):
    """(points, triangles): of a sponge or of a pebble, as marching cubes find them, a little smoothed."""
    import skimage.measure

    n = max(round((size / 2.5) ** 0.5), 8)
    places = np.stack(np.meshgrid(*[np.linspace(0, 2 * np.pi, n)] * 3, indexing="ij"))
    if kind == "gyroid":
        values = sum(np.sin(places[k]) * np.cos(places[(k + 1) % 3]) for k in range(3))
    else:
        values = np.linalg.norm(places - np.pi, axis=0) - 2.4 + 0.15 * sum(np.sin(5 * places[k] + rng.uniform(0, 6)) for k in range(3))
    values += 0.01 * (2 * np.pi / n) * rng.standard_normal(values.shape)
    points, triangles, *_ = skimage.measure.marching_cubes(values, 0.0, allow_degenerate=False)
    corners = triangles[:, [0, 1, 2]].ravel(), triangles[:, [1, 2, 0]].ravel()
    beside = sp.coo_matrix((np.ones(len(corners[0])), corners), shape=(len(points), len(points)))
    beside = sp.csr_matrix(beside + beside.T)
    points = np.asarray(points, dtype=float) / n
    for _ in range(3):
        points = (points + beside @ points / np.asarray(beside.sum(axis=1))) / 2
    return points, triangles.astype(np.int64)


def point_cloud(size, rng, step=1e-3, noise=0.1):
    """A step of heat over a cloud of points that a scanner saw, twice as dense on one side; Laplacian of a tufted cover."""
    import robust_laplacian

    points, _ = scanned(0.7 * size, rng)
    points = points[rng.random(len(points)) < np.where(points[:, 0] > 0.5, 1.0, 0.5)]
    points += noise * np.median(np.linalg.norm(np.diff(points, axis=0), axis=1)) * rng.standard_normal(points.shape)
    laplacian, mass = robust_laplacian.point_cloud_laplacian(points)
    b = np.zeros(len(points))
    b[rng.integers(0, len(points), 3)] = 1.0
    return mass + step * laplacian, b


def bent_surface(size, rng, held=2e-3, energy="laplacian"):
    """A surface that is bent by a few points held elsewhere: squares of Laplacians, or Hessians, are least."""
    import igl

    points, triangles = scanned(size, rng, "pebble")
    if energy == "hessian":
        matrix = igl.curved_hessian_energy(points, triangles)
    else:
        matrix = igl.harmonic_integrated_from_laplacian_and_mass(igl.cotmatrix(points, triangles), igl.massmatrix(points, triangles), 2)
    fixed = rng.random(len(points)) < held
    fixed[0] = True
    matrix = matrix.tocsr()
    return matrix[~fixed][:, ~fixed], -matrix[~fixed][:, fixed] @ (points[fixed, 2] + 0.2 * rng.standard_normal(fixed.sum()))


# OpenPNM: pores and the throats between them
def pores(size, rng, deviation):
    """(network, water): pores at random places, throats of widths that differ, and what flows and diffuses through them."""
    import openpnm

    coords = rng.random((size, 3))
    conns = scipy.spatial.Delaunay(coords).simplices[:, list(itertools.combinations(range(4), 2))].reshape(-1, 2)
    network = openpnm.network.Network(coords=coords, conns=np.unique(np.sort(conns, axis=1), axis=0))
    water = openpnm.phase.Phase(network=network)
    ends = network.coords[network.conns] * 1e-3
    length = np.maximum(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1), 1e-6)
    width = 1e-5 * np.exp(deviation * rng.standard_normal(network.Nt))
    water["throat.hydraulic_conductance"] = np.pi * width**4 / (128 * 1e-3 * length)
    water["throat.diffusive_conductance"] = 1e-9 * np.pi / 4 * width**2 / length
    return network, water


def pressed(network, water):
    """Equations of the pressure that drives water from one end to the other."""
    import openpnm

    flow = openpnm.algorithms.StokesFlow(network=network, phase=water)
    for pores_there, pressure in ((network.coords[:, 0] < 0.05, 1e4), (network.coords[:, 0] > 0.95, 0.0)):
        flow.set_value_BC(pores=np.flatnonzero(pores_there), values=pressure)
    flow._update_A_and_b()
    return flow.A.tocsr(), flow.b


def pore_pressure(size, rng, deviation=0.5):
    """Pressures in a rock's pores, whose throats let pass what the fourth power of their width tells."""
    return pressed(*pores(size, rng, deviation))


def pore_solute(size, rng, deviation=0.3, peclet=10.0):
    """A solute that water carries through pores, and that diffuses: fluxes by the power law."""
    import openpnm
    from openpnm.models.physics.ad_dif_conductance import ad_dif

    network, water = pores(size, rng, deviation)
    matrix, b = pressed(network, water)
    pressure, _ = spla.cg(matrix, b, rtol=1e-10, M=sp.diags(1 / matrix.diagonal()))
    flux = water["throat.hydraulic_conductance"] * abs(np.diff(pressure[network.conns], axis=1).ravel())
    water["pore.pressure"] = pressure * peclet * np.median(water["throat.diffusive_conductance"]) / np.median(flux)
    water["throat.ad_dif_conductance"] = ad_dif(water, s_scheme="powerlaw")
    carried = openpnm.algorithms.AdvectionDiffusion(network=network, phase=water)
    carried.set_value_BC(pores=np.flatnonzero(network.coords[:, 0] < 0.05), values=1.0)
    carried.set_outflow_BC(pores=np.flatnonzero(network.coords[:, 0] > 0.95))
    carried._update_A_and_b()
    return carried.A, carried.b


# PyGSP: signals on graphs
def labelled_graph(size, rng, neighbours=10, labelled=0.02, tau=1e-2):
    """Labels of few among many points on a rolled sheet, by Tikhonov's smoothness along a graph of near neighbours with Gaussian weights."""
    import pygsp

    angle, places = np.pi * (1 + 3 * rng.random(size)), rng.random(size) * 30
    points = np.column_stack([angle * np.cos(angle), places, angle * np.sin(angle)]) + 0.1 * rng.standard_normal((size, 3))
    graph = pygsp.graphs.NNGraph(points, k=neighbours)
    known = rng.random(size) < labelled
    known[0] = True
    return sp.diags(known.astype(float)) + tau * graph.L, known * np.sign(np.sin(angle))
