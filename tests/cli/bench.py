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

    def spmv(self, *options):
        done = self.run_ayatori("bench", "spmv", "poisson3d-7:n=12", "--elements", 10000, "--repetitions", 3, "--json",
                                "spmv.json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / "spmv.json").read_text()), done.stderr

    def test_spmv(self):
        result, said = self.spmv()
        products = result["products"]
        kernels = {product["kernel"] for product in products}
        self.assertLessEqual({"csr-reference", "csr", "run-sell", "symmetric"}, kernels)
        if RANKS > 1:
            self.assertIn("allgather", {product["halo"] for product in products})
        for product in products:
            self.assertLess(product["largest_error"], 1e-14)
            self.assertGreater(product["bytes"], 6 * 12**3 * 6)
        self.assertGreater(result["stream_gigabytes_per_second"]["triad"]["median"], 0)
        self.assertGreater(result["facts_seconds"]["median"], 0)

    def test_spmv_says_what_it_skips(self):
        result, said = self.spmv("--kernel", "bcsr-4x4", "--kernel", "csr")
        self.assertEqual([product["kernel"] for product in result["products"]], ["csr"])
        self.assertEqual([skipped["kernel"] for skipped in result["skipped"]], ["bcsr-4x4"])
        self.assertIn("skipped: ", said)
        self.assertIn("kernel bcsr-4x4 cannot hold this matrix", said)

    def test_spmv_of_chosen_combinations(self):
        result, _ = self.spmv("--kernel", "run-sell", "--halo", "allgather", "--halo", "p2p-irecv-first")
        self.assertEqual([(product["kernel"], product["halo"]) for product in result["products"]],
                         [("run-sell", "allgather"), ("run-sell", "p2p-irecv-first")])

    def test_spmv_in_single_precision(self):
        result, said = self.spmv("--kernel", "csr-reference", "--kernel", "dia", "--float", "--halo", "allgather", "--halo",
                                 "p2p-irecv-first")
        floats = [product for product in result["products"] if product["precision"] == "float"]
        self.assertEqual([product["kernel"] for product in floats], ["dia"], "once, and the reference has no such form")
        self.assertLess(floats[0]["largest_error"], 1e-5)
        self.assertGreater(floats[0]["largest_error"], 1e-12)
        double = [product for product in result["products"] if product["precision"] == "double" and product["kernel"] == "dia"]
        self.assertEqual(len(double), 2)
        self.assertLess(floats[0]["bytes"], 0.6 * double[0]["bytes"])
        self.assertIn("dia float", said)

    def test_spmv_rejects_unknown_names(self):
        for option in ("--kernel", "--halo"):
            done = self.run_ayatori("bench", "spmv", "poisson3d-7:n=4", option, "no-such")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("no-such", done.stderr)

    def halo(self, *options):
        done = self.run_ayatori("bench", "halo", "poisson3d-27:n=12", "--repetitions", 3, "--json", "halo.json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / "halo.json").read_text())

    def test_halo(self):
        result = self.halo()
        self.assertNotIn("choice", result)
        halos = result["halos"]
        self.assertLessEqual({"p2p-irecv-first", "allgather", "node-aware", "node-aware-2step"},
                             {halo["halo"] for halo in halos})
        for halo in halos:
            self.assertGreater(halo["seconds"], 0)
            self.assertNotIn("model_seconds", halo)

    def test_halo_beside_forecasts(self):
        chosen = "--halo", "p2p-irecv-first", "--halo", "node-aware-2step", "--halo", "bcast"
        result = self.halo("--profile", "altix3700bx2", "--partition", "graph", *chosen)
        halos = result["halos"]
        self.assertEqual([halo["halo"] for halo in halos], ["p2p-irecv-first", "node-aware-2step", "bcast"])
        self.assertNotIn("levels", halos[2])
        self.assertEqual(result["choice"], min(halos[:2], key=lambda halo: halo["replay_seconds"])["halo"])
        for halo in halos[:2]:  # all ranks share a node
            levels = halo["levels"]
            self.assertEqual(sum(level["messages"] for level in levels), RANKS * (RANKS - 1))
            if RANKS > 1:  # a plane for every rank at least
                self.assertGreaterEqual(sum(level["bytes"] for level in levels), 8 * 12 * 12 * RANKS)
            self.assertEqual(halo["model_seconds"] > 0, RANKS > 1)
            self.assertEqual(halo["replay_seconds"] > 0, RANKS > 1)

    def test_halo_rejects_what_is_unknown(self):
        for option in ("--halo", "--partition", "--profile"):
            done = self.run_ayatori("bench", "halo", "poisson3d-7:n=4", option, "no-such")
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("no-such", done.stderr)

    def kernel(self, name, *options):
        done = self.run_ayatori("bench", name, "--repetitions", 2, "--json", "kernel.json", *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        result = json.loads((self.folder / "kernel.json").read_text())
        self.assertEqual(result["schema"], f"ayatori.bench-{name}/1")
        self.assertEqual(result["ranks"], RANKS)
        return result

    def test_laplace(self):
        for form in ("two-sided", "one-sided-overlap"):
            result = self.kernel("laplace", "--n", 40, "--sweeps", 9, "--depth", 4, "--elements", 1000, "--form", form)
            self.assertEqual((result["form"], result["depth"]), (form, 4))
            self.assertLess(result["largest_error"], 1e-13)
            self.assertEqual(list(result["seconds"]), ["total", "compute", "exchange"])
            self.assertGreater(result["stream_updates_per_second"], 0)

    def test_matmul(self):
        result = self.kernel("matmul", "--n", 50, "--form", "broadcast")
        self.assertEqual([product["local"] for product in result["products"]], ["own", "blas"])
        for product in result["products"]:
            self.assertLess(product["error_over_bound"], 1)
            self.assertGreater(product["flops_per_second"], 0)

    def test_radix_sort(self):
        result = self.kernel("radix-sort", "--keys", "4k", "--key-bits", 64, "--distribution", "skewed")
        self.assertEqual(result["keys"], 4096)
        self.assertLess(result["imbalance"], 0.03)
        self.assertEqual(list(result["own_keys_seconds"]), ["radix sort", "std::sort", "parallel std::sort"])

    def test_kernels_reject_what_cannot_be(self):
        cases = [("laplace", "--n", "0"), ("laplace", "--depth", "1000"), ("laplace", "--form", "no-such"),
                 ("matmul", "--n", "0"), ("matmul", "--local", "no-such"), ("radix-sort", "--keys", "-4"),
                 ("radix-sort", "--keys", "many"), ("radix-sort", "--key-bits", "16")]
        if RANKS > 1:
            cases = [cases[0], ("laplace", "--n", "1"), cases[4], cases[7]]
        for case in cases:
            with self.subTest(case):
                done = self.run_ayatori("bench", *case)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(len([line for line in done.stderr.splitlines() if line.startswith("ayatori:")]), 1)


if __name__ == "__main__":
    unittest.main()
