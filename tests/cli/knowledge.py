"""What a solve has taught, the next one knows."""

import json
import os
import pathlib
import unittest
import unittest.mock

from harness import RANKS, CommandTest, check_schema

# CG breaks down on it, as it only looks definite; other arms have to be tried.
MATRIX = ("A.mtx", "--max-iterations", 5000)


def looks_definite(n):
    """Blocks (1 3; 3 1), whose eigenvalues are 4 and -2, and weak couplings between them."""
    lines = []
    for i in range(1, n + 1):
        lines.append(f"{i} {i} 1")
        if i % 2 == 0:
            lines.append(f"{i} {i - 1} 3")
        elif i > 1:
            lines.append(f"{i} {i - 1} {0.01 * (i % 7)}")
    return f"%%MatrixMarket matrix coordinate real symmetric\n{n} {n} {len(lines)}\n" + "\n".join(lines) + "\n"


class Knowledge(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("A.mtx", looks_definite(400))

    def known(self, *arguments, **keywords):
        result, done = self.solve(*arguments, "--knowledge", "k", **keywords)
        check_schema(result)
        return result, done

    def test_the_second_solve_begins_with_what_won(self):
        first, _ = self.known(*MATRIX, "--preconditioner", "none", "--exclude", "minres", "--explain")
        self.assertEqual(first["trials"][0]["choice"]["method"], "cg")
        self.assertIsNone(first["knowledge"]["found"])
        second, done = self.known(*MATRIX, "--explain")  # free to choose: nothing is known of what is best
        self.assertEqual(second["knowledge"]["found"], "same matrix")
        failed = [(f["choice"]["method"], f["choice"]["preconditioner"]) for f in second["knowledge"]["experience"]["failed"]]
        self.assertIn(("cg", "none"), failed)
        self.assertIn("Left for last: cg + none", done.stderr)
        third, done = self.known(*MATRIX, "--tuning-share", 0, "--explain")  # nothing else is tried
        self.assertTrue(third["converged"])
        self.assertTrue(third["knowledge"]["experience"]["familiar"])
        begun = third["trials"][0]["choice"]
        self.assertEqual((begun["method"], begun["preconditioner"]),
                         (second["choice"]["method"], second["choice"]["preconditioner"]))
        self.assertEqual(len(third["trials"]), 1)
        self.assertIn("it solved this matrix", third["trials"][0]["why"])
        self.assertIn("The knowledge base knew the same matrix", done.stderr)
        self.assertIn("knowledge  same matrix: began with", done.stderr)

    def test_similar_systems_and_none_at_all(self):
        won = self.known("convection3d:n=6,peclet=20")[0]["choice"]
        similar, _ = self.known("convection3d:n=7,peclet=20")
        self.assertEqual(similar["knowledge"]["found"], "similar matrix")
        self.assertEqual(similar["trials"][0]["choice"]["method"], won["method"])
        self.assertFalse(similar["knowledge"]["experience"]["familiar"])
        self.assertIsNone(self.known("poisson2d-5:n=9")[0]["knowledge"]["found"])
        self.assertIsNone(self.solve("poisson2d-5:n=9", "--knowledge", "none")[0]["knowledge"])
        with unittest.mock.patch.dict(os.environ, {"AYATORI_KNOWLEDGE": "", "XDG_DATA_HOME": str(self.folder / "data")}):
            self.solve("poisson2d-5:n=9")
        self.assertEqual(len(list((self.folder / "data" / "ayatori" / "knowledge").glob("*.json"))), 1)

    def test_what_is_forced_stands_above_what_is_known(self):
        self.known("convection3d:n=6,peclet=20")
        result, _ = self.known("convection3d:n=6,peclet=20", "--method", "gmres", "--restart", 11, "--kernel", "csr")
        self.assertEqual((result["choice"]["method"], result["choice"]["restart"]), ("gmres", 11))
        self.assertEqual(result["choice"]["kernel"], "csr")

    def test_damaged_files_cost_a_line(self):
        self.known("poisson2d-5:n=9")
        (path,) = (self.folder / "k").glob("*.json")
        path.write_text(path.read_text()[:100])
        result, done = self.known("poisson2d-5:n=9")
        self.assertIsNone(result["knowledge"]["found"])
        self.assertEqual(done.stderr.count("ignored: no JSON"), 1)
        self.assertEqual(len(result["knowledge"]["notes"]), 1)
        self.assertEqual(self.known("poisson2d-5:n=9")[0]["knowledge"]["found"], "same matrix")  # written anew
        (self.folder / "k" / "foreign.json").write_text("{")
        self.assertEqual(self.known("poisson2d-5:n=9")[0]["knowledge"]["notes"], [])  # nobody has to read others
        self.assertEqual(len(self.known("poisson2d-5:n=10")[0]["knowledge"]["notes"]), 1)

    def test_special_files_cost_a_line(self):
        self.known("poisson2d-5:n=9")
        os.mkfifo(self.folder / "k" / "a.json")
        os.symlink("/dev/zero", self.folder / "k" / "b.json")
        result, done = self.known("poisson2d-5:n=10", timeout=60)
        self.assertTrue(result["converged"])
        self.assertEqual(done.stderr.count("ignored: is not a regular file"), 2)

    def test_senseless_numbers_are_not_believed(self):
        self.known("poisson2d-5:n=9")
        (path,) = (self.folder / "k").glob("*.json")
        lesson = json.loads(path.read_text())
        path.write_text(json.dumps(lesson | {"seconds": -1}))
        result, done = self.known("poisson2d-5:n=9")
        self.assertEqual(done.stderr.count("ignored: "), 1)
        self.assertIn("seconds", result["knowledge"]["notes"][0])
        self.assertGreater(json.loads(path.read_text())["seconds"], 0)  # the next lesson takes its place

    def test_escape_sequences_are_not_printed(self):
        self.known("poisson2d-5:n=9")
        (path,) = (self.folder / "k").glob("*.json")
        lesson = json.loads(path.read_text())
        lesson["matrix"]["source"] = "\x1b[2J\x9b31m"
        path.write_text(json.dumps(lesson))
        (self.folder / "k" / "\x1b[31m.json").write_text("{}")
        _, done = self.known("poisson2d-5:n=10", "--explain")
        listed = self.command("list", "--knowledge", "k")
        for text in (done.stderr, done.stdout, listed.stdout, listed.stderr):
            self.assertNotIn("\x1b", text)
            self.assertNotIn("\x9b", text)
        self.assertIn("?[2J?31m", done.stderr)

    def test_a_folder_that_cannot_be_made_costs_a_line(self):
        self.write("file", "")
        result, done = self.solve("poisson2d-5:n=9", "--knowledge", "file/k")
        self.assertTrue(result["converged"])
        self.assertIsNone(result["knowledge"]["written"])
        self.assertEqual(done.stderr.count("file/k: cannot be made"), 1)

    def command(self, *arguments, status=0):
        done = self.run_ayatori("knowledge", *arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        if status:
            self.assertEqual(done.stderr.count("ayatori: "), 1, done.stderr)
        return done

    @unittest.skipIf(RANKS > 2, "rank 0 acts alone")
    def test_list_show_export_import_forget(self):
        k, other = ("--knowledge", "k"), ("--knowledge", "other")
        self.known("poisson2d-5:n=9")
        self.known("poisson2d-5:n=11", "--rtol", "1e-4")
        (line, _) = lines = self.command("list", *k).stdout.splitlines()
        self.assertIn("poisson2d-5:n=", line)
        key = line.split()[0]
        (shown,) = json.loads(self.command("show", key[:20], *k).stdout)
        check_schema(shown)
        self.command("export", "all.json", *k)
        self.assertEqual(len(self.read_result("all.json")), 2)
        self.command("import", "all.json", *other)
        self.assertEqual(self.command("list", *other).stdout.splitlines(), lines)
        self.command("forget", key, *k)
        self.assertEqual(self.command("list", *k).stdout.splitlines(), [l for l in lines if l != line])
        self.command("forget", "--all", *k)
        self.assertEqual(self.command("list", *k).stdout, "")
        self.command("forget", "--all", *k)

    @unittest.skipIf(RANKS > 2, "rank 0 acts alone")
    def test_bad_requests(self):
        self.write("bad.json", "[{}]")
        self.write("text.json", "hello")
        k = ("--knowledge", "k")
        for arguments in (["show", "0123", *k], ["forget", *k], ["forget", "01", *k], ["forget", "01", "--all", *k],
                          ["import", "none.json", *k], ["import", "bad.json", *k], ["import", "text.json", *k],
                          ["list", "--knowledge", "none"], ["frobnicate"], []):
            with self.subTest(arguments):
                self.command(*arguments, status=2)
        self.assertFalse(pathlib.Path(self.folder / "k").exists())


if __name__ == "__main__":
    unittest.main()
