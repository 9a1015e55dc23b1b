"""What MFEM and Kratos assemble: refined cells with hanging nodes, fields of high order, broken elements, shells.

The packages are optional (requirements.txt): without one of them its systems cannot be made.
"""

import math

import numpy as np
import scipy.sparse as sp

from . import machines


# MFEM
def to_scipy(matrix):
    return sp.csr_matrix((matrix.GetDataArray().copy(), matrix.GetJArray().copy(), matrix.GetIArray().copy()), shape=(matrix.Height(), matrix.Width()))


def assembled(of, integrators, trial=None):
    """The matrix of a bilinear form, the sum of its integrators; hanging unknowns follow others."""
    import mfem.ser as mfem

    form = mfem.MixedBilinearForm(trial, of) if trial else mfem.BilinearForm(of)
    for one in integrators:
        form.AddDomainIntegrator(one)
    form.Assemble()
    form.Finalize()
    matrix = to_scipy(form.SpMat())
    follow = of.GetConformingProlongation()
    if follow is not None:
        follow = to_scipy(follow)
        matrix = follow.T @ matrix @ follow
    return matrix.tocsr()


def loaded(of, integrator):
    import mfem.ser as mfem

    form = mfem.LinearForm(of)
    form.AddDomainIntegrator(integrator)
    form.Assemble()
    b = form.GetDataArray().copy()
    follow = of.GetConformingProlongation()
    return to_scipy(follow).T @ b if follow is not None else b


def border_of(of, mesh, attributes=None):
    """Numbers of unknowns on the border, or on some of its parts."""
    import mfem.ser as mfem

    chosen = mfem.intArray([int(attributes is None or i + 1 in attributes) for i in range(mesh.bdr_attributes.Max())])
    found = mfem.intArray()
    of.GetEssentialTrueDofs(chosen, found)
    return np.array(found.ToList(), dtype=int)


def middles(mesh):
    corners = np.array(mesh.GetVertexArray())
    return np.array([corners[mesh.GetElementVertices(i)].mean(axis=0) for i in range(mesh.GetNE())])


def told(mesh, parts):
    """The mesh with the number of each cell's part, from 1."""
    for cell, part in enumerate(parts):
        mesh.SetAttribute(cell, int(part))
    mesh.SetAttributes()
    return mesh


def by_part(values):
    import mfem.ser as mfem

    return mfem.PWConstCoefficient(mfem.Vector([float(value) for value in values]))


def front(size, rng, order=2, levels=4, contrast=1e3, dimension=2):
    """Diffusion through a round drop, cells refined several times along its surface, with hanging nodes and elements of high order."""
    import mfem.ser as mfem

    centre, radius = rng.uniform(0.4, 0.6, dimension), rng.uniform(0.2, 0.3)
    n, levels = 3, max(min(levels, round(math.log2(size / (50 * order**dimension)))), 1)
    for _ in range(4):
        mesh = mfem.Mesh(n, n, "QUADRILATERAL", True, 1.0, 1.0) if dimension == 2 else mfem.Mesh(n, n, n, "HEXAHEDRON", True, 1.0, 1.0, 1.0)
        mesh.EnsureNCMesh()
        for level in range(levels):
            away = np.linalg.norm(middles(mesh) - centre, axis=1) - radius
            mesh.GeneralRefinement(mfem.intArray([int(i) for i in np.flatnonzero(abs(away) < 0.7 / n / 2**level)]), 1, 1)
        collection = mfem.H1_FECollection(order, dimension)
        of = mfem.FiniteElementSpace(mesh, collection)
        rows = of.GetTrueVSize()
        better = max(round(n * (size / rows) ** (1 / (dimension - 0.5))), 2)
        if better == n or 0.8 < rows / size < 1.25:
            break
        n = better
    told(mesh, 1 + (np.linalg.norm(middles(mesh) - centre, axis=1) < radius))
    matrix = assembled(of, [mfem.DiffusionIntegrator(by_part([1.0, contrast]))])
    return machines.without(border_of(of, mesh), matrix, loaded(of, mfem.DomainLFIntegrator(mfem.ConstantCoefficient(1.0))))


def blocks(size, per_block, lengths):
    """A box of bricks, about size / per_block of them."""
    import mfem.ser as mfem

    width = (np.prod(lengths) * per_block / size) ** (1 / 3)
    return mfem.Mesh(*[max(round(length / width), 2) for length in lengths], "HEXAHEDRON", True, *[float(length) for length in lengths])


def oven(size, rng, order=1, waves=1.5, food=20.0):
    """Electric fields in a microwave oven with food, along edges of bricks: curl curl less the square of a frequency; indefinite."""
    import mfem.ser as mfem

    mesh = blocks(size, 3 * order**3, (1.2, 1.0, 0.8))
    place = np.array([0.6, 0.5, 0.25]) + rng.uniform(-0.1, 0.1, 3)
    told(mesh, 1 + (np.linalg.norm((middles(mesh) - place) / [0.3, 0.3, 0.15], axis=1) < 1))
    collection = mfem.ND_FECollection(order, 3)
    of = mfem.FiniteElementSpace(mesh, collection)
    number = (2 * math.pi * waves) ** 2
    matrix = assembled(of, [mfem.CurlCurlIntegrator(mfem.ConstantCoefficient(1.0)), mfem.VectorFEMassIntegrator(by_part([-number, -food * number]))])
    b = loaded(of, mfem.VectorFEDomainLFIntegrator(mfem.VectorConstantCoefficient(mfem.Vector([0.0, 0.3, 1.0]))))
    return machines.without(border_of(of, mesh), matrix, b)


def fluxes(size, rng, order=0, mass=1.0, contrast=1e3):
    """Fluxes across faces of tetrahedra, such as of radiation: grad div and a mass that differs between layers."""
    import mfem.ser as mfem

    n = max(round((size / (12 if order == 0 else 46)) ** (1 / 3)), 2)
    mesh = mfem.Mesh(n, n, n, "TETRAHEDRON", True, 1.0, 1.0, 1.0)
    told(mesh, 1 + np.searchsorted(np.sort(rng.uniform(0, 1, 5)), middles(mesh)[:, 2]))
    values = [mass, mass * contrast] * 3
    collection = mfem.RT_FECollection(order, 3)
    of = mfem.FiniteElementSpace(mesh, collection)
    matrix = assembled(of, [mfem.DivDivIntegrator(mfem.ConstantCoefficient(1.0)), mfem.VectorFEMassIntegrator(by_part(values[: mesh.attributes.Max()]))])
    b = loaded(of, mfem.VectorFEDomainLFIntegrator(mfem.VectorConstantCoefficient(mfem.Vector([1.0, 0.5, 0.2]))))
    return machines.without(border_of(of, mesh), matrix, b)


def broken_beam(size, rng, order=1, alpha=-1.0, kappa=4.0, contrast=50.0):
    """A beam of two materials by broken elements of elasticity (interior penalty); `alpha`: 1 makes it unsymmetric."""
    import mfem.ser as mfem

    n = max(round((size / (2 * (order + 1) ** 2) / 8) ** 0.5), 1)
    mesh = mfem.Mesh(8 * n, n, "QUADRILATERAL", True, 8.0, 1.0)
    told(mesh, 1 + (middles(mesh)[:, 0] > rng.uniform(3, 5)))
    collection = mfem.DG_FECollection(order, 2, mfem.BasisType.GaussLobatto)
    of = mfem.FiniteElementSpace(mesh, collection, 2, mfem.Ordering.byVDIM)
    lame, shear = by_part([contrast, 1.0]), by_part([contrast, 1.0])
    faces = [mfem.DGElasticityIntegrator(lame, shear, alpha, kappa * (order + 1) ** 2) for _ in range(2)]
    form = mfem.BilinearForm(of)
    form.AddDomainIntegrator(mfem.ElasticityIntegrator(lame, shear))
    form.AddInteriorFaceIntegrator(faces[0])
    ends = mfem.intArray([int(i in (1, 3)) for i in range(mesh.bdr_attributes.Max())])
    form.AddBdrFaceIntegrator(faces[1], ends)
    form.Assemble()
    form.Finalize()
    return to_scipy(form.SpMat()), loaded(of, mfem.VectorDomainLFIntegrator(mfem.VectorConstantCoefficient(mfem.Vector([0.0, -1e-3]))))


def least_residual(size, rng, order=1, contrast=1.0):
    """Diffusion by a discontinuous Petrov and Galerkin method: unknowns of points and of fluxes across edges, so that broken residuals are least."""
    import mfem.ser as mfem

    n = max(round((size / (2 * order**2 + order)) ** 0.5 / 1.2), 2)
    mesh = mfem.Mesh(n, n, "TRIANGLE", True, 1.0, 1.0)
    told(mesh, rng.integers(1, 3, mesh.GetNE()))
    collections = mfem.H1_FECollection(order, 2), mfem.RT_Trace_FECollection(order - 1, 2), mfem.L2_FECollection(order + 1, 2)
    field, flux, test = (mfem.FiniteElementSpace(mesh, one) for one in collections)
    one, k = mfem.ConstantCoefficient(1.0), by_part([1.0, contrast])
    plain = assembled(test, [mfem.DiffusionIntegrator(k)], trial=field)
    crossing = mfem.MixedBilinearForm(flux, test)
    crossing.AddTraceFaceIntegrator(mfem.TraceJumpIntegrator())
    crossing.Assemble()
    crossing.Finalize()
    total = mfem.SumIntegrator()
    total.AddIntegrator(mfem.DiffusionIntegrator(one))
    total.AddIntegrator(mfem.MassIntegrator(one))
    metric = assembled(test, [mfem.InverseIntegrator(total)])
    side = sp.hstack([plain, to_scipy(crossing.SpMat())]).tocsr()
    return machines.without(border_of(field, mesh), (side.T @ metric @ side).tocsr(), side.T @ (metric @ loaded(test, mfem.DomainLFIntegrator(one))))


def flat_cells(size, rng, order=0, deviation=2.0, flat=20.0):
    """Water through sand of any permeability, cells that are much wider than high: fluxes across faces and pressures of cells (Raviart and Thomas)."""
    import mfem.ser as mfem

    n = max(round((size / (4 * (order + 1) ** 3)) ** (1 / 3)), 2)
    mesh = mfem.Mesh(n, n, n, "HEXAHEDRON", True, 1.0, 1.0, 1 / flat)
    told(mesh, np.arange(1, n**3 + 1))
    collections = mfem.RT_FECollection(order, 3), mfem.L2_FECollection(order, 3)
    flux, pressure = (mfem.FiniteElementSpace(mesh, one) for one in collections)
    mass = assembled(flux, [mfem.VectorFEMassIntegrator(by_part(np.exp(deviation * rng.standard_normal(n**3))))])
    spread = assembled(pressure, [mfem.VectorFEDivergenceIntegrator()], trial=flux)
    b = loaded(pressure, mfem.DomainLFIntegrator(mfem.ConstantCoefficient(1.0)))
    return sp.bmat([[mass, spread.T], [spread, None]]), np.concatenate([np.zeros(mass.shape[0]), b])


# Kratos
def summed(part, name, corners, size, matrices_of):
    """The sum of the matrices of elements `name`, one for each row of corners (from 1), with `size` unknowns a point."""
    numbers, values = [], []
    for i, corner in enumerate(corners):
        element = part.CreateNewElement(name, i + 1, [int(point) for point in corner], part.GetProperties(1))
        element.Initialize(part.ProcessInfo)
        values.append(matrices_of(element))
        numbers.append((size * (corner[:, None] - 1) + np.arange(size)).ravel())
    numbers, values = np.array(numbers), np.array(values)
    rows, columns = np.broadcast_arrays(numbers[:, :, None], numbers[:, None, :])
    return sp.csr_matrix((values.ravel(), (rows.ravel(), columns.ravel())), shape=(size * part.NumberOfNodes(),) * 2)


def part_of(points, variables, unknowns, properties):
    """(model, its part with these points), which lives as long as the model does."""
    import KratosMultiphysics as kratos

    kratos.Logger.GetDefaultOutput().SetSeverity(kratos.Logger.Severity.WARNING)
    model = kratos.Model()
    part = model.CreateModelPart("part")
    for variable in variables:
        part.AddNodalSolutionStepVariable(getattr(kratos, variable))
    part.SetBufferSize(2)
    for i, point in enumerate(points):
        part.CreateNewNode(i + 1, *map(float, point))
    material = part.CreateNewProperties(1)
    for name, value in properties.items():
        material.SetValue(getattr(kratos, name), value)
    for unknown in unknowns:
        kratos.VariableUtils().AddDof(kratos.KratosGlobals.GetVariable(unknown), part)
    return model, part


def vault(size, rng, thickness=0.25, opening=4.0, poisson=0.2):
    """A roof of concrete, a part of a cylinder with a round opening, on two walls: thin shells of Kratos, three displacements and three rotations a point."""
    import KratosMultiphysics as kratos
    import KratosMultiphysics.StructuralMechanicsApplication as structures

    radius, half, long = 25.0, 25.0 * math.radians(40), 50.0
    x0, y0 = rng.uniform(-5, 5), rng.uniform(15, 35)

    def draw(occ):
        roof = occ.addRectangle(-half, 0, 0, 2 * half, long)
        if opening:
            occ.cut([(2, roof)], [(2, occ.addDisk(x0, y0, 0, opening, opening))])

    mesh = machines.meshed(size / 6, 2, draw, lambda x, y, z: 1 + 0.4 * abs(math.hypot(x - x0, y - y0) - opening))
    across, along = mesh.p
    points = np.array([radius * np.sin(across / radius), along, radius * np.cos(across / radius)]).T
    properties = dict(YOUNG_MODULUS=3e10, POISSON_RATIO=poisson, THICKNESS=thickness, DENSITY=2500.0, CONSTITUTIVE_LAW=structures.LinearElasticPlaneStress2DLaw())
    unknowns = [f"{kind}_{axis}" for kind in ("DISPLACEMENT", "ROTATION") for axis in "XYZ"]
    _model, part = part_of(points, ("DISPLACEMENT", "ROTATION", "REACTION", "VOLUME_ACCELERATION"), unknowns, properties)

    def stiffness(element):
        matrix, force = kratos.Matrix(), kratos.Vector()
        element.CalculateLocalSystem(matrix, force, part.ProcessInfo)
        return np.array(matrix)

    matrix = summed(part, "ShellThinElement3D3N", mesh.t.T + 1, 6, stiffness)
    ends, corner = np.flatnonzero((along < 1e-9) | (along > long - 1e-9)), np.argmin(across + along)
    first, second, third = (mesh.p[:, corners].T for corners in mesh.t)
    areas = abs(np.linalg.det(np.stack([second - first, third - first], axis=1))) / 2
    b = np.zeros(matrix.shape[0])
    b[2::6] = -2500 * 9.81 * thickness / 3 * np.bincount(mesh.t.ravel(), np.tile(areas, 3))
    return machines.without(np.r_[6 * ends, 6 * ends + 2, 6 * corner + 1], matrix, b)


def duct(size, rng, reynolds=100.0, step=0.1):
    """Air in a duct round a pillar, a step by stabilised elements of Kratos (variational multiscale): three velocities and the pressure of a point together."""
    import KratosMultiphysics as kratos
    import KratosMultiphysics.FluidDynamicsApplication as fluids

    at = rng.uniform(0.3, 0.7)

    def draw(occ):
        occ.cut([(3, occ.addBox(0, 0, 0, 3, 1, 1))], [(3, occ.addCylinder(1, at, 0, 0, 0, 1, 0.15))])

    mesh = machines.meshed(size / 3, 3, draw, lambda x, y, z: 0.08 + 0.2 * abs(math.hypot(x - 1, y - at) - 0.15))
    x, y, z = mesh.p
    away = np.hypot(x - 1, y - at) - 0.15
    speed = 16 * y * (1 - y) * z * (1 - z) * np.minimum(np.maximum(away, 0) / 0.2, 1)
    properties = dict(DENSITY=1.0, DYNAMIC_VISCOSITY=1 / reynolds, CONSTITUTIVE_LAW=fluids.Newtonian3DLaw())
    variables = ("VELOCITY", "MESH_VELOCITY", "ACCELERATION", "PRESSURE", "BODY_FORCE", "ADVPROJ", "DIVPROJ", "REACTION", "REACTION_WATER_PRESSURE")
    _model, part = part_of(mesh.p.T, variables, ("VELOCITY_X", "VELOCITY_Y", "VELOCITY_Z", "PRESSURE"), properties)
    for node, value in zip(part.Nodes, speed):
        node.SetSolutionStepValue(kratos.VELOCITY, 0, [float(value), 0.0, 0.0])
    for variable, value in ((kratos.DYNAMIC_TAU, 1.0), (kratos.DELTA_TIME, step), (kratos.OSS_SWITCH, 0)):
        part.ProcessInfo.SetValue(variable, value)

    def both(element):
        damping, mass, force = kratos.Matrix(), kratos.Matrix(), kratos.Vector()
        element.CalculateLocalVelocityContribution(damping, force, part.ProcessInfo)
        element.CalculateMassMatrix(mass, part.ProcessInfo)
        return np.array(damping) + np.array(mass) / step

    matrix = summed(part, "QSVMS3D4N", mesh.t.T + 1, 4, both)
    walls = np.flatnonzero((x < 1e-9) | (abs(y - 0.5) > 0.5 - 1e-9) | (abs(z - 0.5) > 0.5 - 1e-9) | (away < 1e-6))
    velocities = np.array([speed, 0 * speed, 0 * speed, 0 * speed]).T.ravel()
    fixed = (4 * walls[:, None] + np.arange(3)).ravel()
    known = np.where(np.isin(np.arange(len(velocities)), fixed), velocities, 0)
    return machines.without(np.r_[fixed, 4 * np.flatnonzero(x > 3 - 1e-9) + 3], matrix, -matrix @ known)
