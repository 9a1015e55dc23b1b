"""Tables of schedules for tests."""

import random

OPERATIONS = ("broadcast", "reduce", "allreduce", "gather", "scatter", "allgather", "reduce-scatter", "alltoall",
              "barrier")
WITH_WORDS = OPERATIONS[:3]


def divisors(number):
    return [d for d in range(2, number + 1) if number % d == 0]


class Plans:
    """Plans that no search would choose: any radices, exchanges, groups, orders, roots, stripes and segments."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def digits(self, leaders, operation):
        digits = []
        stride = 1
        while stride < leaders:
            radix = self.random.choice(divisors(leaders // stride))
            exchanges = ["direct", "ring"]
            if operation != "alltoall":
                exchanges += ["doubling"] + ["swing"] * (radix & (radix - 1) == 0)
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
            plan["stripes"] = self.random.randint(1, max(2 * len(plan["digits"]), 1))
        if operation == "allreduce" and "C" in plan["word"]:
            for digit in plan["digits"]:
                if digit["exchange"] in ("ring", "swing"):
                    digit["exchange"] = "direct"
        plan["single_copy"] = self.random.choice(["none", "moved", "all"])
        return plan

    def searches(self, ranks):
        """As `collectives search` writes them; one plan of each operation keeps the order of ranks."""
        for operation in OPERATIONS:
            schedule = "allreduce" if operation == "barrier" else operation
            best = [{"bytes": 2**i, "plan": self.plan(schedule, ranks)} for i in range(18)]
            in_order = {"operation": schedule, "ranks": ranks, "root": 0, "segments": 1, "under_way": 1,
                        "word": "C" if schedule in WITH_WORDS else "",
                        "digits": [{"stride": 1, "radix": ranks, "exchange": "direct"}]}
            best.append({"bytes": 100, "plan": in_order})
            yield {"schema": "ayatori.collective-schedules/1", "operation": operation, "ranks": ranks, "best": best}
