"""A solve goes on from where it was when it was killed, on any number of ranks."""

import json
import os
import random
import signal
import struct
import time
import unittest
import unittest.mock

import harness
from harness import RANKS, CommandTest, check_schema, matrix_market
from interruption import processes_named_ayatori

# The whole inverse would come at once with a better preconditioner: some hundreds of iterations.
SLOW = ("poisson2d-5:n=150", "--method", "cg", "--preconditioner", "none", "--rtol", "1e-10", "--kernel", "csr", "--rhs",
        "random:1")


def note_of(path):
    """What a checkpoint says of itself."""
    content = path.read_bytes()
    length = struct.unpack_from("<q", content, 8)[0]
    return json.loads(content[40:40 + length])


class Checkpoint(CommandTest):
    def checkpoint(self, *arguments, iterations=20):
        self.solve(*arguments, "--checkpoint", "c", "--every", 0, "--max-iterations", iterations, status=1)
        return note_of(self.folder / "c")

    def test_goes_on_with_x_and_arm_on_other_ranks(self):
        arguments = ("convection3d:n=8,peclet=10", "--rhs", "random:4", "--exclude", "block-ilu0")
        numerics = ("--method", "gmres", "--preconditioner", "jacobi", "--restart", 100, "--orthogonalization", "mgs",
                    "--partition", "graph")
        note = self.checkpoint(*arguments, *numerics, iterations=12)
        self.assertLess(note["relative_residual"], 1)  # the cycle of 100 vectors is not at its end
        for ranks in (RANKS, 1 if RANKS > 1 else 2):
            with unittest.mock.patch.object(harness, "RANKS", ranks):
                result, done = self.solve(*arguments, "--resume", "c")
            check_schema(result)
            self.assertTrue(result["converged"])
            self.assertEqual(result["ranks"], ranks)
            self.assertEqual(result["resumed"], {"file": "c", "iterations": note["iterations"], "seconds": note["seconds"],
                                                 "relative_residual": note["relative_residual"]})
            first = result["trials"][0]
            self.assertEqual((first["choice"]["method"], first["choice"]["preconditioner"]), ("gmres", "jacobi"))
            self.assertEqual(first["choice"]["orthogonalization"], "mgs")
            self.assertEqual(first["why"], "it was at work when c was written")
            self.assertIn(f"{note['iterations']} iterations", done.stderr)

    def test_missing_at_the_first_time(self):
        for before in (None, 0):
            result, _ = self.solve("poisson2d-5:n=12", "--checkpoint", "c", "--every", 0, "--resume", "c")
            check_schema(result)
            self.assertEqual(result["resumed"] and result["resumed"]["iterations"] > 0, None if before is None else True)
            self.assertEqual(result["checkpoint"]["file"], "c")
            self.assertIsNone(result["checkpoint"]["failure"])
            self.assertGreaterEqual(result["checkpoint"]["written"], 1)
        self.assert_no_leftovers("c", "result.json")

    def test_foreign_and_damaged(self):
        self.write("A.mtx", matrix_market([(1, 1, 1.0), (2, 2, 3.0)], 2))
        self.write("B.mtx", matrix_market([(1, 1, 1.0), (2, 2, 4.0)], 2))
        self.write("C.mtx", matrix_market([(1, 1, 1.0), (2, 2, 3.0), (3, 3, 1.0)], 3))
        self.solve("A.mtx", "--checkpoint", "c")
        good = (self.folder / "c").read_bytes()
        self.write("cut", good[:-1])
        self.write("flipped", good[:-3] + bytes([good[-3] ^ 1]) + good[-2:])
        self.write("empty", "")
        cases = ((["B.mtx", "--resume", "c"], "another matrix"), (["C.mtx", "--resume", "c"], "3 rows"),
                 (["A.mtx", "--resume", "c", "--rhs", "random:1"], "another right-hand side"),
                 (["A.mtx", "--resume", "cut"], "damaged"), (["A.mtx", "--resume", "flipped"], "damaged"),
                 (["A.mtx", "--resume", "empty"], "not a checkpoint"), (["A.mtx", "--resume", "A.mtx"], "not a checkpoint"),
                 (["A.mtx", "--resume", "none"], "none"), (["A.mtx", "--resume", "none", "--checkpoint", "c"], "none"),
                 (["A.mtx", "--every", "3"], "--checkpoint"), (["A.mtx", "--checkpoint", "A.mtx"], "input"),
                 (["A.mtx", "--checkpoint", "c", "--output", "c"], "c"), (["A.mtx", "--checkpoint", "c", "--every", "nan"], "nan"))
        for arguments, word in cases if RANKS in (1, 3) else cases[:4]:
            with self.subTest(arguments):
                done = self.run_ayatori("solve", *arguments)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(word, done.stderr)
                self.assertEqual(done.stderr.count("ayatori: "), 1, done.stderr)
        self.assertEqual((self.folder / "c").read_bytes(), good)

    def test_killed_at_random_moments(self):
        seed = random.randrange(2**32)
        moments = random.Random(seed)
        reached = iterations = 0
        for attempt in range(2):
            process = self.start("solve", *SLOW, "--checkpoint", "c", "--every", "0.02", "--resume", "c", "-q")
            deadline = time.monotonic() + 60
            while not processes_named_ayatori(process.pid) and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            while not (self.folder / "c").exists() and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            time.sleep(moments.uniform(0, 0.3))
            for pid in [*processes_named_ayatori(process.pid), process.pid] if process.poll() is None else []:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            process.communicate(timeout=60)
            note = note_of(self.folder / "c")
            with self.subTest(attempt=attempt, seed=seed):
                self.assertGreaterEqual(note["iterations"], iterations)
                self.assertLessEqual(note["relative_residual"], reached or 1)
            reached, iterations = note["relative_residual"], note["iterations"]
        result, _ = self.solve(*SLOW, "--resume", "c")
        self.assertTrue(result["converged"], seed)
        self.assertEqual(result["resumed"]["iterations"], iterations)
        self.assertEqual(result["resumed"]["relative_residual"], reached)


if __name__ == "__main__":
    unittest.main()
