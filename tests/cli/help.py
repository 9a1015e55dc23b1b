"""What --help says: its examples run, and what is nearly right gets an answer that helps."""

import os
import pathlib
import re
import subprocess
import unittest

from harness import AYATORI, MPIRUN, CommandTest, tridiagonal


class Help(CommandTest):
    def help_of(self, *path):
        done = self.run_ayatori(*path, "--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def commands(self, *path):
        """All below, each before those below it."""
        below = re.search(r"\nSubcommands:\n(.*?)\n\n", self.help_of(*path), re.DOTALL)
        for name in re.findall(r"^  ([a-z-]+)", below[1] if below else "", re.MULTILINE):
            yield (*path, name)
            yield from self.commands(*path, name)

    def environment(self):
        path = f"{pathlib.Path(AYATORI).parent}:{os.environ['PATH']}"
        return super().environment() | {"PATH": path, "AYATORI_KNOWLEDGE": "lessons", "OMP_NUM_THREADS": "1"}

    def run_line(self, line):
        """As a user types it."""
        line = re.sub(r"^mpirun\b", MPIRUN, line)
        done = subprocess.run(["bash", "-o", "pipefail", "-c", line], cwd=self.folder, env=self.environment(), text=True,
                              capture_output=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stderr)

    def prepare(self):
        """The files that the examples name."""
        for name in ("A.mtx", "K.mtx", "M.mtx"):
            self.write(name, tridiagonal(60))
        for line in ("gzip -k A.mtx", "cp A.mtx saved.mtx", "ayatori generate poisson2d-5:n=8 -o A.npz", "ayatori solve A.npz -q -o b.npy --json solve.json",
                     "ayatori solve A.mtx -q -o b.mtx --json result.json", "ayatori collectives search bcast --profile altix3700bx2 --ranks 2 --sizes 8:64 --json table.json",
                     "ayatori knowledge export lessons.json"):
            self.run_line(line)

    def test_examples(self):
        self.prepare()
        for path in [(), *self.commands()]:
            if path[:2] == ("bench", "grid") and len(path) > 2:
                continue  # has those of `bench grid`
            text = self.help_of(*path).rstrip().partition("\nExamples:\n")[2]
            lines = re.findall(r"^  (\S.*)\n      \S.*$", text, re.MULTILINE)
            with self.subTest(path):
                self.assertIn(len(lines), (2, 3), text)
            for line in lines:
                with self.subTest(line):
                    self.assertIn(" ".join(["ayatori", *path]), line)
                    self.run_line(line)

    def test_help_is_a_command(self):
        for path in ((), ("solve",), ("collectives", "show")):
            done = self.run_ayatori("help", *path)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, self.help_of(*path), ""))
        done = self.run_ayatori("help", "slove")
        self.assertEqual(done.returncode, 2)
        self.assertIn("ayatori has no command slove: did you mean solve?", done.stderr)

    def test_groups_and_choices(self):
        text = self.help_of("eigen")
        for words in ("Which pairs:", "Forecast:", "auto, one-stage, two-stage", "[double, float, mixed]", "[auto, none, jacobi, "):
            self.assertIn(words, text)

    def test_guesses(self):
        for words, meant in ((["solve", "poisson2d-5:n=4", "--method", "gmers"], "gmres"), (["solve", "poisson2d-5:n=4", "--preconditioner", "jacoby"], "jacobi"),
                             (["solve", "poisson2d-5:n=4", "--kernel", "crs"], "csr"), (["solve", "poisson2d-5:n=4", "--ordering", "rcn"], "rcm"),
                             (["solve", "poisson2d-5:n=4", "--partition", "grahp"], "graph"), (["solve", "poisson2d:n=4"], "poisson2d-5"),
                             (["generate", "poisson3d:n=4", "-o", "A.mtx"], "poisson3d-7"), (["eigen", "poisson2d-5:n=4", "--precision", "dobule"], "double"),
                             (["map", "poisson2d-5:n=4", "--ranks", "2", "--ranks-per-node", "1", "--launcher", "slrum"], "slurm"),
                             (["completion", "bsh"], "bash"), (["collectives", "show", "alreduce"], "allreduce")):
            with self.subTest(words):
                done = self.run_ayatori(*words)
                self.assertEqual(done.returncode, 2)
                self.assertIn(f": did you mean {meant}? There are ", done.stderr)
                self.assertEqual(done.stderr.count("\n"), 1)
        done = self.run_ayatori("solve", "poisson2d-5:n=4", "--exclude", "gmers")
        self.assertIn("'gmers' is excluded, but there is no method, ", done.stderr)
        self.assertIn(" of this name: did you mean gmres?", done.stderr)
        done = self.run_ayatori("solve", "poisson2d-5:n=4", "--method", "something")
        self.assertIn("unknown method 'something': choose one of cg, ", done.stderr)

    def test_a_matrix_is_no_command(self):
        self.write("matrix", tridiagonal(3))
        for word in ("A.mtx", "poisson2d-5:n=4", "matrix"):
            done = self.run_ayatori(word)
            self.assertEqual(done.returncode, 2)
            self.assertIn(f"ayatori: ayatori has no command {word}: say ayatori solve {word} to solve a system of it", done.stderr)


if __name__ == "__main__":
    unittest.main()
