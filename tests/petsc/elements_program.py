"""A program of dolfinx's (0.5) that knows nothing of its solver: Poisson, elasticity and Stokes, each compared with a direct solve.

usage: elements_program.py poisson|elasticity|stokes [near-null-space|coordinates]

What the solver is told of elasticity beside the matrix: rigid body modes unless another word says so.
"""

import logging
import sys

import dolfinx.fem.petsc
import numpy as np
import ufl
from dolfinx import fem, mesh
from mpi4py import MPI
from petsc4py import PETSc

logging.disable(logging.INFO)


def everywhere(value):
    return lambda x: np.outer(np.atleast_1d(value), np.ones(x.shape[1]))


def boundary_dofs(V, domain, where):
    facets = mesh.locate_entities_boundary(domain, domain.topology.dim - 1, where)
    return fem.locate_dofs_topological(V, domain.topology.dim - 1, facets)


def assemble(a, L, conditions):
    a, L = fem.form(a), fem.form(L)
    A = fem.petsc.assemble_matrix(a, bcs=conditions)
    A.assemble()
    b = fem.petsc.assemble_vector(L)
    fem.petsc.apply_lifting(b, [a], [conditions])
    b.ghostUpdate(addv=PETSc.InsertMode.ADD, mode=PETSc.ScatterMode.REVERSE)
    fem.petsc.set_bc(b, conditions)
    return A, b


def poisson():
    domain = mesh.create_unit_square(MPI.COMM_WORLD, 24, 24)
    V = fem.FunctionSpace(domain, ("Lagrange", 2))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    x = ufl.SpatialCoordinate(domain)
    dofs = boundary_dofs(V, domain, lambda x: np.isclose(x[0], 0) | np.isclose(x[0], 1))
    condition = fem.dirichletbc(PETSc.ScalarType(0), dofs, V)
    return assemble(ufl.inner(ufl.grad(u), ufl.grad(v)) * ufl.dx, ufl.inner(10 * x[0] + ufl.sin(5 * x[1]), v) * ufl.dx, [condition])


def rigid_body_modes(V):
    """Translations and the rotation in the plane, orthonormal, as dolfinx's own demo makes them."""
    index_map = V.dofmap.index_map
    modes = [PETSc.Vec().createMPI((index_map.size_local * 2, index_map.size_global * 2), bsize=2, comm=MPI.COMM_WORLD) for _ in range(3)]
    x = V.tabulate_dof_coordinates()[:index_map.size_local]
    modes[0].array[0::2] = 1
    modes[1].array[1::2] = 1
    modes[2].array[0::2], modes[2].array[1::2] = -x[:, 1], x[:, 0]
    for i, mode in enumerate(modes):
        for other in modes[:i]:
            mode.axpy(-mode.dot(other), other)
        mode.normalize()
    return PETSc.NullSpace().create(vectors=modes, comm=MPI.COMM_WORLD)


def elasticity():
    domain = mesh.create_rectangle(MPI.COMM_WORLD, [[0, 0], [8, 1]], [64, 8])
    V = fem.VectorFunctionSpace(domain, ("Lagrange", 1))
    u, v = ufl.TrialFunction(V), ufl.TestFunction(V)
    strain = lambda w: ufl.sym(ufl.grad(w))
    stress = lambda w: 2 * strain(w) + 1.5 * ufl.tr(strain(w)) * ufl.Identity(2)
    dofs = boundary_dofs(V, domain, lambda x: np.isclose(x[0], 0))
    condition = fem.dirichletbc(np.zeros(2, dtype=PETSc.ScalarType), dofs, V)
    A, b = assemble(ufl.inner(stress(u), strain(v)) * ufl.dx, ufl.inner(ufl.as_vector((0, -1e-3)), v) * ufl.dx, [condition])
    if told == "near-null-space":
        A.setNearNullSpace(rigid_body_modes(V))
    else:
        nodes = V.dofmap.index_map.size_local
        coordinates.append(V.tabulate_dof_coordinates()[:nodes, :2].copy())
    return A, b


def stokes():
    domain = mesh.create_unit_square(MPI.COMM_WORLD, 10, 10)
    element = ufl.VectorElement("Lagrange", domain.ufl_cell(), 2) * ufl.FiniteElement("Lagrange", domain.ufl_cell(), 1)
    W = fem.FunctionSpace(domain, element)
    V, _ = W.sub(0).collapse()
    (u, p), (v, q) = ufl.TrialFunctions(W), ufl.TestFunctions(W)
    conditions = []
    for value, where in ((1.0, lambda x: np.isclose(x[1], 1)), (0.0, lambda x: np.isclose(x[1], 0))):
        velocity = fem.Function(V)
        velocity.interpolate(everywhere((value, 0.0)))
        facets = mesh.locate_entities_boundary(domain, 1, where)
        dofs = fem.locate_dofs_topological((W.sub(0), V), 1, facets)
        conditions.append(fem.dirichletbc(velocity, dofs, W.sub(0)))
    a = (ufl.inner(ufl.grad(u), ufl.grad(v)) - ufl.inner(p, ufl.div(v)) - ufl.inner(ufl.div(u), q)) * ufl.dx
    zero = fem.Constant(domain, PETSc.ScalarType((0, 0)))
    return assemble(a, ufl.inner(zero, v) * ufl.dx, conditions)


def solve(A, b, choose):
    solver = PETSc.KSP().create(MPI.COMM_WORLD)
    solver.setOperators(A)
    choose(solver)
    for of_nodes in coordinates:
        solver.getPC().setCoordinates(of_nodes)
    x = A.createVecRight()
    solver.solve(b, x)
    return x, solver


def direct(solver):
    solver.setType("preonly")
    solver.getPC().setType("lu")
    solver.getPC().setFactorSolverType("mumps")


told = sys.argv[2] if len(sys.argv) > 2 else "near-null-space"
coordinates = []
A, b = {"poisson": poisson, "elasticity": elasticity, "stokes": stokes}[sys.argv[1]]()
x, solver = solve(A, b, lambda solver: (solver.setTolerances(rtol=1e-10), solver.setFromOptions()))
exact, _ = solve(A, b, direct)
PETSc.Sys.Print(f"{sys.argv[1]}: {solver.getType()} reason {solver.getConvergedReason()} iterations {solver.getIterationNumber()} "
                f"rows {A.size[0]} difference {(x - exact).norm() / exact.norm():.2e}")
