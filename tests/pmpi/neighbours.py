"""AYATORI_NEIGHBOURS: neighbourhood collectives against the MPI's own, on one node and on pretended ones."""

import re
import unittest

from harness import FORTRAN, RANKS, ProgramTest

GRAPHS = 6


class Neighbours(ProgramTest):
    def serve(self, route, ranks_per_node):
        """(calls by the library, calls)"""
        done = self.run_program("neighbours", "all", GRAPHS, ranks_per_node, AYATORI_NEIGHBOURS=route,
                                AYATORI_COLLECTIVES_REPORT=1)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        found = re.search(r"neighbours (\d+) of (\d+)", done.stderr)
        return tuple(map(int, found.groups())) if found else (0, 0)

    def test_all_go_straight_or_in_bundles(self):
        """But those on one rank, and the six of every rank that are errors."""
        for route in ("straight", "bundled"):
            for ranks_per_node in sorted({1, 2, 3, RANKS}):
                with self.subTest(route=route, ranks_per_node=ranks_per_node):
                    ours, all_calls = self.serve(route, ranks_per_node)
                    alone = 5 * 12 * (RANKS in (2, 3))  # the rank that is split off by itself
                    expected = 0 if RANKS == 1 else all_calls - 6 * RANKS - alone * (2 if RANKS == 2 else 1)
                    self.assertEqual(ours, expected)

    def test_a_race(self):
        """Every route in turn, five times; then what was best."""
        for ranks_per_node in sorted({2, RANKS}):
            ours, all_calls = self.serve("race", ranks_per_node)
            if RANKS > 1:
                self.assertGreater(ours, 0)
            self.assertLess(ours, all_calls)

    def test_by_the_mpi(self):
        self.assertEqual(self.serve("mpi", 2), (0, 0))

    @unittest.skipIf(RANKS < 4, "no two ranks on each of two nodes")
    def test_bundles_are_fewer_messages(self):
        for route, messages in (("straight", 2), ("bundled", 1)):
            done = self.run_program("neighbours", "count", 2, AYATORI_NEIGHBOURS=route)
            self.assertEqual(done.stdout, f"{10 * messages} messages of 10 calls\n")

    @unittest.skipUnless(FORTRAN, "there is no Fortran compiler, or it has no sanitizers")
    def test_fortran(self):
        done = self.run_program("neighbours_fortran", AYATORI_NEIGHBOURS="straight", AYATORI_COLLECTIVES_REPORT=1)
        ours, all_calls = (5 * RANKS, 5 * RANKS) if RANKS > 1 else (0, 4)
        self.assertEqual(done.stderr, f"ayatori: calls done by schedules: neighbours {ours} of {all_calls}\n")

    def test_a_route_that_is_none(self):
        done = self.run_program("neighbours", "count", 2, AYATORI_NEIGHBOURS="slow")
        self.assertEqual(done.stderr, "ayatori: AYATORI_NEIGHBOURS=slow is ignored: choose race, straight, bundled or mpi\n")


if __name__ == "__main__":
    unittest.main()
