"""ayatori eigen: eigenpairs, what is written, and every bad input, on any number of ranks."""

import json
import math
import unittest

from harness import RANKS, CommandTest, matrix_market, tridiagonal


def read_array(path):
    """The columns of a Matrix Market array."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("%")]
    rows, columns = map(int, lines[0].split())
    assert len(lines) == rows * columns + 1
    numbers = list(map(float, lines[1:]))
    return [numbers[rows * j:rows * (j + 1)] for j in range(columns)]


class Eigen(CommandTest):
    def eigen(self, *arguments, status=0):
        done = self.run_ayatori("eigen", *arguments, "--json", "result.json")
        self.assertEqual(done.returncode, status, done.stderr)
        return self.read_result("result.json"), done

    def test_pairs_of_a_file_are_written(self):
        n = 30
        self.write("A.mtx", tridiagonal(n))
        expected = [2 - 2 * math.cos(math.pi * k / (n + 1)) for k in range(1, n + 1)]
        result, done = self.eigen("A.mtx", "--output", "pairs", "--grid", f"{RANKS}x1", "--block", "5")
        self.assertTrue(result["verified"])
        self.assertEqual(result["grid"], [RANKS, 1])
        self.assertEqual(result["pairs"], n)
        self.assertIn("eigenpairs", done.stderr)
        for phase in ("total", "tridiagonalization", "tridiagonal_solve", "redistribution", "back_transformation"):
            self.assertGreaterEqual(result["seconds"][phase], 0)
        self.assertEqual("allreduce" in result["collective_operations"], RANKS > 1)
        [values] = read_array(self.folder / "pairs.values.mtx")
        vectors = read_array(self.folder / "pairs.vectors.mtx")
        self.assertEqual(values, result["values"])
        for value, reference, v in zip(values, expected, vectors, strict=True):
            self.assertAlmostEqual(value, reference, delta=1e-13)
            for i in range(n):
                product = 2 * v[i] - (v[i - 1] if i else 0) - (v[i + 1] if i + 1 < n else 0)
                self.assertAlmostEqual(product, value * v[i], delta=1e-13)
        self.assert_no_leftovers("A.mtx", "result.json", "pairs.values.mtx", "pairs.vectors.mtx")

    def test_selections(self):
        matrix = "random:n=40,spectrum=wilkinson,scale=2"
        everything, _ = self.eigen(matrix)
        values = everything["values"]
        for arguments, expected in [
            (["--smallest", "3"], values[:3]),
            (["--largest", "2"], values[-2:]),
            (["--range", "-5", "10.5"], [v for v in values if -5 <= v <= 10.5]),
            (["--range", "1000", "2000"], []),
            (["--values-only"], values),
            (["--values-only", "--largest", "4"], values[-4:]),
        ]:
            with self.subTest(arguments=arguments):
                result, _ = self.eigen(matrix, *arguments)
                self.assertEqual(len(result["values"]), len(expected))
                for value, reference in zip(result["values"], expected):
                    self.assertAlmostEqual(value, reference, delta=1e-12)

    def test_generalized_problem(self):
        n = 21  # linear finite elements of -u'' = lambda u: stiffness and mass
        h = 1 / (n + 1)
        entries = lambda diagonal, beside: [(i, i, diagonal) for i in range(1, n + 1)] + [
            pair for i in range(1, n) for pair in ((i, i + 1, beside), (i + 1, i, beside))]
        self.write("K.mtx", matrix_market(entries(2 / h, -1 / h), n))
        self.write("M.mtx", matrix_market(entries(4 * h / 6, h / 6), n))
        cosines = [math.cos(math.pi * k * h) for k in range(1, n + 1)]
        exact = [6 / h**2 * (1 - c) / (2 + c) for c in cosines]
        result, done = self.eigen("K.mtx", "--generalized", "M.mtx", "--block", "5", "--output", "modes")
        self.assertEqual((result["generalized"], result["method"], result["verified"]), ("M.mtx", "dense", True))
        self.assertIn("V'BV", done.stderr)
        for phase in ("reduction", "back_substitution"):
            self.assertGreaterEqual(result["seconds"][phase], 0)
        vectors = read_array(self.folder / "modes.vectors.mtx")
        around = lambda v, i: (v[i - 1] if i else 0) + (v[i + 1] if i + 1 < n else 0)
        for value, reference, v in zip(result["values"], exact, vectors, strict=True):
            self.assertAlmostEqual(value / exact[-1], reference / exact[-1], delta=1e-14)
            mass = [4 * h / 6 * v[i] + h / 6 * around(v, i) for i in range(n)]
            self.assertAlmostEqual(math.fsum(x * y for x, y in zip(v, mass)), 1, delta=1e-12)
            for i in range(n):
                self.assertAlmostEqual(2 / h * v[i] - around(v, i) / h, value * mass[i], delta=1e-10)
        for arguments, expected in [
            (["--smallest", "3"], exact[:3]),
            (["--largest", "2", "--values-only"], exact[-2:]),
            (["--range", str(exact[4] * 0.99), str(exact[7] * 1.01)], exact[4:8]),
        ]:
            with self.subTest(arguments=arguments):
                result, _ = self.eigen("K.mtx", "--generalized", "M.mtx", *arguments)
                for value, reference in zip(result["values"], expected, strict=True):
                    self.assertAlmostEqual(value / reference, 1, delta=1e-11)

    def forecast(self, *arguments):
        result, _ = self.eigen(*arguments, "--profile", "altix3700bx2", "--gflops", "5", "--memory-bandwidth", "100")
        return result

    def test_forecasts(self):
        if RANKS > 2:  # rank 0 makes them
            return
        result = self.forecast("random:n=500", "--predict", "1,4,32", "--block", "32")
        self.assertEqual(result["schema"], "ayatori.eigen-forecast/1")
        one, four, many = result["points"]
        self.assertEqual([(p["ranks"], math.prod(p["grid"]), p["block"]) for p in (one, four, many)],
                         [(1, 1, 32), (4, 4, 32), (32, 32, 32)])
        for point in (one, four, many):
            self.assertAlmostEqual(sum(phase["seconds"] for phase in point["phases"].values()), point["seconds"])
            self.assertEqual(list(point["phases"]), ["tridiagonalization", "tridiagonal_solve", "redistribution",
                                                     "back_transformation"])
        self.assertFalse(any(phase["messages"] for phase in one["phases"].values()))
        self.assertIn("allreduce", four["phases"]["tridiagonalization"]["messages"])
        for phase in ("tridiagonal_solve", "back_transformation"):  # memory is shared by a node, products are not
            self.assertLess(many["phases"][phase]["computing"], one["phases"][phase]["computing"])
        self.assertLess(four["seconds"], one["seconds"])
        worse = [self.forecast("random:n=500", "--predict", "4", "--grid", shape)["points"][0]["seconds"]
                 for shape in ("1x4", "2x2", "4x1")]
        self.assertAlmostEqual(self.forecast("random:n=500", "--predict", "4", "--block", "32")["points"][0]["seconds"],
                               min(worse))
        generalized = self.forecast("random:n=500", "--generalized", "random:n=500", "--predict", "4")
        self.assertIn("reduction", generalized["points"][0]["phases"])

    def test_a_profile_chooses_the_grid(self):
        result = self.forecast("random:n=60")
        expected = self.forecast("random:n=60", "--predict", RANKS, "--ranks-per-node", RANKS)["points"][0]
        self.assertTrue(result["verified"])
        self.assertEqual([result[key] for key in ("grid", "block", "reduction")],
                         [expected[key] for key in ("grid", "block", "reduction")])

    def test_reductions(self):
        matrix = "random:n=70,spectrum=graded"
        one, _ = self.eigen(matrix, "--reduction", "one-stage")
        two, done = self.eigen(matrix, "--reduction", "two-stage", "--block", "9")
        self.assertEqual((one["reduction"], two["reduction"], two["verified"]), ("one-stage", "two-stage", True))
        self.assertIn("two-stage, blocks of 9", done.stderr)
        for a, b in zip(one["values"], two["values"], strict=True):
            self.assertAlmostEqual(a, b, delta=1e-13)
        if RANKS == 1:
            return
        calls = lambda result: sum(o["calls"] for o in result["collective_operations"].values())
        one, two = (self.eigen("random:n=200", "--values-only", "--reduction", name)[0] for name in ("one-stage", "two-stage"))
        self.assertLess(10 * calls(two), calls(one))

    def test_a_forecast_chooses_the_reduction(self):
        if RANKS > 1:  # rank 0 makes it
            return
        at = lambda *arguments: self.forecast(*arguments, "--predict", "1", "--grid", "1x1")["points"][0]
        for arguments in (["random:n=4000"], ["random:n=4000", "--values-only"]):
            found = {name: at(*arguments, "--reduction", name) for name in ("one-stage", "two-stage", "auto")}
            best = min(found["one-stage"], found["two-stage"], key=lambda point: point["seconds"])
            self.assertEqual((found["auto"]["reduction"], found["auto"]["seconds"]), (best["reduction"], best["seconds"]))

    def test_precisions(self):
        matrix = "random:n=70,spectrum=wilkinson"
        exact, _ = self.eigen(matrix)
        size = max(map(abs, exact["values"]))
        self.assertEqual((exact["precision"], "refinement" in exact), ("double", False))
        for precision, least, most in [("float", 1e-10, 1e-5), ("mixed", 0, 1e-13)]:
            result, done = self.eigen(matrix, "--precision", precision)
            self.assertEqual((result["precision"], result["verified"]), (precision, True))
            error = max(abs(a - b) for a, b in zip(result["values"], exact["values"], strict=True)) / size
            self.assertTrue(least <= error <= most, f"{precision}: {error}")
            self.assertIn(f"precision {precision}", done.stderr)
        self.assertEqual(result["refinement"]["converged"], True)
        self.assertGreaterEqual(result["refinement"]["steps"], 1)
        self.assertIn("refinement", result["seconds"])
        # In floats half the bytes travel, in as many messages.
        if RANKS > 1:
            one, other = (self.eigen("random:n=70", "--reduction", "one-stage", "--precision", precision)[0]["collective_operations"]
                          for precision in ("double", "float"))
            self.assertEqual(one["broadcast"]["calls"], other["broadcast"]["calls"])
            self.assertLess(other["broadcast"]["bytes"], 0.55 * one["broadcast"]["bytes"])

    def test_values_only_writes_no_vectors(self):
        done = self.run_ayatori("eigen", "random:n=9", "--values-only", "-o", "only", "--quiet")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assert_no_leftovers("only.values.mtx")

    def test_fewer_rows_than_ranks(self):
        result, _ = self.eigen("random:n=1,spectrum=identity,scale=7")
        self.assertEqual(result["values"], [7])

    def test_tables_of_schedules(self):
        if RANKS == 1:
            return
        searches = []
        for operation in ("bcast", "allreduce"):
            done = self.run_ayatori("collectives", "search", operation, "--profile", "altix3700bx2", "--ranks", RANKS,
                                    "--sizes", "8:64K", "--finalists", 0, "--json", "search.json")
            self.assertEqual(done.returncode, 0, done.stderr)
            searches.append(self.read_result("search.json"))
        self.write("table.json", json.dumps(searches))
        result, _ = self.eigen("random:n=60,spectrum=graded", "--grid", f"1x{RANKS}", "--collectives", "table.json")
        self.assertTrue(result["verified"])
        self.assertEqual(result["collectives"], "table.json")
        self.assertGreaterEqual(result["scheduled_calls"], 2 * 58)  # a broadcast and a sum for each reflector

    def test_few_pairs_of_a_large_sparse_matrix(self):
        n = 60  # 3600 rows: two of the five eigenvalues are double
        exact = sorted(4 - 2 * math.cos(math.pi * i / (n + 1)) - 2 * math.cos(math.pi * j / (n + 1))
                       for i in range(1, n + 1) for j in range(1, n + 1))
        result, done = self.eigen(f"poisson2d-5:n={n}", "--smallest", "5", "--output", "low")
        self.assertEqual((result["method"], result["verified"], result["pairs"]), ("davidson", True, 5))
        self.assertIn("fewer bytes than the dense solver", done.stderr)
        for value, reference in zip(result["values"], exact[:5], strict=True):
            self.assertAlmostEqual(value, reference, delta=1e-11)
        vectors = read_array(self.folder / "low.vectors.mtx")
        self.assertEqual((len(vectors), len(vectors[0])), (5, n * n))
        for value, v in zip(result["values"], vectors, strict=True):
            self.assertAlmostEqual(math.fsum(x * x for x in v), 1, delta=1e-11)
            for i in range(0, n * n, 37):
                x, y = i % n, i // n
                neighbours = [v[i - 1] if x else 0, v[i + 1] if x + 1 < n else 0, v[i - n] if y else 0,
                              v[i + n] if y + 1 < n else 0]
                self.assertAlmostEqual(4 * v[i] - math.fsum(neighbours), value * v[i], delta=1e-10)

    def test_davidson_in_any_scale(self):
        """The torus of 40 x 40 points, its Laplacian + 0.01: no norm, factor or residual may leave the range of doubles."""
        m = 40
        exact = [0.01, *[0.01 + 2 - 2 * math.cos(2 * math.pi / m)] * 4]
        products = None
        for scale in (1.0, 1e-305, 1e-200, 1e-160, 1e160, 1e300, 1e307):
            with self.subTest(scale=scale):
                entries = []
                for i in range(m):
                    for j in range(m):
                        entries.append((i * m + j + 1, i * m + j + 1, 4.01 * scale))
                        for k, l in ((i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)):
                            entries.append((i * m + j + 1, k % m * m + l % m + 1, -scale))
                self.write("torus.mtx", matrix_market(entries, m * m))
                result, done = self.eigen("torus.mtx", "--smallest", "3", "--values-only")
                self.assertEqual((result["method"], result["verified"]), ("davidson", True))
                for value, reference in zip(result["values"], exact[:3], strict=True):
                    self.assertAlmostEqual(value / scale, reference, delta=1e-9)
                self.assertRegex(done.stderr, r"values     \S+ +\S+ +\S+\nverified")
                products = products or result["products"]
                self.assertAlmostEqual(result["products"], products, delta=0.2 * products)
        self.write("beyond.mtx", matrix_market([(1, 1, 1.7e308), (2, 2, 1.7e308), (1, 2, 1.7e308), (2, 1, 1.7e308)], 2))
        done = self.run_ayatori("eigen", "beyond.mtx", "--largest", "1", "--method", "davidson")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("beyond the range of doubles", done.stderr)

    def test_values_for_people(self):
        for n, more in ((4, None), (20, None), (21, "... 1 more"), (300, "... 280 more")):
            result, done = self.eigen(f"random:n={n},seed=3")
            lines = done.stderr.splitlines()
            begin = next(k for k, line in enumerate(lines) if line.startswith("values"))
            end = next(k for k, line in enumerate(lines) if line.startswith("verified"))
            words = " ".join(lines[begin:end])
            if more:
                self.assertIn(more, words)
                words = words.replace(more, "")
            shown = result["values"] if not more else result["values"][:10] + result["values"][-10:]
            self.assertEqual(words.split()[1:], [f"{value:.10g}" for value in shown])

    def test_dense_and_davidson_agree(self):
        dense, _ = self.eigen("poisson2d-5:n=20", "--largest", "3", "--method", "dense")
        iterated, _ = self.eigen("poisson2d-5:n=20", "--largest", "3", "--method", "davidson", "--preconditioner", "jacobi")
        self.assertEqual((dense["method"], iterated["method"]), ("dense", "davidson"))
        for a, b in zip(dense["values"], iterated["values"], strict=True):
            self.assertAlmostEqual(a, b, delta=1e-11)

    def test_bad_input(self):
        self.write("wide.mtx", matrix_market([(1, 2, 1.0)], 2, 3))
        self.write("unsymmetric.mtx", matrix_market([(1, 2, 1.0), (2, 1, 1.5), (3, 3, 1.0)], 3))
        self.write("semidefinite.mtx", matrix_market([(i, j, 1.0) for i in (1, 2, 3) for j in (1, 2, 3)], 3))
        self.write("nan.mtx", matrix_market([(1, 1, math.nan)], 2))
        for arguments, words in [
            (["wide.mtx"], ["wide.mtx", "2 x 3"]),
            (["unsymmetric.mtx"], ["not symmetric", "(1, 2) is 1", "(2, 1) is 1.5"]),
            (["nan.mtx"], ["nan.mtx, line 3"]),
            (["missing.mtx"], ["missing.mtx"]),
            (["unsymmetric.mtx", "--smallest", "1", "--method", "davidson"], ["unsymmetric.mtx", "not symmetric"]),
            (["poisson2d-5:n=9", "--method", "davidson"], ["--smallest or --largest"]),
            (["poisson2d-5:n=9", "--method", "lanczos"], ["lanczos", "davidson"]),
            (["poisson2d-5:n=9", "--smallest", "2", "--preconditioner", "magic"], ["magic", "jacobi"]),
            (["poisson2d-5:n=9", "--smallest", "2", "--tolerance", "nan"], ["--tolerance nan"]),
            (["poisson2d-5:n=9", "--smallest", "82"], ["82", "1 to 81"]),
            (["random:n=10", "--smallest", "11"], ["11", "1 to 10"]),
            (["random:n=10", "--largest", "0"], ["0", "1 to 10"]),
            (["random:n=10", "--range", "3", "2"], ["from 3 to 2"]),
            (["random:n=10", "--range", "3"], ["--range"]),
            (["random:n=10", "--smallest", "2", "--largest", "2"], ["--largest"]),
            (["random:n=10", "--block", "0"], ["block"]),
            (["random:n=10", "--precision", "half"], ["half", "double, float, mixed"]),
            (["random:n=10", "--precision", "mixed", "--values-only"], ["mixed", "all pairs"]),
            (["random:n=10", "--precision", "mixed", "--smallest", "2"], ["mixed", "all pairs"]),
            (["random:n=10", "--precision", "mixed", "--predict", "2"], ["--predict", "mixed"]),
            (["poisson2d-5:n=9", "--smallest", "2", "--method", "davidson", "--precision", "float"], ["--precision float"]),
            (["random:n=10", "--reduction", "three-stage"], ["three-stage", "one-stage, two-stage"]),
            (["random:n=10", "--grid", "2by2"], ["2by2"]),
            (["random:n=10", "--grid", "7x9"], ["7 x 9"]),
            (["random:n=10,spectrum=pink"], ["pink", "clustered"]),
            (["random:n=10,scale=1e400"], ["scale"]),
            (["random:m=10"], ["'m'"]),
            (["random:n=10", "--generalized", "missing.mtx"], ["missing.mtx"]),
            (["random:n=9", "--generalized", "poisson2d-5:n=4"], ["9 rows", "poisson2d-5:n=4 has 16"]),
            (["random:n=10", "--generalized", "random:n=10,spectrum=zero"], ["leading minor of order 1 is not positive"]),
            (["random:n=3", "--generalized", "semidefinite.mtx"], ["leading minor of order 2 is not positive"]),
            (["random:n=3", "--generalized", "unsymmetric.mtx"], ["unsymmetric.mtx: not symmetric", "(2, 1) is 1.5"]),
            (["random:n=2", "--generalized", "nan.mtx"], ["nan.mtx, line 3"]),
            (["random:n=9", "--generalized", "K.mtx", "--smallest", "2", "--method", "davidson"], ["--method davidson"]),
            (["random:n=10", "--predict", "2,x"], ["--predict 2,x", "1,4,32"]),
            (["random:n=10", "--predict", "0"], ["--predict 0"]),
            (["random:n=10", "--predict", "4", "--grid", "3x1", "--profile", "altix3700bx2"], ["3 x 1", "4 ranks"]),
            (["random:n=10", "--predict", "4", "--profile", "missing.json"], ["missing.json"]),
            (["random:n=10", "--gflops", "3"], ["--gflops"]),
            (["random:n=10", "--predict", "2", "--memory-bandwidth", "-1"], ["--memory-bandwidth"]),
            (["random:n=10", "--collectives", "missing.json"], ["missing.json"]),
        ]:
            with self.subTest(arguments=arguments):
                done = self.run_ayatori("eigen", *arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                for word in words:
                    self.assertIn(word, done.stderr)
                self.assertEqual(done.stderr.count("ayatori: "), 1, done.stderr)

    def test_too_large_for_memory(self):
        done = self.run_ayatori("eigen", "random:n=2000000")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("needs about", done.stderr)


if __name__ == "__main__":
    unittest.main()
