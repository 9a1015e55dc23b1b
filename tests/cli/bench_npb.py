"""ayatori bench npb-cg and bench grid: verified runs, what they keep, and what they refuse."""

import json
import os
import unittest
import xml.etree.ElementTree

from harness import RANKS, CommandTest


class BenchNpb(CommandTest):
    def npb_cg(self, *options):
        done = self.run_ayatori("bench", "npb-cg", "--elements", 10000, "--json", "cg.json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("verified", done.stderr)
        return json.loads((self.folder / "cg.json").read_text()), done.stderr

    def test_forced(self):
        result, said = self.npb_cg("--class", "S", "--repetitions", 2, "--kernel", "symmetric", "--halo",
                                   "shared-memory+overlap", "--reductions", 1)
        self.assertEqual(result["schema"], "ayatori.bench-npb-cg/1")
        self.assertEqual((result["class"], result["ranks"], result["rows"]), ("S", RANKS, 1400))
        self.assertEqual((result["kernel"], result["reductions"]), ("symmetric", 1))
        self.assertEqual(result["race"], [])
        self.assertEqual(len(result["runs"]), 2)
        phases = result["limits"]["phases"]
        self.assertEqual(set(phases), {"products", "vector operations"} | ({"halo exchanges", "reductions"} if RANKS > 1 else set()))
        self.assertGreater(phases["products"]["limit"], 0)
        self.assertIn(result["limits"]["sentence"], said)
        self.assertIn("What bounds it: ", result["limits"]["sentence"])
        for run in result["runs"]:
            self.assertAlmostEqual(run["zeta"], 8.5971775078648, delta=1e-9)
            self.assertGreater(run["mops"], 0)
            self.assertLessEqual(sum(run["breakdown"].values()), run["seconds"] * (1 + 1e-9))
            self.assertGreater(min(run["breakdown"].values()), -1e-9)

    def test_what_is_open_is_raced(self):
        result, said = self.npb_cg("--class", "S", "--repetitions", 1)
        raced = {entry["item"] for entry in result["race"]}
        self.assertEqual(raced, {"kernel", "reductions"} | ({"halo"} if RANKS > 1 else set()))
        self.assertIn(result["kernel"], {entry["name"] for entry in result["race"]})

    def test_a_part_of_the_iterations(self):
        result, said = self.npb_cg("--class", "S", "--repetitions", 1, "--kernel", "csr", "--halo", "p2p-irecv-first",
                                   "--reductions", 2, "--outer-iterations", 2)
        self.assertIn("2 of 15 outer iterations: residual verified", said)
        self.assertEqual((result["outer_iterations"], result["products"]), (2, 52))
        self.assertNotAlmostEqual(result["runs"][0]["zeta"], 8.5971775078648, delta=1e-9)
        done = self.run_ayatori("bench", "npb-cg", "--class", "S", "--outer-iterations", 0)
        self.assertEqual(done.returncode, 2, done.stderr)

    def test_bad_names(self):
        for command in ("npb-cg --class", "npb-cg --kernel", "npb-cg --halo", "npb-cg --reductions", "grid npb-cg --class"):
            done = self.run_ayatori("bench", *command.split(), "no-such")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("no-such", done.stderr)
            self.assertEqual(done.stderr.count("ayatori: "), 1, done.stderr)

    def test_a_kernel_that_cannot_hold_the_matrix(self):
        done = self.run_ayatori("bench", "npb-cg", "--class", "S", "--kernel", "bcsr-4x4", "--elements", 1000)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("bcsr-4x4 cannot hold", done.stderr)

    def test_grid(self):
        done = self.run_ayatori("bench", "grid", "npb-cg", "--class", "S", "--threads", "1,2", "--elements", 10000,
                                "--kernel", "csr-unroll8", "--halo", "p2p-irecv-first", "--json", "grid.json", "--svg",
                                "grid.svg")
        self.assertEqual(done.returncode, 0, done.stderr)
        grid = json.loads((self.folder / "grid.json").read_text())
        self.assertEqual(grid["schema"], "ayatori.bench-grid/1")
        ranks = [r for r in (1, 2, 4) if r < RANKS] + [RANKS]
        self.assertEqual([(point["ranks"], point["threads"]) for point in grid["points"]],
                         [(r, t) for r in ranks for t in (1, 2)])
        for point in grid["points"]:
            self.assertGreater(point["seconds"], 0)
            self.assertEqual(list(point["phases"]), ["product", "vectors", "exchange", "reductions"])
            self.assertTrue(0 <= point["communication_share"] <= 1)
        self.assertEqual(grid["points"][0]["speed_up"], 1)
        expected = {"threads", "cache"} | ({"hybrid", "share"} if RANKS > 1 else set())
        self.assertEqual({finding["name"] for finding in grid["findings"]}, expected)
        for finding in grid["findings"]:
            self.assertIn(finding["sentence"], done.stderr)
        xml.etree.ElementTree.parse(self.folder / "grid.svg")
        self.assert_no_leftovers("grid.json", "grid.svg")

    def test_grid_of_other_kernels(self):
        cases = {"laplace": (["--n", 40, "--sweeps", 4, "--depth", 2, "--form", "one-sided-overlap"], ["compute", "exchange"]),
                 "matmul": (["--n", 50, "--form", "one-sided", "--local", "blas"], ["product", "exchange"]),
                 "radix-sort": (["--keys", "2k", "--form", "one-sided"],
                                ["splitters", "partition", "exchange", "local sort"]),
                 "stream": (["--total", 5000], ["copy", "scale", "add", "triad"])}
        for kernel, (options, phases) in cases.items():
            done = self.run_ayatori("bench", "grid", kernel, *options, "--threads", 1, "--ranks", RANKS, "--elements", 2000,
                                    "--repetitions", 1, "--json", "grid.json")
            self.assertEqual(done.returncode, 0, done.stderr)
            point, = json.loads((self.folder / "grid.json").read_text())["points"]
            self.assertEqual((point["ranks"], list(point["phases"])), (RANKS, phases))
            self.assertGreater(min(point["seconds"], point["rate"], point["data_bytes"]), 0)
        done = self.run_ayatori("bench", "grid", "radix-sort", "--keys", "2k", "--form", "overlap", "--threads", 1, "--ranks",
                                RANKS, "--elements", 2000, "--repetitions", 1, "--profile", "gbe-2005", "--json", "grid.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        findings = json.loads((self.folder / "grid.json").read_text())["findings"]
        all_to_all = [finding for finding in findings if finding["name"] == "all-to-all"]
        if len(os.sched_getaffinity(0)) > 1:  # a node of one core has no hybrid
            self.assertEqual([finding["agrees"] for finding in all_to_all], [True])
            self.assertIn(all_to_all[0]["sentence"], done.stderr)
        for bad in (("matmul", "--form"), ("matmul", "--local"), ("laplace", "--form"), ("radix-sort", "--form")):
            done = self.run_ayatori("bench", "grid", *bad, "no-such")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("no-such", done.stderr)

    def test_grid_rejects(self):
        for options in (("--ranks", RANKS + 1), ("--threads", 0), ("--ranks", "two"), ("--no-such",)):
            done = self.run_ayatori("bench", "grid", "npb-cg", "--class", "S", *options)
            self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(self.run_ayatori("bench", "grid").returncode, 2)


if __name__ == "__main__":
    unittest.main()
