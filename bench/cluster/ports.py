#!/usr/bin/env python3
"""Is CG bound by bandwidth or by latency? Nishida's experiment with one and two ports, on a virtual cluster.

usage: bench/cluster/ports.py [cg] [probe] [--rounds 3] [--seconds 10] [--ayatori build/release/cli/ayatori]
                      [--ayatori-mpich PROGRAM] [--matrix SPEC...] [--iterations 100] [--markdown FILE]

Two nodes (bench/cluster/virtual_cluster.py, needs root) with links of different rates, one or two to a node, over which Open
MPI spreads a long message. The probe's latency and bandwidth are held against what was set, and an iteration of CG on
two nodes of one rank is timed against one rank alone. With --ayatori-mpich, a build with MPICH, the probe runs there
as well, on one port. The configurations take turns; the tables give the median of the rounds with the least and the
largest. A node has one core of this machine, which handles its packets as well: what a network card does elsewhere
costs time of the ranks here.
"""

import dataclasses
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import runs  # noqa: E402 - of the folder above
from cluster import virtual_cluster  # noqa: E402

PAYLOAD = 1448 / 1514  # of a full Ethernet frame
# A narrow halo, and one of all that the other rank has, as in NPB's CG.
MATRICES = ("poisson3d-27:n=96", "random-spd:n=100000,per_row=150,dominance=1.001")


@dataclasses.dataclass(frozen=True)
class Network:
    megabits: int
    ports: int

    def __str__(self):
        rate = f"{self.megabits / 1000:g} Gbit/s" if self.megabits >= 1000 else f"{self.megabits} Mbit/s"
        return f"{self.ports} x {rate}"

    def bandwidth(self):
        """Payload in bytes per second."""
        return self.megabits * 1e6 / 8 * self.ports * PAYLOAD


NETWORKS = [Network(200, 1), Network(200, 2), Network(1000, 1), Network(1000, 2), Network(10000, 1)]
ALONE = "1 node"


@dataclasses.dataclass(frozen=True)
class Figure:
    """What the rounds gave."""

    values: list

    def median(self):
        return statistics.median(self.values)

    def text(self, unit):
        low, middle, high = (f"{value / unit:.3g}" if value < 1000 * unit else f"{value / unit:.0f}"
                             for value in (min(self.values), self.median(), max(self.values)))
        return middle if len(self.values) == 1 else f"{middle} ({low} - {high})"


def in_cluster(options, network, words, mpi, ranks_per_node):
    with virtual_cluster.VirtualCluster(2, f"{network.megabits}mbit", network.ports, pinned=True) as cluster:
        return cluster.run([str(word) for word in words], mpi, ranks_per_node, capture_output=True, text=True,
                           timeout=options.time_limit)


def check(done, allowed=(0,)):
    if done.returncode not in allowed:
        sys.exit(f"exit status {done.returncode}: {done.stderr.strip()}")


def probe(options, network, mpi="openmpi", ranks_per_node=1):
    """Latency in seconds, bandwidth one way and both ways in bytes per second and direction, number of levels."""
    program = options.ayatori if mpi == "openmpi" else options.ayatori_mpich
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "profile.json"
        check(in_cluster(options, network, [program, "probe", "--seconds", options.seconds, "-o", path], mpi,
                         ranks_per_node))
        profile = json.loads(path.read_text())
    curves = {curve["pattern"]: curve["pieces"] for curve in profile["levels"][-1]["curves"] if curve["pairs"] == 1}
    nodes = [rank // ranks_per_node for rank in range(2 * ranks_per_node)]
    return {"latency": curves["one-way"][0]["alpha"], "one way": 1 / curves["one-way"][-1]["beta"],
            "both ways": 1 / curves["both-ways"][-1]["beta"],
            "nodes found": any(level["group_of_rank"] == nodes for level in profile["levels"]),
            "inside": profile["levels"][0]["least_seconds"]}


def iteration(options, network, matrix):
    """Seconds of an iteration, and of it for ghosts and for sums."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "result.json"
        words = [options.ayatori, "solve", matrix, "--method", "cg", "--preconditioner", "none", "--kernel", "csr",
                 "--halo", "p2p-irecv-first", "--max-iterations", options.iterations, "--rtol", "1e-14", "--threads", 1,
                 "--quiet", "--json", path]
        if network == ALONE:
            done = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False,
                                  timeout=options.time_limit, env=os.environ | {"OMP_NUM_THREADS": "1"})
        else:
            done = in_cluster(options, network, words, "openmpi", 1)
        check(done, (0, 1))  # 1: it has not converged, which nobody asked for
        result = json.loads(path.read_text())
    return {name: result["seconds"][name] / result["iterations"] for name in ("solve", "halo", "reduction")} \
        | {"halo bytes": result["communication"]["halo_bytes_per_product"]}


def collect(networks, rounds, measure):
    """By network and name: the figures of all rounds, in which the networks take turns."""
    results = {}
    for network in runs.take_turns(networks, rounds):
        print(f"{network} ...", file=sys.stderr, flush=True)
        for name, value in measure(network).items():
            results.setdefault(network, {}).setdefault(name, []).append(value)
    return {network: {name: Figure(values) for name, values in found.items()} for network, found in results.items()}


def probe_table(found, levels):
    columns = ["ports x rate", "set, MB/s", "one way, MB/s", "of what was set", "both ways, MB/s a direction",
               "latency, us", *levels * ["inside a node, us", "nodes found"]]
    lines = [f"| {' | '.join(columns)} |", "|" + len(columns) * "---|"]
    for network, figures in found.items():
        line = (f"| {network} | {network.bandwidth() / 1e6:.4g} | {figures['one way'].text(1e6)} "
                f"| {figures['one way'].median() / network.bandwidth():.2f} | {figures['both ways'].text(1e6)} "
                f"| {figures['latency'].text(1e-6)} |")
        if levels:
            right = figures["nodes found"].values
            line += f" {figures['inside'].text(1e-6)} | {sum(right)} of {len(right)} |"
        lines.append(line)
    return "\n".join(lines)


def iteration_table(matrix, found):
    alone = found[ALONE]["solve"]
    columns = ["ports x rate", "an iteration, ms", "its ghosts, ms", "its sums, ms", "speed-up over 1 node",
               "of the best"]
    halo = max(figures["halo bytes"].median() for figures in found.values())
    lines = [f"`{matrix}`, {halo / 1e6:.3g} MB of ghosts in all:", "", f"| {' | '.join(columns)} |",
             "|" + len(columns) * "---|"]
    for network, figures in found.items():
        cells = [figures[name].text(1e-3) if network != ALONE else "" for name in ("halo", "reduction")]
        cells += [f"{alone.median() / figures['solve'].median():.2f}",
                  f"{min(alone.values) / min(figures['solve'].values):.2f}"]
        lines.append(f"| {network} | {figures['solve'].text(1e-3)} | {' | '.join(cells)} |")
    return "\n".join(lines + ["", conclusion(found)])


def conclusion(found):
    """What binds an iteration: whether more bandwidth helps says it. Of the best rounds: other load only adds."""
    sentences = []
    for network, figures in found.items():
        if network == ALONE or network.ports > 1:
            continue
        best = {name: min(figure.values) for name, figure in figures.items()}
        gains = {}
        for text, other in (("a second port", Network(network.megabits, 2)),
                            ("ten times the rate", Network(10 * network.megabits, 1))):
            if other in found:
                gains[text] = 1 - min(found[other]["solve"].values) / best["solve"]
        if not gains:
            continue
        if max(gains.values()) > 0.1:
            bound = "bandwidth"
        else:
            bound = "latency" if best["halo"] + best["reduction"] > 0.5 * best["solve"] else "its own arithmetic"
        saved = " and ".join(f"{text} saves {100 * gain:.0f} %" for text, gain in gains.items())
        sentences.append(f"With {network}, {saved} of an iteration: CG is bound by {bound} there.")
    return "In the best rounds: " + " ".join(sentences)


def main():
    parser = runs.parser_of(__doc__)
    parser.add_argument("parts", nargs="*", default=("cg", "probe"), help="cg or probe (default: both)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10, help="of a probe")
    parser.add_argument("--iterations", type=int, default=100)
    parser.add_argument("--matrix", nargs="+", default=MATRICES)
    parser.add_argument("--ayatori", default=str(runs.ROOT / "build" / "release" / "cli" / "ayatori"))
    parser.add_argument("--ayatori-mpich", help="a build with MPICH")
    parser.add_argument("--time-limit", type=float, default=120, help="seconds of one run")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the tables here")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that `with` cleans up
    try:
        virtual_cluster.check_available()
    except virtual_cluster.Unavailable as reason:
        sys.exit(f"no virtual cluster: {reason}")

    texts = []

    def show(text):
        texts.append(text)
        print(text + "\n", flush=True)

    def iterations(matrix):
        return collect([ALONE, *NETWORKS], options.rounds, lambda network: iteration(options, network, matrix))

    def probes(networks, *arguments):
        return collect(networks, options.rounds, lambda network: probe(options, network, *arguments))

    if "cg" in options.parts:
        show("Iterations of CG, 2 nodes of 1 rank:")
        for matrix in options.matrix:
            show(iteration_table(matrix, iterations(matrix)))
    if "probe" in options.parts:
        show("The probe, 2 nodes of 1 rank, Open MPI:\n\n" + probe_table(probes(NETWORKS), levels=False))
        show("2 nodes of 2 ranks, Open MPI:\n\n" + probe_table(probes(NETWORKS, "openmpi", 2), levels=True))
        if options.ayatori_mpich:
            single = [network for network in NETWORKS if network.ports == 1]
            show("2 nodes of 1 rank, MPICH, which uses one port:\n\n"
                 + probe_table(probes(single, "mpich"), levels=False))
    if options.markdown:
        options.markdown.write_text("\n\n".join(texts) + "\n")


if __name__ == "__main__":
    main()
