"""AYATORI_COLLECTIVES: collective calls that do not block, and persistent ones, by schedules."""

import json
import re
import unittest

from harness import OPEN_MPI, RANKS, ProgramTest
from plans import OPERATIONS, Plans


class Nonblocking(ProgramTest):
    def counts(self, part, seed=1, **variables):
        """operation -> (calls done by schedules, calls) of a part of the program"""
        searches = [search for ranks in range(2, max(RANKS, 2) + 1) for search in Plans(seed).searches(ranks)]
        (self.folder / "table.json").write_text(json.dumps(searches))
        done = self.run_program("nonblocking", part, seed, AYATORI_COLLECTIVES="table.json",
                                AYATORI_COLLECTIVES_REPORT=1, **variables)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        return {name: (int(ours), int(all_calls))
                for name, ours, all_calls in re.findall(r"([a-z-]+) (\d+) of (\d+)", done.stderr)}

    def expect_done(self, counts, operations, least):
        """Where the MPI lets the library take part in its progress; elsewhere it does such calls itself."""
        for operation in operations:
            ours, all_calls = counts[operation]
            if RANKS == 1 or not OPEN_MPI:
                self.assertLess(ours, all_calls, counts)
            else:
                self.assertGreaterEqual(ours, least * all_calls, (operation, counts))

    def test_the_program_alone(self):
        """But for communicators that are freed while a call is under way, at which Open MPI 4.1.4 crashes."""
        for part in ("many", "tags", "arguments", "threads"):
            self.assertEqual(self.run_program("nonblocking", part).stderr, "")

    def test_many_at_once_in_any_order(self):
        """Operations that do not commute have no schedule for every root."""
        for seed in range(3):
            self.expect_done(self.counts("many", seed), OPERATIONS, 0.6)

    @unittest.skipIf(RANKS == 1, "one rank waits for nobody")
    def test_they_go_on_while_ranks_wait_elsewhere(self):
        self.expect_done(self.counts("elsewhere"), ("allreduce",), 1)

    def test_communicators_types_and_operations_that_are_gone(self):
        self.expect_done(self.counts("freed"), ("allreduce", "allgather"), 1)

    def test_more_calls_than_tags(self):
        self.expect_done(self.counts("tags"), ("broadcast",), 1)

    @unittest.skipUnless(OPEN_MPI, "of the library nothing is in such calls")
    def test_memory_does_not_grow(self):
        self.expect_done(self.counts("leaks", 5000), ("broadcast", "allreduce"), 1)

    def test_wrong_arguments(self):
        for ours, _ in self.counts("arguments").values():
            self.assertEqual(ours, 0)

    def test_threads(self):
        self.expect_done(self.counts("threads"), OPERATIONS, 0.6)

    @unittest.skipIf(not OPEN_MPI or RANKS == 1, "the MPI's own hang when started in different orders")
    def test_persistent_calls_and_their_trace(self):
        """A start is a call."""
        for operation, (ours, all_calls) in self.counts("persistent", AYATORI_TRACE="trace.json").items():
            self.assertEqual(ours, all_calls, operation)
            self.assertGreaterEqual(ours, 1000 * RANKS, operation)
        trace = json.loads((self.folder / "trace.json").read_text())
        made = {call["call"]: call["calls"] for call in trace["calls"]}
        self.assertEqual(made["MPI_Allreduce_init"], RANKS * (1 + 50 * 2))
        of_world = next(of["collectives"] for of in trace["communicators"] if of["members"] == list(range(RANKS)))
        started = [call["calls"] for call in of_world if call["call"] == "MPI_Allreduce_init"]
        self.assertEqual(started, [1000 + 50 * 3])


if __name__ == "__main__":
    unittest.main()
