"""ayatori bench: figures come with checked results."""

import json
import unittest

from harness import RANKS, CommandTest


class Bench(CommandTest):
    def test_stream(self):
        done = self.run_ayatori("bench", "stream", "--elements", 100000, "--repetitions", 3, "--json", "stream.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads((self.folder / "stream.json").read_text())
        self.assertEqual(result["schema"], "ayatori.bench-stream/1")
        self.assertEqual(result["ranks"], RANKS)
        for kernel in ("copy", "scale", "add", "triad"):
            rate = result["gigabytes_per_second"][kernel]
            self.assertTrue(0 < rate["min"] <= rate["median"] <= rate["max"])

    def test_stream_of_any_number_of_repetitions(self):
        done = self.run_ayatori("bench", "stream", "--elements", 1000, "--repetitions", 400)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_spmv(self):
        done = self.run_ayatori("bench", "spmv", "poisson3d-7:n=12", "--elements", 10000, "--repetitions", 3, "--json",
                                "spmv.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        products = json.loads((self.folder / "spmv.json").read_text())["products"]
        self.assertIn("csr-reference", {product["kernel"] for product in products})
        if RANKS > 1:
            self.assertIn("allgather", {product["halo"] for product in products})
        for product in products:
            self.assertLess(product["largest_error"], 1e-14)
            self.assertGreater(product["bytes"], 12 * 12**3 * 6)


if __name__ == "__main__":
    unittest.main()
