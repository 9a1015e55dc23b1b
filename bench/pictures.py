#!/usr/bin/env python3
"""Makes the pictures of the documentation, each from a run of the program.

usage: bench/pictures.py [--only solve race collective links forecast sizes] [--folder docs/pictures]
                         [--ayatori build/release/cli/ayatori] [--sizes FILE]

  solve       what a terminal shows of a solve
  race        the residual of the same solve by time, in the colour of the arm at work
  collective  a broadcast on 16 ranks, round by round
  links       who talks to whom and the load of links, before and after a placement
  forecast    the time of an iteration by nodes, with the error that forecasts had beside simulations
  sizes       time by unknowns beside peers, from FILE, which `bench/peers/solve.py --json FILE` has written

Threads: OMP_NUM_THREADS. What times are in a picture is of the machine that it was made on; the pages say which.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import drawing  # noqa: E402
import runs  # noqa: E402

SYSTEM = "jump3d:n=60,ratio=1e6"
# The largest error of an iteration that was forecast, beside its simulation (docs/measured/forecasts.md).
FORECAST_ERROR = 0.047


def run(ayatori, *arguments):
    """Standard output and error of a command that succeeds, without profile and lessons of this machine's user."""
    environment = os.environ | {"AYATORI_PROFILE": "none", "AYATORI_KNOWLEDGE": "none"}
    return subprocess.run([ayatori, *arguments], env=environment, check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT).stdout


def solve_and_race(ayatori, wanted, folder):
    with tempfile.TemporaryDirectory() as place:
        said = run(ayatori, "solve", SYSTEM, "--json", f"{place}/r.json")
        result = json.loads(pathlib.Path(place, "r.json").read_text())
    if "solve" in wanted:
        (folder / "solve.svg").write_text(drawing.terminal([f"$ ayatori solve {SYSTEM}", *said.rstrip().splitlines()]))
    if "race" in wanted:
        (folder / "race.svg").write_text(race(result))


def race(result):
    series = []
    for part in result["history"]:
        line = [(s, r) for s, r in zip(part["seconds"], part["relative_residuals"]) if r]
        if not line:
            continue
        if series and series[-1][0] == part["choice"]:
            series[-1][1].extend(line)
        else:
            series.append((part["choice"], line))
    return drawing.curves(f"{result['matrix']['source']}: the race of candidates", "seconds", "relative residual", series,
                          limits=[("tolerance", result["rtol"])])


def collective(ayatori, folder):
    run(ayatori, "collectives", "show", "bcast", "--word", "MMSCCS", "--ranks", "16", "--svg", str(folder / "collective.svg"))


def links(ayatori, folder):
    run(ayatori, "map", "poisson3d-27:n=32", "--partition", "graph", "--ranks", "64", "--ranks-per-node", "1", "--network", "torus:8x8",
        "--svg", str(folder / "links.svg"))


def forecast(ayatori, folder):
    with tempfile.TemporaryDirectory() as place:
        run(ayatori, "predict", "poisson3d-27:n=60", "--nodes", "1..1024", "--network", "torus:8x8x16", "--profile", "infiniband-2005",
            "--json", f"{place}/f.json")
        points = json.loads(pathlib.Path(place, "f.json").read_text())["points"]

    def line(value):
        return [(point["nodes"], value(point)) for point in points]

    efficiency = line(lambda point: point["efficiency"])
    messages = line(lambda point: sum(point["phases"][phase] for phase in ("halo latency", "halo bandwidth", "reductions")) / point["seconds"])
    band = [(nodes, value / (1 + FORECAST_ERROR), value / (1 - FORECAST_ERROR)) for nodes, value in efficiency]
    (folder / "forecast.svg").write_text(
        drawing.curves("poisson3d-27:n=60, an iteration of cg, infiniband-2005", "nodes", "share",
                       [("efficiency", efficiency), ("time in messages", messages)], log_x=True, log_y=False,
                       bands=[(f"error seen: {100 * FORECAST_ERROR:.1f} %", band)]))


def sizes(figures, folder):
    """figures: what bench/peers/solve.py has measured of one kind of system, on one rank."""
    entries = sorted((entry for entry in figures["entries"] if entry["ranks"] == 1), key=lambda entry: entry["rows"])
    solvers = list(dict.fromkeys(solver for entry in entries for solver in entry["solvers"]))
    series = [(solver, [(entry["rows"], entry["solvers"][solver]["seconds"]) for entry in entries
                        if solver in entry["solvers"] and entry["solvers"][solver]["solved"]]) for solver in solvers]
    kind = entries[0]["problem"].partition(":")[0]
    (folder / "sizes.svg").write_text(drawing.curves(f"{kind}: time by size, one core", "unknowns", "seconds",
                                                     [(name, line) for name, line in series if line], log_x=True))


def main():
    pictures = ["solve", "race", "collective", "links", "forecast", "sizes"]
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=pictures, default=pictures)
    parser.add_argument("--folder", type=pathlib.Path, default=runs.ROOT / "docs" / "pictures")
    parser.add_argument("--ayatori", default=str(runs.ROOT / "build" / "release" / "cli" / "ayatori"))
    parser.add_argument("--sizes", type=pathlib.Path, help="figures of bench/peers/solve.py; without them that picture is left out")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if {"solve", "race"} & set(options.only):
        solve_and_race(options.ayatori, options.only, options.folder)
    for name, make in (("collective", collective), ("links", links), ("forecast", forecast)):
        if name in options.only:
            make(options.ayatori, options.folder)
    if options.sizes and "sizes" in options.only:
        sizes(json.loads(options.sizes.read_text()), options.folder)


if __name__ == "__main__":
    main()
