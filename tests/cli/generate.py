"""ayatori generate: the file written is the matrix that the spec means."""

import gzip
import os
import signal
import time
import unittest

from harness import RANKS, CommandTest
from interruption import processes_named_ayatori


class Generate(CommandTest):
    def test_small_matrix_by_hand(self):
        done = self.run_ayatori("generate", "poisson2d-5:n=2", "-o", "A.mtx")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line for line in (self.folder / "A.mtx").read_text().splitlines() if not line.startswith("%")]
        self.assertEqual(lines[0].split(), ["4", "4", "12"])
        entries = {(int(i), int(j)): float(v) for i, j, v in (line.split() for line in lines[1:])}
        expected = {(i, i): 4.0 for i in range(1, 5)}
        for i, j in ((1, 2), (1, 3), (2, 4), (3, 4)):
            expected[i, j] = expected[j, i] = -1.0
        self.assertEqual(entries, expected)
        self.assert_no_leftovers("A.mtx")

    def test_written_matrix_solves_like_the_spec(self):
        for name in ("A.mtx", "A.mtx.gz", "A.petsc"):
            with self.subTest(name):
                done = self.run_ayatori("generate", "convection3d:n=6,peclet=50", "-o", name)
                self.assertEqual(done.returncode, 0, done.stderr)
                by_file, _ = self.solve(name)
                by_spec, _ = self.solve("convection3d:n=6,peclet=50")
                for key in ("rows", "nonzeros", "symmetric", "max_abs", "norm_infinity"):
                    self.assertEqual(by_file["matrix"][key], by_spec["matrix"][key])
                self.assertTrue(by_file["converged"])

    def test_compressed_is_the_same_text(self):
        for name in ("A.mtx", "A.mtx.gz"):
            self.run_ayatori("generate", "poisson3d-7:n=5", "-o", name)
        text = (self.folder / "A.mtx").read_bytes()
        self.assertEqual(gzip.decompress((self.folder / "A.mtx.gz").read_bytes()), text)

    def stop_while_writing(self, name, number):
        """Tells one rank to stop once a file is there; gives whether that came before the end."""
        process = self.start("generate", "poisson3d-7:n=80", "-o", name)
        while not any(self.folder.iterdir()) and process.poll() is None:
            time.sleep(0.001)
        ranks = processes_named_ayatori(process.pid)
        writing = not (self.folder / name).exists() and len(ranks) == RANKS
        if writing:
            os.kill(ranks[-1], number)
        process.communicate(timeout=60)
        return writing and process.returncode != 0

    def test_stopped_while_writing(self):
        """A signal leaves the whole file or none, and no temporary one."""
        self.run_ayatori("generate", "poisson3d-7:n=80", "-o", "A.mtx")
        expected = (self.folder / "A.mtx").read_bytes()
        (self.folder / "A.mtx").unlink()
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                in_time = False
                for _ in range(20):
                    in_time = in_time or self.stop_while_writing("A.mtx", number)
                    for path in self.folder.iterdir():
                        self.assertEqual(path.name, "A.mtx")
                        self.assertTrue(path.read_bytes() == expected)
                        path.unlink()
                self.assertTrue(in_time, "the file was always complete before the signal could be sent")

    def test_list_names_every_generator(self):
        done = self.run_ayatori("generate", "--list")
        self.assertEqual(done.returncode, 0)
        for name in ("poisson2d-5", "poisson3d-7", "poisson3d-27", "neumann2d", "neumann3d", "elliptic2d-5", "elliptic3d-7", "convection2d",
                     "convection3d", "elasticity3d", "tetrahedra3d", "darcy3d", "least-squares", "random"):
            self.assertIn(name, done.stdout)

    def test_bad_arguments(self):
        for arguments in (["generate"], ["generate", "poisson2d-5:n=3"], ["generate", "magic", "-o", "A.mtx"],
                          ["generate", "poisson2d-5:n=3", "-o", "A.unknown"]):
            with self.subTest(arguments):
                self.assertEqual(self.run_ayatori(*arguments).returncode, 2)
        self.assertEqual(self.run_ayatori("generate", "poisson2d-5:n=3", "-o", "no/such/A.mtx").returncode, 3)
        self.assert_no_leftovers()


if __name__ == "__main__":
    unittest.main()
