"""Every bad input: one clear line that names what and where, exit status 2, on any number of ranks."""

import gzip
import os
import pathlib
import unittest

from harness import RANKS, CommandTest, matrix_market, tridiagonal

# Open MPI's launcher gives the other ranks a second to end when one has failed, without looking whether they have.
os.environ["OMPI_MCA_odls_base_sigkill_timeout"] = "0"

BANNER = "%%MatrixMarket matrix coordinate real general\n"

# name of the case -> (content of A.mtx, words that the message must hold)
BAD_MATRICES = {
    "empty": ("", ["A.mtx", "empty"]),
    "no banner": ("2 2 1\n1 1 1.0\n", ["A.mtx"]),
    "random bytes": (bytes((i * 7919 + 13) % 256 for i in range(4096)), ["A.mtx"]),
    "no size line": (BANNER + "% only comments\n", ["A.mtx"]),
    "size is a word": (BANNER + "two 2 1\n1 1 1.0\n", ["A.mtx, line 2"]),
    "negative size": (BANNER + "-2 2 1\n1 1 1.0\n", ["A.mtx, line 2"]),
    "counts overflow": (BANNER + "99999999999999999999 2 1\n1 1 1.0\n", ["A.mtx, line 2"]),
    "more promised than a file can hold": (BANNER + "10 10 4000000000000\n1 1 1.0\n", ["A.mtx"]),
    "truncated": (BANNER + "3 3 3\n1 1 1.0\n2 2 1.0\n", ["A.mtx", "3"]),
    "too many": (BANNER + "3 3 1\n1 1 1.0\n2 2 1.0\n", ["A.mtx, line 4"]),
    "index zero": (BANNER + "3 3 2\n1 1 1.0\n0 2 1.0\n", ["A.mtx, line 4"]),
    "negative index": (BANNER + "3 3 2\n1 1 1.0\n2 -2 1.0\n", ["A.mtx, line 4"]),
    "index out of range": (BANNER + "3 3 2\n1 1 1.0\n2 4 1.0\n", ["A.mtx, line 4", "4"]),
    "word for a value": (BANNER + "3 3 2\n1 1 1.0\n2 2 two\n", ["A.mtx, line 4", "two"]),
    "missing value": (BANNER + "3 3 2\n1 1\n2 2 1.0\n", ["A.mtx, line 3"]),
    "extra token": (BANNER + "3 3 2\n1 1 1.0 5\n2 2 1.0\n", ["A.mtx, line 3"]),
    "NaN": (BANNER + "3 3 2\n1 1 1.0\n2 2 nan\n", ["A.mtx, line 4"]),
    "infinity": (BANNER + "3 3 2\n1 1 1.0\n2 2 inf\n", ["A.mtx, line 4"]),
    "overflowing value": (BANNER + "3 3 2\n1 1 1.0\n2 2 1e999\n", ["A.mtx, line 4"]),
    "hermitian": ("%%MatrixMarket matrix coordinate complex hermitian\n1 1 1\n1 1 1.0 0.5\n", ["A.mtx, line 3", "diagonal"]),
    "not square": (matrix_market([(1, 1, 1.0)], 2, 3), ["2 x 3", "square", "a least-squares problem may have any shape (--least-squares"]),
    "broken gzip": (gzip.compress(tridiagonal(2000).encode())[:200], ["A.mtx"]),
    "gzip of nonsense": (gzip.compress(b"nonsense\n" * 100), ["A.mtx"]),
}

BAD_ARGUMENTS = {
    "no subcommand": ([], ["for example: ayatori solve A.mtx"]),
    "unknown subcommand": (["frobnicate"], ["ayatori has no command frobnicate (ayatori --help"]),
    "misspelt subcommand": (["slove", "A.mtx"], ["no command slove: did you mean solve?"]),
    "misspelt subcommand below another": (["collectives", "serch"], ["ayatori collectives has no command serch: did you mean search?"]),
    "misspelt option": (["solve", "poisson2d-5:n=3", "--methd=cg"], ["ayatori solve has no option --methd: did you mean --method?"]),
    "no matrix": (["solve"], ["matrix"]),
    "missing file": (["solve", "missing.mtx"], ["missing.mtx"]),
    "a directory": (["solve", "."], ["."]),
    "unknown generator": (["solve", "poissson:n=3"], ["poissson"]),
    "unknown key": (["solve", "poisson2d-5:m=3"], ["m"]),
    "word for a number": (["solve", "poisson2d-5:n=three"], ["three"]),
    "zero size": (["solve", "poisson2d-5:n=0"], ["n"]),
    "unknown option": (["solve", "poisson2d-5:n=3", "--frobnicate"], ["frobnicate"]),
    "tolerance zero": (["solve", "poisson2d-5:n=3", "--rtol", "0"], ["tolerance"]),
    "tolerance a word": (["solve", "poisson2d-5:n=3", "--rtol", "tiny"], ["rtol"]),
    "negative time": (["solve", "poisson2d-5:n=3", "--time-limit", "-1"], ["time-limit"]),
    "unknown method": (["solve", "poisson2d-5:n=3", "--method", "magic"], ["magic", "gmres"]),
    "no folder of lessons": (["solve", "poisson2d-5:n=3", "--knowledge", ""], ["--knowledge is empty: name a folder"]),
    "overlap of what has none": (["solve", "poisson2d-5:n=3", "--preconditioner", "jacobi", "--overlap", "1"], ["--overlap", "jacobi"]),
    "fill of what is chosen later": (["solve", "poisson2d-5:n=3", "--fill", "1"], ["--fill", "auto"]),
    "degree of what is no polynomial": (["solve", "poisson2d-5:n=3", "--preconditioner", "ilu", "--degree", "5"], ["--degree", "ilu"]),
    "degree too high": (["solve", "poisson2d-5:n=3", "--preconditioner", "chebyshev", "--degree", "101"], ["--degree 101"]),
    "drop of what keeps levels": (["solve", "poisson2d-5:n=3", "--preconditioner", "ilu", "--drop", "0.1"], ["--drop", "ilu"]),
    "overlap out of range": (["solve", "poisson2d-5:n=3", "--preconditioner", "ilu", "--overlap", "99"], ["overlap", "99"]),
    "coordinates of what has none": (["solve", "elasticity3d:n=2", "--preconditioner", "jacobi", "--coordinates", "c.mtx"], ["--coordinates", "jacobi"]),
    "missing coordinates": (["solve", "elasticity3d:n=2", "--coordinates", "c.mtx"], ["c.mtx", "no such file"]),
    "unknown ordering": (["solve", "poisson2d-5:n=3", "--preconditioner", "ic", "--ordering", "random"], ["random", "rcm"]),
    "unknown preconditioner": (["solve", "poisson2d-5:n=3", "--preconditioner", "magic"], ["magic", "jacobi"]),
    "unknown kernel": (["solve", "poisson2d-5:n=3", "--kernel", "magic"], ["magic", "csr"]),
    "unknown exclusion": (["solve", "poisson2d-5:n=3", "--exclude", "cg,magic"], ["magic"]),
    "forced and excluded": (["solve", "poisson2d-5:n=3", "--method", "cg", "--exclude", "cg"], ["cg", "both"]),
    "everything excluded": (["solve", "poisson2d-5:n=3", "--exclude", "cg,minres,gmres,bicgstab,idr"], ["--exclude"]),
    "unknown device": (["solve", "poisson2d-5:n=3", "--device", "nonsense"], ["--device nonsense", "auto, none or cuda"]),
    "device with an arm that has none": (["solve", "poisson2d-5:n=3", "--device", "host", "--least-squares"], ["--device", "--least-squares"]),
    "device of a replay": (["solve", "poisson2d-5:n=3", "--device", "none", "--replay", "r.json"], ["--replay"]),
    "ranks a number": (["solve", "poisson2d-5:n=3", "--use-ranks", "2"], ["--use-ranks 2", "choose one of auto, all"]),
    "impossible share": (["solve", "poisson2d-5:n=3", "--tuning-share", "2"], ["2", "between 0 and 1"]),
    "kernel that does not fit": (["solve", "elliptic2d-5:n=5", "--kernel", "symmetric"], ["symmetric", "choose another"]),
    "unknown halo": (["solve", "poisson2d-5:n=3", "--halo", "magic"], ["magic", "allgather"]),
    "missing table": (["solve", "poisson2d-5:n=3", "--collectives", "t.json"], ["t.json", "cannot be read"]),
    "unknown orthogonalization": (["solve", "poisson2d-5:n=3", "--orthogonalization", "magic"], ["magic", "cgs"]),
    "unknown partition": (["solve", "poisson2d-5:n=3", "--partition", "magic"], ["magic"]),
    "restart of cg": (["solve", "poisson2d-5:n=3", "--method", "cg", "--restart", "5"], ["cg", "restart"]),
    "restart zero": (["solve", "poisson2d-5:n=3", "--restart", "0"], ["restart"]),
    "restart a word": (["solve", "poisson2d-5:n=3", "--restart", "soon"], ["soon"]),
    "rhs without a seed": (["solve", "poisson2d-5:n=3", "--rhs", "random:x"], ["random:x"]),
    "missing rhs": (["solve", "poisson2d-5:n=3", "--rhs", "missing.mtx"], ["missing.mtx"]),
    "more threads than any machine has": (["solve", "poisson2d-5:n=3", "--threads", "1000000"], ["1000000 threads"]),
    "word for a number": (["solve", "poisson2d-5:n=3", "--rtol", "abc"], ["--rtol abc: want a number"]),
    "time not a number": (["solve", "poisson2d-5:n=3", "--time-limit", "nan"], ["time-limit"]),
}

# One case for every place at which an error is found, and every way in which all ranks come to know of it. The others
# differ in what one rank makes of the text alone; tests/io has those of readers on several ranks, without a launcher's
# time for each.
ON_ALL_NUMBERS_OF_RANKS = {
    "empty", "no banner", "truncated", "too many", "word for a value", "not square", "broken gzip",
    "unknown subcommand", "missing file", "unknown generator", "tolerance zero", "unknown method", "everything excluded",
    "kernel that does not fit", "missing rhs", "more threads than any machine has",
    "wrong length", "NaN in the right-hand side",
}


def cases_of(table):
    return {name: case for name, case in table.items() if RANKS == 1 or name in ON_ALL_NUMBERS_OF_RANKS}.items()


class BadInput(CommandTest):
    def expect_rejected(self, arguments, words, status=2):
        done = self.run_ayatori(*arguments)
        self.assertEqual(done.returncode, status, done.stderr)
        ours = [line for line in done.stderr.splitlines() if line.startswith("ayatori:")]
        self.assertEqual(len(ours), 1, done.stderr)  # the launcher may add words of its own
        for word in words:
            self.assertIn(word, ours[0])

    def test_matrices(self):
        for name, (content, words) in cases_of(BAD_MATRICES):
            with self.subTest(name):
                self.write("A.mtx", content)
                self.expect_rejected(["solve", "A.mtx"], words)

    def test_arguments(self):
        for name, (arguments, words) in cases_of(BAD_ARGUMENTS):
            with self.subTest(name):
                self.expect_rejected(arguments, words)

    def test_files_that_are_not_there(self):
        """Said before the matrix is read, which is nothing but rubbish here."""
        self.write("A.mtx", "rubbish")
        for option in ("--rhs", "--fields", "--coordinates", "--replay", "--resume")[:None if RANKS == 1 else 1]:
            with self.subTest(option):
                self.expect_rejected(["solve", "A.mtx", option, "none.mtx"], [f"ayatori: {option} none.mtx: no such file"])
        self.expect_rejected(["eigen", "A.mtx", "--generalized", "none.mtx"], ["ayatori: --generalized none.mtx: no such file"])
        for option in ("--hosts", "--compare"):
            self.expect_rejected(["map", "A.mtx", "--ranks", "2", "--ranks-per-node", "1", option, "none"], ["ayatori: none: cannot be read: No such"])

    def test_threads(self):
        self.write("A.mtx", "rubbish")
        for command in (["solve"], ["solve", "--least-squares"], ["eigen"], ["bench", "spmv"])[:None if RANKS == 1 else 1]:
            with self.subTest(command):
                self.expect_rejected([*command, "A.mtx", "--threads", "-1"], ["--threads", "-1: want 0 or more"])
                self.expect_rejected([*command, "A.mtx", "--threads", "1000000"], ["1000000 threads per rank: this machine takes "])
        self.expect_rejected(["bench", "spmv", "A.mtx", "--threads", "two"], ["(ayatori bench spmv --help lists the options)"])

    def test_right_hand_sides(self):
        self.write("A.mtx", tridiagonal(10))
        head = "%%MatrixMarket matrix array real general\n"
        for name, (content, words) in cases_of({
            "wrong length": (head + "9 1\n" + "1\n" * 9, ["b.mtx", "9", "10"]),
            "wrong length of several columns": (head + "9 2\n" + "1\n" * 18, ["b.mtx", "9", "10"]),
            "NaN in the right-hand side": (head + "10 1\n" + "1\n" * 9 + "nan\n", ["b.mtx, line 12"]),
            "truncated": (head + "10 1\n" + "1\n" * 8, ["b.mtx"]),
        }):
            with self.subTest(name):
                self.write("b.mtx", content)
                self.expect_rejected(["solve", "A.mtx", "--rhs", "b.mtx"], words)

    def test_tables_of_schedules(self):
        search = '{"schema": "ayatori.collective-schedules/1", "operation": "%s", "ranks": 4, "best": [%s]}'
        for name, (content, words) in {
            "torn": (search[:40], ["t.json", "parse error"]),
            "bytes": (bytes(range(200, 256)), ["t.json", "parse error"]),
            "something else": ('{"schema": "ayatori.solve/1"}', ["t.json"]),
            "unknown operation": (search % ("allsend", ""), ["t.json", "allsend"]),
            "a plan that is none": (search % ("bcast", '{"bytes": 8, "plan": {}}'), ["t.json"]),
        }.items():
            with self.subTest(name):
                self.write("t.json", content)
                self.expect_rejected(["solve", "poisson2d-5:n=3", "--collectives", "t.json"], words)

    def test_json_that_is_nested_deeply(self):
        deep = "[" * 300000 + "]" * 300000
        self.write("deep.json", deep)
        self.write("deep_schema.json", '{"schema": ' + deep + "}")
        self.write("result.json", '{"schema": "ayatori.solve/1", "x": ' + deep + "}")
        for arguments in [
            ["solve", "poisson2d-5:n=10", "--collectives", "deep.json"],
            ["solve", "poisson2d-5:n=10", "--profile", "deep_schema.json"],
            ["solve", "poisson2d-5:n=10", "--replay", "result.json"],
            ["collectives", "bench", "--table", "deep.json"],
            ["probe", "--show", "deep_schema.json"],
            ["report", "result.json", "-o", "r.html"],
            ["map", "--trace", "deep.json"],
            ["knowledge", "import", "deep.json", "--knowledge", "k"],
        ][:None if RANKS == 1 else 3]:
            with self.subTest(arguments):
                self.expect_rejected(arguments, [arguments[-3] if "-o" in arguments else "json", "64 levels"])

    def test_files_that_are_no_regular_ones(self):
        os.mkfifo(self.folder / "pipe")
        os.symlink("/dev/zero", self.folder / "endless")
        os.mkdir(self.folder / "directory")
        for name in ("pipe", "endless", "directory")[:3 if RANKS == 1 else 1]:
            for arguments in [
                ["solve", "poisson2d-5:n=10", "--collectives", name],
                ["solve", "poisson2d-5:n=10", "--profile", name],
                ["solve", "poisson2d-5:n=10", "--replay", name],
                ["solve", "poisson2d-5:n=10", "--resume", name],
                ["solve", "poisson2d-5:n=10", "--rhs", name],
                ["solve", "poisson2d-5:n=10", "--coordinates", name],
                ["solve", name],
                ["collectives", "bench", "--table", name],
                ["collectives", "adapt", name, "--ranks", "3", "-o", "o.json"],
                ["probe", "--show", name],
                ["report", name, "-o", "r.html"],
                ["map", "--trace", name],
                ["map", "--graph", name],
                ["map", "poisson2d-5:n=10", "--ranks", "4", "--ranks-per-node", "2", "--network", "measured:" + name],
                ["map", "poisson2d-5:n=10", "--ranks", "4", "--ranks-per-node", "2", "--hosts", name],
                ["map", "poisson2d-5:n=10", "--ranks", "4", "--ranks-per-node", "2", "--compare", name],
                ["predict", "poisson2d-5:n=10", "--nodes", "4", "--profile", name],
                ["knowledge", "import", name, "--knowledge", "k"],
            ][:None if RANKS == 1 else 2]:
                with self.subTest(arguments):
                    self.expect_rejected(arguments, [name])

    def test_results_that_cannot_be_written(self):
        self.expect_rejected(["solve", "poisson2d-5:n=3", "--output", "no/such/folder/x.mtx"], ["no/such/folder/x.mtx"], 3)
        self.expect_rejected(["solve", "poisson2d-5:n=3", "--json", "no/such/folder/r.json"], ["no/such/folder/r.json"], 3)
        self.expect_rejected(["collectives", "tune", "--output", "no/such/folder/t.json"], ["no/such/folder/t.json"], 3)
        self.assert_no_leftovers()

    def test_help_and_version(self):
        for arguments in (["--help"], ["solve", "--help"], ["--version"])[:3 if RANKS == 1 else 1]:
            done = self.run_ayatori(*arguments)
            self.assertEqual(done.returncode, 0)
            self.assertNotEqual(done.stdout, "")
        version = self.run_ayatori("--version").stdout.strip()
        done = self.run_ayatori("--version", "--verbose")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = dict(line.split(maxsplit=1) for line in done.stdout.splitlines())
        self.assertEqual(list(said), ["Ayatori", "commit", "compiler", "flags", "system", "MPI", "BLAS", "libraries"])
        if "openblas" in said["libraries"] and " avx2 " in pathlib.Path("/proc/cpuinfo").read_text():
            self.assertNotIn(said["BLAS"].split()[0], ("Prescott", "Core2", "Nehalem"))
        self.assertEqual(said["Ayatori"], version)
        self.assertRegex(said["compiler"], r"^(GNU|Clang|AppleClang|Intel\w*) \d+\.\d+")
        self.assertRegex(said["libraries"], r"METIS \d+\.\d+\.\d+, ")
        self.expect_rejected(["--verbose", "solve", "poisson2d-5:n=3"], ["--verbose", "--version"])
        done = self.run_ayatori("solve", "--help")
        for words in ("Method (chosen unless told):", "[auto, cg, minres, ", "Examples:", "ayatori solve A.mtx --rhs b.mtx -o x.mtx"):
            self.assertIn(words, done.stdout)
        self.assertIn("Examples:", self.run_ayatori().stdout)


if __name__ == "__main__":
    unittest.main()
