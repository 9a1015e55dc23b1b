#!/usr/bin/env python3
"""Reads and writes files of records: what every arm did on training systems.

usage: bench/training/records.py pack FILE PACKED [--points 8] [--systems NUMBER] [--newer FILE] [--changed FILE] [--instead FILE]   a smaller file for the repository
       bench/training/records.py count FILE                                                        how much is in it
       bench/training/records.py doubt FILE                                                        systems whose times something disturbed

With --newer, an arm that a later recording shows faster has its record from there: arms become better, and what disturbs a run makes it slower.
With --changed, an arm of that recording has its record from there, as the arm itself has changed.
With --instead, a system of that recording has nothing else: what is asked of a solve has changed.
In doubt is a system whose arms, by the median, take several times as long for an iteration as on systems of like size.

A file is gzip'd (NAME.gz) or, when packed, xz'd (NAME.xz) lines of JSON. A line {"system": ...} is followed by those of its arms; README.md tells the fields. What was recorded in
several sittings is one file all the same: load() puts the arms of a system together.
"""

import argparse
import collections
import gzip
import io
import json
import lzma
import math
import pathlib
import statistics
import zlib

RESOLUTION = 20  # steps of a history's values in a factor of ten
POINTS = 30      # of a history, as it is recorded
DOUBTFUL = 5     # times as long
TUNED = "tuned"  # the arm that is a solve without options


def load(path):
    """{name: system}, where system["arms"] is {name of arm: record}. What a broken off run has left half written is passed over."""
    systems = {}
    name = None
    for line in read_lines(path):
        entry = json.loads(line)
        if "system" in entry:
            name = entry["system"]
            systems.setdefault(name, {**entry, "arms": {}})
        else:
            systems[name]["arms"][entry["arm"]] = entry
    return systems


def is_solved(record):
    return record["outcome"] == "converged"


def read_lines(path):
    if str(path).endswith(".xz"):
        with lzma.open(path, "rt", encoding="utf-8") as file:
            return file.read().splitlines()
    lines, _ = read(path)
    return lines


def read(path):
    """(complete lines, bytes of the file that hold them): members of gzip one by one, up to the first that is torn."""
    data = pathlib.Path(path).read_bytes() if pathlib.Path(path).exists() else b""
    lines, valid = [], 0
    while valid < len(data):
        decoder = zlib.decompressobj(wbits=31)
        try:
            text = decoder.decompress(data[valid:])
        except zlib.error:
            break
        if not decoder.eof:
            break
        valid = len(data) - len(decoder.unused_data)
        lines += text.decode().splitlines()
    return lines, valid


def append(path, system, arms):
    """Adds a system with some of its arms, in one write."""
    if not arms:
        return
    member = io.BytesIO()
    with gzip.GzipFile(fileobj=member, mode="wb", mtime=0) as file:
        for entry in (system, *arms):
            file.write((json.dumps(entry, separators=(",", ":")) + "\n").encode())
    with open(path, "ab") as file:
        file.write(member.getvalue())


def mend(path):
    """Cuts off what a broken off run has left half written."""
    path = pathlib.Path(path)
    if path.exists():
        _, valid = read(path)
        if valid < path.stat().st_size:
            with open(path, "r+b") as file:
                file.truncate(valid)


def places(last, points):
    """The iterations that a history of this many points is of: in geometric progression, without repetitions."""
    if last < 1:
        return []
    if last == 1 or points == 1:
        return [last]
    found = sorted({round(last ** (k / (points - 1))) for k in range(points)})
    return [place for place in found if place >= 1]


def thin(iterations, residuals, points):
    """What is kept of a history: log10 of the relative residual in steps of 1 / RESOLUTION, at places(last iteration, points)."""
    if not iterations:
        return []
    kept, at = [], 0
    for place in places(iterations[-1], points):
        while at + 1 < len(iterations) and iterations[at + 1] <= place:
            at += 1
        value = residuals[at]
        kept.append(round(RESOLUTION * math.log10(max(value, 1e-30))) if math.isfinite(value) else None)
    return kept


def history(record):
    """[(iteration, log10 of the relative residual)] of an arm's record."""
    if "history" not in record:
        return []
    values = [None if value is None else value / RESOLUTION for value in record["history"]]
    return list(zip(places(record["last"], record.get("points", POINTS)), values))


def rounded(value, digits):
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def is_better(record, other):
    return is_solved(record) and (not is_solved(other) or record["total"] < other["total"])


def pack(source, target, points, most, newer=None, changed=None, instead=None):
    """Of the systems recorded first: histories thinned further, costs to three digits. Arms have their better record, or that of `changed`."""
    systems = [system for system in load(source).values() if TUNED in system["arms"]][:most]
    later = load(newer) if newer else {}
    otherwise = load(changed) if changed else {}
    anew = load(instead) if instead else {}
    systems = [anew.get(system["system"], system) for system in systems]
    for system in systems:
        for name, record in later.get(system["system"], {"arms": {}})["arms"].items():
            if name not in system["arms"] or is_better(record, system["arms"][name]):
                system["arms"][name] = record
        system["arms"].update(otherwise.get(system["system"], {"arms": {}})["arms"])
    for system in systems:
        for record in system["arms"].values():
            for key in ("setup", "iteration", "apply", "total", "product"):
                if key in record:
                    record[key] = rounded(record[key], 3)
            if record.get("history"):
                iterations, values = zip(*history(record))
                residuals = [math.nan if value is None else 10.0**value for value in values]
                record["history"], record["points"] = thin(list(iterations), residuals, points), points
    save(target, systems)


def save(path, systems):
    """A packed file of these systems, whole or not at all."""
    temporary = pathlib.Path(f"{path}.new")
    with lzma.open(temporary, "wt", preset=9 | lzma.PRESET_EXTREME, encoding="utf-8") as file:
        for system in systems:
            facts = {key: value for key, value in system.items() if key != "arms"}
            for entry in (facts, *system["arms"].values()):
                file.write(json.dumps(entry, separators=(",", ":")) + "\n")
    temporary.replace(path)


def doubtful(systems):
    """{name of a system: how many times as long its iterations take as those of the same arms on systems of like size, by medians}, if DOUBTFUL or more."""
    like = collections.defaultdict(list)
    for system in systems.values():
        for arm, seen in iterations_of(system):
            like[arm, size_of(system)].append(seen)
    typical = {key: statistics.median(times) for key, times in like.items()}
    found = {}
    for name, system in systems.items():
        times = [seen / typical[arm, size_of(system)] for arm, seen in iterations_of(system)]
        if times and (slower := statistics.median(times)) >= DOUBTFUL:
            found[name] = slower
    return found


def iterations_of(system):
    """[(arm, what an iteration takes)], in products."""
    return [(name, arm["iteration"]) for name, arm in system["arms"].items() if arm.get("iteration")]


def size_of(system):
    """In steps of a factor of three."""
    return round(2 * math.log10(max(system["facts"]["rows"], 1)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("pack", "count", "doubt"))
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("packed", type=pathlib.Path, nargs="?")
    parser.add_argument("--points", type=int, default=8)
    parser.add_argument("--systems", type=int, help="no more than this many, the first of the file")
    parser.add_argument("--newer", type=pathlib.Path, help="a later recording of some arms")
    parser.add_argument("--changed", type=pathlib.Path, help="a later recording of arms that are not what they were: it counts, faster or not")
    parser.add_argument("--instead", type=pathlib.Path, help="a later recording of some systems, which takes the place of the earlier one")
    options = parser.parse_args()
    if options.what == "pack":
        pack(options.file, options.packed, options.points, options.systems, options.newer, options.changed, options.instead)
        return
    systems = load(options.file)
    if options.what == "doubt":
        for name, times in doubtful(systems).items():
            print(f"{name}: iterations take {times:.1f} times as long as elsewhere")
        return
    families = {system["family"] for system in systems.values()}
    print(f"{len(systems)} systems of {len(families)} families, {sum(len(system['arms']) for system in systems.values())} records")


if __name__ == "__main__":
    main()
