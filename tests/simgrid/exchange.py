"""exchange.py SMPIRUN AYATORI: exchanges simulated on the platforms that `ayatori map --platform` writes.

Times that are known by hand, and the same times as on SimGrid's own torus, whose routes are those of ours where both
ways round are of different length.
"""

import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "bench"))

from simulated import exchange  # noqa: E402 - of the folder above

SMPIRUN, AYATORI = sys.argv[1:]


def check(what, found, expected):
    if abs(found - expected) > 1e-4 * expected:
        sys.exit(f"{what}: {found} s, but {expected} s is right")
    print(f"{what}: {found:.6g} s")


def platform_of(folder, network, nodes):
    """The platform, and the costs it is made of."""
    graph, xml, result = folder / "graph.mtx", folder / "network.xml", folder / "result.json"
    graph.write_text(f"%%MatrixMarket matrix coordinate real general\n{nodes} {nodes} 1\n1 {nodes} 8\n")
    (folder / "hosts").write_text("node-0\n")
    subprocess.run([SMPIRUN, "-np", "1", "-platform", HERE / "torus.xml", "-hostfile", folder / "hosts", AYATORI, "map",
                    "--graph", graph, "--ranks-per-node", "1", "--network", network, "--platform", xml, "--json", result],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return xml, json.loads(result.read_text())["model"]


def by_hand(folder):
    xml, model = platform_of(folder, "mesh:4", 4)
    time = lambda edges, node_of: exchange.seconds(SMPIRUN, folder, xml, [edges], node_of, model)  # noqa: E731
    each = list(range(4))
    size = 10**9
    start, hop, wire = model["between_latency"], model["hop_latency"], size / model["link_bandwidth"]
    check("a message over three links", time([(0, 3, size)], each), start + 3 * hop + wire)
    check("two that meet on the middle link", time([(0, 2, size), (1, 3, size)], each), start + 2 * hop + 2 * wire)
    check("two in opposite directions", time([(0, 1, size), (1, 0, size)], each), start + hop + wire)
    check("two out of one port", time([(1, 0, size), (1, 2, size)], each), start + hop + 2 * wire)
    copy = model["inside_latency"] + size / model["inside_bandwidth"]
    check("two copies of one rank inside a node", time([(0, 1, size), (0, 2, size)], [1, 1, 1, 1]), 2 * copy)
    check("many small messages of one rank", time([(0, 1, 8)] * 100, each), 100 * start + hop)


def on_simgrids_torus(folder):
    xml, model = platform_of(folder, "torus:3x5", 15)
    text = re.sub(r'<link_ctn id="(in|out)\d+"/>', "", xml.read_text())  # a cluster has no ports
    xml.write_text(text)
    own = folder / "cluster.xml"
    own.write_text('<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n'
                   '<platform version="4.1">\n<cluster id="torus" prefix="node-" suffix="" radical="0-14" speed="1Gf" '
                   f'bw="{model["link_bandwidth"]}Bps" lat="{model["hop_latency"]}s" topology="TORUS" '
                   'topo_parameters="3,5"/>\n</platform>\n')
    random.seed(1)
    for trial in range(3):
        edges = [(a, b, random.randrange(1, 10**6)) for a in range(15) for b in random.sample(range(15), 4) if a != b]
        times = [exchange.seconds(SMPIRUN, folder, path, [edges], list(range(15)), model) for path in (xml, own)]
        check(f"random exchange {trial} on a torus of 3 x 5", *times)


def main():
    with tempfile.TemporaryDirectory() as name:
        for part in (by_hand, on_simgrids_torus):
            part(pathlib.Path(name))


if __name__ == "__main__":
    main()
