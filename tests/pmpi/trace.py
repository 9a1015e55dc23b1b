"""AYATORI_TRACE: who talked to whom, how much, and with which calls."""

import collections
import json
import os
import pathlib
import unittest

import jsonschema

from harness import MPI_VERSION, RANKS, ProgramTest

SCHEMA = json.loads(pathlib.Path(os.environ["AYATORI_SCHEMA"]).read_text())
IS_MPI_4 = MPI_VERSION >= 4  # partitioned messages
VECTOR = 5 * 2 * 3 * 4
# collective operations: bytes that a rank hands in (by the number of ranks), whether there is a root, which alone hands in
OPERATIONS = {"Bcast": (lambda p: 12, "root"), "Gather": (lambda p: 12, "rooted"), "Gatherv": (lambda p: 12, "rooted"),
              "Scatter": (lambda p: 12 * p, "root"), "Scatterv": (lambda p: 12 * p, "root"), "Allgather": (lambda p: 12, ""),
              "Allgatherv": (lambda p: 12, ""), "Alltoall": (lambda p: 12 * p, ""), "Alltoallv": (lambda p: 12 * p, ""),
              "Alltoallw": (lambda p: 12 * p, ""), "Reduce": (lambda p: 12, "rooted"), "Allreduce": (lambda p: 12, ""),
              "Reduce_scatter": (lambda p: 12 * p, ""), "Reduce_scatter_block": (lambda p: 12 * p, ""),
              "Scan": (lambda p: 12, ""), "Exscan": (lambda p: 12, ""), "Barrier": (lambda p: 0, "")}


def bytes_of_all(name):
    """What all ranks hand in together to one call."""
    length, kind = OPERATIONS[name]
    return length(RANKS) * (1 if kind == "root" else RANKS)


# calls of every rank of MPI_COMM_WORLD in pattern.cpp
BLOCKING = {**dict.fromkeys(OPERATIONS, 1), "Allgather": 2, "Reduce": 2, "Barrier": 12}
STARTS = len(OPERATIONS)  # of persistent ones, by each way to start
STARTED = sum(map(bytes_of_all, OPERATIONS))
# function: calls and bytes of all ranks
SENDS = {"MPI_Send": (2, 16), "MPI_Sendrecv": (3, 8 + VECTOR + 1), "MPI_Sendrecv_replace": (1, 8),
         **{f"MPI_{kind}": (1, 8) for kind in ("Bsend", "Ssend", "Rsend", "Isend", "Ibsend", "Issend", "Irsend")},
         **{f"MPI_{kind}_init": (1, 0) for kind in ("Send", "Bsend", "Ssend", "Rsend")},
         "MPI_Put": (1, 16), "MPI_Accumulate": (1, 8), "MPI_Get": (1, 8), "MPI_Get_accumulate": (1, 8),
         "MPI_Fetch_and_op": (1, 8), "MPI_Neighbor_alltoall": (1, 8), "MPI_Neighbor_alltoall_init": (1, 0)}
if IS_MPI_4:
    SENDS["MPI_Psend_init"] = (1, 0)
CALLS = {name: (RANKS * calls, RANKS * length) for name, (calls, length) in SENDS.items()}
CALLS["MPI_Start"] = (RANKS * (8 + STARTS + 1), RANKS * (4 * 8 + 8) + STARTED)
CALLS["MPI_Startall"] = (RANKS * (3 + STARTS + IS_MPI_4), RANKS * (3 * 8 + 16 * IS_MPI_4) + STARTED)
for name, calls in BLOCKING.items():
    CALLS[f"MPI_{name}"] = (RANKS * calls, calls * bytes_of_all(name))
    CALLS[f"MPI_I{name.lower()}"] = (RANKS, bytes_of_all(name))
    CALLS[f"MPI_{name}_init"] = (RANKS, 0)
CALLS["MPI_Bcast"] = (2 * RANKS, 13)  # one of them on the reversed communicator
# collective calls of MPI_COMM_WORLD: how often
COLLECTIVES = {(f"MPI_{name}", name): calls for name, calls in BLOCKING.items()}
COLLECTIVES.update({(f"MPI_I{name.lower()}", name): 1 for name in OPERATIONS})
COLLECTIVES.update({(f"MPI_{name}_init", name): 2 for name in OPERATIONS})
if MPI_VERSION == 4:  # MPICH 4.0.2 cannot start a scatter again
    COLLECTIVES["MPI_Scatter_init", "Scatter"] = 1
    CALLS["MPI_Startall"] = (CALLS["MPI_Startall"][0], CALLS["MPI_Startall"][1] - bytes_of_all("Scatter"))


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
            add(rank, rank - 1, 2, 2 * 4)           # on the ring
            add(rank, rank + 1, 2, 2 * 4)
        expected = [[*pair, messages[pair], volume[pair]] for pair in sorted(messages)]
        self.assertEqual(self.trace("pattern")["messages"], expected)

    def test_calls(self):
        calls = {call["call"]: (call["calls"], call["bytes"]) for call in self.trace("pattern")["calls"]}
        self.assertEqual(calls, CALLS)

    def test_communicators(self):
        world = []
        for (call, name), calls in COLLECTIVES.items():
            entry = {"call": call, "calls": calls, "bytes": calls * bytes_of_all(name)}
            world.append({**entry, "root": RANKS - 1} if OPERATIONS[name][1] else entry)
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
