"""ayatori predict: the forecast, what it concludes, and every bad input, on any number of ranks."""

import json
import math
import unittest

from harness import RANKS, CommandTest, matrix_market

GRID = ["predict", "poisson2d-5:n=40", "--profile", "infiniband-2005"]


class Predict(CommandTest):
    def predict(self, *arguments):
        done = self.run_ayatori(*arguments, "--json", "predict.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.read_result("predict.json"), done.stderr

    def test_the_forecast_adds_up(self):
        result, said = self.predict(*GRID, "--nodes", "1..24", "--network", "torus:4x3x2")
        self.assertEqual(result["schema"], "ayatori.predict/1")
        self.assertEqual((result["rows"], result["nonzeros"]), (1600, 5 * 1600 - 4 * 40))
        points = result["points"]
        self.assertEqual([point["nodes"] for point in points], [1, 2, 4, 8, 16, 24])
        for point in points:
            self.assertAlmostEqual(sum(point["phases"].values()), point["seconds"], delta=1e-12)
            self.assertEqual(point["bound"], max(point["phases"], key=point["phases"].get))
            self.assertAlmostEqual(point["speed_up"], points[0]["seconds"] / point["seconds"])
            self.assertAlmostEqual(point["efficiency"], point["speed_up"] / point["nodes"])
        # Blocks of whole lines or nearly: two neighbours each, of 40 elements.
        self.assertEqual([point["halo_messages"] for point in points[:4]], [0, 2, 6, 14])
        self.assertEqual([point["halo_bytes"] for point in points[:4]], [8 * 40 * n for n in (0, 2, 6, 14)])
        # Recursive doubling at 3.99 us; 24 nodes hand over and back around 16.
        rounds = [0, 1, 2, 3, 4, 6]
        for point, n in zip(points, rounds, strict=True):
            self.assertAlmostEqual(point["phases"]["reductions"], n * (3.99e-6 + 48 * 2 / 2907e6), delta=1e-10)
        for words in (result["conclusion"], result["scaling"], *result["crossovers"], *result["assumptions"], "speed-up"):
            self.assertIn(words, said)
        self.assertTrue(result["crossovers"])
        self.assert_no_leftovers("predict.json")

    def test_more_ports_help_where_it_waits_for_bandwidth(self):
        """Nishida's conclusion, by his benchmark: same latency, half the bandwidth."""
        npb = ["predict", "npb-cg:W", "--method", "npb-cg", "--partition", "rows", "--nodes", "1..8"]
        two, _ = self.predict(*npb, "--profile", "infiniband-2005")
        one, _ = self.predict(*npb, "--profile", "infiniband-2005-1port")
        slow, said = self.predict(*npb, "--profile", "gbe-2005")
        self.assertEqual((two["rows"], two["nonzeros"]), (7000, 508402))
        last = [result["points"][-1] for result in (two, one, slow)]
        self.assertLess(last[0]["seconds"], last[1]["seconds"])
        self.assertLess(last[1]["seconds"], last[2]["seconds"])
        self.assertGreater(last[1]["phases"]["halo bandwidth"], 2 * last[0]["phases"]["halo bandwidth"])
        self.assertEqual(last[1]["phases"]["halo latency"], last[0]["phases"]["halo latency"])
        self.assertEqual(last[2]["bound"], "halo bandwidth")
        self.assertGreater(last[2]["gains"]["bandwidth"], last[2]["gains"]["latency"])
        self.assertIn("bandwidth, by the halo exchange, not latency", said)

    def test_methods_partitions_shapes(self):
        self.write("a.mtx", matrix_market([(i, i, 2.0) for i in range(1, 65)], 64))
        for options in (("--method", "gmres"), ("--method", "bicgstab", "--preconditioner", "jacobi"),
                        ("--partition", "graph"), ("--ranks-per-node", 2, "--threads", 2), ("--memory-bandwidth", 10)):
            result, _ = self.predict("predict", "a.mtx", "--nodes", "2,1,8", "--profile", "infiniband-2005", *options)
            self.assertEqual([point["nodes"] for point in result["points"]], [1, 2, 8])
            for point in result["points"]:
                self.assertTrue(math.isfinite(point["seconds"]) and point["seconds"] > 0)
                self.assertEqual(point["halo_bytes"], 0)

    def test_the_benchmark_exchanges_what_is_forecast(self):
        done = self.run_ayatori("bench", "npb-cg", "--class", "S", "--kernel", "csr", "--halo", "p2p-irecv-first", "--reductions",
                                2, "--repetitions", 1, "--elements", 1000, "--threads", 1, "--json", "cg.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        run = json.loads((self.folder / "cg.json").read_text())
        result, _ = self.predict("predict", "npb-cg:S", "--method", "npb-cg", "--partition", "rows", "--nodes", RANKS,
                                 "--profile", "infiniband-2005")
        self.assertEqual((result["rows"], result["nonzeros"]), (run["rows"], run["nonzeros"]))
        self.assertEqual(result["points"][0]["halo_bytes"], run["exchanged_bytes"])
        self.assertEqual(run["products"], 15 * 26)

    def test_solve_says_what_bounds_it(self):
        done = self.run_ayatori("solve", "poisson2d-5:n=30", "--explain", "--profile", "infiniband-2005", "--threads", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stderr.count("What bounds it: "), 1, done.stderr)
        # Products out of caches outrun the memory, which is no limit of theirs then.
        self.assertRegex(done.stderr, r"Iterating: products [0-9.e-]+ s[ ,.(]")
        self.assertEqual(RANKS > 1, "reductions" in done.stderr.split("Iterating: ")[1])

    def test_bad_input(self):
        self.write("wide.mtx", matrix_market([(1, 1, 2.0)], 2, 3))
        bad = (
            (["predict", "no-such.mtx", "--profile", "gbe-2005"], "no-such.mtx"),
            (["predict", "wide.mtx", "--profile", "gbe-2005"], "square"),
            (["predict", "npb-cg:Z", "--profile", "gbe-2005"], "Z"),
            ([*GRID, "--nodes", "8..2"], "less than"),
            ([*GRID, "--nodes", "0"], "--nodes 0"),
            ([*GRID, "--nodes", "1..two"], "--nodes 1..two"),
            ([*GRID, "--nodes", "1,,2"], "--nodes"),
            ([*GRID, "--nodes", "1..1048576", "--ranks-per-node", "2"], "more than"),
            ([*GRID, "--network", "torus:2x2"], "torus:2x2"),
            ([*GRID, "--network", "rope"], "rope"),
            ([*GRID, "--partition", "pieces"], "pieces"),
            ([*GRID, "--method", "jump"], "jump"),
            ([*GRID, "--preconditioner", "block-ilu0"], "block-ilu0"),
            ([*GRID, "--memory-bandwidth", "-1"], "-1"),
            ([*GRID, "--memory-bandwidth", "nan"], "nan"),
            (["predict", "poisson2d-5:n=9", "--profile", "altix3700bx2"], "--memory-bandwidth"),
            (["predict", "poisson2d-5:n=9", "--profile", "none"], "--profile"),
            (["predict", "poisson2d-5:n=9", "--profile", "no-such.json"], "no-such.json"),
        )
        for arguments, words in bad if RANKS == 1 else bad[:4]:  # several ranks start slowly
            done = self.run_ayatori(*arguments)
            self.assertEqual(done.returncode, 2, f"{arguments}: {done.stderr}")
            self.assertIn(words, done.stderr)
            self.assertEqual(done.stderr.count("ayatori: "), 1, done.stderr)


if __name__ == "__main__":
    unittest.main()
