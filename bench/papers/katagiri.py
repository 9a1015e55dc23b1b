#!/usr/bin/env python3
"""Redoes figures 10 to 12 of Katagiri and Kuroda's run-time auto-tuned GMRES(m): what the tuner is worth.

usage: bench/papers/katagiri.py [--matrices FOLDER] [--only TEXT] [--ranks 1,2,3,4] [--rounds 4] [--time-limit 60]
                                [--markdown FILE] [--json FILE] [--chart FILE.svg]

Every problem is solved by the paper's default (no unrolling, blocking point-to-point, no preconditioner, CGS,
m = 30), with each item alone left to the tuner, with the paper's five items left to it, and with everything
left to it. As in the paper, figure 10 leaves the preconditioner to the tuner in all settings but the default.
Times contain the tuning. Settings take turns (A B C, C B A, ...); one that fails in the first round is not
repeated. The real matrices of figure 12 are read from FOLDER (NAME.mtx.gz); its olafu is replaced by smaller
ones that defeat the default too. With --json FILE, problems that stand in it are not run again, so that a run
can be resumed.
"""

import dataclasses
import pathlib
import statistics
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent))
import runs  # noqa: E402

DEFAULT = {"method": "gmres", "preconditioner": "none", "restart": "30", "orthogonalization": "cgs",
           "kernel": "csr-reference"}  # the halo strategy is an option of this script
# What has to be the same for figures to stand in one file.
SAME = ("ranks", "threads", "time_limit", "rounds", "default_halo")
ITEMS = ("preconditioner", "restart", "orthogonalization", "kernel", "halo")  # (i) to (v)


@dataclasses.dataclass(frozen=True)
class Experiment:
    """A problem, what it stands for, and what all settings but the default leave to the tuner."""

    title: str
    problem: runs.Problem
    free: tuple = ()


def generated(spec):
    return runs.Problem(spec, spec)


GENERATED = [
    Experiment("Figure 10: 2-D elliptic, 5 points, N = 160,000",
               generated("elliptic2d-5:n=400,reaction=-50"), free=("preconditioner",)),
    Experiment("The same without the reaction: the default is slow, but gets there",
               generated("elliptic2d-5:n=400")),
    Experiment("Figure 11: 3-D elliptic, 7 points, N = 512,000", generated("elliptic3d-7:n=80")),
]
# With b = 1, or the load that belongs to the matrix: for b = A x with a random x, 0.06 is met within six
# iterations. bcsstk20 to 1e-8 is the exception: with b = 1 double precision holds no x with a residual below
# 1e-7.
STRUCTURAL = [(name, rtol, "ones")
              for name in ("bcsstk14", "bcsstk16", "beam_tet_2475") for rtol in (0.06, 1e-8)]
STRUCTURAL += [("bcsstk20", 0.06, "ones"), ("bcsstk20", 1e-8, "solution-random:1")]


def experiments(options):
    if options.problem:
        free = tuple(options.free.split(",")) if options.free else ()
        return [Experiment(matrix, runs.Problem(matrix, matrix, rtol=options.rtol), free)
                for matrix in options.problem]
    found = list(GENERATED)
    if options.matrices:
        found += [Experiment(f"Figure 12: {name}, tolerance {rtol:g}",
                             runs.from_folder(options.matrices, name, rhs, rtol))
                  for name, rtol, rhs in STRUCTURAL]
    else:
        runs.say("without --matrices FOLDER there is no figure 12")
    return [experiment for experiment in found if options.only in experiment.title]


def settings_of(options, experiment, ranks):
    """Names of the settings and the options that force what each of them does not leave to the tuner.

    A restart length and an orthogonalization belong to GMRES, so they are free where the method is."""
    default = DEFAULT | {"halo": options.default_halo}

    def without(*free):
        return [word for key, value in default.items() if key not in free for word in (f"--{key}", value)]

    items = [item for item in ITEMS if ranks > 1 or item != "halo"]  # one rank has no halo
    settings = {"default": without()}
    settings |= {item: without(item, *experiment.free) for item in items}
    settings["method"] = without("method", "restart", "orthogonalization", *experiment.free)
    settings["the paper's items"] = without(*ITEMS)
    settings["all"] = []
    return settings


def split(result):
    """Seconds of a run by what they went into. They exclude each other and sum up to the total."""
    s = result["seconds"]
    parts = {"SpMV": s["spmv"], "preconditioner": s["preconditioner"],
             "orthogonalization": s["orthogonalization"], "communication": s["halo"] + s["reduction"],
             "tuning": s["tuning"]}
    return parts | {"rest": runs.seconds(result) - sum(parts.values())}


def measure(options, experiment, ranks):
    """The runs of every setting, in turns."""
    settings = settings_of(options, experiment, ranks)
    results = {name: [] for name in settings}
    for name in runs.take_turns(settings, options.rounds):
        if results[name] and not results[name][0]["converged"]:
            continue
        try:
            result = runs.solve(options, experiment.problem, settings[name], ranks)
        except runs.Rejected as reason:
            sys.exit(f"{experiment.problem.name}, {name}, {runs.count_words(ranks, 'rank')}: {reason}")
        runs.say(f"{experiment.title}; {runs.count_words(ranks, 'rank')}; {name}: "
                 f"{runs.outcome_words(result)}, {runs.seconds(result):.2f} s")
        results[name].append(result)
    return {name: summary(settings[name], found) for name, found in results.items()}


def summary(settings, results):
    """One setting as plain data; the split is that of the run of median time."""
    median = runs.median_run(results)
    return {"options": settings, "converged": all(result["converged"] for result in results),
            "outcome": runs.outcome_words(median), "relative_residual": median["relative_residual"],
            "iterations": median["iterations"], "choice": median["choice"],
            "seconds": [runs.seconds(result) for result in results], "split": split(median)}


SPLIT_HEADER = ["ranks", "left to the tuner", "SpMV", "preconditioner", "orthogonalization", "communication",
                "tuning", "rest", "iterations", "final choice"]
SHOWN_SPLIT = ("default", "the paper's items", "all")


def words(name):
    return "nothing (default)" if name == "default" else name


def cell(found):
    """Seconds, or how it failed."""
    median = f"{statistics.median(found['seconds']):.3g}"
    return f"**{median}**" if found["converged"] else f"{found['outcome']} ({median})"


def seconds_rows(ranks, names):
    for n, settings in ranks.items():
        yield [n, *(cell(settings[name]) if name in settings else "-" for name in names)]


def split_rows(ranks):
    for n, settings in ranks.items():
        for name in SHOWN_SPLIT:
            found = settings[name]
            yield [n, words(name), *(f"{value:.3g}" for value in found["split"].values()), found["iterations"],
                   runs.choice_words(found["choice"], implementation=True)]


def report(options, measured):
    ranks = options.ranks
    text = (f"{runs.machine_words(ranks, options.threads)} Seconds are medians of up to "
            f"{runs.count_words(options.rounds, 'run')} with the tuning and the set-up in them and the "
            "reading of the matrix left out; bold where the system was solved. The split of these seconds is "
            f"that of the median run, averaged over its ranks. A run is out of time after {options.time_limit:g} "
            "s, whatever its setting. A setting that failed was run once.\n")
    for entry in measured:
        text += (f"\n### {entry['title']}\n`{entry['matrix']}`, right-hand side {entry['rhs']}, tolerance "
                 f"{entry['rtol']:g}")
        if entry["free"]:
            text += f"; in every setting but the default, also left to the tuner: {', '.join(entry['free'])}"
        names = max((list(settings) for settings in entry["ranks"].values()), key=len)
        text += "\n\n" + runs.table(["ranks", *map(words, names)], seconds_rows(entry["ranks"], names))
        text += "\n" + runs.table(SPLIT_HEADER, split_rows(entry["ranks"]))
    return text


def draw(measured, path):
    """Stacked bars as in the paper's figure 12, one panel a problem; hatched where there was no solution."""
    try:
        from matplotlib import pyplot
    except ImportError:
        runs.say("no chart: matplotlib is not there (Debian's python3-matplotlib)")
        return
    figure, panels = pyplot.subplots(len(measured), 1, figsize=(12, 4 * len(measured)), squeeze=False)
    for panel, entry in zip(panels[:, 0], measured):
        bars = [(f"{n} {name}", found)
                for n, settings in entry["ranks"].items() for name, found in settings.items()]
        bottom = [0.0] * len(bars)
        for part in bars[0][1]["split"]:
            heights = [found["split"][part] for _, found in bars]
            drawn = panel.bar(range(len(bars)), heights, bottom=bottom, label=part)
            bottom = [b + h for b, h in zip(bottom, heights)]
            for bar, (_, found) in zip(drawn, bars):
                bar.set_hatch("" if found["converged"] else "//")
        panel.set_xticks(range(len(bars)), [label for label, _ in bars], rotation=60, ha="right", fontsize=7)
        panel.set_title(f"{entry['title']} (hatched: not solved)", fontsize=9)
        panel.set_ylabel("seconds")
        panel.legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = runs.parser_of(__doc__)
    runs.add_options(parser, time_limit=60)
    parser.add_argument("--matrices", type=pathlib.Path, help="folder with the matrices of figure 12")
    parser.add_argument("--ranks", type=lambda text: [int(n) for n in text.split(",")], default=[1, 2, 3, 4])
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--only", default="", help="the experiments with this in their titles, as 'Figure 11'")
    parser.add_argument("--default-halo", default="p2p-blocking", help="halo strategy of the default")
    parser.add_argument("--problem", action="append", help="a file or spec, not the paper's; repeatable")
    parser.add_argument("--rtol", type=float, default=1e-8, help="of --problem")
    parser.add_argument("--free", help="items left to the tuner in all but the default for --problem, as a,b")
    parser.add_argument("--json", type=pathlib.Path, help="write the figures here, after every problem")
    parser.add_argument("--chart", type=pathlib.Path, help="draw stacked bars, if matplotlib is there")
    options = parser.parse_args()
    earlier = {entry["title"]: entry for entry in runs.resumed(options, SAME, "problems")}
    measured = []
    for experiment in experiments(options):
        problem = experiment.problem
        measured.append(earlier.get(experiment.title) or {
            "title": experiment.title, "matrix": problem.name, "rhs": pathlib.Path(problem.rhs).name,
            "rtol": problem.rtol, "free": experiment.free,
            "ranks": {str(n): measure(options, experiment, n) for n in options.ranks}})
        if options.json:
            others = [entry for entry in earlier.values() if entry not in measured]
            runs.write_json(options.json, {"schema": "ayatori.papers-katagiri/2",
                                           "options": runs.setting_of(options, SAME),
                                           "problems": others + measured})
    runs.write(options, report(options, measured))
    if options.chart:
        draw(measured, options.chart)


if __name__ == "__main__":
    main()
