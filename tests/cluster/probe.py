"""The profile of a virtual cluster: nodes, levels and the rate of the links, as they were set. Exits with 77 where there can be none."""

import json
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "bench"))
from cluster import virtual_cluster  # noqa: E402

MPI = os.environ["AYATORI_MPI"]
RANKS_PER_NODE = 1 if MPI == "mpich" else 2  # MPICH waits busily: more ranks than cores would measure the scheduler
PAYLOAD = 1448 / 1514  # of a full Ethernet frame


class Probe(unittest.TestCase):
    def profile(self, rate, rails=1):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "profile.json"
            words = [os.environ["AYATORI"], "probe", "--seconds", "15", "-o", str(path)]
            with virtual_cluster.VirtualCluster(2, rate, rails) as cluster:
                done = cluster.run(words, MPI, ranks_per_node=RANKS_PER_NODE, capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(path.read_text())

    def bandwidth(self, profile):
        """Bytes per second of long messages from one node to the other, one pair."""
        curve, = (curve for curve in profile["levels"][-1]["curves"]
                  if (curve["pattern"], curve["pairs"]) == ("one-way", 1))
        return 1 / curve["pieces"][-1]["beta"]

    def test_nodes_levels_and_rate(self):
        profile = self.profile("200mbit")
        self.assertEqual(profile["node"]["hostname"], "node0")
        nodes = [0] * RANKS_PER_NODE + [1] * RANKS_PER_NODE
        self.assertEqual(profile["node_of_rank"], nodes)
        if RANKS_PER_NODE > 1:
            self.assertIn(nodes, [level["group_of_rank"] for level in profile["levels"]])
        self.assertEqual(profile["levels"][-1]["name"], "between nodes")
        self.assertLess(abs(self.bandwidth(profile) / (25e6 * PAYLOAD) - 1), 0.1)

    @unittest.skipIf(MPI == "mpich", "spreads a message over one device only")
    def test_a_second_rail_doubles_the_rate(self):
        self.assertLess(abs(self.bandwidth(self.profile("200mbit", rails=2)) / (50e6 * PAYLOAD) - 1), 0.15)


if __name__ == "__main__":
    try:
        virtual_cluster.check_available()
    except virtual_cluster.Unavailable as reason:
        print(f"no virtual cluster: {reason}")
        sys.exit(77)
    unittest.main()
