"""What is said to people makes sense: no infinite numbers, no shares above the whole, no contradictions."""

import json
import re
import unittest

from harness import RANKS, CommandTest, matrix_market, tridiagonal

MATRICES = ("tiny.mtx", "diagonal.mtx", "poisson2d-5:n=12", "poisson2d-5:n=70", "elliptic2d-5:n=40", "convection3d:n=10,peclet=50",
            "anisotropic2d:n=40", "jump2d:n=40,ratio=1e6", "neumann2d:n=20")
OPTIONS = ([], ["--rtol", "1e-16"], ["--rtol", "1e-14", "--profile", "altix3700bx2"], ["--method", "cg", "--preconditioner", "none"],
           ["--max-iterations", "3"], ["--time-limit", "0.01"], ["--profile", "altix3700bx2", "--tuning-share", "0.5"],
           ["--rhs", "random:1", "--rhs", "ones", "--profile", "altix3700bx2"])


class Sentences(CommandTest):
    def check_text(self, text):
        self.assertNotRegex(text, r"(?i)(?<![\w/.])[-+]?(inf|nan|infinity)(?![\w/])", text)
        shares = re.sub(r"left [\d.]+ % of the residual", "", text)  # which may grow
        for share in re.findall(r"([-+.\de]+) %", shares):
            self.assertLessEqual(0, float(share), text)
            self.assertLessEqual(float(share), 100, text)
        self.assertNotRegex(text, r"0\.000 s, [\d.]+ % of", text)
        self.assertNotRegex(text, r"% of 0\.0+ s", text)
        self.assertNotRegex(text, r"\(0\.[0-8]\d* times the limit\)", text)  # what is faster than a limit is not limited by it
        self.assertNotRegex(text, r"\b0\.[0-8]\d* times (above )?the limit", text)
        self.assertFalse(re.search(r"from caches|fits into the caches", text) and re.search(r"% of what the memory allows", text), text)
        self.assertNotRegex(text, r"\{\}|\{:", text)  # formats that were not filled

    def check_claims(self, text, result):
        """The words of the summary beside the figures of the report."""
        best = re.search(r"^result +(.*)$", text, re.M)[1]
        self.assertEqual(best.startswith("converged"), result["converged"], text)
        if "ill-conditioned" in best:
            self.assertGreater(result["rtol"], 10 * 2.0**-52, text)
        chosen = re.search(r"^choice +([\w-]+)(?:\(\d+\))? \+ ([\w-]+)", text, re.M)
        self.assertEqual(chosen.groups(), (result["choice"]["method"], result["choice"]["preconditioner"]), text)
        began = re.search(r"began with ([\w-]+)(?:\(\d+\))? \+ ([\w-]+)", text)
        if began:
            first = result["trials"][0]["choice"]
            self.assertEqual(began.groups(), (first["method"], first["preconditioner"]), text)
        self.assertNotIn("begins with", text)

    def run_solve(self, *arguments):
        done = self.run_ayatori("solve", *arguments, "--explain", "--json", "r.json")
        self.assertIn(done.returncode, (0, 1), done.stderr)
        result = json.loads((self.folder / "r.json").read_text())
        self.check_text(done.stderr)
        self.check_claims(done.stderr, result)
        return done.stderr, result

    def test_solves_of_all_kinds(self):
        self.write("tiny.mtx", tridiagonal(2))
        self.write("diagonal.mtx", matrix_market([(i, i, 10.0**i) for i in range(1, 9)], 8))
        for number, matrix in enumerate(MATRICES):
            for options in OPTIONS[number % 2::2] if RANKS == 1 else OPTIONS[number % 4::4]:
                with self.subTest(matrix=matrix, options=options):
                    self.run_solve(matrix, *options)
                    page = self.run_ayatori("report", "r.json", "-o", "page.html")
                    self.assertEqual(page.returncode, 0, page.stderr)
                    self.assertNotRegex((self.folder / "page.html").read_text(), r"[:,\[] ?-?(NaN|Infinity|inf|nan)\b[,\]}]")

    def test_what_comes_from_caches_is_no_share_of_memory(self):
        probed = self.run_ayatori("probe", "--quick", "-o", "p.json")
        self.assertEqual(probed.returncode, 0, probed.stderr)
        profile = json.loads((self.folder / "p.json").read_text())
        slow = json.loads(json.dumps(profile))
        for figure in slow["memory"]:  # a memory that every product outruns
            for key, value in figure["bytes_per_second"].items():
                figure["bytes_per_second"][key] = value if key == "samples" else value / 1e6
        slow["node"]["caches"] = []
        profile["node"]["caches"] = [{"level": 3, "bytes": 2**30, "sharers": 1}]
        self.write("p.json", json.dumps(profile))
        self.write("slow.json", json.dumps(slow))
        for name, words in (("p.json", "fits into the caches|from caches"), ("slow.json", "from caches")):
            text, result = self.run_solve("poisson2d-5:n=30", "--method", "cg", "--preconditioner", "jacobi", "--kernel", "csr",
                                          "--profile", name, "--use-ranks", "all")
            if not result["product"]["memory_seconds"] or "A product moves" not in text:
                continue  # of another number of threads than was measured, or too few products to time
            self.assertRegex(text, words)
            self.assertNotIn("% of what the memory allows", text)

    def test_what_is_known_contradicts_no_choice(self):
        for rest in ([], [], ["--method", "gmres", "--preconditioner", "jacobi"], ["--exclude", "amg", "ic"], []):
            with self.subTest(rest=rest):
                text, _ = self.run_solve("poisson2d-5:n=60", "--knowledge", "known", *rest)
        self.assertIn("knowledge  same matrix", text)

    def test_eigenvalues(self):
        for arguments in (["random:n=20"], ["random:n=1"], ["random:n=20,spectrum=zero"], ["poisson2d-5:n=9"],
                          ["poisson2d-5:n=30", "--smallest", "2"], ["random:n=30", "--range", "5", "6"]):
            with self.subTest(arguments=arguments):
                done = self.run_ayatori("eigen", *arguments)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.check_text(done.stderr)


if __name__ == "__main__":
    unittest.main()
