"""Ranks that come together otherwise than in MPI_COMM_WORLD: what crosses groups goes by the MPI, the rest by schedules."""

import json
import re
import unittest

from harness import MPI_VERSION, RANKS, ProgramTest
from plans import Plans

CALLS = 6  # of a rank, by each communicator that groups.cpp has


class Groups(ProgramTest):
    def serve(self, mode):
        """(allreduces by schedules, allreduces) of every world"""
        plans = Plans(9)
        (self.folder / "table.json").write_text(json.dumps([s for ranks in range(2, RANKS + 3) for s in plans.searches(ranks)]))
        done = self.run_program("groups", mode, AYATORI_COLLECTIVES="table.json", AYATORI_COLLECTIVES_REPORT=1)
        if "no processes" in done.stdout:  # MPICH 4.0.2, as Debian has it
            self.skipTest("the MPI starts no processes")
        reports = re.findall(r"ayatori: calls done by schedules: (.*)\n", done.stderr)
        self.assertEqual(len(reports), done.stderr.count("\n"), done.stderr)
        return sorted(tuple(map(int, re.search(r"allreduce (\d+) of (\d+)", report).groups())) for report in reports)

    @unittest.skipIf(RANKS == 1, "one rank is no two groups")
    def test_between_halves(self):
        """The merged ranks are those of one world."""
        self.assertEqual(self.serve("between"), [(2 * CALLS * RANKS, 3 * CALLS * RANKS)])

    def test_with_processes_that_the_job_starts(self):
        """The merged ranks are not."""
        own = 2 * CALLS * RANKS if RANKS > 1 else 0
        self.assertEqual(self.serve("spawned"), sorted([(own, 4 * CALLS * RANKS), (2 * CALLS * 2, 4 * CALLS * 2)]))

    @unittest.skipIf(MPI_VERSION < 4, "the MPI has no sessions")
    def test_a_session(self):
        calls = 2 * CALLS * RANKS
        self.assertEqual(self.serve("session"), [(calls if RANKS > 1 else 0, calls)])

    @unittest.skipIf(MPI_VERSION < 4, "the MPI has no sessions")
    def test_a_session_alone_goes_by_the_mpi(self):
        self.assertEqual(self.serve("session-alone"), [])


if __name__ == "__main__":
    unittest.main()
