#!/usr/bin/env python3
"""Redoes Nishida's figures 13 to 16 by forecast and by simulation: NPB CG on an Altix, Gigabit Ethernet, InfiniBand of 1 and 2 ports.

usage: bench/papers/nishida.py [--ayatori build/release/cli/ayatori] [--simulated build/simgrid/cli/ayatori]
                               [--classes S W A B C] [--simulate S W A B C] [--networks altix gbe ib1 ib2] [--folder FOLDER]

1 to 8 processes are on as many nodes, 16 are two on each of 8. Latencies and bandwidths are the paper's (of both
directions together; each is taken for half), the Altix is the one of Imamura's table 3, as bench/simulated/platforms.py
has it; memory gives 2.5 GB/s to a process of the cluster, as published, and 3.2 GB/s on the Altix: half the 6.4 GB/s
that, as the paper says, two processors share, an assumption.

A network is simulated from these numbers; `ayatori probe` measures it there, and `ayatori predict` goes by that profile
(by the published one where nothing is simulated). Simulated are the messages of `ayatori bench npb-cg`, verified;
computing takes no time there, and the forecast's is added. So the error is one of messages: in all, and of them alone.
Of classes B and C one outer iteration (26 products) is simulated, whose residual is verified: all have the same messages.
Deterministic.

Beside every class stands which side of the network bounds it, in the words of `ayatori predict`; Nishida's conclusion is
bandwidth, not latency.
"""

import argparse
import dataclasses
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import types

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import runs  # noqa: E402 - of the folder above
from simulated import platforms  # noqa: E402
from simulated.collectives import QUICK, Simulator  # noqa: E402

PROCESSES = (1, 2, 4, 8, 16)
ONE_ITERATION = ("B", "C")  # a whole run would take an hour
AIM = 0.12  # of the median error
NODES = 8
COMPUTING = ("product", "vectors", "imbalance")


def cluster(name, latency, both_directions):
    """8 nodes of two processes; inside a node messages take what they take between nodes, as far as is known."""
    rates = f'bw="{both_directions / 2:.6g}Bps" lat="{latency / 2:.6g}s"'
    loopback = f'loopback_bw="{both_directions / 2:.6g}Bps" loopback_lat="{latency:.6g}s"'
    return platforms.Platform(name, platforms.cluster(NODES, rates, loopback),
                                        [f"node-{rank // 2}" for rank in range(2 * NODES)])


@dataclasses.dataclass(frozen=True)
class Network:
    figure: int
    title: str
    published: str  # profile
    memory: float  # GB/s of a process
    platform: platforms.Platform
    is_cluster: bool = True

    def shape(self, processes):
        """Nodes, and processes on each."""
        return (NODES, processes // NODES) if self.is_cluster and processes > NODES else (processes, 1)


NETWORKS = {
    "altix": Network(13, "SGI Altix 3700", "altix3700bx2", 3.2, platforms.platform("altix-16"), False),
    "gbe": Network(14, "Gigabit Ethernet", "gbe-2005", 2.5, cluster("gbe", 28.71e-6, 58e6)),
    "ib1": Network(15, "InfiniBand, 1 port", "infiniband-2005-1port", 2.5, cluster("ib1", 3.99e-6, 2907e6 / 2)),
    "ib2": Network(16, "InfiniBand, 2 ports", "infiniband-2005", 2.5, cluster("ib2", 3.99e-6, 2907e6)),
}


def predict(options, simulator, words):
    """Runs `ayatori predict`: the native build, or the simulated one where that is none."""
    if options.ayatori:
        subprocess.run([str(word) for word in [options.ayatori, "predict", *words]], check=True, stderr=subprocess.DEVNULL)
        return
    status, said = simulator.run(["predict", *words], ranks=1)
    if status != 0:
        raise runs.Rejected(f"ayatori predict {words}: {said[-500:]}")


def forecasts(options, network, simulator, profile, size):
    """By number of processes: points of `ayatori predict`; what it says holds back those of one process a node; and its
    conclusions by processes of a node."""
    points, scaling, conclusions = {}, "", {}
    shapes = [network.shape(processes) for processes in PROCESSES]
    for per_node in sorted({count for _, count in shapes}):
        nodes = [n for n, count in shapes if count == per_node]
        path = options.folder / "forecast.json"
        predict(options, simulator, [f"npb-cg:{size}", "--method", "npb-cg", "--partition", "rows", "--nodes",
                                     ",".join(map(str, nodes)), "--ranks-per-node", per_node, "--profile", profile,
                                     "--memory-bandwidth", network.memory * per_node, "--json", path])
        result = json.loads(path.read_text(encoding="utf-8"))
        points |= {point["ranks"]: point for point in result["points"]}
        scaling = scaling or result["scaling"]
        conclusions[per_node] = result["conclusion"]
    return points, scaling, conclusions


def side_of(conclusion):
    """What the sentence says of the network."""
    return "bandwidth" if "not latency" in conclusion else "latency" if "not bandwidth" in conclusion else "neither"


def simulated(simulator, processes, size):
    """Seconds of the messages of an inner iteration."""
    path = simulator.folder / "cg.json"
    path.unlink(missing_ok=True)
    shortened = ["--outer-iterations", "1"] if size in ONE_ITERATION else []
    status, said = simulator.run(["bench", "npb-cg", "--class", size, "--kernel", "csr", "--halo", "p2p-irecv-first",
                                  "--reductions", "2", "--repetitions", "1", "--elements", "100", "--threads", "1",
                                  "--profile", "none", *shortened, "--json", path], QUICK, ranks=processes)
    if status != 0 or not path.exists():
        raise runs.Rejected(f"{simulator.platform.name}, class {size}, {processes} processes: {said[-500:]}")
    result = json.loads(path.read_text(encoding="utf-8"))
    return result["runs"][0]["seconds"] / (result["products"] * 25 / 26)


def simulators(options, network, name):
    """One that has the processes one by one on nodes, and one with two on each."""
    hosts = network.platform.hosts
    spread = hosts if not network.is_cluster else [f"node-{rank}" for rank in range(NODES)]
    apart = dataclasses.replace(network.platform, name=f"{name}-apart", hosts=spread)
    common = types.SimpleNamespace(smpirun=options.smpirun, ayatori=options.simulated, time_limit=options.time_limit,
                                   memory=8, bench_options="", probe_ranks=len(hosts), probe_limit=600)
    full = Simulator(common, network.platform, options.folder)
    return full, Simulator(common, apart, options.folder) if network.is_cluster else full


def redo(options, name):
    """Prints a figure; gives (error in all, error of messages) of its points, and by class the side of the network that
    bounds."""
    network = NETWORKS[name]
    full, apart = simulators(options, network, name) if options.simulate else (None, None)
    profile = full.profile() if full else network.published
    print(f"\n### Figure {network.figure}: {network.title}\n")
    print("| class | processes | us | speed-up | of it messages, us | simulated: us | speed-up | messages, us | bound by |")
    print("|" + "---|" * 9)
    errors = []
    said = []
    sides = {}
    for size in options.classes:
        points, scaling, conclusions = forecasts(options, network, full, profile, size)
        for processes in PROCESSES:
            point = points[processes]
            computing = sum(point["phases"][phase] for phase in COMPUTING)
            messages = point["seconds"] - computing
            row = [size, processes, f"{1e6 * point['seconds']:.1f}", f"{points[1]['seconds'] / point['seconds']:.2f}",
                   f"{1e6 * messages:.1f}", "", "", "", point["bound"]]
            if processes > 1 and size in options.simulate:
                found = simulated(full if network.shape(processes)[1] > 1 else apart, processes, size)
                row[5:8] = (f"{1e6 * (computing + found):.1f}", f"{points[1]['seconds'] / (computing + found):.2f}",
                            f"{1e6 * found:.1f}")
                errors.append((abs(point["seconds"] / (computing + found) - 1), abs(messages / found - 1)))
            print("| " + " | ".join(map(str, row)) + " |", flush=True)
        gains = points[PROCESSES[-1]]["gains"]
        sides[size] = [side_of(conclusions[per_node]) for per_node in sorted(conclusions)]
        said.append(f"- class {size}: {conclusions[max(conclusions)]}; {scaling}; on 16 processes twice the bandwidth makes it {gains['bandwidth']:.2f} times as "
                    f"fast, half the latency {gains['latency']:.2f} times")
    print("\n" + "\n".join(said))
    return errors, sides


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ayatori", type=pathlib.Path, default=runs.ROOT / "build" / "release" / "cli" / "ayatori")
    parser.add_argument("--simulated", type=pathlib.Path, default=runs.ROOT / "build" / "simgrid" / "cli" / "ayatori")
    parser.add_argument("--smpirun", default="smpirun")
    parser.add_argument("--classes", nargs="+", default=["S", "W", "A", "B", "C"], choices="SWABC")
    parser.add_argument("--simulate", nargs="*", default=["S", "W", "A", "B", "C"], choices="SWABC")
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS), choices=NETWORKS)
    parser.add_argument("--folder", type=pathlib.Path)
    parser.add_argument("--time-limit", type=float, default=600, help="seconds of processor time of a simulation")
    options = parser.parse_args()
    try:
        with tempfile.TemporaryDirectory() as name:
            options.folder = options.folder or pathlib.Path(name)
            options.folder.mkdir(parents=True, exist_ok=True)
            redone = {name: redo(options, name) for name in options.networks}
    except runs.Rejected as reason:
        print(f"nishida.py: {reason}", file=sys.stderr)
        return 1
    errors = {name: found for name, (found, _) in redone.items()}
    print("\n| what bounds, of the network's two sides | " + " | ".join(options.classes) + " |")
    print("|---|" + "---|" * len(options.classes))
    for name, (_, sides) in redone.items():
        print(f"| {NETWORKS[name].title} | " + " | ".join(", ".join(dict.fromkeys(sides[size])) for size in options.classes) + " |")
    every = [error for of_network in errors.values() for error in of_network]
    if every:
        print("\n| forecast against simulation | points | median error | most | of messages alone: median | most |")
        print("|" + "---|" * 6)
        for name, found in [*errors.items(), ("all", every)]:
            total, messages = zip(*found, strict=True)
            print(f"| {name} | {len(found)} | {100 * statistics.median(total):.1f} % | {100 * max(total):.1f} % "
                  f"| {100 * statistics.median(messages):.1f} % | {100 * max(messages):.1f} % |")
        median = statistics.median(messages)
        print(f"\nThe median error of messages is {100 * median:.1f} %, {'within' if median <= AIM else 'beyond'} "
              f"{100 * AIM:.0f} %.")
        return 0 if median <= AIM else 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
