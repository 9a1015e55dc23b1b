#!/usr/bin/env python3
"""Systems to train the tuner on: which families there are, with which parameters and sizes, and in which order they are made.

usage: bench/training/systems.py            lists the families
       bench/training/systems.py NAME       makes the system of this name and says what it is

A system's name is FAMILY:KEY=VALUE,...:SIZE:SEED, such as heat:dimension=2,step=0.001:4000:0, and all that it takes to make it again.
"""

import dataclasses
import itertools
import sys
import zlib

import numpy as np
import scipy.sparse as sp

from families import (assemblers, bodies, chains, complex_systems, data_fitting, diffusion, estimation, fields, geometry, inference, machines, meshed, networks,
                      ours, packaged, plans, plants, programmes, real, saddles, scans, solids, toolkits, transport)

SIZES = (1000, 4000, 16000, 64000, 250000, 1000000)  # rows, about


@dataclasses.dataclass(frozen=True)
class Family:
    """`make(size, rng, **parameters)` gives a matrix, or a matrix and its right-hand side. Systems of a family are made with each of the
    settings of parameters. `symmetric` and `definite` are what every one of them is (positive semidefinite where `singular`)."""

    name: str
    kind: str
    make: object
    settings: tuple
    symmetric: bool = False
    definite: bool = False
    singular: bool = False
    most: int = 1000000  # rows: more take too long to make, or too much memory


@dataclasses.dataclass(frozen=True)
class Recipe:
    """What a system is made from."""

    family: Family
    parameters: dict
    size: int
    seed: int

    @property
    def name(self):
        words = ",".join(f"{key}={value}" for key, value in self.parameters.items())
        return f"{self.family.name}:{words}:{self.size}:{self.seed}"


@dataclasses.dataclass(frozen=True)
class System:
    recipe: Recipe
    matrix: sp.csr_matrix  # sorted, without duplicates
    b: np.ndarray


def spd(name, kind, make, *settings, **more):
    return Family(name, kind, make, settings, symmetric=True, definite=True, **more)


def symmetric(name, kind, make, *settings, **more):
    return Family(name, kind, make, settings, symmetric=True, **more)


def general(name, kind, make, *settings, **more):
    return Family(name, kind, make, settings, **more)


FAMILIES = (
    # Diffusion
    spd("heat", "diffusion", diffusion.heat, dict(step=1e-4), dict(step=1e-2), dict(dimension=3, step=1e-3), dict(order=2, step=1e-3),
        dict(step=1e-6), dict(step=1.0), dict(step=1e-3, lumped=True), dict(dimension=3, order=2, step=1e-2)),
    spd("heat-penalty", "diffusion", diffusion.heat, dict(step=1e-3, penalty=1e30), dict(dimension=3, step=1e-2, penalty=1e30),
        dict(step=1e-3, penalty=1e30, held=0.0), dict(step=1e-1, penalty=1e10)),
    spd("poisson-elements", "diffusion", diffusion.poisson, dict(), dict(dimension=3), dict(order=2), dict(dimension=3, order=2),
        dict(shuffled=True), dict(dimension=3, shuffled=True)),
    spd("rough-coefficient", "diffusion", diffusion.poisson, dict(spread=3), dict(dimension=3, spread=2), dict(order=2, spread=6)),
    general("identity-rows", "diffusion", diffusion.identity_rows, dict(symmetric=False), dict(symmetric=True),
            dict(dimension=3, symmetric=False)),
    spd("anisotropic-elements", "diffusion", diffusion.anisotropic_elements, dict(ratio=1e-2), dict(ratio=1e-4), dict(ratio=1e-3, angle=0)),
    spd("groundwater", "diffusion", diffusion.groundwater, dict(deviation=2.0), dict(deviation=4.0, zones=True),
        dict(dimension=3, deviation=1.5), dict(layers=5, deviation=1.0), dict(deviation=0.5)),
    spd("graded-cells", "diffusion", diffusion.graded, dict(ratio=1e3), dict(ratio=1e2, clustered=False), dict(dimension=2, ratio=1e4)),
    spd("neumann", "diffusion", diffusion.neumann, dict(), dict(dimension=3), dict(deviation=2.0), singular=True),
    spd("fractures", "diffusion", diffusion.wells_and_fractures, dict(contrast=1e6), dict(contrast=1e3)),
    general("time-space", "diffusion", diffusion.time_space, dict(step=1e-2), dict(steps=32, step=1e-3), dict(step=1.0)),
    general("fractional", "diffusion", diffusion.fractional, dict(order=1.5), dict(order=1.8, step=1.0), dict(order=1.2), most=64000),
    general("black-scholes", "diffusion", diffusion.black_scholes, dict(), dict(step=1.0), dict(correlation=0.95, step=0.1)),
    # Solids
    spd("elasticity-2d", "solids", solids.elasticity, dict(), dict(order=2), dict(contrast=1e3), dict(stretch=20.0)),
    spd("elasticity-3d", "solids", solids.elasticity, dict(dimension=3), dict(dimension=3, stretch=10.0), dict(dimension=3, order=2),
        dict(dimension=3, contrast=1e4)),
    spd("nearly-incompressible", "solids", solids.elasticity, dict(poisson=0.499), dict(order=2, poisson=0.4999), dict(dimension=3, poisson=0.49),
        dict(order=2, poisson=0.49999)),
    spd("elastodynamics", "solids", solids.elasticity, dict(inertia=1e3), dict(dimension=3, inertia=1e2), dict(dimension=3, inertia=1e4)),
    spd("plate", "solids", solids.plate, dict(), dict(foundation=1e-2), dict(ratio=0.1), dict(clamped=False)),
    general("cahn-hilliard", "solids", solids.cahn_hilliard, dict(), dict(step=1e-2), dict(step=1e-6)),
    symmetric("shallow-shell", "solids", solids.shallow_shell, dict(), dict(curvature=1.0), dict(curvature=200.0, thickness=1e-3)),
    spd("frame", "solids", solids.frame, dict(), dict(slenderness=500.0), dict(irregular=False, slenderness=10.0)),
    spd("spring-lattice", "solids", solids.spring_lattice, dict(), dict(dimension=3), dict(link=10.0)),
    # Transport and waves
    general("streamline-upwind", "transport", transport.streamline_upwind, dict(peclet=1e3), dict(peclet=1e5, recirculating=True),
            dict(dimension=3, peclet=1e3), dict(peclet=1e4, step=1e-2), dict(peclet=10.0)),
    general("tracer", "transport", transport.tracer, dict(), dict(dimension=2, step=1e4), dict(step=1.0), dict(heterogeneous=False)),
    general("discrete-ordinates", "transport", transport.discrete_ordinates, dict(), dict(scattering=0.999, thickness=100.0), dict(directions=24, scattering=0.5)),
    spd("interior-penalty", "transport", transport.interior_penalty, dict(), dict(order=1), dict(dimension=3, order=1), dict(order=4), dict(dimension=3, order=2, reaction=1e3)),
    general("dg-advection", "transport", transport.dg_advection, dict(), dict(dimension=2, order=3), dict(step=10.0), dict(dimension=3, order=2)),
    spd("spectral-elements", "transport", transport.spectral_elements, dict(), dict(dimension=3, order=4), dict(order=10)),
    symmetric("spectral-helmholtz", "transport", transport.spectral_elements, dict(shift=-300.0), dict(order=4, shift=-2000.0)),
    symmetric("helmholtz", "transport", transport.helmholtz, dict(), dict(dimension=3), dict(points_per_wave=30.0), dict(layered=True)),
    general("damped-waves", "transport", transport.damped_waves, dict(), dict(damping=0.5), dict(damping=0.02, points_per_wave=20.0)),
    general("shallow-water", "transport", transport.shallow_water, dict(), dict(courant=1.0), dict(courant=100.0, rotation=0.01)),
    general("flux-jacobians", "transport", transport.flux_jacobians, dict(), dict(courant=1.0), dict(courant=1e4), dict(equations=5)),
    # Saddle points and coupled systems
    symmetric("stokes-elements", "saddle points", saddles.taylor_hood, dict(), dict(dimension=3), dict(reaction=1e4), dict(stabilised=1e-2)),
    general("oseen-elements", "saddle points", saddles.taylor_hood, dict(reynolds=100.0), dict(reynolds=1000.0), dict(reynolds=10.0, dimension=3),
            dict(reaction=100.0, reynolds=1000.0)),
    symmetric("stokes-staggered", "saddle points", saddles.marker_and_cell, dict(), dict(dimension=3), dict(contrast=1e4), dict(step=1e-3)),
    general("oseen-staggered", "saddle points", saddles.marker_and_cell, dict(reynolds=100.0), dict(reynolds=1000.0, dimension=3), dict(reynolds=1000.0, step=1e-2)),
    symmetric("mixed-darcy", "saddle points", saddles.mixed_darcy, dict(), dict(dimension=3), dict(deviation=0.1)),
    symmetric("poroelastic", "saddle points", saddles.poroelastic, dict(), dict(permeability=1e-8), dict(permeability=1e-2, storage=1e-2)),
    symmetric("optimal-control", "saddle points", saddles.optimal_control, dict(), dict(beta=1e-8), dict(beta=1e-2, dimension=3)),
    spd("curl-curl", "saddle points", saddles.curl_curl, dict(), dict(conductivity=1.0), dict(conductivity=1e-6, contrast=100.0)),
    spd("bidomain", "saddle points", saddles.bidomain, dict(), dict(step=10.0), dict(ratio=1.0, step=0.01)),
    spd("monodomain", "saddle points", saddles.monodomain, dict(), dict(dimension=2, step=1.0), dict(step=5.0)),
    general("semiconductor", "saddle points", saddles.semiconductor, dict(), dict(bias=1.0), dict(bias=30.0), dict(bias=5.0, coupled=True)),
    general("reservoir", "saddle points", saddles.reservoir, dict(), dict(phases=2, step=100.0), dict(dimension=2, phases=4), dict(step=0.01)),
    general("kinetics", "saddle points", saddles.kinetics, dict(), dict(species=20, step=1e-2), dict(diffusing=100.0, step=1.0)),
    symmetric("tied-meshes", "saddle points", saddles.contact, dict()),
    spd("tied-by-penalty", "saddle points", saddles.contact, dict(penalty=1e4), dict(penalty=1e8)),
    general("lattice-fermions", "saddle points", saddles.lattice_fermions, dict(), dict(disorder=0.1, mass=0.01), dict(mass=1.0)),
    symmetric("anderson", "saddle points", saddles.anderson, dict(), dict(disorder=20.0), dict(dimension=2, disorder=2.0)),
    # Networks and circuits
    spd("road-graph", "networks", networks.graph, dict(kind="roads"), dict(kind="roads", shift=1e-6, spread=1.0), dict(kind="roads", shift=1.0)),
    spd("social-graph", "networks", networks.graph, dict(kind="recursive", shift=1.0), dict(kind="preferential", shift=1.0), dict(kind="recursive", shift=1e-3),
        dict(kind="preferential", shift=1e-4, spread=2.0)),
    spd("small-world", "networks", networks.graph, dict(kind="small-world"), dict(kind="small-world", shift=1.0), dict(kind="small-world", spread=3.0)),
    spd("geometric-graph", "networks", networks.graph, dict(kind="geometric"), dict(kind="geometric", shift=0.1, spread=2.0)),
    general("page-rank", "networks", networks.page_rank, dict(), dict(damping=0.99), dict(damping=0.9, kind="preferential")),
    general("absorbing-chain", "networks", networks.absorbing_chain, dict(), dict(kind="recursive"), dict(absorbed=1e-5, kind="small-world"), dict(absorbed=1e-4, kind="roads")),
    general("queues", "networks", networks.queues, dict(), dict(load=0.5), dict(discount=1e-2, load=0.99)),
    general("master-equation", "networks", networks.reacting_network, dict(), dict(time=1e4), dict(time=0.1)),
    spd("resistors", "networks", networks.resistors, dict(), dict(hubs=10, spread=1.0), dict(ground=1e-3, spread=6.0)),
    general("nodal-analysis", "networks", networks.nodal_analysis, dict(), dict(controlled=0.2, sources=0.01), dict(capacity=1.0), dict(controlled=0.0)),
    spd("power-grid", "networks", networks.power_grid, dict(), dict(capacity=0.1), dict(layers=6, pads=0.001)),
    general("load-flow", "networks", networks.load_flow, dict(), dict(tight=1.0)),
    spd("water-pipes", "networks", networks.pipes, dict(), dict(loops=0.8)),
    # Optimization, least squares, images, statistics
    spd("normal-equations", "data", data_fitting.normal_equations, dict(), dict(kind="stages"), dict(kind="flow", mu=1e-1), dict(mu=1e-4), dict(kind="random", mu=1e-1), most=250000),
    symmetric("interior-point", "data", data_fitting.interior_point, dict(), dict(kind="transport", mu=1e-1), dict(mu=1e-4), dict(kind="flow", quadratic=False), dict(kind="random"), most=250000),
    spd("geodesy", "data", data_fitting.geodesy, dict(), dict(dimension=3), dict(directions=False), dict(spread=2.0)),
    spd("bundle-adjustment", "data", data_fitting.bundle_adjustment, dict(), dict(damping=1e-1), dict(seen=8)),
    spd("poisson-editing", "data", data_fitting.poisson_editing, dict()),
    spd("total-variation", "data", data_fitting.total_variation, dict(), dict(strength=100.0), dict(sharp=0.1, strength=10.0)),
    spd("optical-flow", "data", data_fitting.optical_flow, dict(), dict(smooth=10.0)),
    general("colouring", "data", data_fitting.colouring, dict(), dict(marked=1e-3), dict(sharp=0.01)),
    spd("tomography", "data", data_fitting.tomography, dict(), dict(smooth=1.0), most=16000),
    spd("covariance", "data", data_fitting.covariance, dict(), dict(nugget=1e-6), dict(dimension=3, neighbours=60), dict(clustered=True), most=64000),
    symmetric("kriging", "data", data_fitting.kriging, dict(), dict(nugget=1e-5), most=64000),
    spd("spline-fit", "data", data_fitting.spline_fit, dict(), dict(dimension=1), dict(gaps=False, smooth=1e-6)),
    general("banded", "data", data_fitting.banded, dict(), dict(dominance=0.3, width=3), dict(symmetric=True), dict(width=40)),
    spd("breeding-values", "data", data_fitting.mixed_models, dict(), dict(ratio=1.0)),
    general("input-output", "data", data_fitting.input_output, dict(), dict(share=0.98), dict(sectors=10)),
    # Shapes
    spd("surface", "shapes", geometry.surface, dict(), dict(step=1.0), dict(step=1e-4)),
    spd("fairing", "shapes", geometry.fairing, dict(), dict(stiff=1e-2), dict(stiff=1e-7)),
    spd("particles", "shapes", geometry.particles, dict(), dict(dimension=2, neighbours=12), dict(free=0.5)),
    spd("peridynamic", "shapes", geometry.peridynamic, dict(), dict(horizon=5), dict(dimension=3, horizon=2, damage=0.2)),
    spd("cut-cells", "shapes", geometry.cut_cells, dict(), dict(dimension=3), dict(smallest=1e-10)),
    general("hanging-nodes", "shapes", geometry.hanging_nodes, dict(), dict(levels=5), most=64000),
    spd("circuit-board", "shapes", geometry.circuit_board, dict(), dict(contrast=10.0, thin=3.0), dict(layers=20)),
    spd("branches", "shapes", geometry.branches, dict(), dict(step=10.0), dict(step=1e-5, turns=1.0)),
    # Estimates and plans
    spd("random-field", "estimates", estimation.random_field, dict(), dict(reach=1.0, seen=0.5), dict(dimension=3, reach=0.3)),
    spd("pose-graph", "estimates", estimation.pose_graph, dict(), dict(width=6, loops=0.5), dict(loops=0.02)),
    spd("ratings", "estimates", estimation.ratings, dict(), dict(viewed=30, damping=10.0), dict(damping=1e-4)),
    spd("smoothing", "estimates", estimation.smoothing, dict(), dict(width=10, coupled=0.1)),
    general("decisions", "estimates", estimation.decisions, dict(), dict(discount=0.9999), dict(near=100, discount=0.999)),
    general("drifting", "estimates", estimation.drifting, dict(), dict(drift=50.0, step=1.0), dict(step=10.0)),
    general("neutron-groups", "estimates", estimation.groups, dict(), dict(count=2), dict(count=12, upward=0.5)),
    general("plant", "estimates", estimation.plant, dict(), dict(units=21), dict(recycled=0.2)),
    # What comes from no mesh
    spd("label-spreading", "plans", plans.label_spreading, dict(), dict(kept=0.9999), dict(dimension=3, kept=0.9)),
    spd("commodities", "plans", plans.commodities, dict(), dict(decades=4.0), dict(graph="small-world", kinds=8)),
    general("gas", "plans", plans.gas, dict(), dict(linepack=10.0), dict(compressors=0.2)),
    symmetric("predictive-control", "plans", plans.predictive_control, dict(), dict(decades=5.0, states=4, inputs=2), dict(states=40, inputs=10),
              dict(chain=True, decades=3.0, states=30)),
    symmetric("mechanism", "plans", plans.mechanism, dict(), dict(tree=True), dict(loops=0.5, tree=True), dict(compliance=1e-4, loops=0.8)),
    spd("protein", "plans", plans.protein, dict(), dict(bonded=100.0, fading=True), dict(reach=7.0, shift=0.1), dict(reach=13.0, shift=1e-4)),
    general("memory-cells", "plans", plans.memory_cells, dict(), dict(step=1e-8), dict(step=1e-13)),
    general("inductors", "plans", plans.inductors, dict(), dict(mirrored=True), dict(reach=4.5, step=1e-10)),
    general("harmonic-balance", "plans", plans.harmonic_balance, dict(), dict(devices=1.0, harmonics=8), dict(frequency=30.0, swing=4.0)),
    general("inpainting", "plans", plans.inpainting, dict(), dict(share=0.6, width=30), dict(order=1, share=0.5, width=15)),
    spd("super-resolution", "plans", plans.super_resolution, dict(), dict(edges=True), dict(radius=3, smooth=1e-4), dict(frames=8, radius=1)),
    general("protocol", "plans", plans.protocol, dict(), dict(again=0.6, rounds=10), dict(lost=0.05, rounds=60)),
    spd("word-counts", "plans", plans.word_counts, dict(), dict(damping=10.0), dict(words=4)),
    general("basis", "plans", plans.basis, dict(), dict(bump=0.3, slack=0.2), dict(slack=0.7)),
    symmetric("fock", "plans", plans.fock, dict(), dict(level=2.5), dict(gap=0.5), dict(gap=6.0, level=3.0)),
    general("spins", "plans", plans.spins, dict(), dict(cold=3.0, discount=1e-3), dict(cold=0.1, discount=1.0)),
    # Fields
    general("atmosphere", "fields", fields.atmosphere, dict(), dict(spacing=1e3, step=60.0, terrain=300.0), dict(step=1e4, terrain=300.0)),
    spd("ocean", "fields", fields.ocean, dict(), dict(step=60.0), dict(land=True, step=3e4)),
    general("unsaturated", "fields", fields.unsaturated, dict(), dict(step=10.0), dict(dry=10.0, step=1e6), dict(deep=30.0, step=1e5)),
    spd("topology", "fields", bodies.topology, dict(), dict(sharp=20.0), dict(dimension=3), dict(least=1e-4, sharp=1.0)),
    symmetric("stretched", "fields", bodies.stretched, dict(), dict(dimension=3), dict(slender=10.0, stretch=-0.1), dict(lame=1000.0, stretch=0.1)),
    spd("cloth", "fields", bodies.cloth, dict(), dict(stiff=1e5), dict(step=0.001), dict(step=0.04, stiff=1e4)),
    spd("slab", "fields", bodies.slab, dict(), dict(thickness=0.02), dict(soil=5e7), dict(thickness=1.0)),
    general("thermoelastic", "fields", bodies.thermoelastic, dict(), dict(dimension=3), dict(coupled=True, step=1e-2), dict(step=1.0)),
    spd("ice", "fields", fields.ice, dict(), dict(floating=True), dict(slippery=1.0), dict(slippery=1e-6)),
    general("euler", "fields", fields.euler, dict(), dict(mach=0.01), dict(courant=1e4, mach=2.0), dict(courant=2.0, mach=0.8)),
    spd("splines", "fields", bodies.splines, dict(), dict(degree=5), dict(degree=2, dimension=3), dict(step=1e-4)),
    general("meshless", "fields", bodies.meshless, dict(), dict(wind=100.0), dict(near=25)),
    spd("solvated", "fields", fields.solvated, dict(), dict(salt=0.0), dict(charged=2.0, salt=1.0)),
    general("battery", "fields", fields.battery, dict(), dict(step=1000.0), dict(rate=0.01, shells=20), dict(rate=100.0, step=0.1)),
    general("central", "fields", fields.central, dict(), dict(courant=50.0), dict(courant=20.0, dimension=2, viscous=0.02), dict(courant=1.0)),
    general("bearing", "fields", fields.bearing, dict(), dict(eccentric=0.97), dict(step=1e-5), dict(cavity=0.0)),
    general("vorticity", "fields", fields.vorticity, dict(), dict(reynolds=1000.0), dict(rate=100.0, reynolds=1000.0), dict(reynolds=1.0)),
    general("flame", "fields", fields.flame, dict(), dict(step=1e-3), dict(species=4, step=1e-7), dict(species=15)),
    symmetric("cracks", "fields", bodies.cracks, dict(), dict(opened=1e-2), dict(opened=1e-4, width=0.1)),
    # By scikit-fem
    spd("morley-plate", "packaged", packaged.morley_plate, dict(), dict(foundation=1e4), dict(poisson=0.0)),
    spd("edge-elements", "packaged", packaged.nedelec, dict(), dict(conductivity=100.0), dict(conductivity=1e-4)),
    symmetric("raviart-thomas", "packaged", packaged.raviart_thomas, dict(), dict(deviation=3.0)),
    spd("broken-triangles", "packaged", packaged.broken_triangles, dict(), dict(order=2), dict(order=3)),
    general("broken-convection", "packaged", packaged.broken_triangles, dict(convection=1e3), dict(convection=1e5, order=2), dict(convection=10.0)),
    symmetric("crouzeix-raviart", "packaged", packaged.crouzeix_raviart, dict(), dict(reaction=1e4)),
    spd("bricks", "packaged", packaged.bricks, dict(), dict(order=2), dict(poisson=0.49), most=16000),
    # By NGSolve
    spd("high-order", "packaged", meshed.high_order, dict(), dict(contrast=1e4, order=4), dict(order=2, step=1e-3), dict(dimension=3, order=2), dict(order=4, step=1e-5), most=64000),
    spd("facets", "packaged", meshed.hybrid, dict(), dict(order=1), dict(order=4), most=64000),
    general("facets-upwind", "packaged", meshed.hybrid, dict(convection=1e3), dict(convection=1e5, order=1), dict(convection=30.0, order=3), most=64000),
    spd("body", "packaged", meshed.body, dict(), dict(squeezed=0.5), dict(contrast=100.0, dimension=3), dict(order=3, poisson=0.48), dict(dimension=3, order=1, poisson=0.45), most=64000),
    symmetric("past-a-hole", "packaged", meshed.flow, dict(), dict(step=1e-2), dict(order=3), most=64000),
    general("past-a-hole-newton", "packaged", meshed.flow, dict(reynolds=20.0), dict(reynolds=100.0, step=0.05), dict(order=3, reynolds=50.0), most=64000),
    symmetric("flux-and-pressure", "packaged", meshed.mixed, dict(), dict(contrast=1.0, order=2), dict(contrast=1e6), most=64000),
    spd("magnet", "packaged", meshed.magnet, dict(), dict(contrast=1e3, mass=1.0), dict(order=2), most=16000),
    spd("thick-plate", "packaged", meshed.thin_plate, dict(), dict(order=3, thickness=0.1), dict(thickness=1e-3), most=64000),
    symmetric("moments", "packaged", meshed.moments, dict(), dict(order=2), most=64000),
    general("carried", "packaged", meshed.carried, dict(), dict(order=3, step=1e-2), dict(diffusion=1e-3), dict(order=1, step=1.0), most=64000),
    spd("minimal-surface", "packaged", meshed.minimal_surface, dict(), dict(power=4.0), dict(height=0.1, order=3), most=64000),
    symmetric("standing-waves", "packaged", meshed.wave, dict(), dict(order=2, waves=2.0), dict(order=6, waves=15.0), most=64000),
    # By other packages
    general("carried-solute", "packaged", toolkits.carried_solute, dict(), dict(peclet=1e4, step=0.01), dict(peclet=1.0, spread=3.0), dict(peclet=1e3)),
    general("dendrites", "packaged", toolkits.dendrites, dict(), dict(step=1e-2), dict(step=1e-5)),
    symmetric("unmixing", "packaged", toolkits.unmixing, dict(), dict(periodic=True, step=0.1), dict(dimension=3)),
    spd("survey", "packaged", toolkits.survey, dict(), dict(tilted=10.0), most=64000),
    spd("induction", "packaged", toolkits.induction, dict(), dict(step=1e-6), dict(step=1e-2), most=64000),
    spd("cased-well", "packaged", toolkits.cased_well, dict(), dict(around=8), dict(casing=1.0)),
    general("load-flow-step", "packaged", toolkits.load_flow_step, dict(), dict(loaded=0.0)),
    spd("grid-estimate", "packaged", toolkits.grid_estimate, dict(), dict(metered=0.05)),
    spd("walker", "packaged", scans.walker, dict(), dict(dimension=3), dict(beta=1000.0, marked=0.002), dict(beta=10.0, dimension=3, marked=0.001)),
    spd("filled-holes", "packaged", scans.inpainting, dict(), dict(holes=0.7, scattered=True), dict(dimension=3)),
    spd("point-cloud", "packaged", scans.point_cloud, dict(), dict(step=0.1), dict(step=1e-5)),
    spd("bent-surface", "packaged", scans.bent_surface, dict(), dict(energy="hessian"), dict(held=0.3)),
    spd("pore-pressure", "packaged", scans.pore_pressure, dict(), dict(deviation=1.0)),
    general("pore-solute", "packaged", scans.pore_solute, dict(), dict(peclet=0.1), dict(deviation=1.0, peclet=300.0)),
    general("landscape", "packaged", toolkits.landscape, dict(), dict(diffusivity=1.0, years=1e4), dict(erodibility=1e-4, years=1e7)),
    spd("labelled-graph", "packaged", scans.labelled_graph, dict(), dict(labelled=2e-4, neighbours=30), dict(tau=100.0)),
    # Machines, by scikit-fem on meshes of Gmsh
    spd("bracket", "packaged", machines.bracket, dict(), dict(order=2), dict(poisson=0.49)),
    symmetric("bracket-modes", "packaged", machines.bracket, dict(shift=0.01), dict(order=2, shift=0.1)),
    spd("heat-sink", "packaged", machines.heat_sink, dict(), dict(penalty=1e10, step=1.0), dict(fins=20, step=1e-3)),
    spd("motor", "packaged", machines.motor, dict(), dict(step=1e-3), dict(order=2)),
    symmetric("pressed", "packaged", machines.pressed, dict(), dict(stiff=1e3)),
    spd("pressed-by-springs", "packaged", machines.pressed, dict(penalty=1e3), dict(penalty=1e6)),
    symmetric("seal", "packaged", machines.seal, dict(), dict(element="mini"), dict(dimension=3, element="mini")),
    symmetric("piezo", "packaged", machines.piezo, dict(), dict(scaled=True), dict(order=2, scaled=True)),
    spd("yielding", "packaged", machines.yielding, dict(), dict(hardening=1e-4, order=1)),
    # Plants, by the same
    spd("tokamak", "packaged", plants.tokamak, dict(), dict(ratio=1e3), dict(order=1, ratio=1e5, step=1e-4)),
    spd("composite", "packaged", plants.composite, dict(), dict(contrast=1e6, elastic_cell=False), dict(contrast=1e-4)),
    general("wing", "packaged", plants.wing, dict(), dict(method="mini", newton=True), dict(method="equal", reynolds=1000.0, step=0.1)),
    general("elbow", "packaged", plants.elbow, dict(), dict(method="crouzeix-raviart", reynolds=200.0, step=0.01)),
    general("boundary-layer", "packaged", plants.boundary_layer, dict(), dict(step=1e-3), dict(thin=1e-3, viscosity=1e-3)),
    general("cabin", "packaged", plants.cabin, dict(), dict(water=True), dict(step=1e-6)),
    general("nanopore", "packaged", plants.nanopore, dict(), dict(bias=40.0, layer=0.02), dict(step=1e-4)),
    general("buoyant", "packaged", plants.buoyant, dict(), dict(rayleigh=100.0), dict(prandtl=100.0, step=1e-3)),
    symmetric("footing", "packaged", plants.footing, dict(), dict(clay=1e-5, step=1e-2)),
    # By MFEM and Kratos
    spd("refined-drop", "packaged", assemblers.front, dict(), dict(contrast=1e-3, order=4), dict(dimension=3, levels=2, order=1)),
    symmetric("oven", "packaged", assemblers.oven, dict(), dict(order=2, waves=0.5)),
    spd("face-fluxes", "packaged", assemblers.fluxes, dict(), dict(mass=1e-4), dict(order=1)),
    symmetric("flat-cells", "packaged", assemblers.flat_cells, dict(), dict(deviation=0.5, flat=200.0, order=1)),
    spd("broken-beam", "packaged", assemblers.broken_beam, dict(), dict(order=3)),
    general("broken-beam-skew", "packaged", assemblers.broken_beam, dict(alpha=1.0), dict(alpha=1.0, contrast=1e4, order=2)),
    spd("least-residual", "packaged", assemblers.least_residual, dict(), dict(contrast=100.0, order=2)),
    spd("vault", "packaged", assemblers.vault, dict(), dict(thickness=0.02)),
    general("duct", "packaged", assemblers.duct, dict(), dict(reynolds=20.0, step=10.0)),
    # Inference
    spd("clicks", "inference", inference.clicks, dict(), dict(ridge=1.0, skew=1.5)),
    spd("disease-map", "inference", inference.disease_map, dict(), dict(stiff=1000.0, years=50)),
    spd("vecchia", "inference", inference.vecchia, dict(), dict(dimension=3, noise=0.1, reach=0.5)),
    spd("players", "inference", inference.players, dict(), dict(prior=0.01, restless=1e-4)),
    spd("entropic-transport", "inference", inference.entropic_transport, dict(), dict(near=40, sharp=1e-3)),
    spd("slam", "inference", inference.slam, dict(), dict(lost=0.9, ring=200, turn=0.1)),
    spd("scene", "inference", inference.scene, dict(), dict(damping=1e-2, reduced=False)),
    spd("bilateral", "inference", inference.bilateral, dict(), dict(cell=8, smooth=128.0, tones=48)),
    # Chains of states, circuits, prices, molecules
    spd("crossbar", "chains", chains.crossbar, dict(), dict(contrast=1e5, wire=50.0)),
    general("logic", "chains", chains.logic, dict(), dict(near=20, step=1e-12)),
    general("amplifiers", "chains", chains.amplifiers, dict(), dict(gain=100.0, step=1e-7)),
    general("reliability", "chains", chains.reliability, dict(), dict(common=0.5, crews=3, discount=1e-6)),
    general("toggle", "chains", chains.toggle, dict(), dict(sharp=1.0, step=1e4)),
    general("heston", "chains", chains.heston, dict(), dict(early=1e6, step=0.5)),
    symmetric("charges", "chains", chains.charges, dict(), dict(reach=9.0, shared=True)),
    symmetric("bilayer", "chains", chains.bilayer, dict(), dict(level=2.0, turned=20.0)),
    general("foresight", "chains", chains.foresight, dict(), dict(countries=1), dict(adjust=0.1, countries=20)),
    general("heating", "chains", chains.heating, dict(), dict(loops=0.8, step=10.0)),
    # By pymatting, networkit, scikit-learn and Clarabel
    spd("matting", "packaged", inference.matting, dict(), dict(band=0.4, known=1.0)),
    general("matting-neighbours", "packaged", inference.matting, dict(neighbours=20), dict(band=0.4, known=1.0, neighbours=10), most=64000),
    spd("communities", "packaged", inference.communities, dict(), dict(ground=1.0, mixed=0.6)),
    spd("katz", "packaged", inference.katz, dict(), dict(power=4.0, share=0.999)),
    spd("unrolled", "packaged", inference.unrolled, dict(), dict(neighbours=20, shift=1e-3)),
    symmetric("portfolio", "packaged", programmes.portfolio, dict(), dict(factors=100, iterations=12), most=64000),
    symmetric("trends", "packaged", programmes.trends, dict(), dict(iterations=12, kind="geometric"), most=64000),
    symmetric("generation", "packaged", programmes.generation, dict(), dict(iterations=3, units=100), most=64000),
    spd("shipping", "packaged", programmes.shipping, dict(), dict(iterations=14, kind="geometric"), most=64000),
    symmetric("sharp-picture", "packaged", programmes.sharp_picture, dict(), dict(iterations=8, strength=0.05), most=64000),
    # Complex ones
    symmetric("acoustics", "complex", complex_systems.acoustics, dict(), dict(dimension=3, points_per_wave=8.0), dict(order=2, points_per_wave=30.0), dict(absorbed=0.1)),
    general("matched-layers", "complex", complex_systems.matched_layers, dict(), dict(heterogeneous=True, points_per_wave=20.0), dict(dimension=3)),
    symmetric("vibration", "complex", complex_systems.vibration, dict(), dict(loss=0.2, modes=100.0), dict(dimension=3), dict(modes=3.0, viscous=0.1)),
    symmetric("eddy-currents", "complex", complex_systems.eddy_currents, dict(), dict(dimension=3), dict(contrast=100.0, frequency=1e5), dict(frequency=10.0)),
    symmetric("quantum-step", "complex", complex_systems.quantum_step, dict(), dict(dimension=3, step=0.1), dict(step=30.0), dict(depth=10.0, step=5.0)),
    symmetric("resolvent", "complex", complex_systems.resolvent, dict(), dict(disorder=2.0, width=0.5), dict(dimension=2, energy=3.0), dict(disorder=20.0)),
    general("magnetic", "complex", complex_systems.magnetic, dict(), dict(width=0.5), dict(disorder=6.0, flux=0.2)),
    symmetric("photons", "complex", complex_systems.photons, dict(), dict(dimension=2, frequency=10.0), dict(absorption=1e-3, deviation=1.5)),
    general("oscillating-flow", "complex", complex_systems.oscillating_flow, dict(), dict(frequency=1e4), dict(dimension=3, frequency=100.0, peclet=5.0)),
    symmetric("impedances", "complex", complex_systems.impedances, dict(), dict(kind="roads", spread=1.0), dict(frequency=100.0, kind="geometric"), dict(kind="preferential")),
    general("phase-shifters", "complex", complex_systems.impedances, dict(shifters=0.1), dict(kind="roads", shifters=0.02, spread=1.0)),
    general("generating-function", "complex", complex_systems.generating_function, dict(), dict(angle=0.01), dict(kind="roads", radius=0.9999), dict(kind="small-world", radius=0.9)),
    general("wilson", "complex", complex_systems.wilson, dict(), dict(disorder=0.1, mass=0.01), dict(mass=1.0)),
    symmetric("transformed-heat", "complex", complex_systems.transformed_heat, dict(), dict(dimension=3, radius=1e4), dict(order=2, radius=1e5), dict(angle=1.0, spread=3.0)),
    general("crystal", "complex", complex_systems.crystal, dict(), dict(dimension=3, loss=0.1), dict(momentum=0.1, points_per_wave=40.0)),
    general("random-complex", "complex", complex_systems.random_complex, dict(), dict(dominance=0.5), dict(dominance=3.0, per_row=20)),
    symmetric("own-helmholtz", "complex", ours.generated, dict(spec="helmholtz2d", k=40), dict(spec="helmholtz3d", dimension=3, k=10), dict(damping=0.3, spec="helmholtz2d", k=40),
              dict(contrast=3, spec="helmholtz2d", k=20)),
    symmetric("own-maxwell", "complex", ours.generated, dict(spec="maxwell3d", dimension=3, per_point=3)),
    general("own-circuit-ac", "complex", ours.generated, dict(spec="circuit-ac", dimension=1, per_point=1.03)),
    general("own-complex-transport", "complex", ours.generated, dict(spec="transport2d"), dict(eta=0.3, spec="transport2d")),
    # The library's own generators
    spd("own-poisson", "own", ours.generated, dict(spec="poisson2d-5"), dict(spec="poisson3d-7", dimension=3), dict(spec="poisson3d-27", dimension=3)),
    general("own-elliptic", "own", ours.generated, dict(spec="elliptic2d-5"), dict(spec="elliptic3d-7", dimension=3), dict(reaction=-50, spec="elliptic2d-5"),
            dict(convection=1000, spec="elliptic2d-5")),
    general("own-convection", "own", ours.generated, dict(spec="convection2d", peclet=1000), dict(spec="convection3d", dimension=3, peclet=100),
            dict(spec="convection2d", peclet=100000), dict(spec="convection2d", peclet=50, upwind=0), dict(spec="convection3d", dimension=3, peclet=1e4, recirculating=0)),
    spd("own-anisotropic", "own", ours.generated, dict(spec="anisotropic2d"), dict(spec="anisotropic3d", dimension=3), dict(spec="anisotropic2d", epsilon=1e-4, angle=0)),
    spd("own-jump", "own", ours.generated, dict(spec="jump2d"), dict(spec="jump3d", dimension=3), dict(spec="jump2d", ratio=1e6, seed=3)),
    spd("own-elasticity", "own", ours.generated, dict(spec="elasticity3d", dimension=3, per_point=3), dict(spec="elasticity3d", dimension=3, per_point=3, nu=0.49)),
    spd("own-tetrahedra", "own", ours.generated, dict(spec="tetrahedra3d", dimension=3), dict(spec="tetrahedra3d", dimension=3, seed=7)),
    general("own-random", "own", ours.generated, dict(spec="random", dimension=1), dict(spec="random", dimension=1, dominance=0.6), dict(spec="random", dimension=1, dominance=3)),
    spd("own-random-spd", "own", ours.generated, dict(spec="random-spd", dimension=1), dict(spec="random-spd", dimension=1, per_row=30)),
    symmetric("own-stokes", "own", ours.generated, dict(spec="stokes2d", per_point=3), dict(spec="stokes3d", dimension=3, per_point=4),
              dict(spec="stokes2d", per_point=3, ratio=1e4)),
    general("own-oseen", "own", ours.generated, dict(spec="oseen2d", per_point=3), dict(spec="oseen3d", dimension=3, per_point=4, reynolds=10),
            dict(spec="oseen2d", per_point=3, reynolds=1000)),
    symmetric("own-darcy", "own", ours.generated, dict(spec="darcy2d", per_point=3), dict(spec="darcy3d", dimension=3, per_point=4),
              dict(spec="darcy2d", per_point=3, ratio=1e6, seed=5)),
    symmetric("own-kkt", "own", ours.generated, dict(spec="kkt", per_point=3), dict(spec="kkt", per_point=3, mu=1e-2), dict(spec="kkt", per_point=3, mu=1e-10)),
    spd("own-biharmonic", "own", ours.generated, dict(spec="biharmonic2d")),
    spd("own-heat", "own", ours.generated, dict(spec="heat3d", dimension=3), dict(spec="heat3d", dimension=3, dt=1e-5), dict(spec="heat3d", dimension=3, dt=1.0)),
    spd("own-curl-curl", "own", ours.generated, dict(spec="curlcurl3d", dimension=3, per_point=3), dict(spec="curlcurl3d", dimension=3, per_point=3, conductivity=1e-4),
        dict(spec="curlcurl3d", dimension=3, per_point=3, conductivity=1e4)),
    general("own-dg-advection", "own", ours.generated, dict(spec="dg-advection", per_point=9), dict(spec="dg-advection", per_point=4, order=1, reaction=0.01),
            dict(spec="dg-advection", per_point=25, order=4, recirculating=0)),
    general("own-drift-diffusion", "own", ours.generated, dict(spec="drift-diffusion", per_point=3), dict(spec="drift-diffusion", per_point=3, bias=-10),
            dict(spec="drift-diffusion", per_point=3, bias=1.2, length=20)),
    general("own-circuit", "own", ours.generated, dict(spec="circuit", dimension=1, per_point=1.03), dict(spec="circuit", dimension=1, per_point=1.03, range=12),
            dict(spec="circuit", dimension=1, per_point=1.12, sources=0.1, controlled=0.5)),
    spd("own-geodesy", "own", ours.normal_equations, dict(), dict(spread=3), dict(spread=0, jitter=0)),
    # Real ones, where a folder of them is given
    *(general("real", "real", real.of_file, dict(name=name)) for name in real.names()),
)


def recipes(families=None, most_rows=max(SIZES)):
    """The recipes of all systems, cheap and different ones first: families take turns. The first pass makes one system of each size,
    with one setting after the other; the next passes shift settings, and later ones seeds. A pass comes when that of two sizes larger does."""
    planned = []
    wanted = [family for family in FAMILIES if not families or family.name in families or family.kind in families]
    for (place, size), shift in itertools.product(enumerate(SIZES), range(12)):
        for order, family in enumerate(wanted):
            seed, setting = divmod(shift, len(family.settings))
            if size <= min(most_rows, family.most):
                parameters = family.settings[(setting + place) % len(family.settings)]
                planned.append((place + 2 * shift, place, order, Recipe(family, parameters, size, seed)))
    return [recipe for *_, recipe in sorted(planned, key=lambda entry: entry[:3])]


def value_of(word):
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            pass
    return {"True": True, "False": False}.get(word, word)


def recipe_of(name):
    """The recipe of a system's name. Raises KeyError for a family that is not there."""
    family, words, size, seed = name.split(":")
    parameters = dict(word.split("=") for word in words.split(",") if word)
    return Recipe({one.name: one for one in FAMILIES}[family], {key: value_of(word) for key, word in parameters.items()}, int(size), int(seed))


def make(recipe):
    """The same system for the same recipe, whatever was made before."""
    rng = np.random.default_rng([zlib.crc32(recipe.name.rsplit(":", 2)[0].encode()), recipe.size, recipe.seed])
    made = recipe.family.make(recipe.size, rng, **recipe.parameters)
    matrix, b = made if isinstance(made, tuple) else (made, None)
    matrix = sp.csr_matrix(matrix, dtype=np.complex128 if np.iscomplexobj(matrix) else np.float64)
    matrix.sum_duplicates()
    if recipe.family.symmetric:
        matrix = ((matrix + matrix.T) / 2).tocsr()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    if b is None:
        b = matrix @ rng.uniform(-1, 1, matrix.shape[0])
    return System(recipe, matrix, np.asarray(b, dtype=matrix.dtype))


def main():
    if len(sys.argv) > 1:
        system = make(recipe_of(sys.argv[1]))
        print(f"{system.recipe.name}: {system.matrix.shape[0]} rows, {system.matrix.nnz} nonzeros")
        return
    for family in FAMILIES:
        print(f"{family.name:24} {family.kind:16} {len(family.settings)} settings: {(family.make.__doc__ or '-').strip().splitlines()[0]}")


if __name__ == "__main__":
    main()
