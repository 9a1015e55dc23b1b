#!/usr/bin/env python3
"""What `ayatori solve --placement always` is worth on a virtual cluster: with and without it in turns, without first every other time.

usage: bench/cluster/placement.py [--ayatori build/release/cli/ayatori] [--nodes 4] [--ranks-per-node 3] [--rate 100mbit]
                          [--rounds 6] [--iterations 40] [--matrix poisson3d-27:n=40] [--cases NAME...] [--probe-seconds 20]
                          [--time-limit 600] [--json FILE]

Three cases: block rows, and the parts of METIS, on ranks that mpirun has dealt round the nodes (--map-by node), and the
parts of METIS on ranks in order. The machine's profile is measured first, in the same job layout. Method, kernel and halo strategy are fixed, so
that only the placement differs; a time is that of an iteration of CG, of this many: median, least and most. One row of
Markdown for every case; ratios are those of the medians, and of the least.
"""

import argparse
import json
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from cluster import virtual_cluster  # noqa: E402 - of the folder above

FIXED = ["--method", "cg", "--preconditioner", "jacobi", "--kernel", "csr", "--halo", "p2p-irecv-first", "--tuning-share",
         "0", "--rtol", "1e-14", "--knowledge", "none", "-q"]
DEALT_ROUND = ["--map-by", "node"]
CASES = {"rows, ranks dealt round": (DEALT_ROUND, "contiguous"), "METIS, ranks dealt round": (DEALT_ROUND, "graph"),
         "METIS, ranks in order": ([], "graph")}


class Bench:
    def __init__(self, options, cluster, folder):
        self.options, self.cluster, self.folder = options, cluster, pathlib.Path(folder)

    def run(self, launcher, *words):
        """The job's JSON."""
        path = self.folder / "result.json"
        path.unlink(missing_ok=True)
        done = self.cluster.run(["--timeout", str(self.options.time_limit), *launcher, str(self.options.ayatori),
                                 *map(str, words), path],
                                ranks_per_node=self.options.ranks_per_node, capture_output=True, text=True)
        if done.returncode not in (0, 1) or not path.exists():  # 1: the iterations are all made
            sys.exit(f"{words}: {done.stderr}")
        return json.loads(path.read_text())

    def profile(self, launcher):
        self.run(launcher, "probe", "--seconds", self.options.probe_seconds, "--output")
        path = self.folder / "profile.json"
        (self.folder / "result.json").rename(path)
        return path

    def solve(self, launcher, partition, profile, placement):
        return self.run(launcher, "solve", self.options.matrix, *FIXED, "--profile", profile, "--partition", partition,
                        "--placement", placement, "--max-iterations", self.options.iterations, "--json")


def iteration_ms(result):
    return 1e3 * result["seconds"]["solve"] / result["iterations"]


def spread(values):
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def percent(part, whole):
    return f"{100 * part / whole:.0f}"


def measure(bench, name):
    launcher, partition = CASES[name]
    profile = bench.profile(launcher)
    times = {"none": [], "always": []}
    found = None
    for turn in range(bench.options.rounds):
        for placement in ("none", "always") if turn % 2 == 0 else ("always", "none"):
            result = bench.solve(launcher, partition, profile, placement)
            times[placement].append(iteration_ms(result))
            found = result["placement"] or found
    before, after = found["before"], found["after"]
    print(f"| {name} | {found['network']} | {percent(before['messages_inside'], found['messages'])} -> "
          f"{percent(after['messages_inside'], found['messages'])} % | {percent(before['bytes_inside'], found['bytes'])} -> "
          f"{percent(after['bytes_inside'], found['bytes'])} % | {1e3 * before['exchange_seconds']:.2f} -> "
          f"{1e3 * after['exchange_seconds']:.2f} | {spread(times['none'])} | {spread(times['always'])} | "
          f"{statistics.median(times['always']) / statistics.median(times['none']):.2f}, "
          f"{min(times['always']) / min(times['none']):.2f} |", flush=True)
    return {"case": name, "milliseconds": times, "placement": found}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ayatori", type=pathlib.Path, default=pathlib.Path("build/release/cli/ayatori"))
    parser.add_argument("--nodes", type=int, default=4)
    parser.add_argument("--ranks-per-node", type=int, default=3)
    parser.add_argument("--rate", default="100mbit", help="of every link, as tc takes it")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--iterations", type=int, default=40)
    parser.add_argument("--matrix", default="poisson3d-27:n=40")
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--probe-seconds", type=float, default=20)
    parser.add_argument("--time-limit", type=int, default=600, help="seconds of a command")
    parser.add_argument("--json", type=pathlib.Path)
    options = parser.parse_args()
    options.ayatori = options.ayatori.resolve()
    try:
        virtual_cluster.check_available()
    except virtual_cluster.Unavailable as reason:
        print(f"no virtual cluster: {reason}", file=sys.stderr)
        return 77
    print("| case | network | messages inside | bytes inside | exchange predicted, ms | iteration without, ms | with | ratios |")
    print("|" + "---|" * 8)
    with tempfile.TemporaryDirectory() as folder, \
            virtual_cluster.VirtualCluster(options.nodes, options.rate) as cluster:
        results = [measure(Bench(options, cluster, folder), name) for name in options.cases]
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
