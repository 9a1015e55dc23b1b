"""What an MPI or a machine refuses: the program is served as if the library were not there."""

import json
import re
import unittest

from harness import FORTRAN, RANKS, ProgramTest
from plans import Plans

NO_MEMORY = "ayatori: ranks of a node get no memory that they share: their messages go by the MPI\n"


@unittest.skipIf(RANKS == 1, "one rank has nothing to schedule")
class Refusals(ProgramTest):
    def setUp(self):
        super().setUp()
        (self.folder / "table.json").write_text(json.dumps(list(Plans(6).searches(RANKS))))

    def serve(self, program, *arguments):
        """(what the program says, what the library says before its report, allreduces by schedules, allreduces)"""
        done = self.run_program(program, *arguments, AYATORI_COLLECTIVES="table.json", AYATORI_COLLECTIVES_REPORT=1)
        said, report = re.fullmatch(r"((?:.*\n)*)ayatori: calls done by schedules: (.*)\n", done.stderr).groups()
        ours, all_calls = re.search(r"allreduce (\d+) of (\d+)", report).groups()
        return done.stdout, said, int(ours), int(all_calls)

    def memory(self, said):
        """(how often it was asked for, how often given)"""
        return tuple(map(int, re.search(r"memory: asked (\d+), given (\d+)", said).groups()))

    def test_wrong_arguments_go_as_the_mpi_itself_has_them(self):
        self.assertEqual(self.serve("arguments")[1], "")

    @unittest.skipUnless(FORTRAN, "there is no Fortran compiler, or it has no sanitizers")
    def test_wrong_arguments_in_fortran(self):
        self.assertEqual(self.serve("arguments_fortran")[1], "")

    @unittest.skipIf(RANKS > 2, "takes long, and is the same on two")
    def test_as_many_communicators_as_without_the_library(self):
        """Half of what Open MPI has is 32768, of what MPICH has 1024."""
        alone = int(self.run_program("refusals", "many", 34000).stdout.split()[0])
        self.assertGreater(alone, 1100)
        said, _, ours, all_calls = self.serve("refusals", "many", 34000)
        self.assertGreaterEqual(int(said.split()[0]), min(alone, 34000) - 1)
        self.assertEqual(ours, all_calls)

    def test_no_communicator_for_the_library_on_one_rank(self):
        done = self.run_program("refusals", "few", 3, "no-communicator", AYATORI_COLLECTIVES="table.json")
        self.assertEqual(done.stderr, "ayatori: schedules are not used: the MPI has no communicator left\n")

    def test_tags_for_three_communicators_on_one_rank(self):
        """The others go by the MPI, and so again when the first are free."""
        _, said, ours, all_calls = self.serve("refusals", "few", 5, "few-tags")
        self.assertEqual(said, "")
        self.assertEqual((ours, all_calls), (RANKS * 3 * 3 * 5, RANKS * 3 * 5 * 5))

    def test_memory_comes_and_goes_with_communicators(self):
        """Of 100 at once some 60 have memory, as one process has up to 32 MiB: again when those are freed."""
        said, silence, ours, all_calls = self.serve("refusals", "few", 100)
        asked, given = self.memory(said)
        self.assertEqual((silence, ours, asked), ("", all_calls, given))
        self.assertGreater(given, 3 * 30)
        self.assertLess(given, 3 * 70)

    def test_memory_from_a_file(self):
        said, silence, ours, all_calls = self.serve("refusals", "few", 2, "no-kernel-memory")
        self.assertEqual((silence, ours, self.memory(said)), ("", all_calls, (3 * 2, 3 * 2)))

    def test_no_memory_on_one_rank(self):
        for more in ([], ["no-kernel-memory"]):
            _, said, ours, all_calls = self.serve("refusals", "few", 2, "no-memory", *more)
            self.assertEqual((said, ours), (NO_MEMORY, all_calls))

    def test_an_mpi_is_known_by_its_name(self):
        """And not by the header: one binary serves all MPIs of an ABI."""
        said, _, ours, all_calls = self.serve("refusals", "alike", 5, "other-name")
        self.assertEqual((said.split()[0], ours, all_calls), ("5", 5 * RANKS, 5 * RANKS))
        alone = self.run_program("refusals", "alike", 5).stdout.split()[0]
        said, _, ours, _ = self.serve("refusals", "alike", 5)
        self.assertEqual((said.split()[0], ours), (alone, int(alone) * RANKS))

    def test_threads_with_communicators_of_their_own(self):
        for _ in range(3):
            _, said, ours, all_calls = self.serve("refusals", "threads", 4)
            self.assertEqual((said, ours), ("", all_calls))


if __name__ == "__main__":
    unittest.main()
