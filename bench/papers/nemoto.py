#!/usr/bin/env python3
"""Redoes Nemoto et al.'s experiments by the model: 2, how many messages of a product stay inside nodes; 1, what distance costs.

usage: bench/papers/nemoto.py [--ayatori build/release/cli/ayatori] [--ranks 1536,3072,6144] [--partitions rows,graph]
                              [--n 200] [--folder build/nemoto] [--scotch scotch_gmap] [--experiment 2]

The 27-point Poisson problem of n^3 unknowns, 16 ranks per node, on a torus of as many nodes as are needed. Graphs are
made once, kept in FOLDER, and read again from there. With --scotch, Scotch's mapper is given the same graphs with
bytes as weights, the torus, and no imbalance; its placements are counted here. One row of Markdown for every case.

Experiment 1: 96 ranks, one on each node of a torus of 4 x 6 x 4; every rank exchanges 80 MB with those so many ranks before
and behind it, round all of them, all at once.
"""

import argparse
import json
import pathlib
import subprocess
import time

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
    lines = path.read_text().splitlines()
    return [tuple(map(int, line.split())) for line in lines[3:]]


def hops(a, b, torus):
    """Between two nodes, the first dimension varying fastest."""
    total = 0
    for size in torus:
        apart = abs(a % size - b % size)
        total += min(apart, size - apart)
        a, b = a // size, b // size
    return total


def scotch(options, path, ranks):
    """What Scotch makes of a graph: (share of messages inside, of bytes, hop-bytes, least and most ranks, seconds)."""
    edges = edges_of(path)
    torus = TORI[ranks]
    peers = [{} for _ in range(ranks)]  # weights of both directions together
    for a, b, size in edges:
        peers[a - 1][b - 1] = peers[a - 1].get(b - 1, 0) + size
        peers[b - 1][a - 1] = peers[b - 1].get(a - 1, 0) + size
    source = options.folder / "scotch.grf"
    rows = [f"{len(p)} " + " ".join(f"{size} {peer}" for peer, size in sorted(p.items())) for p in peers]
    source.write_text(f"0\n{ranks} {sum(map(len, peers))}\n0 010\n" + "\n".join(rows) + "\n")
    target = options.folder / "scotch.tgt"
    target.write_text(f"torus3D {' '.join(map(str, torus))}\n")
    mapped = options.folder / "scotch.map"
    start = time.process_time(), time.monotonic()
    subprocess.run([options.scotch, "-b0", source, target, mapped], check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - start[1]
    node_of = {}
    for line in mapped.read_text().splitlines()[1:]:
        rank, node = map(int, line.split())
        node_of[rank] = node
    inside = [size for a, b, size in edges if node_of[a - 1] == node_of[b - 1]]
    hop_bytes = sum(size * hops(node_of[a - 1], node_of[b - 1], torus) for a, b, size in edges)
    counts = [0] * (ranks // PER_NODE)
    for node in node_of.values():
        counts[node] += 1
    total = sum(size for _, _, size in edges)
    return 100 * len(inside) / len(edges), 100 * sum(inside) / total, hop_bytes, min(counts), max(counts), seconds


def distances(options):
    """Experiment 1: what exchanges at a distance between rank numbers cost in order, and placed."""
    ranks, size = 96, 80_000_000
    print("| software hops | hardware hops: order, mean | most | placed, mean | most | exchange, ms: order | placed | ratio |")
    print("|" + "---|" * 8)
    for apart in range(5, 50, 5):
        path = options.folder / f"distance-{apart}.mtx"
        entries = "".join(f"{a + 1} {b + 1} {size}\n" for a in range(ranks)
                          for b in sorted({(a - apart) % ranks, (a + apart) % ranks}))
        path.write_text("%%MatrixMarket matrix coordinate real general\n"
                        f"{ranks} {ranks} {entries.count(chr(10))}\n{entries}")
        result = run_map(options, "--graph", path, "--network", "torus:4x6x4", per_node=1)
        order, placed = result["order_of_ranks"], result["placed"]
        print(f"| {apart} | {order['mean_hops']:.2f} | {order['most_hops']} | {placed['mean_hops']:.2f} | {placed['most_hops']} "
              f"| {1e3 * order['seconds']:.1f} | {1e3 * placed['seconds']:.1f} | {placed['seconds'] / order['seconds']:.2f} |",
              flush=True)


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
            for objective in ("messages", "hop-bytes", "time"):
                result = run_map(options, "--graph", graph, "--network", network, "--objective", objective)
                order, dealt, placed = (result[k] for k in ("order_of_ranks", "dealt_round", "placed"))
                print(f"| {partition} | {ranks} | {order['messages']} | {objective} | {share(order, 'messages')} "
                      f"| {share(dealt, 'messages')} | {share(placed, 'messages')} | {share(order, 'bytes')} "
                      f"| {share(placed, 'bytes')} | {order['hop_bytes'] / 1e6:.1f} M | {placed['hop_bytes'] / 1e6:.1f} M "
                      f"| {1e6 * order['seconds']:.1f} | {1e6 * dealt['seconds']:.1f} | {1e6 * placed['seconds']:.1f} "
                      f"| {result['seconds']:.2f} |", flush=True)
            if options.scotch:
                messages, size, hop_bytes, least, most, seconds = scotch(options, graph, ranks)
                print(f"| {partition} | {ranks} | Scotch: messages inside {messages:.0f} %, bytes inside {size:.0f} %, "
                      f"hop-bytes {hop_bytes / 1e6:.1f} M, {least} to {most} ranks on a node, {seconds:.2f} s |",
                      flush=True)


if __name__ == "__main__":
    main()
