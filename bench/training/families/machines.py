"""Parts of machines, their heat, fields and contacts: what scikit-fem assembles on meshes by Gmsh, fine where the shape asks for it.

The packages are optional (requirements.txt): without them these systems cannot be made. Points stand in the order of the mesher.
"""

import math

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg


def meshed(wanted, dimension, draw, width):
    """A mesh of about `wanted` points: `draw(occ)` makes the shape, `width(x, y, z)` tells how wide cells are, one beside the other."""
    import gmsh
    import skfem

    gmsh.initialize(interruptible=False)
    try:
        for option in ("General.Terminal", "Mesh.MeshSizeFromPoints", "Mesh.MeshSizeFromCurvature", "Mesh.MeshSizeExtendFromBoundary"):
            gmsh.option.setNumber(option, 0)
        gmsh.option.setNumber("Mesh.MinimumCircleNodes", 5)
        draw(gmsh.model.occ)
        gmsh.model.occ.synchronize()
        scale = 1.0
        for _ in range(6):
            gmsh.model.mesh.clear()
            gmsh.model.mesh.setSizeCallback(lambda _dimension, _tag, x, y, z, _width: scale * width(x, y, z))
            gmsh.model.mesh.generate(dimension)
            tags, places, _ = gmsh.model.mesh.getNodes()
            if 0.85 < len(tags) / wanted < 1.2:
                break
            scale *= (len(tags) / wanted) ** (1 / dimension)
        _, cells = gmsh.model.mesh.getElementsByType({2: 2, 3: 4}[dimension])
    finally:
        gmsh.finalize()
    number = np.zeros(int(tags.max()) + 1, dtype=np.int64)
    number[tags.astype(np.int64)] = np.arange(len(tags))
    used, cells = np.unique(number[cells.astype(np.int64)].reshape(-1, dimension + 1), return_inverse=True)
    points = places.reshape(-1, 3)[used, :dimension]
    return {2: skfem.MeshTri, 3: skfem.MeshTet}[dimension](np.ascontiguousarray(points.T), np.ascontiguousarray(cells.reshape(-1, dimension + 1).T))


def space(mesh, order=1, vector=False):
    """Lagrange's elements of order 1 or 2 on triangles or tetrahedra."""
    import skfem

    flat = mesh.p.shape[0] == 2
    element = {(True, 1): skfem.ElementTriP1, (True, 2): skfem.ElementTriP2, (False, 1): skfem.ElementTetP1, (False, 2): skfem.ElementTetP2}[flat, order]()
    return skfem.Basis(mesh, skfem.ElementVector(element) if vector else element, intorder=2 * order)


def form(what, trial, test=None, **known):
    """The matrix of a bilinear form; of `known` coefficients each cell has a number, or each of its quadrature points."""
    import skfem

    known = {name: value[:, None] if isinstance(value, np.ndarray) and value.ndim == 1 else value for name, value in known.items()}
    return skfem.BilinearForm(what).assemble(trial, test, **known).tocsr()


def load(what, basis):
    import skfem

    return skfem.LinearForm(what).assemble(basis)


def middles(mesh):
    return mesh.p[:, mesh.t].mean(axis=1)


def without(fixed, matrix, b):
    """The rows and columns of unknowns that are not fixed."""
    free = np.setdiff1d(np.arange(matrix.shape[0]), fixed)
    return matrix[free][:, free], b[free]


def elastic(u, v, w):
    from skfem.helpers import ddot, div, sym_grad

    return w.lame * div(u) * div(v) + 2 * w.shear * ddot(sym_grad(u), sym_grad(v))


def diffusive(u, v, w):
    from skfem.helpers import dot, grad

    return w.k * dot(grad(u), grad(v))


def product(u, v, w):
    from skfem.helpers import dot

    return w.k * (dot(u, v) if u.ndim == 3 else u * v)


def moduli(poisson, young=1.0):
    return dict(lame=young * poisson / ((1 + poisson) * (1 - 2 * poisson)), shear=young / (2 * (1 + poisson)))


def bracket(size, rng, order=1, poisson=0.3, shift=0.0):
    """An angle bracket of steel with drilled holes, fine at holes and in the corner, screwed to a wall; `shift`: about a frequency, to find its modes."""
    holes = [(x, y, rng.uniform(0.15, 0.3)) for x in (1.3, 2.9) for y in rng.uniform([0.5, 1.9], [1.1, 2.5])]

    def draw(occ):
        solid = occ.fuse([(3, occ.addBox(0, 0, 0, 4, 3, 0.5))], [(3, occ.addBox(0, 0, 0, 0.5, 3, 3))])[0]
        occ.cut(solid, [(3, occ.addCylinder(x, y, -1, 0, 0, 3, radius)) for x, y, radius in holes])

    def width(x, y, z):
        away = min(abs(math.hypot(x - a, y - b) - radius) for a, b, radius in holes) + (0 if z < 0.6 else z)
        return 0.08 + 0.4 * min(away, math.hypot(x - 0.5, z - 0.5))

    mesh = meshed(size / {1: 3, 2: 20}[order], 3, draw, width)
    basis = space(mesh, order, vector=True)
    matrix = form(elastic, basis, **moduli(poisson))
    if shift:
        matrix = matrix - shift * form(product, basis, k=1.0)
    return without(basis.get_dofs(lambda x: x[0] < 1e-6).all(), matrix, load(lambda v, w: -v[2], basis))


def heat_sink(size, rng, fins=6, penalty=1e30, step=0.0):
    """Heat of a chip in a sink of aluminium with fins in the wind; the chip's temperature is held by a penalty, as FreeFEM does it; `step`: of seconds."""
    import skfem

    chip = rng.uniform(-0.2, 0.2, 2)

    def draw(occ):
        plates = [(3, occ.addBox(-1 + 2 * (i + 0.25) / fins, -1, 0.1, 1 / fins, 2, 0.8)) for i in range(fins)]
        occ.fuse([(3, occ.addBox(-1, -1, 0, 2, 2, 0.2))], plates)

    mesh = meshed(size, 3, draw, lambda x, y, z: 0.1 + 0.3 * math.hypot(max(abs(x - chip[0]), abs(y - chip[1]), 0.2) - 0.2, z))
    basis = space(mesh)
    under = mesh.facets_satisfying(lambda x: (x[2] < 1e-9) & (abs(x[:2] - chip[:, None]).max(axis=0) < 0.3), boundaries_only=True)
    outer = skfem.FacetBasis(mesh, basis.elem, facets=mesh.facets_satisfying(lambda x: x[2] > 0.1, boundaries_only=True))
    held = skfem.FacetBasis(mesh, basis.elem, facets=under)
    matrix = form(diffusive, basis, k=1.0) + form(product, outer, k=1e-2) + form(product, held, k=penalty)
    if step:
        matrix = matrix + form(product, basis, k=1 / step)
    return matrix, load(lambda v, w: 80 * penalty * v, held) + load(lambda v, w: 0.2 * v, outer)


def motor(size, rng, order=1, iron=4e3, step=0.0):
    """Magnetic potential across a motor: iron and air with a thin gap, currents in slots; with `step`, eddies in the rotor's bars."""
    turned = rng.uniform(0, 1)
    slots, bars = 12, 16

    def draw(occ):
        discs = [(2, occ.addDisk(0, 0, 0, r, r)) for r in (0.25, 1.0, 1.04, 2.0)]
        pieces = []
        for count, near, far, half, angle in ((slots, 1.12, 1.6, 0.12, 0.0), (bars, 0.75, 0.92, 0.06, turned)):
            for i in range(count):
                pieces.append((2, occ.addRectangle(near, -half, 0, far - near, 2 * half)))
                occ.rotate(pieces[-1:], 0, 0, 0, 0, 0, 1, angle + 2 * math.pi * i / count)
        occ.fragment(discs, pieces)

    mesh = meshed(size / order**2, 2, draw, lambda x, y, z: 0.04 + 0.5 * abs(math.hypot(x, y) - 1.02))
    x, y = middles(mesh)
    radius, angle = np.hypot(x, y), np.arctan2(y, x)

    def inside(count, near, far, half, start):
        """The number of the slot of each cell, or -1."""
        which = np.round((angle - start) / (2 * np.pi / count))
        off = angle - start - which * 2 * np.pi / count
        along, across = radius * np.cos(off), radius * np.sin(off)
        return np.where((along > near) & (along < far) & (abs(across) < half), which % count, -1)

    slot, bar = inside(slots, 1.12, 1.6, 0.12, 0.0), inside(bars, 0.75, 0.92, 0.06, turned)
    air = (slot >= 0) | (bar >= 0) | ((radius > 1.0) & (radius < 1.04)) | (radius < 0.25)
    basis = space(mesh, order)
    matrix = form(diffusive, basis, k=np.where(air, 1.0, 1 / iron))
    if step:
        matrix = matrix + form(product, basis, k=np.where(bar >= 0, 1 / step, 0.0))
    current = form(product, basis, k=np.where(slot >= 0, np.cos(slot * np.pi / 3), 0.0)) @ np.ones(basis.N)
    return without(basis.get_dofs().all(), matrix, current)


def pressed(size, rng, penalty=0.0, stiff=1.0):
    """A wheel that is pressed on a rail: two meshes that do not match, whose gap is closed by multipliers, or by stiff springs."""
    touched = rng.uniform(0.1, 0.2)

    def wheel(occ):
        occ.cut([(2, occ.addDisk(0, 1, 0, 1, 1))], [(2, occ.addDisk(0, 1, 0, 0.3, 0.3))])

    def width(x, y, z):
        return 0.02 + 0.3 * math.hypot(max(abs(x) - touched, 0), y)

    upper = meshed(size / 4, 2, wheel, width)
    lower = meshed(size / 4, 2, lambda occ: occ.addRectangle(-1, -1, 0, 2, 1), lambda x, y, z: 1.2 * width(x, y, z))
    parts, free, loads = [], [], []
    for mesh, held, young in ((upper, lambda x: np.hypot(x[0], x[1] - 1) < 0.31, stiff), (lower, lambda x: x[1] < -1 + 1e-9, 1.0)):
        basis = space(mesh, 1, vector=True)
        parts.append(form(elastic, basis, **moduli(0.3, young)))
        free.append(np.setdiff1d(np.arange(basis.N), basis.get_dofs(held).all()))
        loads.append(load(lambda v, w: -v[1], basis))
    near = np.flatnonzero((abs(upper.p[0]) < touched) & (upper.p[1] < 0.2) & (np.hypot(upper.p[0], upper.p[1] - 1) > 1 - 1e-6))
    top = np.flatnonzero(lower.p[1] > -1e-9)
    top = top[np.argsort(lower.p[0, top])]
    right = np.clip(np.searchsorted(lower.p[0, top], upper.p[0, near]), 1, len(top) - 1)
    share = (upper.p[0, near] - lower.p[0, top[right - 1]]) / (lower.p[0, top[right]] - lower.p[0, top[right - 1]])
    rows, upper_rows = np.arange(len(near)), (len(near), 2 * upper.p.shape[1])
    above = sp.csr_matrix((np.ones(len(near)), (rows, 2 * near + 1)), shape=upper_rows)
    below = sp.csr_matrix((np.r_[1 - share, share], (np.r_[rows, rows], 2 * np.r_[top[right - 1], top[right]] + 1)), shape=(len(near), 2 * lower.p.shape[1]))
    gap = sp.hstack([above[:, free[0]], -below[:, free[1]]]).tocsr()
    body = sp.block_diag([part[kept][:, kept] for part, kept in zip(parts, free)]).tocsr()
    b = np.concatenate([one[kept] for one, kept in zip(loads, free)])
    closing = -upper.p[1, near]
    if penalty:
        return body + penalty * gap.T @ gap, b + penalty * gap.T @ closing
    return sp.bmat([[body, gap.T], [gap, None]]), np.concatenate([b, closing])


def seal(size, rng, element="taylor-hood", poisson=0.4999, dimension=2):
    """A rubber ring in its groove, displacements and pressure: nearly incompressible, pressed from above; by Taylor and Hood or with bubbles (MINI)."""
    import skfem
    from skfem.helpers import ddot, div, sym_grad

    radius, flat = rng.uniform(0.3, 0.4), dimension == 2
    per_point = {(True, True): 9, (True, False): 6, (False, True): 25, (False, False): 20}[flat, element == "taylor-hood"]
    shape = (lambda occ: occ.addDisk(0, 0, 0, 1, 1)) if flat else (lambda occ: occ.addTorus(0, 0, 0, 1, radius, -1, math.pi / 2))
    mesh = meshed(size / per_point, dimension, shape, (lambda x, y, z: 0.1 + 0.3 * min(1 - y, 1 + y)) if flat else lambda x, y, z: 0.1 + 0.3 * abs(z))
    bubbles = skfem.ElementTriMini if flat else skfem.ElementTetMini
    solid = space(mesh, 2, vector=True) if element == "taylor-hood" else skfem.Basis(mesh, skfem.ElementVector(bubbles()), intorder=4)
    pressure = solid.with_element(skfem.ElementTriP1() if flat else skfem.ElementTetP1())
    shear, lame = moduli(poisson)["shear"], moduli(poisson)["lame"]
    stiff = form(lambda u, v, w: 2 * shear * ddot(sym_grad(u), sym_grad(v)), solid)
    coupling = form(lambda u, q, w: div(u) * q, solid, pressure)
    matrix = sp.bmat([[stiff, coupling.T], [coupling, form(product, pressure, k=-1 / lame)]]).tocsr()
    low, high = (-0.8, 0.8) if flat else (-0.8 * radius, 0.8 * radius)
    held = solid.get_dofs(mesh.facets_satisfying(lambda x: x[-1] < low, boundaries_only=True)).all()
    top = skfem.FacetBasis(mesh, solid.elem, facets=mesh.facets_satisfying(lambda x: x[-1] > high, boundaries_only=True))
    return without(held, matrix, np.concatenate([load(lambda v, w: -v[-1], top), np.zeros(pressure.N)]))


def piezo(size, rng, order=1, scaled=False):
    """A sensor of piezoelectric ceramic on steel: displacements and electric potential in SI units, or with the potential in units of 1e10 V."""
    from skfem.helpers import grad, sym_grad

    length = rng.uniform(3, 5)
    mesh = meshed(size / {1: 4, 2: 27}[order], 3, lambda occ: occ.fragment([(3, occ.addBox(0, 0, 0, length, 1, 0.3))], [(3, occ.addBox(1, 0.2, 0.3, 1.2, 0.6, 0.15))]),
                  lambda x, y, z: 0.06 + 0.2 * math.hypot(max(abs(x - 1.6) - 0.6, 0), min(abs(z - 0.3), 0.3)))
    ceramic = middles(mesh)[2] > 0.3
    solid, scalar = space(mesh, order, vector=True), space(mesh, order)
    unit = 1e10 if scaled else 1.0

    def coupled(u, q, w):
        """Stress times field: 15 C/m^2 along the axis of polarization, -5 across it, 12 by shear."""
        strain, field = sym_grad(u), grad(q)
        along = 15.0 * strain[2, 2] - 5.0 * (strain[0, 0] + strain[1, 1])
        return w.k * (along * field[2] + 24.0 * (strain[0, 2] * field[0] + strain[1, 2] * field[1]))

    stiff = form(elastic, solid, **moduli(0.3, np.where(ceramic, 6e10, 2.1e11)))
    coupling = form(coupled, solid, scalar, k=np.where(ceramic, unit, 0.0))
    field = form(diffusive, scalar, k=np.where(ceramic, 1.3e-8, 1e-11) * unit**2)
    matrix = sp.bmat([[stiff, coupling.T], [coupling, -field]]).tocsr()
    held = solid.get_dofs(lambda x: x[0] < 1e-9).all()
    nodes = scalar.doflocs
    ground = solid.N + np.flatnonzero((nodes[2] < 0.3 + 1e-9))
    return without(np.r_[held, ground], matrix, np.concatenate([load(lambda v, w: -1e3 * v[2], solid), np.zeros(scalar.N)]))


def yielding(size, rng, hardening=1e-2, order=2):
    """A notched plate of steel that yields (von Mises, plane strain): the consistent tangent, soft along the flow wherever the plate yields."""
    from skfem.helpers import ddot, div, sym_grad, trace

    holes = [(x, rng.uniform(0.3, 0.7), rng.uniform(0.08, 0.15)) for x in (0.6, 1.4)]

    def draw(occ):
        occ.cut([(2, occ.addRectangle(0, 0, 0, 2, 1))], [(2, occ.addDisk(x, y, 0, r, r)) for x, y, r in holes])

    mesh = meshed(size / {1: 2, 2: 8}[order], 2, draw, lambda x, y, z: 0.02 + 0.3 * min(abs(math.hypot(x - a, y - b) - r) for a, b, r in holes))
    basis = space(mesh, order, vector=True)
    held = basis.get_dofs(lambda x: x[0] < 1e-9).all()
    pulled = basis.get_dofs(lambda x: x[0] > 2 - 1e-9).all()
    matrix, x = form(elastic, basis, **moduli(0.3)), np.zeros(basis.N)
    free = np.setdiff1d(np.arange(basis.N), np.r_[held, pulled])
    x[pulled[::2]] = 1.0
    x[free] = scipy.sparse.linalg.spsolve(matrix[free][:, free].tocsc(), -(matrix @ x)[free])
    strain = np.array(sym_grad(basis.interpolate(x)))
    deviator = np.zeros((3, 3, *strain.shape[2:]))
    deviator[:2, :2] = strain
    deviator -= np.eye(3)[:, :, None, None] * (strain[0, 0] + strain[1, 1]) / 3
    size_of = np.sqrt((deviator**2).sum(axis=(0, 1))) + 1e-300
    limit = np.quantile(size_of, 0.6)
    kept = np.minimum(limit / size_of, 1.0)  # of the elastic stress's deviator, by the return to the surface of yield
    yields = size_of > limit
    shear, bulk = moduli(0.3)["shear"], moduli(0.3)["lame"] + 2 / 3 * moduli(0.3)["shear"]
    flow = deviator[:2, :2] / size_of

    def tangent(u, v, w):
        first, second = sym_grad(u), sym_grad(v)
        both = ddot(first, second) - trace(first) * trace(second) / 3
        share = np.where(yields, (1 - hardening) * kept, 1.0) + np.where(yields, hardening, 0.0)
        along = np.where(yields, (1 - hardening) * kept, 0.0)
        return bulk * div(u) * div(v) + 2 * shear * (share * both - along * ddot(flow, first) * ddot(flow, second))

    matrix = form(tangent, basis)
    return without(np.r_[held, pulled], matrix, load(lambda v, w: -v[1], basis))
