"""Every claim of convergence is held against exact rational arithmetic. Run under mpirun; not collected by pytest.

    mpirun -n 3 python claims.py [--systems N] [--first NUMBER]

On one rank the drop-ins for SciPy and a Solver with several right-hand sides are tested beside `solve`. A false claim is an error,
and so are too few claims where doubles surely hold a solution.
"""

from __future__ import annotations

import argparse
import collections
import sys
from fractions import Fraction

import ayatori
import numpy as np
import scipy.sparse as sparse
import scipy.sparse.linalg
from exact import BoundaryRows, ExactSystem, is_root_within
from hard_systems import HardSystem, hard_system
from mpi4py import MPI

LEAST_SHARE = 0.6  # of claims, where there is a solution

comm = MPI.COMM_WORLD


class Counts:
    """What was claimed, of all systems and of the well-posed ones."""

    def __init__(self) -> None:
        self.of: dict[str, collections.Counter] = {}
        self.faults: list[str] = []

    def add(self, what: str, is_claimed: bool, is_well_posed: bool) -> None:
        self.of.setdefault(what, collections.Counter()).update(
            systems=1, claims=int(is_claimed), well_posed=int(is_well_posed), claimed_of_them=int(is_claimed and is_well_posed))

    def fault(self, what: str, number: int, system: HardSystem, text: str) -> None:
        self.faults.append(f"{what}, system {number} ({system.kind}, rtol {system.rtol:.3g}): {text}")

    def merge(self, others: Counts) -> None:
        for what, counter in others.of.items():
            self.of.setdefault(what, collections.Counter()).update(counter)
        self.faults += others.faults


def check_result(counts: Counts, what: str, number: int, system: HardSystem, exact: ExactSystem, result: ayatori.SolveResult,
                 x: np.ndarray) -> None:
    """`x`: of all ranks."""
    counts.add(what, result.converged, system.is_well_posed)
    if result.converged != (result.status == "converged"):
        counts.fault(what, number, system, f"converged is {result.converged} and the status {result.status!r}")
    if not np.all(np.isfinite(x)):
        counts.fault(what, number, system, "x is not finite")
    elif result.converged and not exact.meets(x, system.rtol):
        counts.fault(what, number, system, f"false: {result.relative_residual} +- {result.residual_error_bound} was said")
    elif result.residual_error_bound is not None and not exact.is_within(x, result.relative_residual, result.residual_error_bound):
        counts.fault(what, number, system, f"the residual is not {result.relative_residual} +- {result.residual_error_bound}")


    elif result.boundary_rows > 0:
        check_others(counts, what, number, system, exact, result, x)


def check_others(counts: Counts, what: str, number: int, system: HardSystem, exact: ExactSystem, result: ayatori.SolveResult,
                 x: np.ndarray) -> None:
    """What is said of the rows beside boundary rows, which meet the tolerance against what is left for them."""
    boundary = BoundaryRows(system.A, system.b, exact)
    if boundary.count != result.boundary_rows or not boundary.is_measurable:
        return  # rounding decides, or the range of doubles
    residual = boundary.residual_squared(x)
    counts.add(f"{what}, other rows", result.converged, system.is_well_posed)
    said = result.report["boundary_rows"]["relative_residual_of_others"]
    if result.converged and residual > (Fraction(system.rtol) * (1 + Fraction(1, 10**13))) ** 2:
        counts.fault(what, number, system, f"false of the other rows: {said} was said")
    if exact.b_squared > boundary.reference_squared * 10**40:
        return  # the bound, which is one of all rows, says nothing about these
    bound = float(exact.b_squared / boundary.reference_squared) ** 0.5 * result.residual_error_bound + 1e-12 * said
    if not is_root_within(residual, said, bound):
        counts.fault(what, number, system, f"the residual of the other rows is not {said} +- {bound}")


def options_for(number: int) -> dict:
    random = np.random.default_rng([number, 7])
    options = {"max_iterations": 3000, "threads": 1, "profile": "none"}
    if random.random() < 0.3:
        options["method"] = str(random.choice(["cg", "bicgstab", "gmres", "minres", "idr", "refined-cg", "refined-gmres"]))
    if random.random() < 0.3:
        options["preconditioner"] = str(random.choice(["none", "jacobi", "ilut", "ic", "ssor"]))
    return options


def test_solve(numbers: range, counts: Counts) -> None:
    """All ranks together; each checks its share."""
    for number in numbers:
        system = hard_system(number)
        n = len(system.b)
        bounds = np.linspace(0, n, comm.size + 1).astype(int) ** 2 // n  # uneven
        mine = slice(bounds[comm.rank], bounds[comm.rank + 1])
        guess = None if system.x0 is None else system.x0[mine]
        result = ayatori.solve(system.A[mine], system.b[mine], guess, comm=comm, rtol=system.rtol, **options_for(number))
        x = np.concatenate(comm.allgather(result.x))
        if number % comm.size == comm.rank:
            check_result(counts, "solve", number, system, ExactSystem(system.A, system.b), result, x)


def test_solver(numbers: range, counts: Counts) -> None:
    """Several right-hand sides, one after the other with what was kept."""
    for number in numbers:
        system = hard_system(number)
        solver = ayatori.Solver(system.A, rtol=system.rtol, max_iterations=3000, threads=1, profile="none")
        for b in (system.b, system.b[::-1].copy(), np.arange(1.0, len(system.b) + 1)):
            one = HardSystem(**{**vars(system), "b": b})
            result = solver.solve(b)
            check_result(counts, "Solver", number, one, ExactSystem(system.A, b), result, result.x)


def preconditioner(system: HardSystem, random: np.random.Generator) -> object:
    """None, the diagonal, or complete factors, with which the first step comes to the limit of double precision."""
    kind = random.integers(3)
    diagonal = np.abs(system.A.diagonal())
    if kind == 1 and np.all(diagonal > 1e-300):
        return sparse.diags_array(1 / diagonal)
    if kind == 2 and system.condition < 1e15 and (system.definite or not system.symmetric):
        try:
            factors = scipy.sparse.linalg.splu(sparse.csc_array(system.A))
        except RuntimeError:
            return None
        return scipy.sparse.linalg.LinearOperator(system.A.shape, factors.solve, dtype=system.A.dtype)
    return None


def test_drop_ins(numbers: range, counts: Counts) -> None:
    for number in numbers:
        random = np.random.default_rng([number, 11])
        is_complex = random.random() < 0.4
        system = hard_system(number, is_complex)
        A, b, x0 = system.A, system.b, system.x0
        if random.random() < 0.1 and np.abs(A.data).max() < 1e30 and np.abs(b).max() < 1e30:
            single = np.complex64 if is_complex else np.float32
            A, b = A.astype(single), b.astype(single)
            with np.errstate(all="ignore"):
                x0 = None if x0 is None else x0.astype(single)
            if x0 is not None and not np.isfinite(x0).all():
                x0 = None  # beyond single precision: it is refused
        if not np.any(b):
            continue
        M = preconditioner(system, random)
        atol = float(np.abs(b).max() * 10.0 ** random.uniform(-14, -2)) if random.random() < 0.2 else 0.0
        exact = ExactSystem(A, b)
        for method in (ayatori.cg, ayatori.minres, ayatori.bicgstab, ayatori.gmres):
            what = f"{method.__name__}{', complex' if is_complex else ''}"
            options, claimed = {"rtol": system.rtol, "M": M}, exact
            shift = 0.0
            if method is ayatori.minres:
                if random.random() < 0.3:
                    shift = options["shift"] = float(np.abs(A.data).max() * 10.0 ** random.uniform(-20, 0))
                    claimed = ExactSystem(A, b, shift)
            else:
                options["atol"] = atol
            with np.errstate(all="ignore"):
                x, info = method(A, b, x0, **options)
            suits = {"cg": system.definite, "minres": system.symmetric and not shift}.get(method.__name__, True)
            is_single = x.dtype in (np.float32, np.complex64)
            counts.add(what, info == 0, suits and not is_single and system.is_well_posed and system.condition < 1e4
                       and 1e-60 < np.abs(A.data).max() < 1e60)
            if info == 0 and not claimed.meets(x, system.rtol, options.get("atol", 0.0)):
                counts.fault(what, number, system, "false")


def report(counts: Counts) -> bool:
    """Whether all is well."""
    print(f"{'ranks ' + str(comm.size):20} systems  claims  refusals  well-posed  claimed of them")
    for what, of in sorted(counts.of.items()):
        print(f"{what:20} {of['systems']:7} {of['claims']:7} {of['systems'] - of['claims']:9} {of['well_posed']:11} {of['claimed_of_them']:16}")
        if of["claimed_of_them"] < LEAST_SHARE * of["well_posed"]:
            counts.faults.append(f"{what}: fewer than {LEAST_SHARE:.0%} of the well-posed systems are claimed")
        if of["systems"] >= 100 and of["well_posed"] < 0.02 * of["systems"]:
            counts.faults.append(f"{what}: too few systems are well-posed for that to tell anything")
    print(f"false claims and other faults: {len(counts.faults)}")
    for fault in counts.faults[:20]:
        print(fault)
    return not counts.faults


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--systems", type=int, default=440)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    numbers = range(arguments.first, arguments.first + arguments.systems)
    counts = Counts()
    test_solve(numbers, counts)
    if comm.size == 1:
        test_solver(numbers[::2], counts)
        test_drop_ins(numbers, counts)
    all_counts = comm.gather(counts)
    is_well = True
    if comm.rank == 0:
        for other in all_counts[1:]:
            counts.merge(other)
        is_well = report(counts)
    return 0 if comm.bcast(is_well) else 1


if __name__ == "__main__":
    sys.exit(main())
