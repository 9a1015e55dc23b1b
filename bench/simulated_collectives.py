#!/usr/bin/env python3
"""The best words against every algorithm of the simulated MPI, on simulated machines: deterministic.

usage: bench/simulated_collectives.py [--platforms gigabit fat_tree altix] [--operations bcast allreduce allgather]
                                      [--sizes 8:4M] [--ayatori build/simgrid/cli/ayatori] [--markdown FILE]

On every platform (tests/simgrid/NAME.xml, whose ranks stand in tests/simgrid/NAME) `ayatori probe` measures the
machine, `ayatori collectives search` finds the best word for every size by the model, and `ayatori collectives bench` times it
against each algorithm that SMPI can be told to use, and against its four copies of vendors' choices. Computing takes
no time here. An algorithm that fails or gives a wrong result is left out, and counted.
"""

import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

import runs

PLATFORMS = runs.ROOT / "tests" / "simgrid"
MODEL = ["--cfg=smpi/simulate-computation:no", "--cfg=network/model:CM02", "--cfg=network/weight-S:0",
         "--cfg=network/crosstraffic:no", "--cfg=smpi/send-is-detached-thresh:1000000000", "--log=root.thresh:warning"]
VENDORS = ("ompi", "mpich", "mvapich2", "impi")
LEFT_OUT = {"arrival_pattern_aware", "arrival_pattern_aware_wait", "arrival_scatter",  # for ranks that come late
          "automatic"}  # tries all others in every call


def simulate(options, platform, words, settings=()):
    command = [options.smpirun, "-platform", PLATFORMS / f"{platform}.xml", "-hostfile", PLATFORMS / platform, *MODEL,
               *settings, options.ayatori, *words]
    try:
        return subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                              timeout=options.time_limit)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", "it takes too long")


def algorithms_of(options, platform, operation):
    """SMPI lists them when it is told to use one that does not exist."""
    said = simulate(options, platform, ["probe", "--quick", "-o", "/dev/null"], [f"--cfg=smpi/{operation}:none"]).stderr
    names = re.search(r"Valid algorithms: ([^.]*)\.", said)
    if not names:
        sys.exit(f"{operation}: SMPI does not list its algorithms: {said}")
    return [name for name in names.group(1).split(", ") if name not in LEFT_OUT]


def race(options, platform, schedules, settings, folder):
    """By size: seconds of the MPI's algorithm and of the word; None where the algorithm fails."""
    path = folder / "timings.json"
    path.unlink(missing_ok=True)
    done = simulate(options, platform,
                    ["collectives", "bench", "--schedules", schedules, "--seconds", "0.2", "--json", path], settings)
    if done.returncode != 0 or not path.exists():
        return None
    return {timing["bytes"]: (timing["mpi_seconds"]["median"], timing["word_seconds"]["median"])
            for timing in json.loads(path.read_text())["timings"]}


def mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def compare(options, platform, operation, profile, folder):
    """A table by size, and the ratios to each vendor's choice and to the best of all algorithms."""
    ranks = len((PLATFORMS / platform).read_text().split())
    schedules = folder / f"{operation}.json"
    subprocess.run([options.ayatori_native, "collectives", "search", operation, "--profile", profile,
                    "--ranks", str(ranks), "--sizes", options.sizes, "--json", schedules], check=True,
                   capture_output=True)
    chosen = {best["bytes"]: best for best in json.loads(schedules.read_text())["best"]}
    found = {f"selector {name}": race(options, platform, schedules, [f"--cfg=smpi/coll-selector:{name}"], folder)
             for name in VENDORS}
    for name in algorithms_of(options, platform, operation):
        found[name] = race(options, platform, schedules, [f"--cfg=smpi/{operation}:{name}"], folder)
    failed = [name for name, times in found.items() if times is None]
    found = {name: times for name, times in found.items() if times is not None}
    lines = ["| bytes | word | radices | order | word, us | model | best other, us | which | best other / word | "
             + " | ".join(f"{name} / word" for name in VENDORS) + " |", "|" + (9 + len(VENDORS)) * "---|"]
    ratios = {name: [] for name in ("best", *VENDORS)}
    for size, best in chosen.items():
        ours = next(iter(found.values()))[size][1]
        other = min(found, key=lambda name: found[name][size][0])
        ratios["best"].append(found[other][size][0] / ours)
        vendors = []
        for name in VENDORS:
            times = found.get(f"selector {name}")
            if times:
                ratios[name].append(times[size][0] / ours)
            vendors.append(f"{times[size][0] / ours:.2f}" if times else "failed")
        theirs = found[other][size][0]
        radices = ",".join(map(str, best["radices"]))
        lines.append(f"| {size} | {best['word']} | {radices} | {best['order']} | {ours * 1e6:.2f} "
                     f"| {best['seconds'] / ours:.2f} | {theirs * 1e6:.2f} | {other} | {theirs / ours:.2f} "
                     f"| {' | '.join(vendors)} |")
    title = f"### {operation} on {platform}, {ranks} ranks"
    text = title + "\n" + "\n".join(lines) + f"\n\n{len(found)} rivals" \
        + (f"; failed or wrong: {', '.join(failed)}" if failed else "") + "."
    return text, ratios


def main():
    parser = runs.parser_of(__doc__)
    parser.add_argument("--platforms", nargs="+", default=["gigabit", "fat_tree", "altix"])
    parser.add_argument("--operations", nargs="+", default=["bcast", "allreduce", "allgather"])
    parser.add_argument("--sizes", default="8:4M")
    parser.add_argument("--ayatori", default=str(runs.ROOT / "build" / "simgrid" / "cli" / "ayatori"))
    parser.add_argument("--ayatori-native", default=str(runs.ROOT / "build" / "release" / "cli" / "ayatori"))
    parser.add_argument("--smpirun", default="smpirun")
    parser.add_argument("--time-limit", type=float, default=120, help="seconds of one run")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the tables here")
    options = parser.parse_args()
    texts, summary = [], []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for platform in options.platforms:
            profile = folder / f"{platform}.json"
            done = simulate(options, platform, ["probe", "--quick", "-o", profile])
            if done.returncode != 0:
                sys.exit(f"{platform}: {done.stderr}")
            for operation in options.operations:
                print(f"{platform}, {operation} ...", file=sys.stderr, flush=True)
                text, ratios = compare(options, platform, operation, profile, folder)
                texts.append(text)
                cells = [f"{mean(values):.2f} ({min(values):.2f} - {max(values):.2f})" if values else "-"
                         for values in ratios.values()]
                summary.append(f"| {platform} | {operation} | {' | '.join(cells)} |")
    head = ["| platform | operation | best of all / word | " + " | ".join(f"{name} / word" for name in VENDORS) + " |",
            "|" + (3 + len(VENDORS)) * "---|"]
    result = "\n".join(head + summary) + "\n\n" + "\n\n".join(texts) + "\n"
    print(result)
    if options.markdown:
        options.markdown.write_text(result)


if __name__ == "__main__":
    main()
