"""hybrid.py SMPIRUN AYATORI: Tanaka's finding on many simulated ranks: where all send to all, one rank a node beats a rank on every core.

The nodes are those of the paper's cluster but for their number, on Gigabit Ethernet; computing takes no time, so what is compared is the
exchange of `bench radix-sort`, whose keys are sorted and verified. Deterministic.
"""

import argparse
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "bench"))

from simulated import platforms  # noqa: E402 - of the folder above
from simulated.collectives import QUICK, Simulator  # noqa: E402

CORES = 4
KEYS = 16384


def exchange_seconds(smpirun, ayatori, nodes, ranks_per_node):
    rates = 'bw="125MBps" lat="14us"'
    text = platforms.cluster(nodes, rates, 'loopback_bw="1GBps" loopback_lat="1us"')
    hosts = [f"node-{rank // ranks_per_node}" for rank in range(nodes * ranks_per_node)]
    platform = platforms.Platform(f"hybrid-{nodes}x{ranks_per_node}", text, hosts)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        options = argparse.Namespace(smpirun=smpirun, ayatori=ayatori, time_limit=200, memory=8)
        result = folder / "sort.json"
        status, said = Simulator(options, platform, folder).run(
            ["bench", "radix-sort", "--keys", KEYS, "--repetitions", 1, "--no-compare", "--threads", 1, "--json", result], QUICK)
        assert status == 0 and result.exists(), said
        return json.loads(result.read_text(encoding="utf-8"))["seconds"]["exchange"]["median"]


def main():
    smpirun, ayatori = sys.argv[1:]
    gains = []
    for nodes in (2, 16):
        all_mpi, hybrid = (exchange_seconds(smpirun, pathlib.Path(ayatori), nodes, count) for count in (CORES, 1))
        gains.append(all_mpi / hybrid)
        print(f"{nodes} nodes: all-MPI {1e6 * all_mpi:.1f} us, hybrid {1e6 * hybrid:.1f} us: {gains[-1]:.2f} times as fast")
    assert gains[1] > 1.1, "hybrid does not beat all-MPI"
    assert gains[1] > gains[0], "more ranks do not make it worse for all-MPI"


if __name__ == "__main__":
    main()
