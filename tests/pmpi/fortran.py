"""A Fortran program, of which both MPIs' Fortran functions make calls in ways of their own."""

import json
import re
import unittest

from harness import FORTRAN, OPEN_MPI, RANKS, ProgramTest
from plans import Plans


@unittest.skipUnless(FORTRAN, "there is no Fortran compiler, or it has no sanitizers")
class Fortran(ProgramTest):
    def check(self, program):
        (self.folder / "table.json").write_text(json.dumps(list(Plans(5).searches(max(RANKS, 2)))))
        done = self.run_program(program, AYATORI_COLLECTIVES="table.json", AYATORI_COLLECTIVES_REPORT=1,
                                AYATORI_TRACE="trace.json")
        counts = re.findall(r"([a-z-]+) (\d+) of (\d+)", done.stderr)
        self.assertEqual(len(counts), 9, done.stderr)
        not_blocking = dict.fromkeys(("broadcast", "allreduce", "barrier"), 0 if OPEN_MPI else RANKS)
        for operation, ours, all_calls in counts:
            by_mpi = not_blocking.get(operation, 0) if RANKS > 1 else int(all_calls)
            self.assertEqual(int(ours), int(all_calls) - by_mpi, operation)
        trace = json.loads((self.folder / "trace.json").read_text())
        messages = [[rank, (rank + 1) % RANKS, 3, 3 * 400] for rank in range(RANKS)]
        self.assertEqual(trace["messages"], messages)
        calls = {call["call"]: call["calls"] for call in trace["calls"]}
        self.assertEqual(calls, {"MPI_Sendrecv": RANKS, "MPI_Bcast": RANKS**2, "MPI_Reduce": 2 * RANKS**2,
                                 "MPI_Gather": RANKS**2, "MPI_Scatter": RANKS**2, "MPI_Allreduce": 2 * RANKS,
                                 "MPI_Allgather": RANKS, "MPI_Alltoall": RANKS, "MPI_Reduce_scatter_block": RANKS,
                                 "MPI_Allgatherv": RANKS, "MPI_Reduce_scatter": RANKS, "MPI_Gatherv": RANKS,
                                 "MPI_Scatterv": RANKS, "MPI_Alltoallv": RANKS, "MPI_Send_init": RANKS,
                                 "MPI_Startall": RANKS, "MPI_Start": 2 * RANKS, "MPI_Barrier": RANKS,
                                 "MPI_Ibarrier": RANKS, "MPI_Ibcast": RANKS, "MPI_Iallreduce": RANKS})

    def test_module_mpi(self):
        self.check("fortran")

    def test_module_mpi_f08(self):
        self.check("fortran_f08")

    def test_programs_that_are_not_seen_run_as_ever(self):
        self.assertEqual(self.run_program("fortran_f08").stderr, "")


if __name__ == "__main__":
    unittest.main()
