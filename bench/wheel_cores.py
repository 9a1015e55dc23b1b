#!/usr/bin/env python3
"""What the second core of a wheel gains, the one for x86-64-v3: both solve the same systems by turns.

usage: bench/wheel_cores.py [--rounds 5] [SYSTEM ...]

Run by a Python that has the wheel, on a processor of x86-64-v3. SYSTEM is a generator, and after blanks options of ayatori.solve:
"poisson3d-7:n=40 method=cg preconditioner=amg". b is of ones. Every figure is of a new process with one thread, which solves four times:
the processor time of the shortest solve after the first. Medians of the rounds. Without options the cores might choose differently.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

SYSTEMS = ("poisson2d-5:n=300 method=cg preconditioner=amg", "poisson3d-7:n=40 method=cg preconditioner=amg",
           "poisson3d-27:n=40 method=cg preconditioner=amg", "tetrahedra3d:n=32 method=cg preconditioner=block-ilu0",
           "elasticity3d:n=16 method=cg preconditioner=ic", "convection3d:n=40,peclet=100 method=gmres preconditioner=ilut",
           "convection3d:n=40,peclet=100 method=gmres preconditioner=none", "poisson3d-7:n=40 method=cg preconditioner=none",
           "random:n=50000 method=bicgstab preconditioner=jacobi", "helmholtz2d:n=60 method=cocg preconditioner=none")
# Core -> how the loader is made to take it.
CORES = {"for any": {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2"}, "x86-64-v3": {}}


def measure(system):
    """In a process of its own."""
    import ayatori
    import numpy as np

    matrix, *settings = system.split()
    A = ayatori.load(matrix)
    b = np.ones(A.shape[0])
    milliseconds = []
    for _ in range(4):
        begin = time.process_time()
        result = ayatori.solve(A, b, profile="none", **dict(setting.split("=") for setting in settings))
        milliseconds.append(1e3 * (time.process_time() - begin))
        if not result.converged:
            raise SystemExit(f"{system}: {result.status}")
    print(json.dumps({"ms": min(milliseconds[1:]), "is_for_v3": "x86-64-v3" in ayatori.build_info()["flags"]}))


def in_a_process(system, core):
    environment = os.environ | {"OMP_NUM_THREADS": "1"} | CORES[core]
    done = subprocess.run([sys.executable, __file__, "--measure", system], stdout=subprocess.PIPE, text=True, env=environment)
    if done.returncode != 0:
        raise SystemExit(1)
    told = json.loads(done.stdout)
    if told["is_for_v3"] != (core == "x86-64-v3"):
        raise SystemExit("want a wheel with two cores, and a processor of x86-64-v3")
    return told


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", default=SYSTEMS)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--measure", metavar="SYSTEM", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(options.measure)
    print("| system | for any, ms | x86-64-v3, ms | ratio |\n|---|---|---|---|")
    ratios = []
    for system in options.systems:
        told = {core: [] for core in CORES}
        for turn in range(options.rounds):
            for core in CORES if turn % 2 == 0 else reversed(CORES):
                told[core].append(in_a_process(system, core))
        before, now = (statistics.median(one["ms"] for one in told[core]) for core in CORES)
        ratios.append(now / before)
        print(f"| {system} | {before:.3g} | {now:.3g} | {ratios[-1]:.2f} |", flush=True)
    print(f"\nGeometric mean of the ratios: {statistics.geometric_mean(ratios):.2f}")
    return None


if __name__ == "__main__":
    main()
