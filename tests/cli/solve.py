"""ayatori solve: results, files and reports."""

import gzip
import json
import math
import os
import unittest
import unittest.mock

from harness import RANKS, CommandTest, check_schema, matrix_market, read_vector, tridiagonal


def random_uniform(seed, index):
    """What the library's function of this name gives: SplitMix64 of (seed, index)."""
    mask = 2**64 - 1
    z = (seed * 0xD1342543DE82EF95 + (index + 1) * 0x9E3779B97F4A7C15) & mask
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
    return ((z ^ (z >> 31)) >> 11) * 2.0**-53


class Solve(CommandTest):
    def check(self, result):
        check_schema(result)
        self.assertEqual(result["ranks"], RANKS)
        self.assertEqual(result["converged"], result["relative_residual"] <= result["rtol"])

    def test_generated_matrix(self):
        result, done = self.solve("poisson2d-5:n=30")
        self.check(result)
        self.assertTrue(result["converged"])
        self.assertEqual(result["matrix"]["rows"], 900)
        self.assertTrue(result["matrix"]["symmetric"])
        self.assertIn("converged", done.stderr)
        self.assertEqual(done.stdout, "")
        self.assert_no_leftovers("result.json")

    def test_without_a_device(self):
        """The tests know no profile of this machine, and so of no device."""
        for options in ((), ("--device", "auto"), ("--device", "none")):
            result, done = self.solve("poisson2d-5:n=30", *options)
            self.check(result)
            self.assertTrue(result["converged"])
            self.assertFalse(result["choice"].get("device"))
            self.assertNotIn("\ndevice ", done.stderr)

    @unittest.skipIf(RANKS > 1, "mpirun needs a folder of its own")
    def test_one_process_shares_no_folder(self):
        """Programs that start and end at the same time would remove it from each other."""
        self.write("file", "")
        with unittest.mock.patch.dict(os.environ, {"TMPDIR": str(self.folder / "file")}):
            result, _ = self.solve("poisson2d-5:n=5")
        self.assertTrue(result["converged"])

    def test_one_rank_may_hold_all_rows(self):
        self.write("A.mtx", tridiagonal(30))
        result, done = self.solve("A.mtx", "--use-ranks", "auto", "--output", "x.mtx", "--rtol", "1e-12")
        self.check(result)
        for i, got in enumerate(read_vector(self.folder / "x.mtx")):
            self.assertAlmostEqual(got, (i + 1) * (30 - i) / 2, delta=1e-6)
        if RANKS > 1:
            self.assertEqual(result["rank_race"]["offered"], RANKS)
            self.assertEqual("all on one rank" in done.stderr, result["rank_race"]["ranks"] == 1)
            self.assertEqual(result["replay"]["ranks"], int(result["rank_race"]["ranks"] == 1))
        else:
            self.assertNotIn("rank_race", result)

    def test_file_and_solution(self):
        self.write("A.mtx", tridiagonal(50))
        result, _ = self.solve("A.mtx", "--output", "x.mtx", "--rtol", "1e-12")
        self.check(result)
        x = read_vector(self.folder / "x.mtx")
        expected = [(i + 1) * (50 - i) / 2 for i in range(50)]  # -x'' = 1
        for got, want in zip(x, expected, strict=True):
            self.assertAlmostEqual(got, want, delta=1e-8 * max(expected))
        self.assert_no_leftovers("A.mtx", "result.json", "x.mtx")

    def test_gzip_and_rhs_file(self):
        self.write("A.mtx.gz", gzip.compress(tridiagonal(40).encode()))
        values = "".join(f"{(-1) ** i * i}\n" for i in range(40))
        self.write("b.mtx", f"%%MatrixMarket matrix array real general\n40 1\n{values}")
        result, _ = self.solve("A.mtx.gz", "--rhs", "b.mtx", "--output", "x.mtx.gz", "--explain")
        self.check(result)
        self.assertTrue((self.folder / "x.mtx.gz").read_bytes().startswith(b"\x1f\x8b"))
        x = [float(v) for v in gzip.decompress((self.folder / "x.mtx.gz").read_bytes()).split()[-40:]]
        for i in range(40):
            left = x[i - 1] if i > 0 else 0
            right = x[i + 1] if i < 39 else 0
            self.assertAlmostEqual(2 * x[i] - left - right, (-1) ** i * i, delta=1e-5)

    def test_known_solution_and_graph_partition(self):
        for partition in ("contiguous", "graph"):
            result, _ = self.solve("elliptic2d-5:n=20", "--rhs", "solution-random:3", "--partition", partition,
                                   "--output", f"{partition}.mtx", "--rtol", "1e-11")
            self.check(result)
            self.assertEqual(result["partition"], partition)
            self.assertLess(result["true_error"], 1e-6)
        a, b = (read_vector(self.folder / f"{name}.mtx") for name in ("contiguous", "graph"))
        self.assertLess(max(abs(p - q) for p, q in zip(a, b, strict=True)), 1e-6)

    def test_random_rhs_is_the_same_on_any_number_of_ranks(self):
        result, _ = self.solve("poisson2d-5:n=10", "--rhs", "random:5", "--output", "x.mtx", "--rtol", "1e-13")
        self.check(result)
        x = read_vector(self.folder / "x.mtx")
        for row in range(100):
            i, j = divmod(row, 10)
            neighbours = [(i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)]
            product = 4 * x[row] - sum(x[10 * a + b] for a, b in neighbours if 0 <= a < 10 and 0 <= b < 10)
            self.assertAlmostEqual(product, 2 * random_uniform(5, row) - 1, places=10)

    def test_every_choice_is_obeyed_and_reported(self):
        result, done = self.solve("elliptic2d-5:n=20", "--method", "gmres", "--preconditioner", "none", "--restart", 90,
                                  "--orthogonalization", "mgs", "--kernel", "csr-reference", "--halo", "allgather",
                                  "--explain")
        self.check(result)
        self.assertEqual(result["choice"], {"method": "gmres", "preconditioner": "none", "restart": 90,
                                            "orthogonalization": "mgs", "kernel": "csr-reference", "halo": "allgather"})
        self.assertIn("gmres(90) + none", done.stderr)
        self.assertIn("Trial 1", done.stderr)

    def test_every_method_and_preconditioner(self):
        # Their combinations are tests/solvers'.
        of_method = {method: ("none",) for method in ("bicgstab", "fgmres", "minres", "idr", "pipelined-cg", "pipelined-gmres")}
        of_method["cg"] = ("none", "jacobi", "ic", "fsai", "chebyshev", "amg")
        of_method["gmres"] = ("none", "block-jacobi", "block-ilu0", "ilu", "ilut", "neumann")
        for method, preconditioners in of_method.items():
            for preconditioner in preconditioners:
                with self.subTest(method=method, preconditioner=preconditioner):
                    result, _ = self.solve("poisson2d-5:n=12", "--method", method, "--preconditioner", preconditioner, "-q")
                    self.check(result)
                    self.assertEqual(result["choice"]["method"], method)
                    self.assertEqual(result["choice"]["preconditioner"], preconditioner)

    def test_every_kernel_and_halo_strategy(self):
        considered = self.solve("poisson2d-5:n=12")[0]["tuning"]["considered"]
        item = {1: "kernel", 2: "halo"}.get(RANKS)
        others = {"complex-csr"}  # are for other matrices
        names = [c["name"] for c in considered if c["item"] == item and c["verdict"] != "hopeless" and c["name"] not in others]
        self.assertTrue(item is None or len(names) > 5)
        for name in names:
            with self.subTest(name):
                result, _ = self.solve("poisson2d-5:n=12", f"--{item}", name, "-q")
                self.check(result)
                self.assertEqual(result["choice"][item], name)
                self.assertNotIn(item, [c["item"] for c in result["tuning"]["considered"]])

    def test_exclusion(self):
        result, done = self.solve("poisson2d-5:n=30", "--exclude", "cg,block-ilu0,dia", "--exclude", "allgather", "--explain")
        self.check(result)
        for trial in result["trials"]:
            self.assertNotEqual(trial["choice"]["method"], "cg")
            self.assertNotEqual(trial["choice"]["preconditioner"], "block-ilu0")
            self.assertNotEqual(trial["choice"]["kernel"], "dia")
        verdicts = {c["name"]: c["verdict"] for c in result["tuning"]["considered"]}
        self.assertEqual(verdicts["dia"], "excluded")
        self.assertIn("The kernel dia was excluded", done.stderr)

    def test_without_a_budget_nothing_is_tried(self):
        result, done = self.solve("elliptic2d-5:n=40", "--preconditioner", "jacobi", "--method", "gmres", "--tuning-share", 0, "--explain")
        self.check(result)
        self.assertRegex(done.stderr, r"The kernels (\S+, )+\S+ were not tried: ")
        self.assertNotRegex(done.stderr, r"The (kernels|halo strategies) .* were [a-z ]+: it ")
        self.assertEqual(len(result["trials"]), 1)
        self.assertLessEqual({c["verdict"] for c in result["tuning"]["considered"]}, {"not tried", "hopeless"})

    def test_not_converged_says_so_and_writes_the_best(self):
        entries = [(i, i, 1.0) for i in range(1, 9)]  # the last two rows ask for x_9 + x_10 = 1 and = 1 / 2
        entries += [(9, 9, 1.0), (9, 10, 1.0), (10, 9, 2.0), (10, 10, 2.0)]
        self.write("A.mtx", matrix_market(entries, 10))
        result, done = self.solve("A.mtx", "--output", "x.mtx", "--max-iterations", 200, "--method", "gmres", status=1)
        self.check(result)
        self.assertFalse(result["converged"])
        self.assertEqual(result["status"], "not converged")
        self.assertIn("not converged", done.stderr)
        self.assertIn("the best x found", done.stderr)
        x = read_vector(self.folder / "x.mtx")
        last = x[8] + x[9]
        norm = math.sqrt((sum((value - 1) ** 2 for value in x[:8]) + (last - 1) ** 2 + (2 * last - 1) ** 2) / 10)
        self.assertAlmostEqual(norm, result["relative_residual"], places=12)
        self.assertLess(norm, 0.45)  # that of the other rows solved; the least possible is 0.141
        result, done = self.solve("A.mtx", "--output", "x.mtx", status=1)  # free to choose, it finds that one
        self.check(result)
        self.assertEqual(result["status"], "least squares")
        self.assertEqual(result["choice"]["method"], "lsmr")
        self.assertEqual(result["structure"]["findings"][0], "row 10 of the matrix is a multiple of row 9")
        self.assertIn("row 10 of the matrix is a multiple of row 9", done.stderr)
        self.assertAlmostEqual(result["relative_residual"], math.sqrt(0.2 / 10), places=12)
        for value in read_vector(self.folder / "x.mtx")[8:]:  # of least norm
            self.assertAlmostEqual(value, 0.3, places=12)

    def test_rows_are_named_as_the_file_numbers_them(self):
        n, row = 60, 37  # unknowns are numbered at random, so that a graph partition renumbers them
        number = [(23 * i + 11) % n + 1 for i in range(n)]
        entries = [(number[i], number[(i + step) % n], 3.0 - 0.3 * step + 0.01 * i)
                   for i in range(n) for step in (0, 1, 7) if number[i] != row]
        self.write("A.mtx", matrix_market(entries, n))
        for partition in ("contiguous", "graph"):
            result, done = self.solve("A.mtx", "--partition", partition, "--use-ranks", "all", status=1)
            self.check(result)
            self.assertEqual(result["structure"]["zero_rows"], {"count": 1, "first": row})
            self.assertIn(f"row {row} of the matrix is zero", done.stderr)
            self.assertEqual(result["status"], "least squares")
            self.assertAlmostEqual(result["relative_residual"], math.sqrt(1 / n), places=10)

    def test_inconsistent_systems_end_at_least_squares(self):
        entries = [(i, i, 1.0) for i in range(1, 10)]  # row 10 is empty: singular, and b_10 = 1
        self.write("A.mtx", matrix_market(entries, 10))
        result, done = self.solve("A.mtx", "--output", "x.mtx", status=1)
        self.check(result)
        self.assertFalse(result["converged"])
        self.assertEqual(result["status"], "least squares")
        self.assertIn("the system is inconsistent", done.stderr)
        x = read_vector(self.folder / "x.mtx")
        norm = math.sqrt((sum((value - 1) ** 2 for value in x[:9]) + 1) / 10)
        self.assertAlmostEqual(norm, result["relative_residual"], places=12)
        self.assertAlmostEqual(norm, 1 / math.sqrt(10), places=9)

    def test_output_problems_are_found_before_solving(self):
        self.write("A.mtx", tridiagonal(5))
        before = (self.folder / "A.mtx").read_bytes()
        for arguments, status in ((["--output", "x.unknown"], 2), (["--output", "same", "--json", "same"], 2),
                                  (["--output", "A.mtx"], 2), (["--json", "./A.mtx"], 2),
                                  (["--output", "no/such/x.mtx"], 3)):
            with self.subTest(arguments):
                done = self.run_ayatori("solve", "A.mtx", *arguments)
                self.assertEqual(done.returncode, status, done.stderr)
                self.assertNotIn("converged", done.stderr)
        self.assertEqual((self.folder / "A.mtx").read_bytes(), before)
        self.assert_no_leftovers("A.mtx")

    def table(self, ranks):
        """A table of schedules for that many ranks, by the model alone."""
        searches = []
        for operation in ("bcast", "allreduce", "allgather", "alltoall"):
            done = self.run_ayatori("collectives", "search", operation, "--profile", "altix3700bx2", "--ranks", ranks,
                                    "--sizes", "8:64K", "--finalists", 0, "--json", "search.json")
            self.assertEqual(done.returncode, 0, done.stderr)
            searches.append(json.loads((self.folder / "search.json").read_text()))
        self.write("table.json", json.dumps(searches))

    def test_schedules(self):
        self.table(RANKS)
        arguments = ("elliptic2d-5:n=20", "--rhs", "solution-random:3", "--rtol", "1e-11", "--method", "gmres")
        result, done = self.solve(*arguments, "--collectives", "table.json", "--explain")
        self.check(result)
        self.assertLess(result["true_error"], 1e-6)
        used = result["collectives"]
        self.assertEqual(used["tables"], "table.json")
        if RANKS == 1:
            self.assertEqual((used["calls"], used["schedules"]), ({}, []))
            return
        for schedule in used["schedules"]:
            self.assertEqual(schedule["ranks"], RANKS)
            calls = f"{schedule['calls']} call{'s' if schedule['calls'] > 1 else ''}"
            self.assertIn(f"{calls} of {schedule['operation']} on {RANKS} ranks with about "
                          f"{schedule['bytes']} bytes went by the schedule {schedule['text']}.", done.stderr)
        reductions = sum(s["calls"] for s in used["schedules"] if s["operation"] == "allreduce")
        self.assertGreaterEqual(reductions, result["communication"]["reductions"])
        self.assertEqual(reductions, used["calls"]["allreduce"])
        scheduled = sum(schedule["calls"] for schedule in used["schedules"])
        self.assertIn(f"table.json: {scheduled} of {sum(used['calls'].values())} collective calls", done.stderr)

    def test_schedules_by_the_environment(self):
        self.table(RANKS)
        with unittest.mock.patch.dict(os.environ, {"AYATORI_COLLECTIVES": "table.json"}):
            self.assertEqual(self.solve("poisson2d-5:n=9")[0]["collectives"]["tables"], "table.json")
            self.assertIsNone(self.solve("poisson2d-5:n=9", "--collectives", "none")[0]["collectives"])
        self.assertIsNone(self.solve("poisson2d-5:n=9")[0]["collectives"])

    def test_schedules_for_other_ranks(self):
        self.table(RANKS + 1)
        result, done = self.solve("poisson2d-5:n=9", "--collectives", "table.json")
        self.check(result)
        self.assertTrue(result["converged"])
        self.assertIn(f"table.json: no schedules for {RANKS} rank", done.stderr)
        self.assertEqual(result["collectives"]["schedules"], [])

    def test_placement_on_one_node(self):
        for partition in ("contiguous", "graph"):
            result, done = self.solve("elliptic2d-5:n=20", "--rhs", "solution-random:3", "--rtol", "1e-11", "--placement",
                                      "auto", "--network", "torus:2x2", "--partition", partition, "--explain")
            self.check(result)
            self.assertLess(result["true_error"], 1e-6)
            placement = result["placement"]
            self.assertEqual((placement["nodes"], placement["network"], placement["kept"]), (1, "torus:2x2", True))
            self.assertEqual(placement["messages"], result["communication"]["halo_messages_per_product"])
            self.assertEqual(placement["before"]["messages_inside"], placement["messages"])
            self.assertEqual(placement["rank_of_part"], list(range(RANKS)))
            self.assertIn("all ranks are on one node: nothing to place", done.stderr)
        self.assertIsNone(self.solve("poisson2d-5:n=9")[0]["placement"])

    def test_bad_placement(self):
        for arguments, word in ((["--placement", "best"], "choose one of auto, always, none"), (["--network", "flat"], "--placement auto"),
                                (["--placement", "auto", "--network", "ring"], "torus"),
                                (["--placement", "auto", "--network", "torus:0"], "torus:0")):
            with self.subTest(arguments):
                done = self.run_ayatori("solve", "poisson2d-5:n=9", *arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(word, done.stderr)
                self.assertEqual(done.stderr.count("ayatori: "), 1, done.stderr)

    def test_fields_of_a_saddle_point(self):
        """Named by the user, under either partition; a solve with them is repeated with them alone."""
        spec = ("stokes2d:n=8,level=0", "--rhs", "solution-random:1", "--method", "fgmres", "--preconditioner", "schur", "--deterministic")
        lines = (8, 8, 8, 8, 8, 8, 8, 0)  # velocities along y through the upper faces of a line of cells
        field = [kind for along_y in lines for kind in [0] * (7 + along_y) + [1] * 8]
        self.write("fields.mtx", f"%%MatrixMarket matrix array real general\n{len(field)} 1\n" + "\n".join(map(str, field)) + "\n")
        for partition in ("contiguous", "graph"):
            with self.subTest(partition):
                given, _ = self.solve(*spec, "--partition", partition, "--fields", "fields.mtx", "--output", "x.mtx")
                self.check(given)
                self.assertTrue(given["converged"] and given["replay"]["fields"])
                found, _ = self.solve(*spec, "--partition", partition)
                self.assertFalse(found["replay"]["fields"])
                self.assertEqual(found["iterations"], given["iterations"])
        self.write("fields.mtx", f"%%MatrixMarket matrix array real general\n{len(field)} 1\n" + "2\n" * len(field))
        done = self.run_ayatori("solve", *spec, "--fields", "fields.mtx")
        self.assertEqual(done.returncode, 2)
        self.assertIn("want 1 for constraints and 0 for other rows", done.stderr)
        done = self.run_ayatori("solve", *spec, "--fields", "nowhere.mtx")
        self.assertEqual(done.returncode, 2)
        self.assertIn("--fields nowhere.mtx: no such file", done.stderr)

    def test_complex_systems(self):
        """A chain with complex entries: of either symmetry, with complex, real and made right-hand sides."""
        n = 30
        for symmetry, below, above in (("general", -1 + 0.5j, -0.75 - 1j), ("symmetric", -1 + 0.5j, -1 + 0.5j), ("hermitian", -1 + 0.5j, -1 - 0.5j)):
            diagonal = 3 if symmetry == "hermitian" else 3 + 1j
            lower = [(i + 1, i, below) for i in range(1, n)]
            upper = [(i, i + 1, above) for i in range(1, n)] if symmetry == "general" else []
            entries = [(i, i, diagonal) for i in range(1, n + 1)] + lower + upper
            body = "".join(f"{i} {j} {complex(v).real} {complex(v).imag}\n" for i, j, v in entries)
            self.write("A.mtx", f"%%MatrixMarket matrix coordinate complex {symmetry}\n{n} {n} {len(entries)}\n{body}")
            self.write("b.mtx", f"%%MatrixMarket matrix array complex general\n{n} 1\n" + "".join(f"{i} {-i}\n" for i in range(n)))
            self.write("c.mtx", f"%%MatrixMarket matrix array real general\n{n} 1\n" + "".join(f"{i}\n" for i in range(n)))
            for rhs, b in (("b.mtx", [i - 1j * i for i in range(n)]), ("c.mtx", list(range(n))), ("ones", [1] * n)):
                for partition in ("contiguous", "graph"):
                    with self.subTest(symmetry=symmetry, rhs=rhs, partition=partition):
                        result, done = self.solve("A.mtx", "--rhs", rhs, "--partition", partition, "--output", "x.mtx", "--rtol", "1e-11")
                        self.check(result)
                        self.assertTrue(result["converged"])
                        matrix = result["matrix"]
                        self.assertEqual((matrix["rows"], matrix["nonzeros"], matrix["max_row_nonzeros"]), (n, 3 * n - 2, 3))
                        self.assertTrue(matrix["complex"])
                        self.assertEqual(matrix["symmetric"], symmetry == "hermitian")
                        self.assertEqual(matrix["complex_symmetric"], symmetry == "symmetric")
                        self.assertIn(f"{n} complex rows", done.stderr)
                        lines = (self.folder / "x.mtx").read_text().splitlines()
                        self.assertEqual(lines[0], "%%MatrixMarket matrix array complex general")
                        x = [0, *(complex(*map(float, line.split())) for line in lines[2:]), 0]
                        for i in range(n):
                            product = below * x[i] + diagonal * x[i + 1] + above * x[i + 2]
                            self.assertLess(abs(product - b[i]), 1e-8)

    def test_complex_methods_and_kernel_by_name(self):
        for method in ("gmres", "fgmres", "bicgstab", "cocg"):
            result, _ = self.solve("helmholtz2d:n=12,k=6", "--method", method, "--preconditioner", "block-ilu0", "--kernel", "complex-csr", "-q")
            self.check(result)
            self.assertTrue(result["converged"])
            self.assertEqual((result["choice"]["method"], result["choice"]["kernel"]), (method, "complex-csr"))
        done = self.run_ayatori("solve", "poisson2d-5:n=4", "--kernel", "complex-csr")
        self.assertEqual(done.returncode, 2)
        self.assertIn("it is not the real form of a complex matrix", done.stderr)

    def test_complex_least_squares(self):
        """Two equations for each unknown, solved by their mean."""
        body = "".join(f"{2 * i + k} {i + 1} {k} 1\n" for i in range(9) for k in (1, 2))
        self.write("A.mtx", f"%%MatrixMarket matrix coordinate complex general\n18 9 18\n{body}")
        done = self.run_ayatori("solve", "A.mtx", "--least-squares", "--damp", "0", "--output", "x.mtx", "--rtol", "1e-12")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("18 x 9, 18 nonzeros", done.stderr)
        lines = (self.folder / "x.mtx").read_text().splitlines()
        self.assertEqual(lines[:2], ["%%MatrixMarket matrix array complex general", "9 1"])
        expected = ((1 - 1j) + (2 - 1j)) / (abs(1 + 1j) ** 2 + abs(2 + 1j) ** 2)
        for line in lines[2:]:
            self.assertLess(abs(complex(*map(float, line.split())) - expected), 1e-10)

    def test_a_real_file_of_the_real_form(self):
        """Is solved as what it is, and named as what it was given as."""
        n = 12
        entries = [(2 * i + k + 1, 2 * i + k + 1, 3.0) for i in range(n) for k in (0, 1)]
        entries += [(2 * i + 1, 2 * i + 2, -1.0) for i in range(n)] + [(2 * i + 2, 2 * i + 1, 1.0) for i in range(n)]
        self.write("A.mtx", matrix_market(entries, 2 * n))
        result, done = self.solve("A.mtx")
        self.check(result)
        self.assertTrue(result["converged"] and result["matrix"]["complex"])
        self.assertIn(f"A.mtx: {2 * n} rows, {4 * n} nonzeros (2.0 a row), unsymmetric values on a symmetric pattern", done.stderr)

    def test_complex_input_that_does_not_fit(self):
        self.write("A.mtx", "%%MatrixMarket matrix coordinate complex general\n3 3 2\n1 1 1 1\n3 3 2 -1\n")
        _, done = self.solve("A.mtx", status=1)
        self.assertIn("row 2 of the matrix is zero", done.stderr)
        self.write("b.mtx", "%%MatrixMarket matrix array complex general\n4 1\n1 1\n1 1\n1 1\n1 1\n")
        for arguments, words in (
                (("poisson2d-5:n=2", "--rhs", "b.mtx"), "complex values, but the matrix is real"),
                (("helmholtz2d:n=3", "--rhs", "b.mtx"), "where a vector of 9 x 1 is needed"),
                (("helmholtz2d:n=2", "--fields", "b.mtx"), "are for real matrices")):
            done = self.run_ayatori("solve", *arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)
        done = self.run_ayatori("eigen", "hamiltonian2d:n=4")
        self.assertEqual(done.returncode, 2)
        self.assertIn("complex matrices are not found yet", done.stderr)

    def test_several_right_hand_sides(self):
        rhs = ("--rhs", "random:1", "--rhs", "solution-random:2", "--rhs", "ones")
        result, done = self.solve("elliptic2d-5:n=20", *rhs, "--output", "x.mtx", "--rtol", "1e-11")
        self.check(result)
        sequence = result["sequence"]
        self.assertEqual(sequence["solves"], 3)
        self.assertIn(sequence["set_ups"], (1, 2, 3))  # times decide: tests/tuning/solver.cpp has a clock of its own
        self.assertEqual([solve["rhs"] for solve in sequence["earlier"]], ["random:1", "solution-random:2"])
        self.assertTrue(all(solve["converged"] for solve in sequence["earlier"]))
        self.assertEqual(result["rhs"], "ones")
        self.assertRegex(done.stderr, r"[123] set-ups? served 3 solves")
        self.assert_no_leftovers("result.json", "x.1.mtx", "x.2.mtx", "x.3.mtx")
        together = [read_vector(self.folder / f"x.{k}.mtx") for k in (1, 2, 3)]
        for x, spec in zip(together, ("random:1", "solution-random:2", "ones"), strict=True):
            alone, _ = self.solve("elliptic2d-5:n=20", "--rhs", spec, "--output", "y.mtx", "--rtol", "1e-11")
            self.assertIsNone(alone["sequence"])
            y = read_vector(self.folder / "y.mtx")
            self.assertLess(max(abs(p - q) for p, q in zip(x, y, strict=True)), 1e-7 * max(map(abs, y)))
        done = self.run_ayatori("solve", "poisson2d-5:n=9", *rhs, "--checkpoint", "c")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("--checkpoint", done.stderr)

    def test_right_hand_sides_at_once(self):
        rhs = [word for k in range(5) for word in ("--rhs", f"random:{k}")]
        arguments = ("poisson2d-5:n=25", *rhs, "--method", "cg", "--preconditioner", "jacobi", "--output", "x.mtx")
        for block, together in (("auto", [4] * 4), ("2", [2] * 4), ("off", [1] * 4)):
            result, done = self.solve(*arguments, "--block", block)
            self.check(result)
            others = result["sequence"]["earlier"]
            self.assertEqual([solve["rhs"] for solve in others], [f"random:{k}" for k in range(4)])
            self.assertEqual([solve["together"] for solve in others], together)
            self.assertTrue(all(solve["relative_residual"] <= 1e-8 for solve in others))
            self.assertEqual("at once" in done.stderr, block != "off")
        for arguments, words in ((["--block", "2"], "one right-hand side"), ([*rhs, "--block", "9"], "1 to 8"),
                                 ([*rhs, "--block", "x"], "1 to 8")):
            done = self.run_ayatori("solve", "poisson2d-5:n=9", *arguments)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn(words, done.stderr)

    def test_quiet(self):
        _, done = self.solve("poisson2d-5:n=5", "-q")
        self.assertEqual(done.stderr, "")


if __name__ == "__main__":
    unittest.main()
