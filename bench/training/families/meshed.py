"""What NGSolve assembles on meshes by Netgen: high orders, hybrid and mixed methods, plates, linearised flows and bodies.

The package is optional (requirements.txt): without it these systems cannot be made. Vertices stand in the order of the mesher, then
unknowns of edges, faces and cells.
"""

import numpy as np
import scipy.sparse as sp

# Unknowns times h^2 in the unit square, or h^3 in the unit cube, of order 1: as counted. They grow by order^2 or order^3.
FLAT, SOLID = 1.15, 0.9


def mesh_of(size, dimension=2, order=1, per_point=1, hole=True):
    """Of a square or cube with a round hole, fit for about `size` unknowns."""
    import ngsolve

    if dimension == 2:
        from netgen.geom2d import SplineGeometry

        shape = SplineGeometry()
        shape.AddRectangle((0, 0), (1, 1), bcs=["bottom", "right", "top", "left"])
        if hole:
            shape.AddCircle((0.4, 0.55), 0.18, leftdomain=0, rightdomain=1, bc="hole")
        return ngsolve.Mesh(shape.GenerateMesh(maxh=float(np.sqrt(FLAT * order**2 * per_point / size))))
    from netgen.csg import unit_cube

    return ngsolve.Mesh(unit_cube.GenerateMesh(maxh=float((SOLID * order**3 * per_point / size) ** (1 / 3))))


def to_scipy(form, load=None, free=None):
    """The free unknowns' part of an assembled form, and of its load."""
    rows, columns, values = (np.array(part) for part in form.mat.COO())
    matrix = sp.csr_matrix((values, (rows, columns)), shape=(form.mat.height, form.mat.width))
    free = np.flatnonzero(np.array(list(free), dtype=bool)) if free is not None else np.arange(matrix.shape[0])
    b = None if load is None else np.array(load.vec.FV().NumPy())[free]
    return matrix[free][:, free], b


def islands(rng, contrast, count=12):
    """A coefficient of 1 with round islands of `contrast`."""
    import ngsolve

    field = ngsolve.CF(1.0)
    for _ in range(count):
        x, y, radius = rng.uniform(0, 1), rng.uniform(0, 1), rng.uniform(0.03, 0.1)
        field = ngsolve.IfPos((ngsolve.x - x) ** 2 + (ngsolve.y - y) ** 2 - radius**2, field, contrast)
    return field


def high_order(size, rng, order=3, dimension=2, contrast=1.0, step=0.0):
    """Diffusion by elements of high order with islands of another material; with `step`, an implicit step of it."""
    import ngsolve as ng

    mesh = mesh_of(size, dimension, order)
    space = ng.H1(mesh, order=order, dirichlet=".*")
    u, v = space.TnT()
    energy = islands(rng, contrast) * ng.grad(u) * ng.grad(v)
    form = ng.BilinearForm(space)
    form += ((u * v + step * energy) if step else energy) * ng.dx
    load = ng.LinearForm(v * ng.dx)
    return to_scipy(form.Assemble(), load.Assemble(), space.FreeDofs())


def hybrid(size, rng, order=2, convection=0.0):
    """A hybrid discontinuous method with cells eliminated: unknowns on facets only, with a wind upwind."""
    import ngsolve as ng

    mesh = mesh_of(size / (order + 1) / 3, 2)
    cells = ng.L2(mesh, order=order)
    facets = ng.FacetFESpace(mesh, order=order, dirichlet=".*")
    space = cells * facets
    (u, hat), (v, test) = space.TnT()
    normal, width = ng.specialcf.normal(2), ng.specialcf.mesh_size
    jump, other = u - hat, v - test
    border = ng.dx(element_boundary=True)
    form = ng.BilinearForm(space, condense=True)
    k = ng.exp(3 * ng.sin(rng.uniform(5, 9) * ng.x) * ng.cos(rng.uniform(5, 9) * ng.y))
    form += k * ng.grad(u) * ng.grad(v) * ng.dx
    form += k * (-ng.grad(u) * normal * other - ng.grad(v) * normal * jump + 10 * (order + 1) ** 2 / width * jump * other) * border
    if convection:
        wind = convection * ng.CF((ng.y - 0.5, 0.5 - ng.x))
        form += -wind * u * ng.grad(v) * ng.dx + wind * normal * ng.IfPos(wind * normal, u, hat) * v * border
        form += ng.IfPos(wind * normal, wind * normal * (hat - u) * test, 0) * border
    load = ng.LinearForm(space)
    load += v * ng.dx
    form.Assemble(), load.Assemble()
    load.vec.data += form.harmonic_extension_trans * load.vec
    return to_scipy(form, load, space.FreeDofs(coupling=True))


def body(size, rng, order=2, dimension=2, contrast=1.0, poisson=0.3, squeezed=0.0):
    """A clamped elastic body under its weight; `squeezed`: the tangent of a neo-Hookean one that is bent by so much."""
    import ngsolve as ng

    mesh = mesh_of(size, dimension, order, dimension)
    space = ng.VectorH1(mesh, order=order, dirichlet="left" if dimension == 2 else "back")
    u, v = space.TnT()
    mu, lame = 1 / (2 * (1 + poisson)), poisson / ((1 + poisson) * (1 - 2 * poisson))
    stiff, one = islands(rng, contrast), ng.Id(dimension)
    form = ng.BilinearForm(space)
    if squeezed:
        strain = one + ng.grad(u)
        right = strain.trans * strain
        form += ng.Variation(stiff * (mu / 2 * ng.Trace(right - one) + mu**2 / lame * (ng.Det(right) ** (-lame / 2 / mu) - 1)) * ng.dx)
        bent = ng.GridFunction(space)
        bent.Set(squeezed * ng.CF((0, ng.x * ng.x) if dimension == 2 else (0, ng.x * ng.x, 0)))
        form.AssembleLinearization(bent.vec)
    else:
        both = [ng.Sym(ng.grad(field)) for field in (u, v)]
        form += stiff * (2 * mu * ng.InnerProduct(*both) + lame * ng.div(u) * ng.div(v)) * ng.dx
        form.Assemble()
    load = ng.LinearForm(space)
    load += -v[1] * ng.dx
    return to_scipy(form, load.Assemble(), space.FreeDofs())


def flow(size, rng, order=2, reynolds=0.0, step=0.0):
    """Stokes flow past a hole by Taylor and Hood, or a Newton step of Navier and Stokes from it."""
    import ngsolve as ng

    mesh = mesh_of(size, 2, order, 2.2)
    velocity, pressure = ng.VectorH1(mesh, order=order, dirichlet="left|bottom|top|hole"), ng.H1(mesh, order=order - 1)
    space = velocity * pressure
    (u, p), (v, q) = space.TnT()
    form = ng.BilinearForm(space)
    form += (ng.InnerProduct(ng.grad(u), ng.grad(v)) - p * ng.div(v) - q * ng.div(u)) * ng.dx
    if step:
        form += 1 / step * u * v * ng.dx
    if reynolds:
        form += reynolds * (ng.grad(u) * u) * v * ng.dx
    at = ng.GridFunction(space)
    at.components[0].Set(ng.CF((4 * ng.y * (1 - ng.y), 0)), definedon=mesh.Boundaries("left"))
    form.AssembleLinearization(at.vec)
    change = at.vec.CreateVector()
    for _ in range(2 if reynolds else 0):  # to the flow around which it is linearised
        change.data = form.mat.Inverse(space.FreeDofs()) * form.Apply(at.vec)
        at.vec.data -= change
        form.AssembleLinearization(at.vec)
    matrix, _ = to_scipy(form, None, space.FreeDofs())
    load = ng.LinearForm(space)
    load += v[1] * ng.sin(7 * ng.x) * ng.dx + v[0] * ng.dx
    return matrix, to_scipy(form, load.Assemble(), space.FreeDofs())[1]


def mixed(size, rng, order=1, contrast=1e3):
    """Darcy's flux and pressure by elements with continuous normal parts (BDM), with islands."""
    import ngsolve as ng

    mesh = mesh_of(size / (2 * order + 2) / 2.2, 2)
    space = ng.HDiv(mesh, order=order, RT=False) * ng.L2(mesh, order=order - 1)
    (flux, p), (test, q) = space.TnT()
    form = ng.BilinearForm(space)
    form += (1 / islands(rng, contrast) * flux * test + ng.div(flux) * q + ng.div(test) * p) * ng.dx
    load = ng.LinearForm(space)
    load += -q * ng.dx
    return to_scipy(form.Assemble(), load.Assemble(), space.FreeDofs())


def magnet(size, rng, order=1, mass=1e-3, contrast=1.0):
    """Magnetic fields by edge elements of the second kind on tetrahedra: curl curl and a small mass."""
    import ngsolve as ng

    mesh = mesh_of(size / (7 if order == 1 else 20), 3)
    space = ng.HCurl(mesh, order=order, dirichlet=".*")
    u, v = space.TnT()
    form = ng.BilinearForm(space)
    form += (islands(rng, contrast) * ng.curl(u) * ng.curl(v) + mass * u * v) * ng.dx
    load = ng.LinearForm(space)
    load += ng.CF((ng.y, -ng.x, 1)) * v * ng.dx
    return to_scipy(form.Assemble(), load.Assemble(), space.FreeDofs())


def thin_plate(size, rng, thickness=0.01, order=2):
    """A thick plate's deflection and two rotations (Reissner and Mindlin): shear locks where it is thin."""
    import ngsolve as ng

    mesh = mesh_of(size, 2, order, 3)
    space = ng.VectorH1(mesh, order=order, dirichlet="left") * ng.H1(mesh, order=order, dirichlet="left")
    (turn, w), (test, v) = space.TnT()
    bending = [ng.Sym(ng.grad(field)) for field in (turn, test)]
    form = ng.BilinearForm(space)
    form += (ng.InnerProduct(*bending) + 0.4 * ng.div(turn) * ng.div(test)) / 12 * ng.dx
    form += 0.4 / thickness**2 * (ng.grad(w) - turn) * (ng.grad(v) - test) * ng.dx
    load = ng.LinearForm(space)
    load += v * ng.dx
    return to_scipy(form.Assemble(), load.Assemble(), space.FreeDofs())


def moments(size, rng, order=1):
    """A plate by moments and deflection (Hellan, Herrmann and Johnson): symmetric and indefinite."""
    import ngsolve as ng

    mesh = mesh_of(size / (7 * order + 7), 2)
    space = ng.HDivDiv(mesh, order=order) * ng.H1(mesh, order=order + 1, dirichlet=".*")
    (m, w), (n, v) = space.TnT()
    normal = ng.specialcf.normal(2)

    def coupling(moment, deflection):
        slope = ng.grad(deflection)
        inside = ng.div(moment) * slope * ng.dx
        return inside - (moment * normal) * (slope - (slope * normal) * normal) * ng.dx(element_boundary=True)

    form = ng.BilinearForm(space)
    form += ng.InnerProduct(m, n) * ng.dx + coupling(m, v) + coupling(n, w)
    load = ng.LinearForm(space)
    load += -v * ng.dx
    return to_scipy(form.Assemble(), load.Assemble(), space.FreeDofs())


def carried(size, rng, order=2, step=0.0, diffusion=0.0):
    """A wind that goes round, by an upwind discontinuous method of high order, with a little interior diffusion."""
    import ngsolve as ng

    mesh = mesh_of(size / (order + 1) / (order + 2), 2)
    space = ng.L2(mesh, order=order, dgjumps=True)
    u, v = space.TnT()
    normal, width = ng.specialcf.normal(2), ng.specialcf.mesh_size
    wind = ng.CF((ng.y - 0.3 * ng.x, 1 - ng.x))
    out = wind * normal
    form = ng.BilinearForm(space)
    form += ((1 / step if step else 1e-2) * u * v - u * wind * ng.grad(v)) * ng.dx
    form += out * ng.IfPos(out, u, u.Other(bnd=0)) * v * ng.dx(element_boundary=True)
    if diffusion:
        mean, mean_of_test = 0.5 * normal * (ng.grad(u) + ng.grad(u.Other())), 0.5 * normal * (ng.grad(v) + ng.grad(v.Other()))
        jump, jump_of_test = u - u.Other(), v - v.Other()
        form += diffusion * ng.grad(u) * ng.grad(v) * ng.dx
        form += diffusion * (4 * order**2 / width * jump * jump_of_test - mean * jump_of_test - mean_of_test * jump) * ng.dx(skeleton=True)
    load = ng.LinearForm(ng.exp(-50 * ((ng.x - 0.7) ** 2 + (ng.y - 0.3) ** 2)) * v * ng.dx)
    return to_scipy(form.Assemble(), load.Assemble(), space.FreeDofs())


def minimal_surface(size, rng, order=2, height=3.0, power=0.0):
    """A Newton step towards a surface of least area over a frame, or of a power law's diffusion."""
    import ngsolve as ng

    mesh = mesh_of(size, 2, order)
    space = ng.H1(mesh, order=order, dirichlet=".*")
    u, v = space.TnT()
    form = ng.BilinearForm(space)
    slope = ng.grad(u) * ng.grad(u)
    form += ng.Variation((ng.sqrt(1 + slope) if not power else (1e-4 + slope) ** (power / 2)) * ng.dx)
    at = ng.GridFunction(space)
    at.Set(height * ng.sin(5 * ng.x) * ng.cos(4 * ng.y))
    form.AssembleLinearization(at.vec)
    matrix, _ = to_scipy(form, None, space.FreeDofs())
    residual = at.vec.CreateVector()
    form.Apply(at.vec, residual)
    return matrix, -np.array(residual.FV().NumPy())[np.array(list(space.FreeDofs()), dtype=bool)]


def wave(size, rng, order=4, waves=6.0):
    """Standing waves by elements of high order: indefinite."""
    import ngsolve as ng

    mesh = mesh_of(size, 2, order)
    space = ng.H1(mesh, order=order, dirichlet="left|hole")
    u, v = space.TnT()
    form = ng.BilinearForm((ng.grad(u) * ng.grad(v) - (2 * np.pi * waves) ** 2 * u * v) * ng.dx)
    load = ng.LinearForm(ng.exp(-200 * ((ng.x - 0.8) ** 2 + (ng.y - 0.2) ** 2)) * v * ng.dx)
    return to_scipy(form.Assemble(), load.Assemble(), space.FreeDofs())
