"""Flows, heat and charges in channels, plants and cells: what scikit-fem assembles on meshes by Gmsh, fine where the shape asks for it.

The packages are optional (requirements.txt): without them these systems cannot be made.
"""

import math

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg

from .machines import diffusive, elastic, form, load, meshed, middles, moduli, product, space, without


def tokamak(size, rng, ratio=1e6, order=2, step=1e-2):
    """Heat in a plasma between two walls, conducted `ratio` times better along closed magnetic lines than across: a step by elements of order 2."""
    from skfem.helpers import dot, grad

    shift = rng.uniform(0.05, 0.15)

    def draw(occ):
        occ.cut([(2, occ.addDisk(0, 0, 0, 1.6, 1))], [(2, occ.addDisk(shift, 0, 0, 0.4, 0.25))])

    mesh = meshed(size / order**2, 2, draw, lambda x, y, z: 0.1 + 0.2 * abs(math.hypot(x / 1.6, y) - 0.6))
    basis = space(mesh, order)

    def heat(u, v, w):
        x, y = w.x
        along = np.array([-y, x / 1.6**2])
        along = along / np.sqrt((along**2).sum(axis=0) + 1e-12)
        return u * v / step + dot(grad(u), grad(v)) + (ratio - 1) * dot(along, grad(u)) * dot(along, grad(v))

    return without(basis.get_dofs().all(), form(heat, basis), load(lambda v, w: np.exp(-8 * (w.x[0] ** 2 + w.x[1] ** 2)) * v, basis))


def composite(size, rng, contrast=1e3, elastic_cell=True):
    """The cell of a composite of round fibres that repeats itself: displacements, or temperature, whose opposite sides are one; driven by a mean strain."""
    side, fibres = 4, []
    for i in range(side):
        for j in range(side):
            fibres.append(((i + 0.5 + rng.uniform(-0.1, 0.1)) / side, (j + 0.5 + rng.uniform(-0.1, 0.1)) / side, rng.uniform(0.25, 0.38) / side))

    def draw(occ):
        occ.fragment([(2, occ.addRectangle(0, 0, 0, 1, 1))], [(2, occ.addDisk(x, y, 0, r, r)) for x, y, r in fibres])

    def width(x, y, z):
        if min(x, y, 1 - x, 1 - y) < 1e-9:
            return 0.05
        return 0.02 + 0.3 * min(abs(math.hypot(x - a, y - b) - r) for a, b, r in fibres)

    mesh = meshed(size / (2 if elastic_cell else 1), 2, draw, width)
    x, y = middles(mesh)
    inside = np.min([np.hypot(x - a, y - b) - r for a, b, r in fibres], axis=0) < 0
    stiff = np.where(inside, contrast, 1.0)
    basis = space(mesh, 1, vector=elastic_cell)
    matrix = form(elastic, basis, **moduli(0.3, stiff)) if elastic_cell else form(diffusive, basis, k=stiff)
    points = np.round(mesh.p.T, 9) % 1.0
    _, first, same = np.unique(points, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))  # in the mesher's order
    per_point = 2 if elastic_cell else 1
    columns = (per_point * order[same.ravel()][:, None] + np.arange(per_point)).ravel()
    join = sp.csr_matrix((np.ones(basis.N), (np.arange(basis.N), columns)))
    strained = matrix @ (np.repeat(mesh.p[0], per_point) * (np.arange(basis.N) % per_point == 0))
    corner = columns[:per_point]  # of the point at the origin
    return without(corner, (join.T @ matrix @ join).tocsr(), -join.T @ strained)


def moving(velocity, pressure, wind, viscosity=1.0, rate=0.0, newton=False, stabilised=False):
    """The matrix of a flow around `wind`; `stabilised`: velocities and pressures of order 1 each (SUPG and PSPG)."""
    from skfem.helpers import ddot, div, dot, grad, mul

    def convected(u, v, w):
        carried = mul(grad(u), w.wind) + (mul(w.wind.grad, u) if newton else 0)
        return viscosity * ddot(grad(u), grad(v)) + dot(carried, v) + rate * dot(u, v)

    def tau(w):
        return 1 / np.sqrt(4 * rate**2 + 4 * dot(w.wind, w.wind) / w.h**2 + (4 * viscosity / w.h**2) ** 2)

    flow = form(convected, velocity, wind=wind)
    coupling = form(lambda u, q, w: -div(u) * q, velocity, pressure)
    if not stabilised:
        return sp.bmat([[flow, coupling.T], [coupling, form(product, pressure, k=0.0)]]).tocsr()
    flow = flow + form(lambda u, v, w: tau(w) * dot(mul(grad(u), w.wind) + rate * u, mul(grad(v), w.wind)), velocity, wind=wind)
    push = form(lambda p, v, w: tau(w) * dot(grad(p), mul(grad(v), w.wind)), pressure, velocity, wind=wind)
    carry = form(lambda u, q, w: -tau(w) * dot(mul(grad(u), w.wind) + rate * u, grad(q)), velocity, pressure, wind=wind)
    return sp.bmat([[flow, coupling.T + push], [coupling + carry, form(lambda p, q, w: -tau(w) * dot(grad(p), grad(q)), pressure, wind=wind)]]).tocsr()


def wing(size, rng, reynolds=200.0, method="taylor-hood", step=0.0, newton=False):
    """Air past a wing that is tilted: Picard's or Newton's step by Taylor and Hood, with bubbles (MINI), or with order 1 for all and stabilised."""
    import skfem

    tilt, rate = rng.uniform(0.05, 0.3), 1 / step if step else 0.0

    def draw(occ):
        along = (1 - np.cos(np.linspace(0, np.pi, 16))) / 2
        thick = 0.6 * (0.2969 * along**0.5 - 0.126 * along - 0.3516 * along**2 + 0.2843 * along**3 - 0.1036 * along**4)  # NACA 0012
        border = np.r_[np.c_[along, thick], np.c_[along, -thick][-2:0:-1]]
        points = [occ.addPoint(x, y, 0) for x, y in border]
        profile = occ.addPlaneSurface([occ.addCurveLoop([occ.addSpline(points[:16]), occ.addSpline([*points[15:], points[0]])])])
        occ.rotate([(2, profile)], 0.5, 0, 0, 0, 0, 1, -tilt)
        occ.cut([(2, occ.addRectangle(-1.5, -1.5, 0, 5, 3))], [(2, profile)])

    def width(x, y, z):
        return 0.05 + 0.25 * math.hypot(max(abs(x - 0.5) - 0.5, 0), y) - 0.1 * (x > 1 and abs(y) < 0.3) * min(x - 1, 1)

    mesh = meshed(size / {"taylor-hood": 8, "mini": 6.5, "equal": 2.8}[method], 2, draw, width)
    velocity = space(mesh, 2 if method == "taylor-hood" else 1, vector=True)
    if method == "mini":
        velocity = skfem.Basis(mesh, skfem.ElementVector(skfem.ElementTriMini()), intorder=4)
    pressure = velocity.with_element(skfem.ElementTriP1())
    border = velocity.get_dofs(mesh.facets_satisfying(lambda x: x[0] < 3.5 - 1e-9, boundaries_only=True))
    outer = velocity.get_dofs(mesh.facets_satisfying(lambda x: (x[0] < -1.5 + 1e-9) | (abs(x[1]) > 1.5 - 1e-9), boundaries_only=True))
    x = np.zeros(velocity.N + pressure.N)
    x[outer.all(["u^1"])] = 1.0
    fixed, options = border.all(), dict(rate=rate, stabilised=method == "equal")
    free = np.setdiff1d(np.arange(len(x)), fixed)
    for turn in range(3):  # to the flow around which it is linearised
        matrix = moving(velocity, pressure, velocity.interpolate(x[: velocity.N]), 1 / reynolds, newton=newton and turn == 2, **options)
        b = -(matrix[:, fixed] @ x[fixed])[free]
        if turn < 2:
            x[free] = scipy.sparse.linalg.spsolve(matrix[free][:, free].tocsc(), b)
    return matrix[free][:, free], b


def elbow(size, rng, method="mini", reynolds=50.0, step=0.0):
    """Water round an elbow of a pipe (Oseen), with bubbles (MINI) or by Crouzeix and Raviart on tetrahedra."""
    import skfem

    bend, speed = rng.uniform(1.2, 2.5), 2 * reynolds
    mesh = meshed(size / {"mini": 13, "crouzeix-raviart": 18}[method], 3, lambda occ: occ.addTorus(0, 0, 0, bend, 0.5, -1, math.pi / 2),
                  lambda x, y, z: 0.05 + 0.3 * abs(0.5 - math.hypot(math.hypot(x, y) - bend, z)))
    elements = (skfem.ElementTetMini(), skfem.ElementTetP1()) if method == "mini" else (skfem.ElementTetCR(), skfem.ElementTetP0())
    velocity = skfem.Basis(mesh, skfem.ElementVector(elements[0]), intorder=3)
    pressure = velocity.with_element(elements[1])
    x, y, z = np.array(velocity.global_coordinates())
    across = np.hypot(x, y)
    wind = np.array([-y, x, 0 * z]) / across * speed * np.maximum(1 - 4 * ((across - bend) ** 2 + z**2), 0)
    matrix = moving(velocity, pressure, skfem.DiscreteField(wind), rate=1 / step if step else 0.0)
    held = velocity.get_dofs(mesh.facets_satisfying(lambda x: x[0] > 1e-6, boundaries_only=True)).all()
    return without(held, matrix, np.concatenate([load(lambda v, w: v[0] - 3 * v[1] * w.x[0], velocity), np.zeros(pressure.N)]))


def boundary_layer(size, rng, thin=1e-5, viscosity=1e-6, step=0.0):
    """A quantity of turbulence around a blade, with streamlines' upwinding (SUPG), on quadrilaterals that are thousands of times longer than thick."""
    import skfem
    from skfem.helpers import dot, grad

    rows = max(round((size / 3) ** 0.5), 6)
    around = size // rows
    growth = np.geomspace(thin, 1.0, rows)
    radius = 1 + 10 * np.r_[0, np.cumsum(growth) / growth.sum()]
    r, turn = np.meshgrid(radius, np.arange(around) / around * 2 * np.pi, indexing="ij")
    number = np.arange(r.size).reshape(r.shape)
    cells = np.array([number[:-1], np.roll(number[:-1], -1, 1), np.roll(number[1:], -1, 1), number[1:]]).reshape(4, -1)
    shrink = rng.uniform(0.2, 0.5)
    mesh = skfem.MeshQuad(np.array([(r * np.cos(turn)).ravel(), ((1 + (r - 1) - (1 - shrink) / r) * np.sin(turn)).ravel()]), cells)
    basis = skfem.Basis(mesh, skfem.ElementQuad1())
    corner = mesh.p[:, cells]
    sides = corner[:, 1] - corner[:, 0], corner[:, 3] - corner[:, 0]

    def wind_at(x):
        square = x[0] ** 2 + x[1] ** 2 + 1e-9
        away = np.minimum(np.maximum(square - 0.9, 0.0) * 3, 1.0)
        return away * np.array([1 - (x[0] ** 2 - x[1] ** 2) / square**2, -2 * x[0] * x[1] / square**2])

    wind = wind_at(middles(mesh))
    speed = np.hypot(*wind) + 1e-12
    long = speed / (abs((wind * sides[0]).sum(axis=0)) / (sides[0] ** 2).sum(axis=0) + abs((wind * sides[1]).sum(axis=0)) / (sides[1] ** 2).sum(axis=0) + 1e-12)
    eddy = viscosity * (1 + 100 * np.exp(-(((np.hypot(*middles(mesh)) - 1.2) / 0.2) ** 2)))
    rate = 0.1 + (1 / step if step else 0)

    def carried(u, v, w):
        blown, test = dot(w.wind, grad(u)), dot(w.wind, grad(v))
        return w.eddy * dot(grad(u), grad(v)) + blown * v + rate * u * v + w.tau * (blown + rate * u) * test

    tau = 1 / np.sqrt((2 * speed / long) ** 2 + (4 * eddy / long**2) ** 2 + rate**2)
    matrix = form(carried, basis, wind=wind[:, :, None], eddy=eddy, tau=tau)
    return without(np.r_[number[0], number[-1]], matrix, load(lambda v, w: v, basis))


def cabin(size, rng, step=1e-4, water=False):
    """Sound in a cabin and its walls of steel, an implicit step: pressures push walls, walls push air or water; not symmetric, in SI units."""
    from skfem.helpers import div, dot, grad

    seat = rng.uniform(0.3, 0.8)

    def draw(occ):
        walls = occ.cut([(2, occ.addRectangle(-0.02, -0.02, 0, 2.04, 1.04))], [(2, occ.addRectangle(0, 0, 0, 2, 1))])[0]
        occ.fragment([(2, occ.addRectangle(0, 0, 0, 2, 1))], [*walls, (2, occ.addRectangle(seat, 0, 0, 0.05, 0.6))])

    def width(x, y, z):
        return 0.03 + 0.25 * max(min(x, y, 2 - x, 1 - y, math.hypot(x - seat, max(y - 0.6, 0))), 0)

    mesh = meshed(size / 1.6, 2, draw, width)
    x, y = middles(mesh)
    wall = (x < 0) | (x > 2) | (y < 0) | (y > 1) | ((x > seat) & (x < seat + 0.05) & (y < 0.6))
    solid, fluid = space(mesh, 1, vector=True), space(mesh)
    density, sound = (1000.0, 1500.0) if water else (1.2, 340.0)
    stiff = form(elastic, solid, **moduli(0.3, np.where(wall, 2.1e11, 0.0))) + form(product, solid, k=np.where(wall, 7800 * 4 / step**2, 0.0))
    waves = form(diffusive, fluid, k=np.where(wall, 0.0, 1 / density)) + form(product, fluid, k=np.where(wall, 0.0, 4 / (step**2 * density * sound**2)))
    pushed = form(lambda p, v, w: w.k * (dot(grad(p), v) + p * div(v)), fluid, solid, k=np.where(wall, 0.0, 1.0))
    moves, rings = (np.flatnonzero(one.diagonal() > 0) for one in (stiff, waves))
    held = solid.get_dofs(lambda x: x[1] < -0.02 + 1e-9).all()
    moves = np.setdiff1d(moves, held)
    pushed = pushed[moves][:, rings]
    matrix = sp.bmat([[stiff[moves][:, moves], -pushed], [4 / step**2 * pushed.T, waves[rings][:, rings]]])
    return matrix, np.concatenate([load(lambda v, w: -1.0 * v[1], solid)[moves], np.zeros(len(rings))])


def nanopore(size, rng, bias=5.0, layer=0.1, step=0.0):
    """Ions through a charged pore between two vessels (Poisson, Nernst and Planck): Newton's step for a potential and two kinds of ions at each point."""
    from skfem.helpers import dot, grad

    narrow = rng.uniform(0.2, 0.4)

    def draw(occ):
        occ.fuse([(2, occ.addRectangle(-2, 0, 0, 2, 2)), (2, occ.addRectangle(2, 0, 0, 2, 2))], [(2, occ.addRectangle(0, 0, 0, 2, narrow))])

    def depth(x, y):
        """How far from the charged wall."""
        return np.where((x > 0) & (x < 2), abs(narrow - y), np.hypot(np.where(x < 1, x, x - 2), np.maximum(narrow - y, 0)))

    mesh = meshed(size / 3, 2, draw, lambda x, y, z: 0.3 * layer + 0.25 * float(depth(x, y)))
    basis = space(mesh)
    x, y = mesh.p
    ends = np.flatnonzero(abs(x - 1) > 3 - 1e-9)
    laplace = form(lambda u, v, w: w.x[1] * dot(grad(u), grad(v)), basis)
    across = np.where(x < 1, bias, 0.0)
    inside = np.setdiff1d(np.arange(len(x)), ends)
    across[inside] = scipy.sparse.linalg.spsolve(laplace[inside][:, inside].tocsc(), -(laplace[:, ends] @ across[ends])[inside])
    near = -3 * np.exp(-depth(x, y) / layer)
    potential = basis.interpolate(across + near)
    blocks = [[layer**2 * laplace, None, None], [None] * 3, [None] * 3]
    for ion, sign in ((1, 1.0), (2, -1.0)):
        held = basis.interpolate(np.exp(-sign * near))
        blocks[0][ion] = -sign * form(lambda u, v, w: 0.5 * w.x[1] * u * v, basis)
        blocks[ion][0] = sign * form(lambda u, v, w: w.x[1] * w.held * dot(grad(u), grad(v)), basis, held=held)
        drift = form(lambda u, v, w: w.x[1] * u * dot(w.potential.grad, grad(v)), basis, potential=potential)
        blocks[ion][ion] = laplace + sign * drift + (1 / step if step else 0.0) * form(lambda u, v, w: w.x[1] * u * v, basis)
    points = (np.arange(3) * basis.N + inside[:, None]).ravel()  # the three of a point together
    return sp.bmat(blocks).tocsr()[points][:, points], np.tile(load(lambda v, w: w.x[1] * v, basis)[inside][:, None], 3).ravel()


def buoyant(size, rng, rayleigh=1e4, prandtl=0.7, step=0.0):
    """Air around two hot pipes in a box: Newton's step for velocities, pressure and temperature at once, by elements of order 2, 1 and 2."""
    from skfem.helpers import dot, grad

    pipes = [(x, rng.uniform(0.3, 0.6), rng.uniform(0.1, 0.15)) for x in (0.3, 0.7)]
    mesh = meshed(size / 10.5, 2, lambda occ: occ.cut([(2, occ.addRectangle(0, 0, 0, 1, 1))], [(2, occ.addDisk(x, y, 0, r, r)) for x, y, r in pipes]),
                  lambda x, y, z: 0.06 + 0.2 * min(abs(math.hypot(x - a, y - b) - r) for a, b, r in pipes))
    velocity, heat = space(mesh, 2, vector=True), space(mesh, 2)
    pressure = velocity.with_element(space(mesh).elem)
    n, m = velocity.N, velocity.N + pressure.N
    warm = heat.get_dofs(mesh.facets_satisfying(lambda x: abs(x - 0.5).max(axis=0) < 0.5 - 1e-6, boundaries_only=True)).all()
    cold = heat.get_dofs(lambda x: abs(x[0] - 0.5) > 0.5 - 1e-9).all()
    fixed = np.r_[velocity.get_dofs().all(), n, m + warm, m + cold]
    x, rate = np.zeros(m + heat.N), 1 / step if step else 0.0
    x[m + warm] = 1.0
    free = np.setdiff1d(np.arange(len(x)), fixed)
    lifted = form(lambda t, v, w: -rayleigh * prandtl * t * v[1], heat, velocity)
    for turn in range(3):  # to the flow around which it is linearised
        wind, hot = velocity.interpolate(x[:n]), heat.interpolate(x[m:])
        flow = moving(velocity, pressure, wind, prandtl, rate, newton=turn == 2)
        spread = form(lambda t, s, w: dot(grad(t), grad(s)) + (dot(w.wind, grad(t)) + rate * t) * s, heat, wind=wind)
        carried = form(lambda u, s, w: dot(u, w.hot.grad) * s, velocity, heat, hot=hot) if turn == 2 else 0 * lifted.T
        none = sp.csr_matrix((pressure.N, heat.N))
        matrix = sp.bmat([[flow, sp.vstack([lifted, none])], [sp.hstack([carried, none.T]), spread]]).tocsr()
        b = -(matrix[:, fixed] @ x[fixed])[free]
        if turn < 2:
            x[free] = 0.5 * x[free] + 0.5 * scipy.sparse.linalg.spsolve(matrix[free][:, free].tocsc(), b)
    return matrix[free][:, free], b


def footing(size, rng, sand=1e-3, clay=1e-9, step=1.0, storage=1e-8):
    """Soil in layers of sand and clay under a footing, a step of consolidation: displacements of order 2, fluxes across edges, pressures of cells."""
    import skfem
    from skfem.helpers import div

    beds = np.sort(rng.uniform(0.1, 0.9, 4))

    def draw(occ):
        occ.fragment([(2, occ.addRectangle(0, 0, 0, 2, 1))], [(1, occ.addLine(occ.addPoint(0, y, 0), occ.addPoint(2, y, 0))) for y in beds])

    mesh = meshed(size / 13, 2, draw, lambda x, y, z: 0.05 + 0.2 * math.hypot(max(abs(x - 1) - 0.3, 0), 1 - y))
    solid = space(mesh, 2, vector=True)
    fluxes, pressures = solid.with_element(skfem.ElementTriRT0()), solid.with_element(skfem.ElementTriP0())
    permeable = np.where(np.searchsorted(beds, middles(mesh)[1]) % 2 == 0, sand, clay)
    squeezed = form(lambda u, q, w: -div(u) * q, solid, pressures)
    drained = form(lambda u, q, w: -step * div(u) * q, fluxes, pressures)
    matrix = sp.bmat([[form(elastic, solid, **moduli(0.3)), None, squeezed.T], [None, form(product, fluxes, k=step / permeable), drained.T],
                      [squeezed, drained, form(product, pressures, k=-storage)]]).tocsr()
    held = solid.get_dofs(lambda x: x[1] < 1e-9).all()
    tight = solid.N + fluxes.get_dofs(mesh.facets_satisfying(lambda x: x[1] < 1 - 1e-9, boundaries_only=True)).all()
    top = skfem.FacetBasis(mesh, solid.elem, facets=mesh.facets_satisfying(lambda x: (x[1] > 1 - 1e-9) & (abs(x[0] - 1) < 0.3), boundaries_only=True))
    return without(np.r_[held, tight], matrix, np.concatenate([load(lambda v, w: -v[1], top), np.zeros(fluxes.N + pressures.N)]))
