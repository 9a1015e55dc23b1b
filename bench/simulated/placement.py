#!/usr/bin/env python3
"""What placing ranks for exchange and collectives together is worth, simulated by SMPI's replay: deterministic.

usage: bench/simulated/placement.py [--ayatori build/release/cli/ayatori] [--smpirun smpirun] [--cases NAME...] [--json FILE]

In every case `ayatori map --collective` places the ranks of a halo exchange jointly and writes, for each placement that it
has looked at, the messages of the collectives by the best schedules there. One simulation has the exchange and then all
calls of the collectives, on the network and with the costs that the placements were judged by
(bench/simulated/exchange.py), for the order of ranks, the placement that is best for the exchange alone, and the joint one.
Microseconds, predicted -> simulated.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import runs  # noqa: E402 - of the folder above
from simulated import exchange  # noqa: E402

CASES = {
    "tree, short": ("poisson3d-27:n=48", "graph", 128, 8, "tree:4x4", ("allreduce:8:2",)),
    "tree, long": ("poisson3d-27:n=48", "graph", 128, 8, "tree:4x4", ("allreduce:64K:1",)),
    "torus, short": ("poisson3d-27:n=48", "graph", 128, 8, "torus:4x4", ("allreduce:8:2",)),
    "torus, long": ("poisson3d-27:n=48", "graph", 128, 8, "torus:4x4", ("broadcast:64K:1", "allreduce:8:2")),
}


def simulate(smpirun, folder, platform, edges, placement, model):
    """Seconds of the exchange and then the collectives; of the exchange alone."""
    rounds = [edges]
    for collective in placement["collectives"]:
        rounds += collective["rounds"] * round(collective["calls"])
    return tuple(exchange.seconds(smpirun, folder, platform, played, placement["node_of_rank"], model)
                 for played in (rounds, [edges]))


def placements_of(words, folder, launch=()):
    """What `ayatori map` has looked at, the best first; the edges of the exchange; the costs; the platform. `launch`: the
    command that runs it."""
    files = {name: folder / name for name in ("graph.mtx", "messages.json", "network.xml", "result.json")}
    subprocess.run([str(word) for word in (*launch, "map", *words, "--graph-output", files["graph.mtx"], "--messages",
                                           files["messages.json"], "--platform", files["network.xml"], "--json",
                                           files["result.json"])],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    lines = (line for line in files["graph.mtx"].read_text(encoding="utf-8").splitlines() if not line.startswith("%"))
    next(lines)  # the sizes
    edges = [(int(a) - 1, int(b) - 1, int(size)) for a, b, size in map(str.split, lines)]
    model = json.loads(files["result.json"].read_text(encoding="utf-8"))["model"]
    return json.loads(files["messages.json"].read_text(encoding="utf-8")), edges, model, files["network.xml"]


def words_of(matrix, partition, ranks, per_node, network, collectives):
    words = [matrix, "--partition", partition, "--ranks", ranks, "--ranks-per-node", per_node, "--network", network]
    return words + [word for call in collectives for word in ("--collective", call)]


def chosen(placements):
    """The order of ranks, what is best for the exchange alone, and for both."""
    return {"order of ranks": next(p for p in placements if p["how"] == "order of ranks"),
            "by the exchange": min(placements, key=lambda p: p["exchange_seconds"]), "jointly": placements[0]}


def measure(smpirun, case, launch):
    """Of every placement: what is predicted and simulated, of the exchange and of all."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        placements, edges, model, platform = placements_of(words_of(*case), folder, launch)
        figures = {}
        for what, placement in chosen(placements).items():
            both, exchange = simulate(smpirun, folder, platform, edges, placement, model)
            figures[what] = {"how": placement["how"], "exchange": placement["exchange_seconds"],
                             "together": placement["exchange_seconds"] + placement["collective_seconds"],
                             "simulated_exchange": exchange, "simulated_together": both}
        return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ayatori", type=pathlib.Path, default=runs.ROOT / "build" / "release" / "cli" / "ayatori")
    parser.add_argument("--smpirun", default="smpirun")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    print("| exchange | collectives | network | placed | exchange, us | exchange and collectives, us |\n|" + "---|" * 6)
    results = {}
    for name in options.cases:
        matrix, partition, ranks, per_node, network, collectives = CASES[name]
        results[name] = measure(options.smpirun, CASES[name], [options.ayatori.resolve()])
        for what, figures in results[name].items():
            cells = (f"{1e6 * figures[part]:.2f} -> {1e6 * figures['simulated_' + part]:.2f}" for part in ("exchange", "together"))
            print(f"| {matrix}, {partition}, {ranks} ranks, {per_node} on a node | {', '.join(collectives)} | {network} | {what} "
                  f"({figures['how']}) | {' | '.join(cells)} |", flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
