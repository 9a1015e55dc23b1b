"""The benchmark scripts: every problem and setting has its row, and solved is what must be solved."""

import gzip
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from xml.etree import ElementTree

BENCH = pathlib.Path(__file__).resolve().parent.parent.parent / "bench"
sys.path[:0] = [str(BENCH), str(BENCH / "peers")]

import performance_profile  # noqa: E402 - of the folders above
import petsc_files  # noqa: E402
import repeated_choices  # noqa: E402
import runs  # noqa: E402
import solve as peers  # noqa: E402
import solve_petsc  # noqa: E402
from cluster import hybrid, ports  # noqa: E402
from simulated import collectives, halo, platforms  # noqa: E402

EASY = "elliptic2d-5:n=20"
HARD = "jump2d:n=40,ratio=1e6,blocks=4"  # its residual stays above 0.7 without a preconditioner
PARTS = ["SpMV", "preconditioner", "orthogonalization", "communication", "tuning", "rest"]


def matrix_market(entries, rows):
    body = "".join(f"{i} {j} {v!r}\n" for i, j, v in entries)
    return f"%%MatrixMarket matrix coordinate real general\n{rows} {rows} {len(entries)}\n{body}"


def table_rows(text):
    """Cells of the rows that do not head a table."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    heads = {i - 1 for i, line in enumerate(cells) if set(line) == {"---"}}
    return [line for i, line in enumerate(cells) if i not in heads and i - 1 not in heads]


class Scripts(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ayatori-test-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def run_script(self, script, *arguments, status=0):
        done = subprocess.run(
            [sys.executable, BENCH / script, "--ayatori", os.environ["AYATORI"], *map(str, arguments)],
            cwd=self.folder, text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def test_a_missing_package_is_named_in_one_line(self):
        done = subprocess.run([sys.executable, "-S", BENCH / "peers/solve.py"], text=True, capture_output=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\A\S+solve\.py: \S+ has no numpy, scipy; .*\n\Z")

    def test_pictures(self):
        solver = {"seconds": 1.0, "solved": True}
        (self.folder / "sizes.json").write_text(json.dumps({"entries": [
            {"problem": f"poisson3d-7:n={n}", "ranks": 1, "rows": n**3, "solvers": {"ours": solver, "theirs": {**solver, "solved": n < 9}}}
            for n in (10, 5, 8)]}))
        self.run_script("pictures.py", "--folder", ".", "--only", "collective", "forecast", "sizes", "--sizes", "sizes.json")
        drawn = {path.name: path.read_text() for path in self.folder.glob("*.svg")}
        self.assertEqual(sorted(drawn), ["collective.svg", "forecast.svg", "sizes.svg"])
        for name, text in drawn.items():
            self.assertTrue(ElementTree.fromstring(text).tag.endswith("svg"), name)
        self.assertEqual(drawn["sizes.svg"].count("<circle"), 3 + 2)  # what failed is no point
        self.assertEqual(drawn["forecast.svg"].count("fill-opacity"), 1)

    def katagiri(self, *arguments, status=0):
        return self.run_script("papers/katagiri.py", "--mpirun", os.environ["AYATORI_MPIRUN"], *arguments,
                               status=status)

    def test_hybrid_holds_rounds_against_each_other(self):
        """Each ratio is one of the same round; the table has their median."""
        of_way = {("all-MPI", False): [8.0, 4.0, 6.0], ("all-MPI", True): [4.0, 4.0, 3.0],
                  ("hybrid", False): [2.0, 2.0, 2.0], ("hybrid", True): [1.0, 4.0, 2.0]}
        row, = hybrid.rows_of(ports.Network(1000, 2), {"laplace": of_way})
        self.assertEqual([str(cell) for cell in row],
                         ["2 x 1 Gbit/s", "laplace", "6000 (4000 - 8000)", "2000 (2000 - 2000)", "3 (2 - 4)",
                          "2 (1 - 2)", "1 (0.5 - 2)", "2 (1.5 - 4)"])
        self.assertEqual(len(row), len(hybrid.HEADER))

    def test_real_matrices(self):
        (self.folder / "A.mtx.gz").write_bytes(
            gzip.compress(matrix_market([(1, 1, 2.0), (2, 2, 4.0), (1, 2, 1.0)], 2).encode()))
        singular = matrix_market([(1, 1, 1.0), (1, 2, 1.0), (2, 1, 1.0), (2, 2, 1.0)], 2).encode()
        (self.folder / "B.mtx.gz").write_bytes(gzip.compress(singular))
        (self.folder / "B_b.mtx.gz").write_bytes(
            gzip.compress(b"%%MatrixMarket matrix array real general\n2 1\n1\n0\n"))
        (self.folder / "C.mtx.gz").write_bytes(
            gzip.compress(b"%%MatrixMarket matrix coordinate quaternion general\n1 1 1\n1 1 1\n"))
        done = self.run_script("real_matrices.py", self.folder)
        self.assertIn("1 of 2 solved", done.stdout)
        self.assertEqual([line[0] for line in table_rows(done.stdout)], ["A", "B"])
        self.assertEqual([line[4] for line in table_rows(done.stdout)], ["solved", "least squares"])
        self.assertIn("Rejected as input:\n\n- C: ", done.stdout)

    def test_katagiri(self):
        for matrix, ranks, rounds in ((HARD, 1, 2), (EASY, 2, 1)):
            with self.subTest(matrix=matrix):
                (self.folder / "t.json").unlink(missing_ok=True)
                arguments = ["--problem", matrix, "--ranks", ranks, "--rounds", rounds, "--default-halo",
                             "p2p-irecv-first", "--free", "preconditioner", "--markdown", "t.md", "--json", "t.json"]
                self.katagiri(*arguments)
                problem, = json.loads((self.folder / "t.json").read_text())["problems"]
                self.assertEqual(problem["matrix"], matrix)
                self.assertEqual(list(problem["ranks"]), [str(ranks)])
                table = (self.folder / "t.md").read_text()
                self.katagiri(*arguments)
                self.assertEqual((self.folder / "t.md").read_text(), table, "what was measured is not run again")
                self.check_settings(problem["ranks"][str(ranks)], ranks, rounds, hard=matrix == HARD)
                seconds, *splits = table_rows(table)
                self.assertEqual(len(seconds), 1 + 7 + ranks)  # with one rank there is no halo to tune
                self.assertEqual(seconds[1].startswith("**"), matrix != HARD)  # bold where solved
                self.assertEqual([row[1] for row in splits], ["nothing (default)", "the paper's items", "all"])
                self.assertEqual({len(row) for row in splits}, {10})

    def check_settings(self, settings, ranks, rounds, hard):
        self.assertEqual("halo" in settings, ranks > 1)
        self.assertEqual(settings["all"]["options"], [])
        self.assertEqual(settings["the paper's items"]["options"], ["--method", "gmres"])
        default = settings.pop("default")
        self.assertEqual(default["converged"], not hard)
        self.assertEqual(len(default["seconds"]), 1 if hard else rounds)
        self.assertEqual(default["choice"], {
            "method": "gmres", "preconditioner": "none", "restart": 30, "orthogonalization": "cgs",
            "kernel": "csr-reference", "halo": "p2p-irecv-first"})
        for name, setting in settings.items():
            self.assertTrue(setting["converged"], name)
            self.assertEqual(len(setting["seconds"]), rounds, name)
            self.assertEqual(list(setting["split"]), PARTS)
            self.assertNotIn("--preconditioner", setting["options"])
            self.assertNotIn(f"--{name}", setting["options"])
            self.assertAlmostEqual(sum(setting["split"].values()), sorted(setting["seconds"])[0])

    def test_katagiri_says_what_is_wrong(self):
        done = self.katagiri("--problem", EASY, "--ranks", "1", "--default-halo", "pigeons", status=1)
        self.assertIn("pigeons", done.stderr)

    def test_katagiri_wants_the_matrices(self):
        done = self.katagiri("--problem", "absent.mtx.gz", "--ranks", "1", "--default-halo",
                             "p2p-irecv-first", status=1)
        self.assertIn("absent.mtx.gz", done.stderr)

    def regret(self, *arguments, status=0):
        return self.run_script("regret.py", "--rounds", 1, "--finalists", 2, "--json", "r.json", *arguments,
                               status=status)

    def test_repeated_choices(self):
        same = [("cg + ic", 1.0)] * 9
        self.assertTrue(repeated_choices.is_steady([*same, ("cg + amg", 3.0)]), "nine of ten")
        self.assertFalse(repeated_choices.is_steady([*same[:8], *[("cg + amg", 3.0)] * 2]))
        self.assertTrue(repeated_choices.is_steady([*same[:5], *[("cg + amg", 1.05)] * 5]), "as fast")
        out = self.folder / "choices.md"
        self.run_script("repeated_choices.py", "--problem", "poisson2d-5:n=10", "--repetitions", 2, "--load", 1,
                        "--markdown", out)
        self.assertIn("Steady: 1 of 1", out.read_text())

    def test_before_after(self):
        done = self.run_script("before_after.py", "--before", os.environ["AYATORI"], "--problem", EASY, "--problem", HARD,
                               "--rounds", 1)
        self.assertEqual([row[0] for row in table_rows(done.stdout)], [EASY, HARD])
        self.assertRegex(done.stdout, "over 1 ms|more than 1 ms")

    def test_regret(self):
        done = self.regret("--problem", EASY, "--problem", HARD)
        unsymmetric, definite = json.loads((self.folder / "r.json").read_text())["matrices"]
        self.assertEqual(unsymmetric["grid"], 34)  # BiCGSTAB and two GMRES with eleven preconditioners each, and direct
        self.assertEqual(definite["grid"], 46)     # and CG with ten, MINRES with two
        self.assertLess(definite["grid_solved"], 46)
        for entry in (unsymmetric, definite):
            self.assertTrue(all(entry[way]["solved"] for way in ("fixed", "tuned", "warm")))
            self.assertGreater(entry["grid_solved"], 2)
            self.assertLessEqual(entry["tuned"]["tuning_share"], 1)
        self.assertIn("Of 2 matrices, 2 are solved by some forced setting, 2 by GMRES(30) + block ILU(0), 2 "
                      "by the tuned", done.stdout)
        self.assertIn("Regret over 2 of them: geometric mean", done.stdout)
        self.assertIn("Warm over 2 of them: geometric mean", done.stdout)
        self.assertEqual([row[0] for row in table_rows(done.stdout)], [EASY, HARD])

    def test_regret_resumes(self):
        self.regret("--problem", EASY)
        before = json.loads((self.folder / "r.json").read_text())["matrices"]
        done = self.regret("--problem", "elliptic3d-7:n=6", "--problem", EASY)
        after = json.loads((self.folder / "r.json").read_text())["matrices"]
        self.assertEqual(after[0], before[0])
        self.assertEqual([row[0] for row in table_rows(done.stdout)], ["elliptic3d-7:n=6", EASY])
        self.assertIn("other options", self.regret("--problem", EASY, "--rtol", "1e-6", status=1).stderr)

    def test_regret_where_nothing_solves(self):
        singular = self.folder / "singular.mtx"
        singular.write_text(matrix_market([(1, 1, 1.0), (1, 2, 1.0), (2, 1, 2.0), (2, 2, 2.0),
                                           (3, 1, 1.0)], 3))  # x + y = 1 and 2 x + 2 y = 1
        done = self.regret("--problem", singular)
        self.assertIn("Of 1 matrices, 0 are solved by some forced setting, 0 by GMRES(30) + block ILU(0), 0 "
                      "by the tuned", done.stdout)
        self.assertNotIn("geometric mean", done.stdout)

    def test_performance_profile(self):
        times = {"A": {"x": 1.0, "y": 2.0}, "B": {"x": None, "y": 3.0}, "C": {"x": 4.0, "y": 4.0},
                 "nobody's": {"x": None, "y": None}}
        self.assertEqual(performance_profile.shares(times, "x"), [(1.0, 1 / 3), (1.0, 2 / 3)])
        self.assertEqual([share for _, share in performance_profile.shares(times, "y")], [1 / 3, 2 / 3, 1])
        drawn = ElementTree.fromstring(performance_profile.draw(times, ["x", "y"], "A < B"))
        texts = [text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
        self.assertLessEqual({"A < B", "x (67 %)", "y (100 %)"}, set(texts))

    def test_peers_have_25_settings_for_every_kind_of_matrix(self):
        for symmetric, definite in ((True, True), (True, False), (False, False)):
            settings = solve_petsc.grid(symmetric, definite)
            self.assertEqual(len(set(settings.values())), 25)
            self.assertEqual(any(name.startswith("cg") for name in settings), definite)

    @unittest.skipUnless(importlib.util.find_spec("scipy"), "needs scipy")
    def test_peers_get_the_same_system(self):
        options = types.SimpleNamespace(ayatori=os.environ["AYATORI"], rtol=1e-8)
        generated = peers.load(options, self.folder, runs.Problem("easy", EASY))
        file = self.folder / "A.mtx"
        subprocess.run([os.environ["AYATORI"], "generate", EASY, "-o", file], check=True, capture_output=True)
        read = peers.load(options, self.folder, runs.Problem("easy", str(file)))
        self.assertEqual(abs(generated.matrix - read.matrix).max(), 0)
        self.assertFalse(generated.symmetric)
        b = petsc_files.read_vector(self.folder / "b.petsc")
        self.assertEqual(generated.residual(0 * b), 1)
        self.assertEqual(abs(petsc_files.read_matrix(self.folder / "A.petsc") - read.matrix).max(), 0)

    def test_peers_are_judged_by_the_true_residual(self):
        system = peers.System.__new__(peers.System)
        system.rtol = 1e-8
        for residual, solved, wrong in ((1.5e-8, True, False), (1e-7, False, True), (None, False, True),
                                        (float("nan"), False, True)):
            system.residual = lambda _, value=residual: value
            judged = system.judged({"seconds": 1.0, "claims": True}, None)
            self.assertEqual((judged["solved"], judged["wrong"]), (solved, wrong))
            self.assertFalse(system.judged({"seconds": None, "claims": False}, None)["wrong"])

    def test_peers_report(self):
        def result(seconds, solved=True, wrong=False):
            return {"seconds": seconds, "residual": 1e-9 if solved else 1e-3, "solved": solved, "wrong": wrong,
                    "setting": "a setting"}
        entries = [{"problem": name, "ranks": 1, "rows": 9, "nonzeros": 33, "symmetric": True, "grid": {},
                    "solvers": {"ayatori cold": result(ours), "ayatori warm": result(ours / 2), "PETSc default": default,
                                "grid's best": result(4 * ours)}}
                   for name, ours, default in (("A", 1.0, result(2.0)), ("B", 2.0, result(9.0, False, True)))]
        options = types.SimpleNamespace(ranks=[1, 2], threads=1, rtol=1e-8, time_limit=20, rounds=3,
                                        svg=self.folder / "p.svg")
        text = peers.report(options, entries)
        rows = table_rows(text)
        self.assertEqual(rows[0], ["ayatori cold", "2 of 2", "0", "1.00 (2)", "2.00 (2)"])
        self.assertEqual(rows[2], ["PETSc default", "1 of 2", "1", "2.00 (1)", "4.00 (1)"])
        self.assertEqual(rows[3][3], "4.00 (2)")
        self.assertEqual(rows[5][:7], ["B", "9", "33", "2", "1", "**wrong** 1e-03", "8"])
        self.assertIn("2 problems, of which somebody solves 2", text)
        ElementTree.parse(self.folder / "p-1.svg")
        self.assertFalse((self.folder / "p-2.svg").exists())

    def test_simulated_platforms(self):
        for name, nodes in (("fat_tree-100x8", 16), ("torus-100", 100), ("torus-100x8", 16), ("dragonfly-64x8", 8),
                            ("gigabit-8x2", 4), ("altix-32", 32), ("altix-33", 48)):
            with self.subTest(name=name):
                platform = platforms.platform(name)
                xml, hosts = platform.write(self.folder)
                ranges = [cluster.get("radical").split("-") for cluster in ElementTree.parse(xml).iter("cluster")]
                all_hosts = [f"node-{i}" for first, last in ranges for i in range(int(first), int(last) + 1)]
                self.assertEqual(len(all_hosts), nodes)
                self.assertLessEqual(set(hosts.read_text().split()), set(all_hosts))
        self.assertEqual(platform.ranks, 33)
        self.assertEqual(platforms.platform("fat_tree-20x8").hosts,
                         8 * ["node-0"] + 8 * ["node-1"] + 4 * ["node-2"])
        for name in ("ring-8", "torus", "torus-0", "altix-32x2"):
            self.assertRaises(ValueError, platforms.platform, name)

    def test_simulated_halo_judges_the_choice(self):
        def timed(name, seconds, **forecast):
            return {"halo": name, "seconds": seconds, **forecast}
        found = {"choice": "node-aware",
                 "halos": [timed("p2p-irecv-first", 4e-6, model_seconds=5e-6, replay_seconds=7e-6), timed("bcast", 9e-6),
                           timed("node-aware", 5e-6, model_seconds=4.5e-6, replay_seconds=3e-6), timed("rma-put", 2.5e-6)]}
        above_told, above_all = halo.excess(found)
        self.assertAlmostEqual(above_told, 0.25)
        self.assertAlmostEqual(above_all, 1)
        self.assertEqual(halo.cells_of(found, ["p2p-irecv-first", "node-aware"]),
                         ["4 (5, 7)", "5 (4.5, 3)", "2.5 (`rma-put`)", "`node-aware`", "25.0 %", "100.0 %"])
        self.assertEqual(halo.settings_of(0), [])
        self.assertEqual(halo.settings_of(0.5)[0], "--cfg=smpi/os:0:5e-07:0")
        (self.folder / "A.mtx.gz").write_bytes(gzip.compress(b"text"))
        path = halo.unpacked(str(self.folder / "A.mtx.gz"), self.folder)
        self.assertEqual(path.read_bytes(), b"text")
        self.assertEqual(halo.name_of(str(path)), "A")

    def golden(self, platform, rivals, ours):
        for side, value in (("rivals", rivals), ("ours", ours)):
            collectives.write_golden(self.folder / f"{platform}.{side}.json", {"bcast": value})

    def simulated_report(self):
        self.run_script("simulated/collectives.py", "--only", "report", "--golden", self.folder,
                        "--folder", self.folder, "--platforms", "torus-16", "--sizes", "8:4M", "--memory", 0.2,
                        "--markdown", "r.md")
        return (self.folder / "r.md").read_text()

    def test_simulated_collectives_reports(self):
        plan = {"text": "CC of 4, 4"}
        short, long = {**plan, "bytes": 8, "seconds": 4e-6}, {**plan, "bytes": 2097152, "seconds": 9e-4}
        self.golden("torus-16",
                    {"rivals": {"selector ompi": {"8": 3.6e-6, "2097152": 4e-3}, "NTSL": {"8": 9e-6, "2097152": 2e-3},
                                "mpich": {"8": 7e-6, "2097152": "time limit"}}},
                    {"schedules": {}, "sizes": {"8": {"seconds": 4e-6, "plan": short},
                                                "2097152": {"seconds": 1e-3, "plan": long}}})
        report = self.simulated_report()
        rows = table_rows(report)
        both = ["1.34 (0.90-2.00)", "1", "1.90 (0.90-4.00)", "-", "-", "-"]  # sqrt(0.9 * 2), sqrt(0.9 * 4)
        self.assertEqual(rows[:3], [["torus-16", "bcast", "2", *both], ["all", "bcast", "2", *both],
                                    ["all", "all", "2", *both]])
        self.assertEqual(rows[3][:4], ["torus-16", "bcast from 1 MiB", "1", "2.00 (2.00-2.00)"])
        self.assertIn("Losses, 1 of 2 points below 0.95:", report)
        loss = ["8", "CC of 4, 4", "4.00", "1.00", "3.60", "selector ompi", "3", "0.90", "0.90", *3 * ["failed"]]
        self.assertEqual(rows[5:7], [["torus-16", "bcast", *loss], loss])
        self.assertEqual(rows[7][:7], ["2097152", "CC of 4, 4", "1000.00", "0.90", "2000.00", "NTSL", "2"])
        self.assertIn("3 rivals. Without a figure:\n\n- mpich (time limit: 1 of 2 sizes)\n", report)
        self.assertNotIn("want of memory", report)  # 4 * 16 * 2 MiB = 128 MiB

    def test_simulated_collectives_sizes(self):
        self.assertEqual(collectives.sizes_of("8:1K"), [8, 64, 512])
        self.assertEqual(collectives.sizes_of("8,4K,1M"), [8, 4096, 1048576])
        self.assertEqual(collectives.sizes_of("16"), [16])

    def test_simulated_collectives_extend_a_profile(self):
        def profile(*groups):
            levels = [{"name": "a level", "group_of_rank": list(group), "curves": []} for group in groups]
            return {"source": "measured", "ranks": 8, "node_of_rank": [0, 0, 1, 1, 2, 2, 3, 3], "levels": levels}
        found = collectives.extended(profile([0, 0, 1, 1, 2, 2, 3, 3], [0, 0, 0, 0, 0, 0, 1, 1], 8 * [0]), 13)
        nodes = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6]
        self.assertEqual([found["ranks"], found["node_of_rank"]], [13, nodes])
        self.assertEqual([level["group_of_rank"] for level in found["levels"]],
                         [nodes, [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 2], 13 * [0]])
        self.assertEqual([level["groups"] for level in found["levels"]], [7, 3, 1])
        with self.assertRaises(runs.Rejected):
            collectives.extended(profile([0, 1, 0, 1, 0, 1, 0, 1], 8 * [0]), 16)

    def test_simulated_collectives_time_rivals(self):
        run = []
        def bench(schedules, side, settings):
            run.append(settings)
            return [{"mpi_seconds": {"median": 1.23456}}]
        simulator = types.SimpleNamespace(bench=bench, platform=types.SimpleNamespace(ranks=128))
        self.assertEqual(collectives.time_rival(simulator, "bcast", "NTSL", 512, {"8": "deadlock"}), 1.235)
        self.assertEqual(collectives.time_rival(simulator, "bcast", "selector ompi", 8, {}), 1.235)
        self.assertEqual(run, [["--cfg=smpi/coll-selector:mpich", "--cfg=smpi/bcast:NTSL"],
                               ["--cfg=smpi/coll-selector:ompi"]])
        # Longer messages than those that took too long are not simulated, shorter ones are.
        known = {"512": "time limit"}
        self.assertEqual(collectives.time_rival(simulator, "bcast", "NTSL", 4096, known), "time limit")
        self.assertEqual(collectives.time_rival(simulator, "bcast", "NTSL", 8, known), 1.235)
        self.assertEqual(len(run), 3)

    def test_simulated_collectives_time_finalists(self):
        timings = [{"finalist": 1, "schedule_seconds": {"median": 2.0}},
                   {"finalist": 0, "schedule_seconds": {"median": 3.00004}}]
        simulator = types.SimpleNamespace(bench=lambda schedules, side, settings: timings)
        finalists = [{"plan": {}, "seconds": 1.23456, "replayed_seconds": 2.5}, {"seconds": 2, "replayed_seconds": 3}]
        schedules = {"best": [{"bytes": 8, "seconds": 1.23456, "finalists": finalists}]}
        entry = collectives.time_ours(simulator, schedules)
        self.assertEqual(entry, {"seconds": 3.0, "plan": {"bytes": 8, "seconds": 1.235}, "finalists": [
            {"simulated": 3.0, "seconds": 1.235, "replayed_seconds": 2.5},
            {"simulated": 2.0, "seconds": 2, "replayed_seconds": 3}]})
        timings.pop(0)
        self.assertEqual(collectives.time_ours(simulator, schedules),
                         {"seconds": 3.0, "plan": {"bytes": 8, "seconds": 1.235}})

    def test_simulated_collectives_judge_the_model(self):
        finalists = [{"simulated": simulated, "seconds": model, "replayed_seconds": replay} for simulated, model, replay
                     in ((2.0, 1.0, 2.2), (1.0, 2.0, 1.1), (3.0, 3.0, 3.3), (4.0, 4.0, 4.4))]
        plan = {"bytes": 8, "seconds": 1.0, "text": "ring"}
        self.golden("torus-16", {"rivals": {"NTSL": {"8": 1.0}}},
                    {"schedules": {},
                     "sizes": {"8": {"seconds": 2.0, "finalists": finalists, "plan": plan}}})
        model, replay = [row for row in table_rows(self.simulated_report()) if row[2] in ("model", "replay")]
        self.assertEqual(model, ["torus-16", "bcast", "model", "4", "0.80", "25.0 %", "100.0 %", "100.0 %"])
        self.assertEqual(replay, ["torus-16", "bcast", "replay", "4", "1.00", "10.0 %", "0.0 %", "0.0 %"])
        self.assertEqual(collectives.ranks_of([3.0, 1.0, 3.0]), [2.5, 1, 2.5])
        self.assertIsNone(collectives.spearman([1.0, 1.0], [1.0, 2.0]))


if __name__ == "__main__":
    unittest.main()
