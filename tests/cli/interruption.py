"""A stopped solve writes the best x so far and says what it is."""

import json
import os
import pathlib
import resource
import signal
import time
import unittest

from harness import RANKS, CommandTest, read_vector

# CG to a tolerance that it cannot meet soon: runs until it is stopped.
LONG = ("solve", "poisson2d-5:n=700", "--method", "cg", "--preconditioner", "none", "--rtol", "1e-15", "--json", "result.json",
        "--output", "x.mtx")


def stat_of(pid):
    return pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")


def processes_named_ayatori(parent):
    """The pids of the ranks: descendants of `parent` that run the command itself."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = stat_of(pid)
        except OSError:
            continue
        name = fields[fields.index("(") + 1:fields.rindex(")")]
        ancestor = int(pid)
        while ancestor not in (0, 1, parent):
            try:
                stat = stat_of(ancestor)
            except OSError:
                break
            ancestor = int(stat[stat.rindex(")") + 2:].split()[1])
        if name == "ayatori" and ancestor == parent:
            found.append(int(pid))
    return sorted(found)


class Interruption(CommandTest):
    def ticks_before_iterating(self):
        """Processor time of a rank for all that comes before the second iteration: sanitizers make it long."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.run_ayatori(*LONG, "--max-iterations", "1")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        seconds = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
        return seconds / RANKS * os.sysconf("SC_CLK_TCK")

    def wait_until_iterating(self, process, enough):
        """Returns the ranks once each of them has used `enough` ticks of processor time."""
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline:
            self.assertIsNone(process.poll(), "ended before it could be stopped")
            ranks = processes_named_ayatori(process.pid)
            ticks = [self.ticks(pid) for pid in ranks]
            if len(ranks) == RANKS and min(ticks) > enough:
                return ranks
            time.sleep(0.05)
        self.fail("never started to iterate")

    @staticmethod
    def ticks(pid):
        stat = stat_of(pid)
        fields = stat[stat.rindex(")") + 2:].split()
        return int(fields[11]) + int(fields[12])

    def expect_best_so_far(self, status):
        result = json.loads((self.folder / "result.json").read_text())
        self.assertEqual(result["status"], status)
        self.assertFalse(result["converged"])
        self.assertGreater(result["iterations"], 0)
        self.assertEqual(len(read_vector(self.folder / "x.mtx")), 700 * 700)
        self.assert_no_leftovers("result.json", "x.mtx")

    def stop_by(self, number):
        before_iterating = self.ticks_before_iterating()
        for patience in (1.3, 3, 9):  # beside other work the ranks may wait for each other more than they did then
            process = self.start(*LONG)
            ranks = self.wait_until_iterating(process, patience * before_iterating + 20)
            os.kill(ranks[-1], number)  # one rank is told; all stop together
            _, err = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 1, err)
            if json.loads((self.folder / "result.json").read_text())["iterations"] > 0:
                break
        self.expect_best_so_far("interrupted")
        self.assertIn("interrupted", err)

    def test_sigint(self):
        self.stop_by(signal.SIGINT)

    def test_sigterm(self):
        self.stop_by(signal.SIGTERM)

    def test_time_limit(self):
        done = self.run_ayatori(*LONG, "--time-limit", "1")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.expect_best_so_far("time limit reached")


if __name__ == "__main__":
    unittest.main()
