#!/usr/bin/env python3
"""Redoes Imamura's tables 1 and 4: the eigensolver on 32 CPUs of an Altix, by the MPI's collectives and by tuned schedules.

usage: bench/papers/imamura.py [--simulated build/simgrid] [--ayatori build/dev/cli/ayatori] [--orders 1000 4000 6000]
                               [--grids 1x32 4x8] [--samples 9] [--folder FOLDER]
       bench/papers/imamura.py --samples 0 [--reductions one-stage two-stage] ...

The machine is altix-32 of bench/simulated/platforms.py, made from the paper's table 3. Computing takes no time there, so
that what is simulated is what the ranks wait for; for "in all" the paper's own seconds of computing are added. The MPI's
choice of algorithms is that of SMPI, of Open MPI and of MPICH, the best of which is compared with. The schedules are
those of bench/golden, and for the rows and columns of a grid what `ayatori collectives adapt` makes of them by the
published profile. What is left to the MPI beside them, and which of them are taken, is chosen here: all by each of the
MPI's choices, then each one left out in turn as long as this makes it faster. If the MPI alone is faster still, there is
no table. With --all-or-none, none is left out alone.

With --samples K (9), K panels of the reduction are run and the others interpolated: bench/papers/eigen_messages.cpp. With
--samples 0, whole problems are solved, and every result is verified. Deterministic either way.
"""

import argparse
import itertools
import json
import pathlib
import subprocess
import sys
import tempfile
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import runs  # noqa: E402 - of the folder above
from simulated import platforms  # noqa: E402
from simulated.collectives import Simulator  # noqa: E402
from simulated.solve import SELECTORS, table_of  # noqa: E402

RANKS = 32
PLATFORM = f"altix-{RANKS}"
REDUCTIONS = ("one-stage", "two-stage")
OPERATIONS = ("broadcast", "allreduce", "allgather", "alltoall")  # that the solver calls, and there are schedules for
BLOCK = 32
# By order: seconds in all, in Bcast, in Allreduce, in redistribution; with the vendor's collectives and with the paper's.
PAPER = {1000: ((0.187, 0.030, 0.081, 0.021), (0.180, 0.029, 0.074, 0.021)),
         4000: ((1.745, 0.140, 0.561, 0.218), (1.519, 0.183, 0.426, 0.205)),
         6000: ((4.303, 0.247, 1.158, 0.442), (3.709, 0.333, 0.836, 0.410))}


def computing(order):
    """The paper's seconds in all without messages, the mean of both of its runs."""
    return sum(every - sum(messages) for every, *messages in PAPER[order]) / 2


def tables(options, grid):
    """Files of schedules for all ranks, and for the rows and columns of the grid, one for each operation."""
    files = []
    for file in whole_tables(options, grid):
        for entry in json.loads(file.read_text(encoding="utf-8")):
            if entry["operation"] not in OPERATIONS:
                continue
            files.append(options.folder / f"{grid}.{entry['ranks']}.{entry['operation']}.json")
            files[-1].write_text(json.dumps([entry]), encoding="utf-8")
    return tuple(files)


def whole_tables(options, grid):
    whole = options.folder / "schedules.json"
    whole.write_text(json.dumps(table_of(PLATFORM)), encoding="utf-8")
    parts = sorted({int(side) for side in grid.split("x")} - {1, RANKS})
    if not parts:
        return [whole]
    adapted = options.folder / f"schedules.{grid}.json"
    done = subprocess.run([str(options.ayatori), "collectives", "adapt", str(whole), "--ranks", *map(str, parts),
                           "--profile", "altix3700bx2", "--output", str(adapted)],
                          text=True, capture_output=True, check=False)
    if done.returncode != 0:
        raise runs.Rejected(f"collectives adapt: {done.stderr[-500:]}")
    return [whole, adapted]


def sample(options, simulator, order, grid, selector, schedules):
    """As solve(), from samples."""
    result = options.folder / "messages.json"
    result.unlink(missing_ok=True)
    status, said = simulator.run([order, grid, BLOCK, options.samples, ":".join(map(str, schedules)) or "none", result],
                                 [f"--cfg=smpi/coll-selector:{selector}"])
    if status != 0 or not result.exists():
        raise runs.Rejected(f"n = {order}, {grid}, {selector}: {said[-500:]}")
    found = json.loads(result.read_text(encoding="utf-8"))
    options.pending = found["pending"]
    parts = [found[name] for name in ("broadcast", "allreduce", "redistribution")]
    return [*parts, max(0, found["total"] - sum(parts))]


def solve(options, simulator, order, grid, reduction, selector, schedules=()):
    """(broadcast, allreduce, redistribution, all others): seconds of messages."""
    if options.samples > 0:
        return sample(options, simulator, order, grid, selector, schedules)
    result = options.folder / "eigen.json"
    result.unlink(missing_ok=True)
    collectives = ":".join(map(str, schedules)) or "none"
    status, said = simulator.run(["eigen", f"random:n={order}", "--grid", grid, "--reduction", reduction, "--threads", "1", "--quiet",
                                  "--collectives", collectives, "--json", result],
                                 [f"--cfg=smpi/coll-selector:{selector}"])
    if status != 0 or not result.exists():
        raise runs.Rejected(f"n = {order}, {grid}, {reduction}, {selector}: {said[-500:]}")
    solved = json.loads(result.read_text(encoding="utf-8"))
    if not solved["verified"]:
        raise runs.Rejected(f"n = {order}, {grid}, {reduction}, {selector}: not verified")
    operations = {name: cost["seconds"] for name, cost in solved["collective_operations"].items()}
    found = [operations.get("broadcast", 0), operations.get("allreduce", 0), solved["seconds"]["redistribution"]]
    return [*found, max(0, solved["seconds"]["total"] - sum(found))]


def pending_row(name, seconds):
    print(f"| {name}, sums along rows that computing could go on beside (PendingSum) | | | {seconds:.4f} | | | | |", flush=True)


def row(name, messages, base, calculating):
    all_messages = sum(messages)
    cells = [f"{calculating + all_messages:.4f}" if calculating else "", *(f"{part:.4f}" for part in messages), f"{all_messages:.4f}"]
    gain = f"{100 * (1 - (calculating + all_messages) / (calculating + sum(base))):.1f} %" if base and calculating else ""
    print(f"| {name} | " + " | ".join(cells) + f" | {gain} |", flush=True)


def choose(options, run, grid, by_mpi):
    """(seconds, selector, files) of the fastest choice of schedules; `run` gives the seconds of a selector with files."""
    files = tables(options, grid)
    with_all = {selector: run(selector, files) for selector in options.selectors}
    selector = min(with_all, key=lambda name: sum(with_all[name]))
    best = with_all[selector]
    is_better = not options.all_or_none
    while is_better and files:
        is_better = False
        for file in files:
            fewer = tuple(other for other in files if other != file)
            found = run(selector, fewer)
            if sum(found) < sum(best):
                best, files, is_better = found, fewer, True
                break
    alone = min(by_mpi, key=lambda name: sum(by_mpi[name]))
    return (by_mpi[alone], alone, ()) if sum(by_mpi[alone]) <= sum(best) else (best, selector, files)


def redo(options, simulator, order):
    calculating = computing(order)
    print(f"\n### n = {order}, {RANKS} CPUs\n")
    print("| seconds | in all | Bcast | Allreduce | redistribution | other messages | messages | less in all |")
    print("|" + "---|" * 8)
    for name, (every, *messages) in zip(("paper, vendor's MPI", "paper, tuned"), PAPER[order], strict=True):
        less = f"{100 * (1 - every / PAPER[order][0][0]):.1f} %" if name.endswith("tuned") else ""
        print(f"| {name} | {every:.3f} | " + " | ".join(f"{part:.3f}" for part in messages)
              + f" | | {sum(messages):.3f} | {less} |")
    for grid, reduction in itertools.product(options.grids, options.reductions):
        # What two stages compute the paper does not tell.
        seconds = calculating if reduction == "one-stage" else None
        name = f"{grid}, {reduction}"
        by_mpi = {selector: solve(options, simulator, order, grid, reduction, selector) for selector in options.selectors}
        best = min(by_mpi.values(), key=sum)
        for selector, messages in by_mpi.items():
            row(f"{name}, the MPI's: {selector}", messages, None, seconds)
        found, selector, files = choose(options, lambda *chosen, grid=grid, reduction=reduction:
                                        solve(options, simulator, order, grid, reduction, *chosen), grid, by_mpi)
        taken = ", ".join(file.name.removeprefix(f"{grid}.").removesuffix(".json").replace(".", " ") for file in files)
        if options.samples > 0:
            pending_row(name, options.pending)
        row(f"{name}, schedules ({taken or 'none'}; {selector} for the rest)", found, best, seconds)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ayatori", type=pathlib.Path, default=runs.ROOT / "build" / "dev" / "cli" / "ayatori")
    parser.add_argument("--simulated", type=pathlib.Path, default=runs.ROOT / "build" / "simgrid",
                        help="the build of the preset simgrid, with the targets ayatori_cli and eigen_messages")
    parser.add_argument("--smpirun", default="smpirun")
    parser.add_argument("--orders", nargs="+", type=int, choices=PAPER, default=[1000])
    parser.add_argument("--grids", nargs="+", default=["1x32", "4x8"])
    parser.add_argument("--reductions", nargs="+", choices=REDUCTIONS, default=REDUCTIONS[:1])
    parser.add_argument("--samples", type=int, default=9, help="panels that are run; 0: all, whole solves")
    parser.add_argument("--selectors", nargs="+", choices=SELECTORS, default=SELECTORS, help="the MPI's choices")
    parser.add_argument("--all-or-none", action="store_true", help="leave no single table out: a third of the time")
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--time-limit", type=float, default=3600, help="seconds of processor time of a simulation")
    options = parser.parse_args()
    if options.samples < 0 or (options.samples > 0 and options.reductions != REDUCTIONS[:1] and options.reductions != ["one-stage"]):
        parser.error("--samples: 0, or those of the one stage")
    try:
        with tempfile.TemporaryDirectory() as name:
            options.folder = options.folder or pathlib.Path(name)
            options.folder.mkdir(parents=True, exist_ok=True)
            common = types.SimpleNamespace(smpirun=options.smpirun, ayatori=options.simulated / ("bench/eigen_messages" if options.samples > 0 else "cli/ayatori"),
                                           time_limit=options.time_limit, memory=16)
            simulator = Simulator(common, platforms.platform(PLATFORM), options.folder)
            for order in options.orders:
                redo(options, simulator, order)
    except runs.Rejected as reason:
        print(f"imamura.py: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
