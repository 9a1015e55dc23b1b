"""AYATORI_COLLECTIVES: collective calls of a program that knows nothing of it, by schedules."""

import json
import random
import re
import subprocess
import unittest

from harness import AYATORI, RANKS, ProgramTest

OPERATIONS = ("broadcast", "reduce", "allreduce", "gather", "scatter", "allgather", "reduce-scatter", "alltoall")
WITH_WORDS = OPERATIONS[:3]


def divisors(number):
    return [d for d in range(2, number + 1) if number % d == 0]


class Plans:
    """Plans that no search would choose: any radices, exchanges, groups, orders, roots and segments."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def digits(self, leaders, operation):
        digits = []
        stride = 1
        while stride < leaders:
            radix = self.random.choice(divisors(leaders // stride))
            exchanges = ["direct", "ring"] if operation == "alltoall" else ["direct", "ring", "doubling"]
            digits.append({"stride": stride, "radix": radix, "exchange": self.random.choice(exchanges)})
            stride *= radix
        self.random.shuffle(digits)
        return digits

    def word(self, length):
        """What is done first stands last."""
        letters = []
        left = length
        is_open = 0
        while left or is_open:
            letter = self.random.choice("CS" if not is_open else "CSM" if left else "M")
            left -= letter != "M"
            is_open += {"C": 0, "S": 1, "M": -1}[letter]
            letters.append(letter)
        return "".join(reversed(letters))

    def plan(self, operation, ranks):
        plan = {"operation": operation, "ranks": ranks, "word": "", "segments": 1,
                "under_way": self.random.randint(1, 5),
                "root": self.random.randrange(ranks) if operation in ("broadcast", "reduce", "gather", "scatter") else 0}
        leaders = ranks
        if operation != "alltoall":
            plan["order"] = self.random.sample(range(ranks), ranks)
            groups = [p for p in range(ranks) if p == 0 or self.random.random() < 0.7]
            if len(groups) < ranks:
                leaders = len(groups)
                plan.update(groups=groups, fold=self.random.choice(["direct", "ring", "doubling"]))
        plan["digits"] = self.digits(leaders, operation)
        if operation in WITH_WORDS:
            plan["word"] = self.word(len(plan["digits"]))
            plan["segments"] = self.random.choice([1, 1, 2, 7])
        if operation == "allreduce" and "C" in plan["word"]:
            for digit in plan["digits"]:
                if digit["exchange"] == "ring":
                    digit["exchange"] = "direct"
        return plan

    def searches(self, ranks):
        """As `collectives search` writes them; one plan of each operation keeps the order of ranks."""
        for operation in OPERATIONS:
            best = [{"bytes": 2**i, "plan": self.plan(operation, ranks)} for i in range(18)]
            in_order = {"operation": operation, "ranks": ranks, "root": 0, "segments": 1, "under_way": 1,
                        "word": "C" if operation in WITH_WORDS else "",
                        "digits": [{"stride": 1, "radix": ranks, "exchange": "direct"}]}
            best.append({"bytes": 100, "plan": in_order})
            yield {"schema": "ayatori.collective-schedules/1", "operation": operation, "ranks": ranks, "best": best}


class Schedules(ProgramTest):
    def table(self, searches, name="table.json"):
        (self.folder / name).write_text(json.dumps(searches))
        return name

    def counts(self, table, *arguments, **keywords):
        """operation -> (calls done by schedules, calls)"""
        done = self.run_program("exhaustive", *arguments, AYATORI_COLLECTIVES=table, AYATORI_COLLECTIVES_REPORT=1,
                                **keywords)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn("ayatori: calls done by schedules:", done.stderr)
        return {name: (int(ours), int(all_calls))
                for name, ours, all_calls in re.findall(r"([a-z-]+) (\d+) of (\d+)", done.stderr)}

    def expect_done(self, counts):
        """All but calls of nothing and those of one rank, which are more than half of some on two."""
        for operation in OPERATIONS:
            ours, all_calls = counts[operation]
            self.assertGreater(ours, 0.4 * all_calls, (operation, counts))

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
            self.table({**search, "operation": "barrier"}, "unknown.json"): "there is no collective 'barrier'",
            self.table({**search, "ranks": 4}, "ranks.json"): "a plan for broadcast on 3 ranks among",
            self.table({**search, "best": [{"bytes": 8, "plan": {**plan, "root": 3}}]}, "root.json"): "root 3",
            self.table({**search, "best": [{"bytes": -8, "plan": plan}]}, "size.json"): "-8 bytes",
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
