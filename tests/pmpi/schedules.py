"""AYATORI_COLLECTIVES: collective calls of a program that knows nothing of it, by schedules."""

import json
import re
import subprocess
import unittest

from harness import AYATORI, MPI_VERSION, RANKS, ProgramTest
from plans import OPERATIONS, Plans


class Schedules(ProgramTest):
    def table(self, searches, name="table.json"):
        (self.folder / name).write_text(json.dumps(searches))
        return name

    def counts(self, table, *arguments, program="exhaustive", **keywords):
        """operation -> (calls done by schedules, calls)"""
        done = self.run_program(program, *arguments, AYATORI_COLLECTIVES=table, AYATORI_COLLECTIVES_REPORT=1, **keywords)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("ayatori: calls done by schedules:", done.stderr)
        return {name: (int(ours), int(all_calls))
                for name, ours, all_calls in re.findall(r"([a-z-]+) (\d+) of (\d+)", done.stderr)}

    def expect_done(self, counts):
        """All but calls of nothing, those of one rank, and alltoallv in place, which are two thirds of some on two."""
        for operation in OPERATIONS:
            ours, all_calls = counts[operation]
            self.assertGreater(ours, 0.3 * all_calls, (operation, counts))

    def test_the_program_alone(self):
        self.assertEqual(self.run_program("exhaustive", "--alone").stderr, "")

    @unittest.skipIf(RANKS == 1, "one rank has nothing to schedule")
    def test_odd_plans(self):
        for seed in range(2):
            plans = Plans(seed)
            searches = [search for ranks in range(2, RANKS + 1) for search in plans.searches(ranks)]
            self.expect_done(self.counts(self.table(searches)))

    @unittest.skipIf(RANKS == 1, "one rank has nothing to schedule")
    def test_what_searches_find(self):
        names = []
        for ranks in range(2, RANKS + 1):
            for operation in OPERATIONS:
                names.append(f"{operation}{ranks}.json")
                more = ["--keep-order"] if operation in ("reduce", "allreduce", "reduce-scatter") else []
                subprocess.run([AYATORI, "collectives", "search", operation, "--profile", "pc-cluster-gbe", "--ranks",
                                str(ranks), "--sizes", "4:256K", "--finalists", "3", "--json", names[-1], *more],
                               cwd=self.folder, check=True, capture_output=True)
        self.expect_done(self.counts(":".join(names)))

    @unittest.skipIf(RANKS == 1, "one rank has nothing to schedule")
    def test_vector_calls_go_by_pairs(self):
        """All but the first three, until there is memory; none where no size of the table has a schedule."""
        searches = [search for search in Plans(4).searches(RANKS) if search["operation"] != "gather"]
        gather = {"schema": "ayatori.collective-schedules/1", "operation": "gather", "ranks": RANKS,
                  "best": [{"bytes": 8, "plan": None}]}
        counts = self.counts(self.table([*searches, gather]), 8, 0.1, program="vectors")
        self.assertEqual(counts["gather"][0], 0)
        for operation, by_mpi in (("scatter", 3 * RANKS), ("alltoall", 0)):
            ours, all_calls = counts[operation]
            self.assertEqual(all_calls - ours, by_mpi, operation)
            self.assertGreater(ours, 0)

    @unittest.skipIf(RANKS == 1, "one rank has nothing to schedule")
    def test_vector_calls_go_as_their_own_race_has_it(self):
        """Blocks through memory though schedules have lost; not at all though schedules have won."""
        memory = {"schema": "ayatori.collective-schedules/1", "operation": "gather", "ranks": RANKS,
                  "best": [{"bytes": 1 << k, "plan": None, "blocks": "memory"} for k in range(12)]}
        searches = [search for search in Plans(4).searches(RANKS) if search["operation"] == "scatter"]
        for best in searches[0]["best"]:
            best["blocks"] = "messages"
        counts = self.counts(self.table([*searches, memory]), 8, 0.1, program="vectors")
        self.assertGreater(counts["gather"][0], 0)
        self.assertEqual(counts["scatter"][0], 0)

    @unittest.skipIf(RANKS == 1, "one rank has nothing to schedule")
    @unittest.skipIf(MPI_VERSION < 4, "the MPI has no large counts")
    def test_large_counts(self):
        for operation, (ours, all_calls) in self.counts(self.table(list(Plans(7).searches(RANKS))), program="large").items():
            self.assertEqual(ours, all_calls, operation)

    def test_one_rank_has_nothing_to_schedule(self):
        searches = list(Plans(1).searches(5))
        for operation, (ours, _) in self.counts(self.table(searches), ranks=1).items():
            self.assertEqual(ours, 0, operation)

    def test_a_table_that_does_not_fit(self):
        plan = Plans(2).plan("broadcast", 3)
        search = {"schema": "ayatori.collective-schedules/1", "operation": "broadcast", "ranks": 3,
                  "best": [{"bytes": 8, "plan": plan}]}
        (self.folder / "text.json").write_text("{\"schema\": ")
        tables = {
            "text.json": "text.json",
            "missing.json": "missing.json: cannot be read",
            self.table({}, "empty.json"): "schema",
            self.table("text", "string.json"): "string.json",
            self.table({**search, "schema": "ayatori.solve/1"}, "schema.json"): "not what `collectives search --json`",
            self.table({**search, "operation": "reduce"}, "other.json"): "a plan for broadcast",
            self.table({**search, "operation": "scan"}, "unknown.json"): "there is no collective 'scan'",
            self.table({**search, "ranks": 4}, "ranks.json"): "a plan for broadcast on 3 ranks among",
            self.table({**search, "best": [{"bytes": 8, "plan": {**plan, "root": 3}}]}, "root.json"): "root 3",
            self.table({**search, "best": [{"bytes": -8, "plan": plan}]}, "size.json"): "-8 is no whole number",
            self.table([search, 7], "seven.json"): "seven.json",
        }
        for table, why in tables.items():
            done = self.run_program("pattern", AYATORI_COLLECTIVES=table)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
            self.assertIn("ayatori: AYATORI_COLLECTIVES is ignored: ", done.stderr)
            self.assertIn(why, done.stderr)

    @unittest.skipIf(RANKS == 1, "one rank has nothing to schedule")
    def test_the_trace_shows_calls_not_messages_of_schedules(self):
        searches = list(Plans(3).searches(RANKS))
        traces = []
        for variables in ({}, {"AYATORI_COLLECTIVES": self.table(searches)}):
            self.run_program("pattern", AYATORI_TRACE="trace.json", **variables)
            traces.append((self.folder / "trace.json").read_text())
        self.assertEqual(*traces)


if __name__ == "__main__":
    unittest.main()
