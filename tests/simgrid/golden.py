"""golden.py PLATFORM SMPIRUN AYATORI: points of bench/golden simulated again; the simulator is deterministic.

The best rival and the first vendor's choice of some sizes, and our own plans where they are kept.
"""

import argparse
import pathlib
import sys
import tempfile

BENCH = pathlib.Path(__file__).resolve().parent.parent.parent / "bench"
sys.path.insert(0, str(BENCH))

from simulated import collectives  # noqa: E402 - of the folder above
from simulated import platforms  # noqa: E402

SIZES = ("8", "4096", "32768")
TOLERANCE = 1e-3


def check(what, found, golden):
    if isinstance(found, str) or abs(found - golden) > TOLERANCE * golden:
        sys.exit(f"{what}: {found}, but bench/golden says {golden:.4g} s")
    print(f"{what}: {golden:.4g} s")


def check_operation(simulator, operation, rivals, ours):
    for size in filter(ours["sizes"].get, SIZES):
        entry = ours["sizes"][size]
        schedules = {**ours["schedules"], "best": [entry["plan"]]}
        check(f"ours, {operation} of {size} bytes", collectives.time_ours(simulator, schedules)["seconds"], entry["seconds"])
        known = {name: times[size] for name, times in rivals.items() if isinstance(times.get(size), float)}
        for name in (min(known, key=known.get), f"selector {collectives.VENDORS[0]}"):
            found = collectives.time_rival(simulator, operation, name, int(size), {})
            check(f"{name}, {operation} of {size} bytes", found, known[name])


def main():
    name, smpirun, ayatori = sys.argv[1:]
    rivals, ours = (collectives.load(collectives.GOLDEN / f"{name}.{side}.json") for side in ("rivals", "ours"))
    with tempfile.TemporaryDirectory() as folder:
        options = argparse.Namespace(smpirun=smpirun, ayatori=ayatori, time_limit=60, memory=6,
                                     bench_options=collectives.BENCH_OPTIONS)
        simulator = collectives.Simulator(options, platforms.platform(name), pathlib.Path(folder))
        for operation, mine in ours.items():
            check_operation(simulator, operation, rivals[operation]["rivals"], mine)


if __name__ == "__main__":
    main()
