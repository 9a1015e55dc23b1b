"""AYATORI_TRACE: who talked to whom, how much, and with which calls."""

import collections
import json
import os
import pathlib
import unittest

import jsonschema

from harness import MPIRUN, RANKS, ProgramTest

SCHEMA = json.loads(pathlib.Path(os.environ["AYATORI_SCHEMA"]).read_text())
IS_MPI_4 = "mpich" in MPIRUN  # partitioned messages
VECTOR = 5 * 2 * 3 * 4
# calls of every rank of MPI_COMM_WORLD in pattern.cpp, and the bytes that it hands in
SENDS = {"MPI_Send": (2, 16), "MPI_Sendrecv": (3, 8 + VECTOR + 1), "MPI_Sendrecv_replace": (1, 8),
         **{f"MPI_{kind}": (1, 8) for kind in ("Bsend", "Ssend", "Rsend", "Isend", "Ibsend", "Issend", "Irsend")},
         **{f"MPI_{kind}_init": (1, 0) for kind in ("Send", "Bsend", "Ssend", "Rsend")},
         "MPI_Start": (8, 4 * 8), "MPI_Startall": (3, 3 * 8),
         "MPI_Put": (1, 16), "MPI_Accumulate": (1, 8), "MPI_Get": (1, 8), "MPI_Get_accumulate": (1, 8),
         "MPI_Fetch_and_op": (1, 8), "MPI_Neighbor_alltoall": (1, 8), "MPI_Barrier": (12, 0)}
if IS_MPI_4:
    SENDS.update({"MPI_Psend_init": (1, 0), "MPI_Startall": (4, 3 * 8 + 16)})
# collective calls: how often, bytes of a rank (by the number of ranks), whether there is a root, which alone hands in
COLLECTIVES = {"MPI_Bcast": (1, lambda p: 12, "root"), "MPI_Gather": (1, lambda p: 12, "rooted"),
               "MPI_Gatherv": (1, lambda p: 12, "rooted"), "MPI_Scatter": (1, lambda p: 12 * p, "root"),
               "MPI_Scatterv": (1, lambda p: 12 * p, "root"), "MPI_Allgather": (2, lambda p: 24, ""),
               "MPI_Allgatherv": (1, lambda p: 12, ""), "MPI_Alltoall": (1, lambda p: 12 * p, ""),
               "MPI_Alltoallv": (1, lambda p: 12 * p, ""), "MPI_Alltoallw": (1, lambda p: 12 * p, ""),
               "MPI_Reduce": (2, lambda p: 24, "rooted"), "MPI_Allreduce": (1, lambda p: 12, ""),
               "MPI_Reduce_scatter": (1, lambda p: 12 * p, ""), "MPI_Reduce_scatter_block": (1, lambda p: 12 * p, ""),
               "MPI_Scan": (1, lambda p: 12, ""), "MPI_Exscan": (1, lambda p: 12, ""),
               "MPI_Iallreduce": (1, lambda p: 12, "")}


class Trace(ProgramTest):
    def trace(self, *arguments, **keywords):
        done = self.run_program(*arguments, AYATORI_TRACE="trace.json", **keywords)
        self.assertEqual(done.stdout + done.stderr, "")
        trace = json.loads((self.folder / "trace.json").read_text())
        jsonschema.validate(trace, SCHEMA)
        self.assertEqual(trace["ranks"], RANKS)
        self.assertEqual(len(trace["hosts"]), RANKS)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["trace.json"])
        return trace

    def test_messages(self):
        messages = collections.Counter()
        volume = collections.Counter()

        def add(sender, receiver, number, length):
            messages[sender % RANKS, receiver % RANKS] += number
            volume[sender % RANKS, receiver % RANKS] += length

        for rank in range(RANKS):
            add(rank, rank + 1, 8 + 7 + 3, (8 + 7 + 2) * 8 + VECTOR)
            add(rank, rank + 1, 4, 16 + 8 + 8 + 8)  # put, accumulate, and half of two that go both ways
            add(rank + 1, rank, 3, 8 + 8 + 8)       # fetched
            if IS_MPI_4:
                add(rank, rank + 1, 1, 16)
            add(rank, rank - 1, 1, 1)               # on the reversed communicator
            add(rank, rank - 1, 1, 4)               # on the ring
            add(rank, rank + 1, 1, 4)
        expected = [[*pair, messages[pair], volume[pair]] for pair in sorted(messages)]
        self.assertEqual(self.trace("pattern")["messages"], expected)

    def test_calls(self):
        expected = {name: (RANKS * calls, RANKS * length) for name, (calls, length) in SENDS.items()}
        for name, (calls, length, kind) in COLLECTIVES.items():
            expected[name] = (RANKS * calls, length(RANKS) * (1 if kind == "root" else RANKS))
        expected["MPI_Bcast"] = (2 * RANKS, 13)
        calls = {call["call"]: (call["calls"], call["bytes"]) for call in self.trace("pattern")["calls"]}
        self.assertEqual(calls, expected)

    def test_communicators(self):
        world = []
        for name, (calls, length, kind) in COLLECTIVES.items():
            entry = {"call": name, "calls": calls, "bytes": length(RANKS) * (1 if kind == "root" else RANKS)}
            world.append({**entry, "root": RANKS - 1} if kind else entry)
        world.append({"call": "MPI_Barrier", "calls": 12, "bytes": 0})
        reversed_world = [{"call": "MPI_Bcast", "root": 0, "calls": 1, "bytes": 1}]
        if RANKS == 1:  # the same members, and the same root
            next(entry for entry in world if entry["call"] == "MPI_Bcast").update(calls=2, bytes=13)
            expected = [{"members": [0], "collectives": world}]
        else:
            expected = [{"members": list(range(RANKS)), "collectives": world},
                        {"members": list(range(RANKS))[::-1], "collectives": reversed_world}]
        found = self.trace("pattern")["communicators"]
        for communicator in [*expected, *found]:
            communicator["collectives"].sort(key=lambda entry: entry["call"])
        self.assertEqual(found, expected)

    def test_a_file_that_cannot_be_written(self):
        done = self.run_program("pattern", AYATORI_TRACE="nowhere/trace.json")
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertIn("ayatori: nowhere/trace.json: cannot be written", done.stderr)

    def test_nothing_is_asked_for(self):
        done = self.run_program("pattern")
        self.assertEqual(done.stdout + done.stderr, "")
        self.assertEqual(list(self.folder.iterdir()), [])


if __name__ == "__main__":
    unittest.main()
