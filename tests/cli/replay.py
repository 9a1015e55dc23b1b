"""A recorded solve is repeated to the bit."""

import json
import unittest

from harness import RANKS, CommandTest, check_schema

MATRIX = ("anisotropic2d:n=60", "--rhs", "random:3")


class Replay(CommandTest):
    def recorded(self, *arguments):
        result, _ = self.solve(*arguments, "--output", "x.mtx")
        (self.folder / "result.json").rename(self.folder / "recorded.json")
        return result, (self.folder / "x.mtx").read_bytes()

    def test_the_same_bits(self):
        for arguments in ([*MATRIX, "--tuning-share", 1], ["convection3d:n=10,peclet=50", "--method", "gmres", "--rtol", "1e-10"],
                          ["convection3d:n=10", "--preconditioner", "ilut", "--drop", "0.1", "--fill", 1]):
            with self.subTest(arguments):
                result, x = self.recorded(*arguments)
                check_schema(result)
                system = [a for k, a in enumerate(arguments) if k == 0 or "--rhs" in (a, arguments[k - 1])]
                for _ in range(2):
                    again, done = self.solve(*system, "--replay", "recorded.json", "--output", "y.mtx")
                    check_schema(again)
                    self.assertEqual((self.folder / "y.mtx").read_bytes(), x)
                    for part in ("iterations", "choice", "relative_residual", "rtol", "converged"):
                        self.assertEqual(again[part], result[part])
                    self.assertEqual(again["replay"]["decisions"], result["replay"]["decisions"])
                    self.assertEqual(again["replayed"], "recorded.json")
                    self.assertIn("replayed   the decisions of recorded.json", done.stderr)

    def test_what_cannot_be_replayed(self):
        result, _ = self.recorded("poisson2d-5:n=9")
        self.write("text.json", "hello")
        changed = {"ranks.json": {"ranks": RANKS + 1}, "status.json": {"status": "interrupted"}, "nothing.json": {"replay": {}},
                   "magic.json": {"replay": result["replay"] | {"products": [["magic", "allgather"]]}},
                   "coordinates.json": {"replay": result["replay"] | {"coordinates": True}},
                   "torn.json": {"replay": result["replay"] | {"decisions": [["arm", -1, 0, 10**6]]}}}
        for name, change in changed.items():
            self.write(name, json.dumps(result | change))
        cases = [(["--replay", "recorded.json", "--rhs", "random:1"], "another right-hand side"),
                 (["--replay", "recorded.json", "--method", "cg"], "--replay"), (["--replay", "none.json"], "--replay none.json: no such file"),
                 *((["--replay", name], name) for name in ("text.json", *changed))]
        for arguments, word in cases if RANKS in (1, 3) else cases[:2]:
            with self.subTest(arguments):
                done = self.run_ayatori("solve", "poisson2d-5:n=9", *arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(word, done.stderr)
                self.assertEqual(done.stderr.count("ayatori: "), 1, done.stderr)
        self.assertEqual(self.run_ayatori("solve", "poisson2d-5:n=10", "--replay", "recorded.json").returncode, 2)


if __name__ == "__main__":
    unittest.main()
