"""A disk that is full when results are to be written, after the work: they go to a second place, which is named."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from harness import RANKS, CommandTest, command, read_vector

FILL = "head -c 1000000 /dev/zero >full/filler 2>/dev/null; "


def in_small_disk(*words, prepare="", folder="."):
    """A command that runs where `full` is a disk of 64 KiB, in `folder`, and shows what is left on it."""
    script = ("mount -t tmpfs -o size=64k none full || exit 77; " + prepare + f'cd {folder}; "$@"; status=$?; '
              f'cd "{{here}}"; echo "left: $(ls full | tr "\\n" " ")"; exit $status')
    return ["unshare", "-m", "sh", "-c", script, "sh", *words]


class FullDisk(CommandTest):
    def setUp(self):
        super().setUp()
        temporary = tempfile.TemporaryDirectory(prefix="ayatori-test-")
        self.addCleanup(temporary.cleanup)
        self.temporary = pathlib.Path(temporary.name)
        (self.folder / "full").mkdir()

    def environment(self):
        return super().environment() | {"TMPDIR": str(self.temporary)}

    def run_in_small_disk(self, *arguments, temporary=None, **keywords):
        words = [part.replace("{here}", str(self.folder)) for part in in_small_disk(*command(*arguments), **keywords)]
        environment = self.environment() | {"TMPDIR": str(temporary or self.temporary)}
        done = subprocess.run(words, cwd=self.folder, env=environment, text=True, capture_output=True, timeout=120)
        if done.returncode == 77 or "unshare" in done.stderr:
            print("skipped: this user may mount no disk:", done.stderr.strip(), file=sys.stderr)
            self.skipTest("this user may mount no disk")
        return done

    def second_place(self, done, path, what):
        """The file that the one line names, beside the one that could not be written."""
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(done.stderr.count("ayatori: "), 1, done.stderr)
        found = re.search(rf"{re.escape(path)}: cannot be written: No space left on device: {what} is in (\S+?)(;|\n)", done.stderr)
        self.assertTrue(found, done.stderr)
        return self.folder / found[1]

    def check_x(self, path, rows):
        x = read_vector(path)
        self.assertEqual(len(x), rows)
        return x

    def test_x_goes_to_the_current_directory(self):
        done = self.run_in_small_disk("solve", "poisson2d-5:n=100", "-o", "full/x.mtx", "--json", "full/r.json")
        x = self.check_x(self.second_place(done, "full/x.mtx", "x"), 10000)
        self.assertLess(done.stderr.index("result     converged"), done.stderr.index("cannot be written"))
        self.assertRegex(done.stderr, r"written    \S+/ayatori-\w+/x.mtx \(the solution\)")
        self.assertIn("left: r.json", done.stdout)  # which is small, and no part of x
        again = self.run_ayatori("solve", "poisson2d-5:n=100", "-o", "x.mtx", "-q")
        self.assertEqual(again.returncode, 0, again.stderr)
        for a, b in zip(x, read_vector(self.folder / "x.mtx"), strict=True):
            self.assertAlmostEqual(a, b, delta=1e-4)

    def test_x_goes_to_the_temporary_directory(self):
        done = self.run_in_small_disk("solve", "poisson2d-5:n=100", "-o", "x.mtx.gz", "--json", self.folder / "r.json", folder="full",
                                      prepare="head -c 40000 /dev/zero >full/filler; ")
        place = self.second_place(done, "x.mtx.gz", "x")
        self.assertEqual(place.parent.parent, self.temporary)
        self.assertEqual(json.loads((self.folder / "r.json").read_text())["output"], str(place))
        self.assertTrue(place.read_bytes().startswith(b"\x1f\x8b"))

    @unittest.skipIf(RANKS > 1, "mpirun needs a folder of its own")
    def test_no_place_at_all(self):
        done = self.run_in_small_disk("solve", "poisson2d-5:n=100", "-o", "x.mtx", "--json", self.folder / "r.json", folder="full",
                                      temporary=self.folder / "full")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("result     converged", done.stderr)
        self.assertIn("x.mtx: cannot be written: No space left on device, nor could x be written elsewhere", done.stderr)
        self.assertIsNone(json.loads((self.folder / "r.json").read_text())["output"])
        self.assertIn("left: \n", done.stdout)

    def test_several_right_hand_sides(self):
        done = self.run_in_small_disk("solve", "poisson2d-5:n=60", "--rhs", "ones", "--rhs", "random:1", "--rhs", "random:2",
                                      "-o", "full/x.mtx", "--json", "r.json")
        self.assertEqual(done.returncode, 3, done.stderr)
        result = json.loads((self.folder / "r.json").read_text())
        outputs = [solve["output"] for solve in result["sequence"]["earlier"]] + [result["output"]]
        elsewhere = [path for path in outputs if not path.startswith("full/")]
        self.assertGreaterEqual(len(elsewhere), 2, outputs)  # one of them fits at most
        for path in elsewhere:
            self.assertIn(path, done.stderr)
            self.check_x(self.folder / path, 3600)

    def test_full_before_the_work(self):
        for arguments in (["solve", "poisson2d-5:n=100", "-o", "full/x.mtx"], ["solve", "poisson2d-5:n=100", "--json", "full/r.json"],
                          ["eigen", "poisson2d-5:n=5", "-o", "full/x"], ["eigen", "poisson2d-5:n=5", "--json", "full/r.json"]):
            with self.subTest(arguments=arguments):
                done = self.run_in_small_disk(*arguments, prepare=FILL)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertRegex(done.stderr, r"^ayatori: full/\S+: cannot be written: No space left on device\n")
                self.assertIn("left: filler", done.stdout)
                self.assertEqual(list(self.folder.glob("ayatori-*")), [])

    def test_eigenpairs(self):
        done = self.run_in_small_disk("eigen", "poisson2d-5:n=12", "-o", "full/low", "--json", "r.json")
        place = self.second_place(done, "full/low.vectors.mtx", "the vectors")
        self.assertEqual(place.read_text().splitlines()[1], "144 144")
        self.assertEqual(len(place.read_text().splitlines()), 2 + 144 * 144)
        self.assertLess(done.stderr.index("verified   good"), done.stderr.index("cannot be written"))
        self.assertIn("left: low.values.mtx", done.stdout)
        self.assertEqual(json.loads((self.folder / "r.json").read_text())["pairs"], 144)

    @unittest.skipUnless(os.path.exists("/dev/full"), "no /dev/full")
    def test_devices(self):
        """Which need no rights: names that lead to a device whose writes fail."""
        for name in ("x.mtx", "r.json", "e.values.mtx"):
            (self.folder / name).symlink_to("/dev/full")
        done = self.run_ayatori("solve", "poisson2d-5:n=20", "-o", "x.mtx")
        self.check_x(self.second_place(done, "x.mtx", "x"), 400)
        done = self.run_ayatori("solve", "poisson2d-5:n=20", "--json", "r.json")
        report = self.second_place(done, "r.json", "the report")
        self.assertTrue(json.loads(report.read_text())["converged"])
        done = self.run_ayatori("eigen", "poisson2d-5:n=20", "--smallest", 2, "-o", "e", "--json", "r.json")
        self.assertEqual(len(self.check_x(self.second_place(done, "e.values.mtx", "the values"), 2)), 2)
        report = self.second_place(done, "r.json", "the report")
        self.assertTrue(json.loads(report.read_text())["verified"])
        (self.folder / "p.json").symlink_to("/dev/full")
        done = self.run_ayatori("probe", "--seconds", 0.3, "-o", "p.json")
        profile = self.second_place(done, "p.json", "the profile")
        self.assertIn("schema", json.loads(profile.read_text()))
        (self.folder / "r.html").symlink_to("/dev/full")
        done = self.run_ayatori("report", profile, "-o", "r.html")
        self.assertIn("</html>", self.second_place(done, "r.html", "the page").read_text())
        done = self.run_ayatori("generate", "poisson2d-5:n=20", "-o", "x.mtx")
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"^ayatori: x.mtx: cannot be written: No space left on device\n")
        self.assertTrue(all((self.folder / name).is_symlink() for name in ("x.mtx", "r.json", "p.json", "r.html")))

    @unittest.skipIf(RANKS > 1, "rank 0 writes")
    def test_open_files(self):
        """What a shell has opened is written to where it stands."""
        for output in ("-", "/dev/stdout"):
            for words in (["solve", "poisson2d-5:n=4", "-q", "--json", output], ["solve", "poisson2d-5:n=4", "-q", "-o", output],
                          ["generate", "poisson2d-5:n=4", "-o", output], ["predict", "poisson2d-5:n=4", "--nodes", "1..2", "--profile",
                           "altix3700bx2", "--memory-bandwidth", "5", "--json", output], ["report", "r.json", "-o", output]):
                with self.subTest(words=words):
                    path = self.write("all.txt", "before\n")
                    self.write("r.json", '{"schema": "ayatori.solve/1"}')
                    with path.open("a") as file:
                        done = subprocess.run(command(*words), cwd=self.folder, env=self.environment(), stdout=file, stderr=subprocess.PIPE,
                                              text=True, timeout=60)
                        self.assertEqual(done.returncode, 0, done.stderr)
                        file.write("after\n")
                    text = path.read_text()
                    self.assertTrue(text.startswith("before\n") and text.endswith("after\n") and len(text) > 20, text)
                    self.assert_no_leftovers("all.txt", "full", "r.json")


if __name__ == "__main__":
    unittest.main()
