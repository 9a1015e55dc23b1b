#!/usr/bin/env python3
"""Redoes Nemoto et al.'s experiments by the model: 2, how many messages of a product stay inside nodes; 1, what distance costs.

usage: bench/papers/nemoto.py [--ayatori build/release/cli/ayatori] [--ranks 1536,3072,6144] [--partitions rows,graph]
                              [--n 200] [--folder build/nemoto] [--scotch scotch_gmap] [--simulate smpirun] [--experiment 2]

The 27-point Poisson problem of n^3 unknowns, 16 ranks per node, on a torus of as many nodes as are needed. Graphs are
made once, kept in FOLDER, and read again from there. With --scotch, Scotch's mapper is given the same graphs with
bytes as weights, the torus, and no imbalance. With --simulate, SMPI simulates the exchange on the same torus, with the same
costs, for every placement (bench/simulated/exchange.py). One row of Markdown for every case.

Experiment 1: 96 ranks, one on each node of a torus of 4 x 6 x 4; every rank exchanges 80 MB with the ranks this many places before
and behind it, round all of them, all at once.
"""

import argparse
import json
import pathlib
import resource
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from simulated import exchange  # noqa: E402

PER_NODE = 16
TORI = {1536: (4, 6, 4), 3072: (8, 6, 4), 6144: (8, 6, 8)}


def run_map(options, *arguments, per_node=PER_NODE):
    """The JSON of a run of `ayatori map`."""
    result = options.folder / "result.json"
    subprocess.run([options.ayatori, "map", *map(str, arguments), "--ranks-per-node", str(per_node), "--json", result],
                   check=True, stderr=subprocess.DEVNULL)
    return json.loads(result.read_text())


def graph_of(options, partition, ranks):
    """Bytes from rank to rank, as a file; made if it is not there."""
    path = options.folder / f"{partition}-{options.n}-{ranks}.mtx"
    if not path.exists():
        run_map(options, f"poisson3d-27:n={options.n}", "--partition", partition, "--ranks", ranks, "--objective",
                "messages", "--graph-output", path)
    return path


def edges_of(path):
    """(from, to, bytes) of a graph that was written here."""
    lines = (line for line in path.read_text().splitlines() if not line.startswith("%"))
    next(lines)  # the sizes
    return [(a - 1, b - 1, size) for a, b, size in (map(int, line.split()) for line in lines)]


def simulate(options, path, network, per_node, placements, model):
    """Microseconds of the exchange by SMPI, for every placement."""
    platform = options.folder / "network.xml"
    run_map(options, "--graph", path, "--network", network, "--objective", "bytes", "--platform", platform, per_node=per_node)
    edges = edges_of(path)
    return {name: 1e6 * exchange.seconds(options.simulate, options.folder, platform, [edges], node_of, model)
            for name, node_of in placements.items()}


def scotch(options, path, ranks):
    """The node that Scotch gives every rank, and the processor seconds that it takes."""
    peers = [{} for _ in range(ranks)]  # weights of both directions together
    for a, b, size in edges_of(path):
        peers[a][b] = peers[a].get(b, 0) + size
        peers[b][a] = peers[b].get(a, 0) + size
    source, target, mapped = (options.folder / f"scotch.{kind}" for kind in ("grf", "tgt", "map"))
    rows = [f"{len(p)} " + " ".join(f"{size} {peer}" for peer, size in sorted(p.items())) for p in peers]
    source.write_text(f"0\n{ranks} {sum(map(len, peers))}\n0 010\n" + "\n".join(rows) + "\n")
    target.write_text(f"torus3D {' '.join(map(str, TORI[ranks]))}\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([options.scotch, "-b0", source, target, mapped], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    node_of = dict(map(int, line.split()) for line in mapped.read_text().splitlines()[1:])
    return [node_of[rank] for rank in range(ranks)], after.ru_utime - before.ru_utime


def distances(options):
    """Experiment 1: what exchanges at a distance between rank numbers cost in order, and placed."""
    ranks, size = 96, 80_000_000
    print("| software hops | hardware hops: order, mean | most | placed, mean | most | exchange, ms: order | placed | ratio "
          "| SMPI: order | placed | ratio |")
    print("|" + "---|" * 11)
    for apart in range(5, 50, 5):
        path = options.folder / f"distance-{apart}.mtx"
        entries = "".join(f"{a + 1} {b + 1} {size}\n" for a in range(ranks)
                          for b in sorted({(a - apart) % ranks, (a + apart) % ranks}))
        path.write_text("%%MatrixMarket matrix coordinate real general\n"
                        f"{ranks} {ranks} {entries.count(chr(10))}\n{entries}")
        result = run_map(options, "--graph", path, "--network", "torus:4x6x4", per_node=1)
        order, placed = result["order_of_ranks"], result["placed"]
        print(f"| {apart} | {order['mean_hops']:.2f} | {order['most_hops']} | {placed['mean_hops']:.2f} | {placed['most_hops']} "
              f"| {1e3 * order['seconds']:.1f} | {1e3 * placed['seconds']:.1f} | {placed['seconds'] / order['seconds']:.2f} ",
              end="")
        if options.simulate:
            times = simulate(options, path, "torus:4x6x4", 1, {"order": list(range(ranks)), "placed": result["node_of_rank"]},
                             result["model"])
            print(f"| {times['order'] / 1e3:.1f} | {times['placed'] / 1e3:.1f} | {times['placed'] / times['order']:.2f} ", end="")
        print("|", flush=True)


def share(metrics, what):
    return f"{100 * metrics[what + '_inside'] / metrics[what]:.0f} %"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ayatori", default="build/release/cli/ayatori")
    parser.add_argument("--ranks", default="1536,3072,6144")
    parser.add_argument("--partitions", default="rows,graph")
    parser.add_argument("--n", type=int, default=200)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/nemoto"))
    parser.add_argument("--scotch")
    parser.add_argument("--simulate", help="smpirun")
    parser.add_argument("--experiment", type=int, choices=(1, 2), default=2)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    if options.experiment == 1:
        distances(options)
        return
    print("| parts | ranks | messages | made small | order: messages inside | dealt round | placed | bytes inside: order "
          "| placed | hop-bytes: order | placed | exchange, us: order | dealt round | placed | s |")
    print("|" + "---|" * 15)
    for partition in options.partitions.split(","):
        for ranks in map(int, options.ranks.split(",")):
            graph = graph_of(options, partition, ranks)
            network = "torus:" + "x".join(map(str, TORI[ranks]))
            placements = {"order": [rank // PER_NODE for rank in range(ranks)],
                          "dealt round": [rank % (ranks // PER_NODE) for rank in range(ranks)]}
            compared = []
            if options.scotch:
                placements["Scotch"], seconds = scotch(options, graph, ranks)
                file = options.folder / "scotch.nodes"
                file.write_text("".join(f"{node}\n" for node in placements["Scotch"]))
                compared = ["--compare", file]
            for objective in ("messages", "hop-bytes", "time"):
                result = run_map(options, "--graph", graph, "--network", network, "--objective", objective, *compared)
                order, dealt, placed = (result[k] for k in ("order_of_ranks", "dealt_round", "placed"))
                print(f"| {partition} | {ranks} | {order['messages']} | {objective} | {share(order, 'messages')} "
                      f"| {share(dealt, 'messages')} | {share(placed, 'messages')} | {share(order, 'bytes')} "
                      f"| {share(placed, 'bytes')} | {order['hop_bytes'] / 1e6:.1f} M | {placed['hop_bytes'] / 1e6:.1f} M "
                      f"| {1e6 * order['seconds']:.1f} | {1e6 * dealt['seconds']:.1f} | {1e6 * placed['seconds']:.1f} "
                      f"| {result['seconds']:.2f} |", flush=True)
            predicted = {"order": order, "dealt round": dealt, "placed": placed}
            placements["placed"] = result["node_of_rank"]
            if options.scotch:
                metrics = predicted["Scotch"] = result["compared"][0]
                counts = [placements["Scotch"].count(node) for node in range(ranks // PER_NODE)]
                print(f"| {partition} | {ranks} | Scotch: messages inside {share(metrics, 'messages')}, bytes inside "
                      f"{share(metrics, 'bytes')}, hop-bytes {metrics['hop_bytes'] / 1e6:.1f} M, {min(counts)} to {max(counts)} "
                      f"ranks on a node, {seconds:.2f} s |", flush=True)
            if options.simulate:
                times = simulate(options, graph, network, PER_NODE, placements, result["model"])
                cells = (f"{name} {1e6 * predicted[name]['seconds']:.1f} -> {times[name]:.1f}" for name in times)
                print(f"| {partition} | {ranks} | us predicted -> simulated: {', '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
