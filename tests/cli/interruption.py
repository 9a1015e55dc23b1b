"""A stopped solve writes the best x so far and says what it is."""

import json
import os
import signal
import time
import unittest

from harness import RANKS, CommandTest, read_vector

# Jacobi-preconditioned CG to a tolerance that it cannot meet soon: runs until it is stopped.
LONG = ("solve", "poisson2d-5:n=700", "--method", "cg", "--preconditioner", "none", "--rtol", "1e-15", "--json", "result.json",
        "--output", "x.mtx")


def processes_named_ayatori(parent):
    """The pids of the ranks: descendants of `parent` that run the command itself."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            fields = open(f"/proc/{pid}/stat", encoding="utf-8").read()
        except OSError:
            continue
        name = fields[fields.index("(") + 1:fields.rindex(")")]
        ancestor = int(pid)
        while ancestor not in (0, 1, parent):
            try:
                stat = open(f"/proc/{ancestor}/stat", encoding="utf-8").read()
            except OSError:
                break
            ancestor = int(stat[stat.rindex(")") + 2:].split()[1])
        if name == "ayatori" and ancestor == parent:
            found.append(int(pid))
    return sorted(found)


class Interruption(CommandTest):
    def wait_until_iterating(self, process):
        """Returns the ranks once they have used a second of processor time each: reading takes far less."""
        deadline = time.monotonic() + 90
        while time.monotonic() < deadline:
            self.assertIsNone(process.poll(), "ended before it could be stopped")
            ranks = processes_named_ayatori(process.pid)
            ticks = [self.ticks(pid) for pid in ranks]
            if len(ranks) == RANKS and min(ticks) > 100:
                return ranks
            time.sleep(0.05)
        self.fail("never started to iterate")

    @staticmethod
    def ticks(pid):
        stat = open(f"/proc/{pid}/stat", encoding="utf-8").read()
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
        process = self.start(*LONG)
        ranks = self.wait_until_iterating(process)
        os.kill(ranks[-1], number)  # one rank is told; all stop together
        _, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, err)
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
