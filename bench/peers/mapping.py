#!/usr/bin/env python3
"""Places the same graphs on the same networks with `ayatori map`, Scotch's mapper and KaHIP's process mapping.

usage: bench/peers/mapping.py [--ayatori build/release/cli/ayatori] [--matrices ../shared/matrices] [--graphs NAME...]
                              [--networks SPEC...] [--rounds 3] [--simulate smpirun] [--markdown FILE] [--json FILE]

512 ranks, 8 on each of 64 nodes; ranks talk as in the halo exchange of a matrix cut by METIS (or in blocks of rows).
All get bytes as weights and may not be out of balance: Scotch `scotch_gmap -b0` (Debian: scotch) with the network as a
tleaf or torus, KaHIP `global_multisection --imbalance=0 --enforce_balance` with the strong configuration (PyPI: kahip,
installed into --venv the first time), which knows trees only. Scotch and KaHIP run with --rounds seeds, and the best
result counts for each figure, ours is the same every time. Placements that are out of balance all the same are marked *.
`ayatori map --compare` prices everything: hop-bytes (ours: --objective hop-bytes), the time of the busiest link (ours:
--objective link-load) and the exchange (ours: --objective time), which --simulate has SMPI simulate, too. Seconds are
processor time of one run.
"""

import argparse
import collections
import json
import math
import os
import pathlib
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
from simulated import exchange  # noqa: E402

RANKS, PER_NODE = 512, 8
KAHIP = "kahip==3.25"
GENERATED = {"Poisson 27, rows": ("poisson3d-27:n=80", "rows"), "Poisson 27": ("poisson3d-27:n=80", "graph"),
             "Poisson 7": ("poisson3d-7:n=80", "graph"), "elliptic 2-D": ("elliptic2d-5:n=400", "graph"),
             "elasticity": ("elasticity3d:n=24", "graph")}
FILES = ("4elt", "brack2", "copter2", "xenon1", "c-62", "cage10", "memplus", "compflow6k")
OBJECTIVES = {"hop-bytes": "hop_bytes", "link-load": "busiest_link_seconds", "time": "seconds"}


class Tree:
    """Switches with this many below each, the nodes' first."""

    def __init__(self, spec, *children):
        self.spec = spec
        self.children = children

    def scotch(self):
        hops = range(2 * len(self.children), 0, -2)
        return f"tleaf {len(self.children)} " + " ".join(f"{c} {h}" for c, h in zip(reversed(self.children), hops))

    def kahip(self):
        return [f"--hierarchy_parameter_string={':'.join(map(str, self.children))}",
                f"--distance_parameter_string={':'.join(str(2 * (level + 1)) for level in range(len(self.children)))}"]


class Torus:
    def __init__(self, *sizes):
        self.spec = "torus:" + "x".join(map(str, sizes))
        self.sizes = sizes

    def scotch(self):
        return f"torus{len(self.sizes)}D {' '.join(map(str, self.sizes))}"

    def kahip(self):
        return None


NETWORKS = {network.spec: network for network in (Tree("tree:8", 8, 8), Tree("fat-tree:4x4:2", 4, 4, 4), Torus(8, 8),
                                                  Torus(4, 4, 4))}
Run = collections.namedtuple("Run", "node_of seconds")


def timed(command, **options):
    """Processor seconds of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, check=False, **options)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: {done.stderr.strip()[-500:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


class Bench:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.result = folder / "result.json"

    def map(self, *words):
        timed([self.options.ayatori, "map", *words, "--ranks-per-node", PER_NODE, "--json", self.result])
        return json.loads(self.result.read_text())

    def graph_of(self, matrix, partition):
        """Bytes from rank to rank, as a file and as a list."""
        path = self.folder / "graph.mtx"
        self.map(matrix, "--partition", partition, "--ranks", RANKS, "--objective", "messages", "--graph-output", path)
        edges = [tuple(map(int, line.split())) for line in path.read_text().splitlines()[3:]]
        return path, [(a - 1, b - 1, size) for a, b, size in edges]

    def write_sources(self, edges):
        """The graph with the weights of both directions together, for Scotch and for KaHIP."""
        peers = [{} for _ in range(RANKS)]
        for a, b, size in edges:
            for rank, peer in ((a, b), (b, a)):
                peers[rank][peer] = peers[rank].get(peer, 0) + size // 8
        arcs = sum(map(len, peers))
        rows = [f"{len(p)} " + " ".join(f"{size} {peer}" for peer, size in sorted(p.items())) for p in peers]
        (self.folder / "scotch.grf").write_text(f"0\n{RANKS} {arcs}\n0 010\n" + "\n".join(rows) + "\n")
        rows = [" ".join(f"{peer + 1} {size}" for peer, size in sorted(p.items())) for p in peers]
        (self.folder / "kahip.graph").write_text(f"{RANKS} {arcs // 2} 1\n" + "\n".join(rows) + "\n")

    def scotch(self, network, _seed):
        target, mapped = self.folder / "scotch.tgt", self.folder / "scotch.map"
        target.write_text(network.scotch() + "\n")
        seconds = timed([self.options.scotch, "-b0", "-Cr", self.folder / "scotch.grf", target, mapped])
        node_of = [0] * RANKS
        for line in mapped.read_text().splitlines()[1:]:
            rank, node = map(int, line.split())
            node_of[rank] = node
        return Run(node_of, seconds)

    def kahip(self, network, seed):
        words = network.kahip()
        if words is None:
            return None
        mapped = self.folder / "kahip.map"
        seconds = timed([self.options.kahip, self.folder / "kahip.graph", *words, "--imbalance=0", "--enforce_balance",
                         "--preconfiguration=strong", f"--seed={seed}", f"--output_filename={mapped}"])
        return Run([int(line) for line in mapped.read_text().split()], seconds)

    def simulate(self, graph, edges, network, node_of, model):
        platform = self.folder / "network.xml"
        if not platform.exists():
            self.map("--graph", graph, "--network", network.spec, "--platform", platform, "--objective", "bytes")
        return exchange.seconds(self.options.simulate, self.folder, platform, [edges], node_of, model)

    def measure(self, name, network, graph, edges):
        """Of every tool: {figure: (value, is balanced)}, and processor seconds of a run."""
        peers = {"Scotch": self.scotch, "KaHIP": self.kahip}
        runs = {tool: [run for run in (place(network, seed) for seed in range(self.options.rounds)) if run]
                for tool, place in peers.items()}
        files, owners = [], []
        for tool, found in runs.items():
            for number, run in enumerate(found):
                path = self.folder / f"{tool}.{number}"
                path.write_text("".join(f"{node}\n" for node in run.node_of))
                files += ["--compare", path]
                owners.append((tool, run))
        ours, costs = {}, {}
        for objective in OBJECTIVES:
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            ours[objective] = self.map("--graph", graph, "--network", network.spec, "--objective", objective, *files)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            costs[objective] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        compared = ours["time"]["compared"]
        figures = {tool: {} for tool, found in runs.items() if found}
        best_run = {}
        for (tool, run), metrics in zip(owners, compared, strict=True):
            counts = collections.Counter(run.node_of)
            is_even = all(counts[node] == PER_NODE for node in range(RANKS // PER_NODE))
            for objective, key in OBJECTIVES.items():
                known = figures[tool].get(objective)
                if known is None or (not is_even, metrics[key]) < (not known[1], known[0]):
                    figures[tool][objective] = (metrics[key], is_even)
                    best_run[tool, objective] = run
        figures["ayatori"] = {objective: (ours[objective]["placed"][key], True) for objective, key in OBJECTIVES.items()}
        seconds = {tool: statistics.median(run.seconds for run in found) for tool, found in runs.items() if found}
        simulated = {}
        if self.options.simulate:
            model = ours["time"]["model"]
            simulated["order"] = self.simulate(graph, edges, network, [r // PER_NODE for r in range(RANKS)], model)
            simulated["ayatori"] = self.simulate(graph, edges, network, ours["time"]["node_of_rank"], model)
            for tool in seconds:
                simulated[tool] = self.simulate(graph, edges, network, best_run[tool, "time"].node_of, model)
            (self.folder / "network.xml").unlink()
        order = {objective: ours[objective]["order_of_ranks"][key] for objective, key in OBJECTIVES.items()}
        return {"graph": name, "network": network.spec, "order": order, "figures": figures,
                "seconds": {**seconds, "ayatori": costs}, "simulated": simulated}


def ratio(case, objective):
    """Ours to the best of the others that are in balance; None if there is none."""
    figures = case["figures"]
    others = [f[objective][0] for tool, f in figures.items() if tool != "ayatori" and f[objective][1]]
    if not others or min(others) == 0:
        return None
    return figures["ayatori"][objective][0] / min(others)


def geometric_mean(values):
    return math.exp(statistics.fmean(map(math.log, values)))


def table(cases, objective, text):
    lines = [f"| {objective} | network | order | ayatori | Scotch | KaHIP | ours / best |", "|" + "---|" * 7]
    for case in cases:
        cells = [text(case["order"][objective])]
        for tool in ("ayatori", "Scotch", "KaHIP"):
            value = case["figures"].get(tool, {}).get(objective)
            cells.append("-" if value is None else text(value[0]) + ("" if value[1] else " *"))
        of = ratio(case, objective)
        lines.append(f"| {case['graph']} | {case['network']} | {' | '.join(cells)} | {'-' if of is None else f'{of:.3f}'} |")
    return lines


def summary(cases):
    lines = ["| network | " + " | ".join(f"{o}: geometric mean, worst" for o in OBJECTIVES) + " | s: ayatori by hop-bytes, "
             "link-load, time | Scotch | KaHIP |", "|" + "---|" * (len(OBJECTIVES) + 4)]
    for spec in dict.fromkeys(case["network"] for case in cases):
        mine = [case for case in cases if case["network"] == spec]
        cells = []
        for objective in OBJECTIVES:
            ratios = [r for r in (ratio(case, objective) for case in mine) if r]
            cells.append(f"{geometric_mean(ratios):.3f}, {max(ratios):.3f}" if ratios else "-")
        median = lambda pick: f"{statistics.median(map(pick, mine)):.2f}"  # noqa: E731
        cells.append(", ".join(median(lambda c, o=o: c["seconds"]["ayatori"][o]) for o in OBJECTIVES))
        for tool in ("Scotch", "KaHIP"):
            cells.append(median(lambda c, t=tool: c["seconds"][t]) if tool in mine[0]["seconds"] else "-")
        lines.append(f"| {spec} | " + " | ".join(cells) + " |")
    return lines


def simulated_table(cases):
    lines = ["| SMPI, us | network | order | ayatori | Scotch | KaHIP | predicted: order | ayatori | Scotch | KaHIP |", "|" + "---|" * 10]
    for case in cases:
        times = case["simulated"]
        if not times:
            continue
        cells = [f"{1e6 * times[tool]:.1f}" if tool in times else "-" for tool in ("order", "ayatori", "Scotch", "KaHIP")]
        figures = {"order": case["order"]["time"], **{tool: f["time"][0] for tool, f in case["figures"].items()}}
        cells += [f"{1e6 * figures[tool]:.1f}" if tool in figures else "-" for tool in ("order", "ayatori", "Scotch", "KaHIP")]
        lines.append(f"| {case['graph']} | {case['network']} | {' | '.join(cells)} |")
    return lines if len(lines) > 2 else []


def kahip_of(venv):
    """KaHIP's program in an environment of its own; installs it the first time."""
    found = list(venv.glob("lib/python*/site-packages/bin/global_multisection"))
    if not found:
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([venv / "bin" / "python", "-m", "pip", "install", "--quiet", KAHIP], check=True)
        found = list(venv.glob("lib/python*/site-packages/bin/global_multisection"))
    if not found:
        sys.exit(f"{KAHIP} has no global_multisection here")
    found[0].chmod(0o755)
    return found[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ayatori", type=pathlib.Path, default=ROOT / "build" / "release" / "cli" / "ayatori")
    parser.add_argument("--scotch", default="scotch_gmap")
    parser.add_argument("--venv", type=pathlib.Path, default=ROOT / "build" / "peers-mapping-venv")
    parser.add_argument("--matrices", type=pathlib.Path, default=ROOT.parent / "shared" / "matrices")
    parser.add_argument("--graphs", nargs="+", choices=[*GENERATED, *FILES], default=[*GENERATED, *FILES])
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--rounds", type=int, default=3, help="seeds of the others")
    parser.add_argument("--simulate", help="smpirun: simulate the exchanges, too")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the tables here")
    parser.add_argument("--json", type=pathlib.Path, help="write all figures here")
    options = parser.parse_args()
    if shutil.which(options.scotch) is None:
        sys.exit(f"needs {options.scotch} (Debian: scotch)")
    options.ayatori = options.ayatori.resolve()
    options.kahip = kahip_of(options.venv.resolve())
    os.environ["OMP_NUM_THREADS"] = "1"
    cases = []
    for name in options.graphs:
        file = options.matrices / f"{name}.mtx.gz"
        if name not in GENERATED and not file.exists():
            print(f"{file} is not there", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(options, pathlib.Path(folder))
            graph, edges = bench.graph_of(*GENERATED.get(name, (file, "graph")))
            bench.write_sources(edges)
            for spec in options.networks:
                cases.append(bench.measure(name, NETWORKS[spec], graph, edges))
                print(f"{name}, {spec}: " + ", ".join(f"{o} {ratio(cases[-1], o) or math.nan:.3f}" for o in OBJECTIVES),
                      file=sys.stderr, flush=True)
    lines = summary(cases) + [""] + table(cases, "hop-bytes", lambda v: f"{v / 1e6:.3f} M") + [""]
    lines += table(cases, "link-load", lambda v: f"{1e6 * v:.2f} us") + [""]
    lines += table(cases, "time", lambda v: f"{1e6 * v:.2f} us") + [""] + simulated_table(cases)
    print("\n".join(lines))
    if options.markdown:
        options.markdown.write_text("\n".join(lines) + "\n")
    if options.json:
        options.json.write_text(json.dumps(cases, indent=1) + "\n")


if __name__ == "__main__":
    main()
