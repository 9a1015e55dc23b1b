"""Elements that scikit-fem has and finite_elements.py has not: of plates, fields with tangential or normal continuity, broken spaces.

The package is optional (requirements.txt): without it these systems cannot be made.
"""

import numpy as np
import scipy.sparse as sp

from . import finite_elements as fe


def triangles(points, rng):
    import skfem

    places, cells = fe.mesh(points, 2, rng, delaunay=True)
    return skfem.MeshTri(np.ascontiguousarray(places.T), np.ascontiguousarray(cells.T.astype(np.int64)))


def tetrahedra(points, rng):
    import skfem

    places, cells = fe.mesh(points, 3, rng, jitter=0.15)
    return skfem.MeshTet(np.ascontiguousarray(places.T), np.ascontiguousarray(cells.T.astype(np.int64)))


def morley_plate(size, rng, poisson=0.3, foundation=0.0):
    """A clamped plate by Morley's triangles: deflections of corners and slopes across edges."""
    import skfem
    from skfem.helpers import dd, ddot, trace

    basis = skfem.Basis(triangles(size / 4, rng), skfem.ElementTriMorley())

    @skfem.BilinearForm
    def bending(u, v, _):
        first, second = dd(u), dd(v)
        return (1 - poisson) * ddot(first, second) + poisson * trace(first) * trace(second) + foundation * u * v

    @skfem.LinearForm
    def weight(v, _):
        return 1.0 * v

    matrix, b, *_ = skfem.condense(bending.assemble(basis), weight.assemble(basis), D=basis.get_dofs())
    return matrix, b


def nedelec(size, rng, conductivity=1e-2):
    """Magnetic fields by edge elements on tetrahedra: curl curl and a small mass."""
    import skfem
    from skfem.helpers import curl, dot

    basis = skfem.Basis(tetrahedra(size / 6, rng), skfem.ElementTetN0())

    @skfem.BilinearForm
    def energy(u, v, _):
        return dot(curl(u), curl(v)) + conductivity * dot(u, v)

    matrix = energy.assemble(basis).tocsr()
    inside = np.setdiff1d(np.arange(basis.N), basis.get_dofs().all())
    return matrix[inside][:, inside], None


def raviart_thomas(size, rng, deviation=1.0):
    """Mixed Poisson on triangles: fluxes across edges, then pressures of cells; symmetric and indefinite."""
    import skfem
    from skfem.helpers import div, dot

    mesh = triangles(size / 5, rng)
    fluxes, pressures = skfem.Basis(mesh, skfem.ElementTriRT0()), skfem.Basis(mesh, skfem.ElementTriP0())
    resistance = np.exp(deviation * rng.standard_normal(mesh.nelements))

    @skfem.BilinearForm
    def mass(u, v, w):
        return w.resistance * dot(u, v)

    @skfem.BilinearForm
    def sources(u, q, _):
        return div(u) * q

    block = mass.assemble(fluxes, resistance=resistance[:, None])
    coupling = sources.assemble(fluxes, pressures)
    matrix = sp.bmat([[block, coupling.T], [coupling, None]]).tocsr()
    return matrix, np.concatenate([np.zeros(fluxes.N), np.ones(pressures.N) / pressures.N])


def broken_triangles(size, rng, order=1, convection=0.0, spread=0.0):
    """A discontinuous Galerkin method on triangles: interior penalty, and upwind fluxes where there is convection."""
    import skfem
    from skfem.helpers import dot, grad

    element = skfem.ElementDG({1: skfem.ElementTriP1, 2: skfem.ElementTriP2, 3: skfem.ElementTriP3}[order]())
    mesh = triangles(size / ((order + 1) * (order + 2)), rng)
    basis = skfem.Basis(mesh, element)
    sides = [skfem.InteriorFacetBasis(mesh, element, side=side) for side in (0, 1)]
    border = skfem.FacetBasis(mesh, element)
    penalty = 8.0 * (order + 1) ** 2
    wind = np.array([0.8, 0.6])
    conduct = 10 ** (spread * rng.random(mesh.nelements))

    @skfem.BilinearForm
    def inside(u, v, w):
        return w.conduct * dot(grad(u), grad(v)) - convection * u * (wind[0] * grad(v)[0] + wind[1] * grad(v)[1])

    @skfem.BilinearForm
    def across(u, v, w):
        sign_u, sign_v = (-1.0) ** w.idx[0], (-1.0) ** w.idx[1]
        flow = wind[0] * w.n[0] + wind[1] * w.n[1]
        mean_u, mean_v = dot(grad(u), w.n) / 2, dot(grad(v), w.n) / 2
        upwind = (np.maximum(flow, 0) if w.idx[0] == 0 else np.minimum(flow, 0)) * u * sign_v * v
        strength = penalty * 10 ** (spread / 2)
        return strength / w.h * sign_u * u * sign_v * v - 10 ** (spread / 2) * (mean_u * sign_v * v + mean_v * sign_u * u) + convection * upwind

    @skfem.BilinearForm
    def at_border(u, v, w):
        flow = wind[0] * w.n[0] + wind[1] * w.n[1]
        return (2 * penalty / w.h * u * v * 10 ** (spread / 2) - 10 ** (spread / 2) * (dot(grad(u), w.n) * v + dot(grad(v), w.n) * u)
                + convection * np.maximum(flow, 0) * u * v)

    @skfem.LinearForm
    def source(v, _):
        return 1.0 * v

    matrix = inside.assemble(basis, conduct=conduct[:, None]) + skfem.asm(across, sides, sides) + at_border.assemble(border)
    return matrix, source.assemble(basis)


def crouzeix_raviart(size, rng, viscosity=1.0, reaction=0.0):
    """Stokes' equations by velocities at the middles of edges and pressures of cells."""
    import skfem
    from skfem.helpers import ddot, div, dot, grad

    mesh = triangles(size / 8, rng)
    velocity = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTriCR()))
    pressure = velocity.with_element(skfem.ElementTriP0())

    @skfem.BilinearForm
    def viscous(u, v, _):
        return viscosity * ddot(grad(u), grad(v)) + reaction * dot(u, v)

    @skfem.BilinearForm
    def incompressible(u, q, _):
        return -div(u) * q

    @skfem.LinearForm
    def force(v, w):
        return np.sin(5 * w.x[1]) * v[0]

    free = np.setdiff1d(np.arange(velocity.N), velocity.get_dofs().all())
    flow = viscous.assemble(velocity).tocsr()[free][:, free]
    coupling = incompressible.assemble(velocity, pressure).tocsr()[1:, free]
    matrix = sp.bmat([[flow, coupling.T], [coupling, None]]).tocsr()
    return matrix, np.concatenate([force.assemble(velocity)[free], np.zeros(coupling.shape[0])])


def bricks(size, rng, poisson=0.3, order=1):
    """An elastic block of hexahedra, of order 1 or 2, held at one side."""
    import skfem
    from skfem.helpers import ddot, div, sym_grad

    n = max(round((size / 3) ** (1 / 3) / order), 2)
    mesh = skfem.MeshHex.init_tensor(*[np.linspace(0, 1, n + 1)] * 3)
    basis = skfem.Basis(mesh, skfem.ElementVector({1: skfem.ElementHex1, 2: skfem.ElementHex2}[order]()))
    lame, shear = poisson / ((1 + poisson) * (1 - 2 * poisson)), 1 / (2 * (1 + poisson))

    @skfem.BilinearForm
    def energy(u, v, _):
        return lame * div(u) * div(v) + 2 * shear * ddot(sym_grad(u), sym_grad(v))

    @skfem.LinearForm
    def weight(v, _):
        return -1.0 * v[2]

    held = basis.get_dofs(lambda x: np.isclose(x[0], 0))
    matrix, b, *_ = skfem.condense(energy.assemble(basis), weight.assemble(basis), D=held)
    return matrix, b
