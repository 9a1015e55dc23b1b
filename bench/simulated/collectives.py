#!/usr/bin/env python3
"""The schedules that are found against every algorithm of the simulated MPI, on simulated machines: deterministic.

usage: bench/simulated/collectives.py [--platforms gigabit-8x2 altix-32 ...] [--operations bcast allreduce allgather]
                                      [--sizes 8:16M|8,512,32K] [--only rivals|ours|report] [--markdown FILE]

On every platform (a name as bench/simulated/platforms.py knows it) `ayatori probe` measures the machine, `ayatori
collectives search` finds a schedule for every size, and `ayatori collectives bench` times it; and so it does each
algorithm that SMPI can be told to use, and its four copies of vendors' choices. Computing takes no time here. Every
size of every algorithm is a simulation of its own, so that any figure can be had again alone.

What the rivals take does not depend on the schedules. It is kept in bench/golden/PLATFORM.rivals.json, and only what
is not there is simulated, what vendors choose first: the file is removed to begin again. Our own times, with the plans,
go to bench/golden/PLATFORM.ours.json: the sizes of the run are searched anew, and plans that are not there are simulated
(all of them with --again). An algorithm that fails, gives a wrong
result, wants too much memory or takes longer than the time limit has no seconds; after a time limit it is not asked for
longer messages.

A platform of more ranks than --probe-ranks is probed by the first this many, and the groups that are found are continued.
"""

import collections
import concurrent.futures
import json
import math
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import typing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import runs  # noqa: E402 - of the folder above
from simulated import platforms  # noqa: E402

GOLDEN = runs.ROOT / "bench" / "golden"
MODEL = ["--cfg=smpi/simulate-computation:no", "--cfg=network/model:CM02", "--cfg=network/weight-S:0",
         "--cfg=network/crosstraffic:no", "--log=root.thresh:warning"]
VENDORS = ("ompi", "mpich", "mvapich2", "impi")
DEFAULT = "default"
LEFT_OUT = {"arrival_pattern_aware", "arrival_pattern_aware_wait", "arrival_scatter",  # for ranks that come late
            "automatic"}  # tries all others in every call
QUICK = ["--cfg=smpi/coll-selector:mpich"]  # where the MPI's choice does not matter: its default is slow to simulate
MANY_RANKS = 128  # from here on it is too slow even around the one operation that is timed
TIME_LIMIT = (124, 128 + signal.SIGXCPU, 128 + signal.SIGKILL)  # of timeout, and of the simulator through smpirun
WALL_LIMIT = 20  # times the limit of the processor: others may use it too
BENCH_OPTIONS = "--calls 1"
STEP = 8  # from size to size
PREDICTIONS = {"seconds": "model", "replayed_seconds": "replay"}  # of a finalist
LOSS = 0.95  # below this a point is reported as lost
LONG = 1 << 20  # bytes of a broadcast from which splitting and pipelining have to show
BUFFERS = {"bcast": 4, "allgather": 5}  # that a rank has at once at most, the executor's and SMPI's copies among them
MOST_BUFFERS = 8
RANK_BYTES = 16 << 20  # addresses of a rank without buffers: its stack, its copy of the program


class Simulator:
    """One platform, its files in a folder; `settings` of SimGrid that belong to it."""

    def __init__(self, options, platform, folder, settings=()):
        self.options, self.platform, self.folder, self.settings = options, platform, folder, settings
        platform.write(folder)
        # SMPI copies the program for every rank.
        self.program = folder / f"ayatori.{platform.name}"
        subprocess.run(["strip", "-o", self.program, options.ayatori], check=True)

    def run(self, words, settings=(), time_limit=None, ranks=None):
        """The exit status (TIME_LIMIT: over the limit) and what was said on standard error. By the first ranks, or
        all."""
        ranks = ranks or self.platform.ranks
        limit = math.ceil(time_limit or self.options.time_limit)
        memory = int(self.options.memory * (1 << 30)) + ranks * RANK_BYTES
        command = ["nice", "-n", "10", "timeout", "--foreground", str(WALL_LIMIT * limit), "prlimit", f"--cpu={limit}",
                   f"--as={memory}", self.options.smpirun, "-np", ranks,
                   "-platform", self.folder / f"{self.platform.name}.xml",
                   "-hostfile", self.folder / self.platform.name, *MODEL, *self.settings, *settings, self.program, *words]
        done = subprocess.run([str(word) for word in command], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True, check=False,
                              env={**os.environ, "AYATORI_PROFILE": "none", "OMP_NUM_THREADS": "1"})
        return done.returncode, done.stderr

    def bench(self, schedules, side, settings=()):
        """Timings of a schedules file's value (as `collectives search --json` writes them): a list, or why not."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            given, result = pathlib.Path(name) / "schedules.json", pathlib.Path(name) / "timings.json"
            given.write_text(json.dumps(schedules), encoding="utf-8")
            status, said = self.run(["collectives", "bench", "--schedules", given, "--json", result,
                                     "--side", side, *self.options.bench_options.split()], settings)
            if status == 0 and result.exists():
                return json.loads(result.read_text(encoding="utf-8"))["timings"]
        if status in TIME_LIMIT:
            return "time limit"
        if any(line.startswith("ayatori: ") and line.endswith(" by the MPI") for line in said.splitlines()):
            return "wrong result"
        if "out of memory" in said:
            return "memory"  # also where the other ranks then wait for ever
        if "Deadlock detected" in said:
            return "deadlock"
        return f"exit status {status}" if status != 0 else "no result"

    def profile(self):
        """Of the machine, from the probe; what an earlier run has left in the folder serves."""
        path = self.folder / f"{self.platform.name}.profile.json"
        if not path.exists():
            probed = min(self.platform.ranks, self.options.probe_ranks)
            status, said = self.run(["probe", "--quick", "-o", path], QUICK, self.options.probe_limit, probed)
            if status != 0:
                raise runs.Rejected(f"{self.platform.name}: the probe ends with {status}: {said[-500:]}")
            if probed < self.platform.ranks:
                runs.write_json(path, extended(load(path), self.platform.ranks))
        return path

    def algorithms(self, operation):
        """SMPI lists them when it is told to use one that does not exist."""
        said = self.run(["collectives", "words"], [f"--cfg=smpi/{operation}:none"])[1]
        names = re.search(r"Valid algorithms: ([^.]*)\.", said)
        if not names:
            raise runs.Rejected(f"{operation}: SMPI does not list its algorithms: {said[-500:]}")
        return [name for name in names.group(1).split(", ") if name not in LEFT_OUT]

    def search(self, operation, profile, size, extra=()):
        """The value of the schedules file, for this size."""
        with tempfile.TemporaryDirectory(dir=self.folder) as name:
            path = pathlib.Path(name) / "schedules.json"
            done = subprocess.run(["nice", "-n", "10", self.options.ayatori_native, "collectives", "search", operation,
                                   "--profile", str(profile), "--ranks", str(self.platform.ranks),
                                   "--sizes", str(size), "--json", str(path), *extra],
                                  text=True, capture_output=True, check=False)
            if done.returncode != 0:
                raise runs.Rejected(f"{self.platform.name}, {operation}: {done.stderr.strip()}")
            schedules = json.loads(path.read_text(encoding="utf-8"))
        schedules["profile"] = self.platform.name  # rather than a path of this machine
        return schedules


def extended(profile, ranks):
    """The profile of the same machine with more ranks: blocks of ranks go on as they are, the curves stay. Raises
    Rejected where groups are no blocks."""
    def continued(groups, what):
        block = len(groups) if max(groups) == 0 else groups.count(0)
        if groups != [rank // block for rank in range(len(groups))]:
            raise runs.Rejected(f"{what}: not blocks of {block} ranks, so it is not known how they go on")
        return [0 if block == len(groups) else rank // block for rank in range(ranks)]
    for level in profile["levels"]:
        level["group_of_rank"] = continued(level["group_of_rank"], level["name"])
        level["groups"] = level["group_of_rank"][-1] + 1
    return {**profile, "ranks": ranks, "node_of_rank": continued(profile["node_of_rank"], "nodes"),
            "source": f"{profile['source']} with {profile['ranks']} ranks, continued"}


def beside_rivals(operation, ranks, size):
    """The value of a schedules file with one that is right, and cheap to simulate, for any number of ranks: what the
    rivals' results are held against."""
    has_words = operation in ("bcast", "reduce", "allreduce")
    exchange = "direct" if operation == "alltoall" else "doubling"
    plan = {"operation": operation, "ranks": ranks, "root": 0, "word": "C" if has_words else "",
            "digits": [{"stride": 1, "radix": ranks, "exchange": exchange}], "segments": 1, "under_way": 1}
    return {"schema": "ayatori.collective-schedules/1", "operation": operation, "best": [{"bytes": size, "plan": plan}]}


def parse_bytes(text):
    number, suffix = re.fullmatch(r"(\d+)([KMG]?)", text).groups()
    return int(number) << {"": 0, "K": 10, "M": 20, "G": 30}[suffix]


def sizes_of(text):
    """Those that are listed, or from one to another."""
    if ":" not in text:
        return [parse_bytes(size) for size in text.split(",")]
    first, last = map(parse_bytes, text.split(":"))
    sizes = [first]
    while sizes[-1] * STEP <= last:
        sizes.append(sizes[-1] * STEP)
    return sizes


def has_memory(options, operation, ranks, size):
    return BUFFERS.get(operation, MOST_BUFFERS) * ranks * size <= options.memory * (1 << 30)


def fits(options, operation, ranks, size):
    """A block of a rank is no shorter than a double."""
    has_blocks = operation not in ("bcast", "reduce", "allreduce")
    return has_memory(options, operation, ranks, size) and not (has_blocks and size < 8 * ranks)


def ours_of(timing):
    return timing["schedule_seconds"]["median"]


def rounded(value):
    """A number, or all those in a plan, to 4 digits."""
    if isinstance(value, dict):
        return {key: rounded(part) for key, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def settings_of(operation, name, ranks):
    """How SMPI is told to use a rival."""
    selector = name.removeprefix("selector ")
    if selector != name:
        return [f"--cfg=smpi/coll-selector:{selector}"]
    around = QUICK if ranks >= MANY_RANKS else []
    if around and name == DEFAULT:  # made of these
        around = [*around, *(f"--cfg=smpi/{part}:{DEFAULT}" for part in ("bcast", "reduce", "scatter"))]
    return [*around, f"--cfg=smpi/{operation}:{name}"]


def time_rival(simulator, operation, name, size, known):
    """Seconds, or why there are none. `known` are those of other sizes."""
    if "time limit" in [seconds for other, seconds in known.items() if int(other) < size]:
        return "time limit"
    ranks = simulator.platform.ranks
    timings = simulator.bench(beside_rivals(operation, ranks, size), "mpi", settings_of(operation, name, ranks))
    return timings if isinstance(timings, str) else rounded(timings[0]["mpi_seconds"]["median"])


def by_bytes(entries):
    return dict(sorted(entries.items(), key=lambda item: int(item[0])))


def load(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write_golden(path, value):
    """A line for a rival or a plan."""
    def text(part, depth, key=""):
        if depth and isinstance(part, dict) and part:
            inner = ",\n".join("  " * (4 - depth) + f"{json.dumps(name)}: {text(item, depth - 1, name)}"
                               for name, item in part.items())
            return "{\n" + inner + "\n" + "  " * (3 - depth) + "}"
        return json.dumps(part)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".new")
    temporary.write_text(text(value, 3) + "\n", encoding="utf-8")
    temporary.replace(path)


def measure_rivals(options, simulator, operations, sizes, pool):
    """PLATFORM.rivals.json: {operation: {"rivals": {name: {bytes: seconds or why not}}}}, completed. First what vendors
    choose, of all operations; short messages before long ones."""
    path = options.golden / f"{simulator.platform.name}.rivals.json"
    golden = load(path)
    vendors = [f"selector {name}" for name in VENDORS] + [DEFAULT]
    points = []
    for operation in operations:
        known = golden.setdefault(operation, {"rivals": {}})["rivals"]
        others = [] if options.vendors else [name for name in simulator.algorithms(operation) if name != DEFAULT]
        for is_later, names in enumerate((vendors, others)):
            points += [(is_later, size, operation, name) for size in sizes for name in names
                       if fits(options, operation, simulator.platform.ranks, size)]
        for name in vendors + others:
            known.setdefault(name, {})
    def time(point):
        _, size, operation, name = point
        return time_rival(simulator, operation, name, size, golden[operation]["rivals"][name])
    def is_missing(point):
        _, size, operation, name = point
        seconds = golden[operation]["rivals"][name].get(str(size))
        return seconds is None or options.again and isinstance(seconds, str)
    points = sorted(filter(is_missing, points), key=lambda point: point[:2])
    for point, seconds in zip(points, pool.map(time, points)):
        _, size, operation, name = point
        golden[operation]["rivals"][name] = by_bytes({**golden[operation]["rivals"][name], str(size): seconds})
        write_golden(path, golden)
        runs.say(f"{simulator.platform.name} {operation} {name}, {size}: {seconds}")


def time_ours(simulator, schedules, known=None):
    """The best plan, its simulated seconds, and what is predicted and simulated of the finalists if the bench is told
    to time them (--bench-options). `known`: an entry of before, whose seconds stand if its plan is the same."""
    best = schedules["best"][0]
    plan = rounded({key: value for key, value in best.items() if key != "finalists"})
    if known and "seconds" in known and known["plan"]["plan"] == plan["plan"]:
        return {"seconds": known["seconds"], "plan": plan}  # what was predicted of finalists was so by another search
    timings = simulator.bench(schedules, "ours", QUICK)
    if isinstance(timings, str):
        return {"plan": plan, "failed": timings}
    simulated = [rounded(ours_of(timing)) for timing in sorted(timings, key=lambda timing: timing["finalist"])]
    entry = {"seconds": simulated[0], "plan": plan}  # the first finalist is the plan itself
    if len(simulated) > 1:
        entry["finalists"] = [{"simulated": seconds, **{key: rounded(finalist[key]) for key in PREDICTIONS}}
                              for seconds, finalist in zip(simulated, best["finalists"])]
    return entry


def measure_ours(options, simulator, operations, sizes, pool):
    """PLATFORM.ours.json: {operation: {"schedules": head of their file, "sizes": {bytes: what time_ours() gives}}}"""
    path = options.golden / f"{simulator.platform.name}.ours.json"
    golden = load(path)
    profile = simulator.profile()
    def find(point):
        operation, size = point
        schedules = simulator.search(operation, profile, size, options.search_options.split())
        may_stand = not options.again and "--finalists" not in options.bench_options
        known = golden.get(operation, {"sizes": {}})["sizes"].get(str(size)) if may_stand else None
        return {key: value for key, value in schedules.items() if key != "best"}, time_ours(simulator, schedules, known)
    points = [(operation, size) for operation in operations for size in sizes
              if fits(options, operation, simulator.platform.ranks, size)]
    for (operation, size), (head, entry) in zip(points, pool.map(find, points)):
        found = {**golden.get(operation, {"sizes": {}})["sizes"], str(size): entry}
        golden[operation] = {"schedules": head, "sizes": by_bytes(found)}
        write_golden(path, golden)
        runs.say(f"{simulator.platform.name} {operation}, {size}: {entry.get('seconds', entry.get('failed'))}")


class Point(typing.NamedTuple):
    """A size on a platform: what the best rival takes, and all that have a figure."""

    platform: str
    operation: str
    bytes: int
    ours: float
    plan: str
    model: float
    best: float
    which: str
    rivals: int
    vendors: dict
    finalists: list  # their simulated seconds, if all of them were simulated

    @property
    def ratio(self):
        return self.best / self.ours


def points_of(platform, rivals, ours):
    """Every size for which both sides have a figure."""
    points = []
    for operation, mine in ours.items():
        for size, entry in mine["sizes"].items():
            seconds = {name: times[size] for name, times in rivals.get(operation, {"rivals": {}})["rivals"].items()
                       if isinstance(times.get(size), float)}
            if "seconds" not in entry or not seconds:
                continue
            which = min(seconds, key=seconds.get)
            vendors = {name: seconds[f"selector {name}"] for name in VENDORS if f"selector {name}" in seconds}
            points.append(Point(platform, operation, int(size), entry["seconds"], entry["plan"]["text"],
                                entry["plan"]["seconds"], seconds[which], which, len(seconds), vendors,
                                [finalist["simulated"] for finalist in entry.get("finalists", [])]))
    return points


def ranks_of(values):
    """1 for the least; equal ones share their mean rank."""
    ordered = sorted(values)
    return [ordered.index(value) + (ordered.count(value) + 1) / 2 for value in values]


def spearman(first, second):
    """Correlation of ranks; None where one side is all the same."""
    first, second = ranks_of(first), ranks_of(second)
    if len(set(first)) < 2 or len(set(second)) < 2:
        return None
    return statistics.correlation(first, second)


def judge(predicted, simulated):
    """Of the finalists of one size: correlation of ranks, errors of the prediction, and what its choice costs over
    the best simulated (0: nothing)."""
    choice = predicted.index(min(predicted))
    return (spearman(predicted, simulated), [abs(p / s - 1) for p, s in zip(predicted, simulated)],
            simulated[choice] / min(simulated) - 1)


def model_rows(ours_of_platform):
    """For every prediction: median of the correlations, median error, mean and largest cost
    of the choice, over all sizes that have finalists."""
    rows = []
    for platform, ours in ours_of_platform.items():
        for operation, mine in ours.items():
            for key, what in PREDICTIONS.items():
                judged = [judge([finalist[key] for finalist in entry["finalists"]],
                                [finalist["simulated"] for finalist in entry["finalists"]])
                          for entry in mine["sizes"].values() if "finalists" in entry]
                if not judged:
                    continue
                correlations = [correlation for correlation, _, _ in judged if correlation is not None]
                errors = [error for _, of_size, _ in judged for error in of_size]
                costs = [cost for _, _, cost in judged]
                rows.append([platform, operation, what, len(errors),
                             f"{statistics.median(correlations):.2f}" if correlations else "-",
                             f"{100 * statistics.median(errors):.1f} %",
                             f"{100 * statistics.fmean(costs):.1f} %", f"{100 * max(costs):.1f} %"])
    return rows


def spread(ratios):
    """'1.15 (0.97-2.04)': geometric mean, least and largest."""
    return f"{runs.geometric_mean(ratios):.2f} ({min(ratios):.2f}-{max(ratios):.2f})" if ratios else "-"


def summary_row(platform, operation, points):
    vendors = [spread([point.vendors[name] / point.ours for point in points if name in point.vendors])
               for name in VENDORS]
    return [platform, operation, len(points), spread([point.ratio for point in points]),
            sum(point.ratio < LOSS for point in points), *vendors]


def summary(points):
    """By platform and operation, by operation, and all of it; long broadcasts are reported apart as well."""
    cases = list(dict.fromkeys((point.platform, point.operation) for point in points))
    rows = [summary_row(*case, [point for point in points if point[:2] == case]) for case in cases]
    for operation in dict.fromkeys(point.operation for point in points):
        rows.append(summary_row("all", operation, [point for point in points if point.operation == operation]))
    rows.append(summary_row("all", "all", points))
    long = [point for point in points if point.operation == "bcast" and point.bytes >= LONG]
    for platform in dict.fromkeys(point.platform for point in long):
        rows.append(summary_row(platform, "bcast from 1 MiB", [point for point in long if point.platform == platform]))
    if long:
        rows.append(summary_row("all", "bcast from 1 MiB", long))
    return runs.table(["platform", "operation", "sizes", "best of all / ours", f"below {LOSS}",
                       *(f"{name} / ours" for name in VENDORS)], rows)


def raced_words(points):
    """What a race of the finalists on the machine itself, as `collectives tune` runs it, would give."""
    known = [point for point in points if point.finalists]
    if not known:
        return ""
    ratios = [point.best / min(point.finalists) for point in known]
    return (f"Where all finalists were simulated ({runs.count_words(len(known), 'point')}), best of all over the chosen one: "
            f"{spread([point.ratio for point in known])}; over the best finalist, which a race of them would find: "
            f"{spread(ratios)}, {sum(ratio < LOSS for ratio in ratios)} below {LOSS}.\n")


def point_row(point, head):
    vendors = [f"{point.vendors[name] / point.ours:.2f}" if name in point.vendors else "failed" for name in VENDORS]
    return [*head, point.bytes, point.plan, f"{point.ours * 1e6:.2f}", f"{point.model / point.ours:.2f}",
            f"{point.best * 1e6:.2f}", point.which, point.rivals, f"{point.ratio:.2f}", *vendors]


POINT = ["bytes", "ours", "ours, us", "model", "best other, us", "which", "of", "best other / ours",
         *(f"{name} / ours" for name in VENDORS)]


def left_out_words(options, point, rivals, sizes):
    """What has no figure in this point's table, and why."""
    ranks = platforms.platform(point.platform).ranks
    too_long = [str(size) for size in sizes if not has_memory(options, point.operation, ranks, size)]
    failures = [f"{name} ({why}: {count} of {len(times)} sizes)" for name, times in rivals.items()
                for why, count in collections.Counter(filter(lambda x: isinstance(x, str), times.values())).items()]
    lines = [runs.count_words(sum(map(bool, rivals.values())), "rival") + (". Without a figure:\n" if failures else ".")]
    lines += [f"- {failure}" for failure in failures]
    if too_long:
        lines.append(f"\nFor want of memory not simulated: {', '.join(too_long)} bytes.")
    return "\n".join(lines) + "\n"


def report(options):
    """Summary, losses, the model's quality, and every figure."""
    sizes = sizes_of(options.sizes)
    golden = {name: (load(options.golden / f"{name}.rivals.json"), load(options.golden / f"{name}.ours.json"))
              for name in options.platforms}
    points = [point for name, (rivals, ours) in golden.items() for point in points_of(name, rivals, ours)
              if point.operation in options.operations]
    if not points:
        return "Nothing is measured of both sides.\n"
    parts = [summary(points)]
    losses = [point for point in points if point.ratio < LOSS]
    parts.append(f"Losses, {len(losses)} of {runs.count_words(len(points), 'point')} below {LOSS}:\n\n"
                 + runs.table(["platform", "operation", *POINT],
                              [point_row(point, [point.platform, point.operation]) for point in losses])
                 if losses else f"None of {runs.count_words(len(points), 'point')} is below {LOSS}.\n")
    parts.append(raced_words(points))
    rows = model_rows({name: ours for name, (_, ours) in golden.items()})
    if rows:
        parts.append(runs.table(["platform", "operation", "predicted by", "plans", "correlation of ranks",
                                 "median error", "its choice costs", "at most"], rows))
    for platform, operation in dict.fromkeys(point[:2] for point in points):
        of_case = [point for point in points if point[:2] == (platform, operation)]
        parts.append(f"### {operation} on {platform}\n"
                     + runs.table(POINT, [point_row(point, []) for point in of_case])
                     + "\n" + left_out_words(options, of_case[0], golden[platform][0][operation]["rivals"], sizes))
    return "\n".join(filter(None, parts))


def main():
    parser = runs.parser_of(__doc__)
    parser.add_argument("--platforms", nargs="+", default=["gigabit-8x2", "fat_tree-16", "altix-32"])
    parser.add_argument("--operations", nargs="+", default=["bcast", "allreduce", "allgather"])
    parser.add_argument("--sizes", default="8:16M", help=f"from:to, by factors of {STEP}, or a list")
    parser.add_argument("--only", choices=["rivals", "ours", "report"], help="default: all three")
    parser.add_argument("--golden", type=pathlib.Path, default=GOLDEN, help="folder of the figures")
    parser.add_argument("--folder", type=pathlib.Path, default=runs.ROOT / "build" / "simulated",
                        help="of platforms and profiles, which are not probed again (default: build/simulated)")
    parser.add_argument("--ayatori", default=str(runs.ROOT / "build" / "simgrid" / "cli" / "ayatori"))
    parser.add_argument("--ayatori-native", default=str(runs.ROOT / "build" / "release" / "cli" / "ayatori"))
    parser.add_argument("--smpirun", default="smpirun")
    parser.add_argument("--search-options", default="", help="of ours, such as --finalists=8")
    parser.add_argument("--bench-options", default=BENCH_OPTIONS, help="add --finalists to time them all")
    parser.add_argument("--vendors", action="store_true", help="no rivals but the vendors' choices and the default")
    parser.add_argument("--jobs", type=int, default=2, help="simulations at once (default: 2)")
    parser.add_argument("--memory", type=float, default=6, help="GiB of one simulation; longer messages are left out")
    parser.add_argument("--time-limit", type=float, default=90, help="seconds of a processor for one simulation")
    parser.add_argument("--again", action="store_true", help="also what has failed before, or was over the time limit")
    parser.add_argument("--probe-limit", type=float, default=1800, help="seconds of a probe")
    parser.add_argument("--probe-ranks", type=int, default=256, help="that measure a larger machine (default: 256)")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the tables here")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    sizes = sizes_of(options.sizes)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for name in options.platforms if options.only != "report" else []:
            try:
                simulator = Simulator(options, platforms.platform(name), options.folder)
                if options.only in (None, "rivals"):
                    measure_rivals(options, simulator, options.operations, sizes, pool)
                if options.only in (None, "ours"):
                    measure_ours(options, simulator, options.operations, sizes, pool)
            except (runs.Rejected, ValueError) as error:
                runs.say(f"left out: {error}")
    runs.write(options, report(options))


if __name__ == "__main__":
    main()
