"""ayatori probe: a profile that can be shown again, compared, and trusted to be whole."""

import json
import os
import signal
import time
import unittest

from harness import RANKS, CommandTest


class Probe(CommandTest):
    def probe(self, *options):
        done = self.run_ayatori("probe", *options, "-o", "profile.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / "profile.json").read_text()), done.stderr

    def test_quick(self):
        profile, said = self.probe("--quick")
        self.assertEqual(profile["schema"], "ayatori.machine-profile/1")
        self.assertEqual(profile["ranks"], RANKS)
        self.assertTrue(profile["complete"])
        self.assertGreater(profile["node"]["cores"], 0)
        triads = [f["bytes_per_second"]["median"] for f in profile["memory"] if f["kernel"] == "triad"]
        self.assertTrue(triads and min(triads) > 0)
        self.assertEqual(bool(profile["levels"]), RANKS > 1)
        for words in ("machine", "memory", "measured"):
            self.assertIn(words, said)
        self.assert_no_leftovers("profile.json")

    def test_show_and_compare(self):
        self.probe("--quick")
        shown = self.run_ayatori("probe", "--show", "profile.json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("triad", shown.stdout)
        both = self.run_ayatori("probe", "--show", "profile.json", "--compare", "profile.json")
        self.assertEqual(both.returncode, 0, both.stderr)
        ratios = {line.split()[-1] for line in both.stdout.splitlines() if line.startswith("triad")}
        self.assertEqual(ratios, {"1.00"})

    def test_is_kept_where_solve_looks_for_it(self):
        os.environ["AYATORI_PROFILE"] = str(self.folder / "a" / "b" / "profile.json")
        self.addCleanup(os.environ.pop, "AYATORI_PROFILE")
        done = self.run_ayatori("probe", "--quick")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(os.environ["AYATORI_PROFILE"], done.stderr)
        self.assertTrue((self.folder / "a" / "b" / "profile.json").exists())

    def test_bad_input(self):
        self.write("other.json", '{"schema": "ayatori.solve/1"}')
        self.write("torn.json", '{"schema": "ayatori.machine-profile/1", "ranks": ')
        for arguments, words in ((("--show", "none.json"), "none.json"), (("--show", "other.json"), "schema"),
                                 (("--show", "torn.json"), "torn.json"), (("--compare", "torn.json"), "--show"),
                                 (("--quick", "--seconds", "3"), "--seconds"), (("--seconds", "nan"), "--seconds")):
            done = self.run_ayatori("probe", *arguments)
            self.assertEqual(done.returncode, 2, (arguments, done.stderr))
            self.assertIn(words, done.stderr)

    def test_output_that_cannot_be_written(self):
        done = self.run_ayatori("probe", "--quick", "-o", "no/such/folder/profile.json")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertIn("no/such/folder", done.stderr)

    @unittest.skipIf(RANKS > 1, "launchers pass signals on in their own ways")
    def test_interrupted_it_keeps_what_is_measured(self):
        process = self.start("probe", "--seconds", "60", "-o", "profile.json")
        time.sleep(3)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        profile = json.loads((self.folder / "profile.json").read_text())
        self.assertFalse(profile["complete"])
        self.assertTrue(profile["memory"])


if __name__ == "__main__":
    unittest.main()
