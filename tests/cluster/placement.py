"""ayatori solve --placement auto on real nodes. Exits with 77 where there can be none."""

import json
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "bench"))
from cluster import virtual_cluster  # noqa: E402

MATRIX = ["poisson2d-5:n=20", "--rhs", "solution-random:3", "--rtol", "1e-11"]


class Placement(unittest.TestCase):
    def solve(self, launcher, *arguments):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "result.json"
            words = [*launcher, os.environ["AYATORI"], "solve", *MATRIX, "--profile", "none", "--knowledge", "none", *arguments, "--json", str(path)]
            with virtual_cluster.VirtualCluster(2) as cluster:
                done = cluster.run(words, capture_output=True, text=True, timeout=300)
            self.assertEqual(done.returncode, 0, done.stderr)
            return json.loads(path.read_text()), done.stderr

    def test_blocks_of_rows_dealt_round_come_together(self):
        for partition in ("contiguous", "graph"):
            result, said = self.solve(["--map-by", "node"], "--placement", "always", "--partition", partition)
            self.assertLess(result["true_error"], 1e-6)
            placement = result["placement"]
            self.assertEqual((placement["nodes"], placement["network"]), (2, "flat"))
            self.assertEqual(sorted(placement["rank_of_part"]), [0, 1, 2, 3])
            self.assertEqual(placement["kept"], placement["rank_of_part"] == [0, 1, 2, 3])
            self.assertGreaterEqual(placement["before"]["exchange_seconds"], placement["after"]["exchange_seconds"])
            if partition == "contiguous":  # a chain of four blocks
                self.assertEqual((placement["messages"], placement["before"]["messages_inside"],
                                  placement["after"]["messages_inside"]), (6, 0, 4))
                self.assertIn("inside nodes 0 -> 67 % of the messages", said)

    def test_the_order_of_ranks_stays_where_it_is_best(self):
        result, said = self.solve([], "--placement", "auto")
        self.assertTrue(result["placement"]["kept"])
        self.assertEqual(result["placement"]["after"]["messages_inside"], 4)
        self.assertIn("nothing is better than the order of ranks", said)


if __name__ == "__main__":
    try:
        virtual_cluster.check_available()
    except virtual_cluster.Unavailable as reason:
        print(f"no virtual cluster: {reason}")
        sys.exit(77)
    unittest.main()
