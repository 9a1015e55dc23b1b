"""ayatori probe: a profile that can be shown again, compared, and trusted to be whole."""

import json
import os
import signal
import subprocess
import sys
import time
import unittest

from harness import RANKS, CommandTest


OVERSUBSCRIBED = RANKS > len(os.sched_getaffinity(0))
MEASURES = RANKS > 1 and not OVERSUBSCRIBED  # what a solve does where there is no profile
GIVEN_UP = "measuring the machine was given up"


class Probe(CommandTest):
    def probe(self, *options):
        done = self.run_ayatori("probe", *options, "-o", "profile.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return self.read_result("profile.json"), done.stderr

    def test_quick(self):
        profile, said = self.probe("--quick")
        self.assertEqual(profile["schema"], "ayatori.machine-profile/1")
        self.assertEqual(profile["ranks"], RANKS)
        if not profile["complete"]:
            self.skipTest("the machine is too busy, or this build too slow, for it to be measured")
        self.assertGreater(profile["node"]["cores"], 0)
        triads = [f["bytes_per_second"]["median"] for f in profile["memory"] if f["kernel"] == "triad"]
        self.assertTrue(triads and min(triads) > 0)
        self.assertEqual(bool(profile["levels"]), RANKS > 1)
        for words in ("machine", "memory", "measured"):
            self.assertIn(words, said)
        self.assert_no_leftovers("profile.json")

    @unittest.skipIf(RANKS > 1, "one is enough")
    def test_quick_ends_soon_on_a_busy_core(self):
        core = min(os.sched_getaffinity(0))
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {core})
        self.addCleanup(os.sched_setaffinity, 0, before)
        for _ in range(9):
            other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            self.addCleanup(other.wait)
            self.addCleanup(other.kill)
        begin = time.monotonic()
        self.probe("--quick")
        self.assertLess(time.monotonic() - begin, 20)  # a set-up and a sample begun are a tenth as fast

    def test_show_and_compare(self):
        self.probe("--quick")
        shown = self.run_ayatori("probe", "--show", "profile.json")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("triad", shown.stdout)
        both = self.run_ayatori("probe", "--show", "profile.json", "--compare", "profile.json")
        self.assertEqual(both.returncode, 0, both.stderr)
        ratios = {line.split()[-1] for line in both.stdout.splitlines() if line.startswith("triad")}
        self.assertEqual(ratios, {"1.00"})

    def test_a_device_is_shown_where_the_profile_has_one(self):
        profile, said = self.probe("--quick")
        if "device" not in profile:
            self.assertNotIn("\ndevice ", said)
        profile["device"] = {"name": "Some GPU", "open_seconds": 0.25, "copy_bytes_per_second": 3e12, "in_bytes_per_second": 50e9,
                             "out_bytes_per_second": 45e9, "step_seconds": 2e-6, "wait_seconds": 9e-6}
        self.write("device.json", json.dumps(profile))
        shown = self.run_ayatori("probe", "--show", "device.json").stdout
        for words in ("device     Some GPU: copies 3e+03 GB/s inside, 50 GB/s from the host, 45 GB/s back", "a step takes 2 us", "250 ms"):
            self.assertIn(words, shown)
        profile["device"]["copy_bytes_per_second"] = 6e12
        self.write("faster.json", json.dumps(profile))
        both = self.run_ayatori("probe", "--show", "device.json", "--compare", "faster.json").stdout
        line, = (line for line in both.splitlines() if line.startswith("device, copy inside"))
        self.assertEqual(line.split()[-1], "2.00")
        profile["device"]["copy_bytes_per_second"] = 0
        self.write("broken.json", json.dumps(profile))
        done = self.run_ayatori("probe", "--show", "broken.json")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("broken.json", done.stderr)

    def test_published_machines_by_name(self):
        shown = self.run_ayatori("probe", "--show", "altix3700bx2")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertIn("Imamura, table 3", shown.stdout)
        both = self.run_ayatori("probe", "--show", "infiniband-2005", "--compare", "gbe-2005")
        latency, = (line for line in both.stdout.splitlines() if "one-way" in line and "latency" in line)
        self.assertEqual(latency.split()[-1], "7.20")  # 28.71 / 3.99

    def keep_profiles_at(self, path):
        before = os.environ.get("AYATORI_PROFILE")
        os.environ["AYATORI_PROFILE"] = str(path)
        self.addCleanup(os.environ.__setitem__, "AYATORI_PROFILE", before)

    def test_a_file_that_is_no_profile_stays_as_it_is(self):
        self.write("thesis.txt", "my thesis\n")
        self.keep_profiles_at(self.folder / "thesis.txt")
        result, said = self.solve("poisson3d-7:n=8")
        self.assertTrue(result["converged"])
        if MEASURES and GIVEN_UP not in said.stderr:
            self.assertEqual(said.stderr.count("measured just now"), 2)  # a line at once, and one in the summary
            self.assertIn("thesis.txt: is no machine profile, and stays as it is", result["profile"])
        done = self.run_ayatori("probe", "--quick")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("thesis.txt: is no machine profile", done.stderr)
        self.assertEqual((self.folder / "thesis.txt").read_text(), "my thesis\n")
        self.probe("--quick")  # with a file of its own
        self.assert_no_leftovers("thesis.txt", "result.json", "profile.json")

    def test_affinity_is_part_of_what_there_is(self):
        core = str(min(os.sched_getaffinity(0)))
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {int(core)})
        self.addCleanup(os.sched_setaffinity, 0, before)
        self.keep_profiles_at(self.folder / "kept.json")
        profile, said = self.probe("--quick")
        self.assertEqual(profile["usable_units"], 1)
        self.assertEqual(profile["threads"], 1)
        self.assertEqual("oversubscribed" in said, RANKS > 1)
        result, said = self.solve("poisson3d-7:n=8")
        self.assertEqual(result["oversubscribed"], RANKS > 1)
        if RANKS > 1:
            self.assertIn(f"oversubscribed: {RANKS} ranks with {RANKS} threads on 1 processing unit", said.stderr)
            self.assertIn("was not measured", result["profile"])
            self.assertFalse((self.folder / "kept.json").exists())

    @unittest.skipUnless(RANKS == 1, "several exchange messages")
    def test_one_rank_does_not_measure_the_machine(self):
        self.keep_profiles_at(self.folder / "kept.json")
        result, _ = self.solve("poisson3d-7:n=8")
        if result["profile"] is None:  # there is no GPU
            self.assertEqual(result["seconds"]["machine"], 0)
            self.assertFalse((self.folder / "kept.json").exists())

    @unittest.skipUnless(MEASURES, "then the machine is not measured")
    def test_the_first_solve_on_a_machine_measures_it(self):
        self.keep_profiles_at(self.folder / "cache" / "profile.json")
        first, said = self.solve("poisson3d-7:n=8")
        if GIVEN_UP in said.stderr:
            self.skipTest("the machine is too busy, or this build too slow, for it to be measured")
        self.assertIn("was measured just now", said.stderr)
        self.assertIn("s: measuring the machine ", said.stderr)
        parts = ("machine", "read", "setup", "tuning", "solve", "verification", "snapshots", "write", "other")
        self.assertAlmostEqual(sum(first["seconds"][part] for part in parts), first["seconds"]["total"], delta=1e-9)
        self.assertTrue((self.folder / "cache" / "profile.json").exists())
        second, said = self.solve("poisson3d-7:n=40", "--method", "cg", "--preconditioner", "none", "--explain")
        self.assertNotIn("measured just now", said.stderr)
        self.assertEqual(second["profile"], str(self.folder / "cache" / "profile.json"))
        self.assertGreater(second["product"]["memory_seconds"], 0)
        # Beside what the memory allows, where products enough were timed; a busy machine may end their trials late.
        self.assertEqual("A product moves" in said.stderr, bool(second["product"]["seconds"]))

    def test_solve_goes_by_the_profile_it_is_given(self):
        self.keep_profiles_at(self.folder / "kept.json")
        published, _ = self.solve("poisson3d-7:n=8", "--profile", "infiniband-2005")
        self.assertEqual(published["profile"], "infiniband-2005")
        none, _ = self.solve("poisson3d-7:n=8", "--profile", "none")
        self.assertIsNone(none["profile"])
        self.assertFalse((self.folder / "kept.json").exists())
        done = self.run_ayatori("solve", "poisson3d-7:n=8", "--profile", "no-such-profile.json")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no-such-profile.json", done.stderr)

    def test_a_torn_or_unwritable_profile_stops_no_solve(self):
        self.write("torn.json", '{"schema": "ayatori.machine-profile/1"')
        self.keep_profiles_at(self.folder / "torn.json")
        _, said = self.solve("poisson3d-7:n=8")
        if not MEASURES or GIVEN_UP in said.stderr:
            self.skipTest("the machine was not measured")
        json.loads((self.folder / "torn.json").read_text())  # made anew
        os.environ["AYATORI_PROFILE"] = str(self.folder / "torn.json" / "no-folder" / "profile.json")
        result, said = self.solve("poisson3d-7:n=8")
        if GIVEN_UP not in said.stderr:
            self.assertIn("not kept", result["profile"])

    def test_is_kept_where_solve_looks_for_it(self):
        self.keep_profiles_at(self.folder / "a" / "b" / "profile.json")
        done = self.run_ayatori("probe", "--quick")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(os.environ["AYATORI_PROFILE"], done.stderr)
        self.assertTrue((self.folder / "a" / "b" / "profile.json").exists())

    @unittest.skipIf(RANKS > 1, "several ranks share the cores out")
    def test_bound_threads_are_as_many_as_free_ones(self):
        free, _ = self.probe("--quick")
        os.environ["OMP_PROC_BIND"] = "close"
        self.addCleanup(os.environ.pop, "OMP_PROC_BIND")
        bound, said = self.probe("--quick")
        self.assertEqual(bound["threads"], free["threads"])
        self.assertTrue(bound["threads_bound"])
        self.assertNotIn("not bound", said)

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
        for seconds in (3, 12, 48):  # on a busy machine nothing may be measured yet
            process = self.start("probe", "--seconds", "3600", "-o", "profile.json")
            time.sleep(seconds)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=100)
            self.assertEqual(process.returncode, 0)
            profile = self.read_result("profile.json")
            self.assertFalse(profile["complete"])
            if profile["memory"]:
                return
        self.fail("nothing is kept")


if __name__ == "__main__":
    unittest.main()
