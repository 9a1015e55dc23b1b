#!/usr/bin/env python3
"""Records what every arm does on training systems: set-up, iterations, an iteration's cost, how it ended.

usage: bench/training/record.py FILE [--families NAME_OR_KIND ...] [--systems NAME ...] [--most-rows 64000] [--processes 1]
                                     [--seconds TOTAL] [--arms NAME ...] [--rtol 1e-8] [--least 0.2] [--most 20] [--memory 4]

Systems come in the order of systems.py: cheap and different ones first. What FILE has is not run again, so that the same command goes on
where an earlier one was broken off. An arm has three times the seconds of the best one so far, at least --least, at most --most; while none
has solved the system, 2000 products, but at least a second. It is ended by force if it takes far longer, and fails beyond --memory GB.
The package `ayatori` has to be found: PYTHONPATH=build/release/python after
cmake --preset release -DAYATORI_PYTHON_PACKAGE=ON && cmake --build --preset release --target ayatori_python
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import queue
import resource
import signal
import subprocess
import sys
import threading
import time

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import arms as all_arms  # noqa: E402
import records  # noqa: E402
import systems  # noqa: E402

TOLERANCES = (1e-2, 1e-4, 1e-6, 1e-8)
FIRST_PRODUCTS = 2000        # an arm may take this many while none has solved the system, ...
FIRST_SECONDS = 1.0          # ... but as long at least
REFERENCE = {"method": "gmres", "preconditioner": "none", "restart": 10, "orthogonalization": "cgs", "max_iterations": 24}
BETWEEN_REFERENCES = 2.0     # processor seconds between measurements of the product
FINALISTS = 4                # arms that run again together with the tuned solve, ...
FINALS = 3                   # ... so often
MOST_CROWDED = 6.0           # processor time may come this many times slower than the wall clock's
SHORT = ((0.02, 3), (0.1, 2))  # processor seconds below which a run is repeated, and how often it runs then
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "AYATORI_KNOWLEDGE": "none", "OMPI_ALLOW_RUN_AS_ROOT": "1",
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def rounded(value, digits=4):
    """This many significant digits, as files should be small."""
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


class Worker:
    """What runs in a process of its own: the arms of one system."""

    def __init__(self, job):
        import ayatori

        self.package, self.job = ayatori, job
        self.system = systems.make(systems.recipe_of(job["system"]))
        self.crowded = 1.0  # wall clock over processor time
        # Every arm's, so that they differ in nothing else; of complex numbers the rows take half the bytes of a real form's.
        self.kernel = "complex-csr" if np.iscomplexobj(self.system.matrix) else "csr"
        self.product = None
        self.since_reference = 0.0
        self.best = job["best"]  # seconds
        self.totals = {}         # seconds of arms that have solved the system

    def solve(self, time_limit, **options):
        """(report, processor seconds, wall seconds) of a solve from nothing."""
        solver = self.package.Solver(self.system.matrix, threads=1, profile="none", rtol=self.job["rtol"], time_limit=time_limit, **options)
        wall, cpu = time.perf_counter(), time.process_time()
        report = solver.solve(self.system.b).report
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        self.since_reference += cpu
        if cpu > 0.005:
            self.crowded = min(max(wall / cpu, 1.0), MOST_CROWDED)
        return report, cpu, wall

    def forced(self, time_limit, arm):
        return self.solve(time_limit, kernel=self.kernel, exclude=["lsmr"], **arm)

    def measure_product(self):
        """Seconds of a product with compressed sparse rows, in a plain iteration."""
        measured = []
        for _ in range(2):
            report, *_ = self.solve(60.0, kernel="csr", exclude=["lsmr"], **REFERENCE)
            if report["product"]["seconds"]:
                measured.append(report["product"]["seconds"])
        self.product = min(measured, default=self.product or 1e-6)
        self.since_reference = 0.0
        return report

    def limit(self):
        """Processor seconds for the next arm."""
        if self.best is None:
            return min(max(FIRST_SECONDS, FIRST_PRODUCTS * self.product), self.job["most"])
        return min(max(3 * self.best, self.job["least"]), self.job["most"])

    def describe(self, facts):
        recipe = self.system.recipe
        return {"system": recipe.name, "family": recipe.family.name, "kind": recipe.family.kind, "parameters": recipe.parameters,
                "size": recipe.size, "seed": recipe.seed, "rtol": self.job["rtol"],
                "facts": {key: rounded(value, 7) for key, value in facts.items() if key not in ("source", "format")},
                "product": rounded(self.product)}

    def run(self):
        """Says what the system is, then what each arm did, line by line."""
        facts = self.measure_product()["matrix"]
        say(self.describe(facts))
        missing = missing_arms(facts, self.job["done"], self.job["arms"])
        for arm in map(all_arms.options_of, (name for name in missing if name != records.TUNED)):
            if self.since_reference > BETWEEN_REFERENCES:
                self.measure_product()
            limit = self.limit()
            say({"begins": all_arms.name_of(arm), "limit": limit * self.crowded})
            say(self.record(arm, limit))
        if records.TUNED in missing:
            finalists = sorted(self.totals, key=self.totals.get)[:FINALISTS]
            self.measure_product()
            limit = self.job["most"] if self.best is None else min(max(20 * self.best, 2.0), 3 * self.job["most"])
            say({"begins": records.TUNED, "limit": limit * self.crowded})
            say(self.record_tuned(limit))
            self.run_finals(finalists, limit)

    def run_finals(self, finalists, limit):
        """The fastest arms and the tuned solve take turns: of many arms one is the fastest by luck."""
        again = {name: [] for name in (*finalists, records.TUNED)}
        for turn in range(FINALS):
            for name in again if turn % 2 == 0 else reversed(again):
                say({"begins": name, "limit": limit * self.crowded})
                _, cpu, _ = self.solve(10 * limit) if name == records.TUNED else self.forced(10 * limit, all_arms.options_of(name))
                again[name].append(cpu)
        for name, seconds in again.items():
            say({"again": name, "totals": [rounded(value / self.product) for value in seconds]})

    def repeated(self, run, limit):
        """The run that others on the machine disturbed least: short ones are repeated."""
        best = run(limit * self.crowded * 1.1)
        times = next((times for seconds, times in SHORT if best[1] < seconds), 1)
        for _ in range(times - 1):
            again = run(limit * self.crowded * 1.1)
            best = min(best, again, key=lambda result: result[2])
        return best

    def record(self, arm, limit):
        base = {"arm": all_arms.name_of(arm)}
        try:
            report, cpu, wall = self.repeated(lambda seconds: self.forced(seconds, arm), limit)
        except (ValueError, OSError, MemoryError, RuntimeError) as error:
            return {**base, "outcome": "refused", "reason": str(error)[:200]}
        if not report["trials"]:
            return {**base, "outcome": "refused", "reason": report["status"]}
        trial = report["trials"][0]
        share = min(cpu / wall, 1.0) / self.product  # from wall seconds to products
        solved = report["status"] == "converged"
        if solved:
            self.best = min(cpu, self.best or cpu)
            self.totals[base["arm"]] = cpu
        record = {**base, "outcome": "converged" if solved else outcome_of(report, trial), "iterations": trial["iterations"],
                  "setup": rounded(trial["seconds"]["setup"] * share), "total": rounded(cpu / self.product),
                  "residual": rounded(report["relative_residual"], 2), "product": rounded(self.product)}
        if not solved and trial["reason"]:
            record["reason"] = trial["reason"][:200]
        if trial["iterations"]:
            record["iteration"] = rounded(trial["seconds"]["solve"] * share / trial["iterations"])
            record["apply"] = rounded(report["seconds"]["preconditioner"] * share / trial["iterations"])
        return {**record, **history_of(report)}

    def record_tuned(self, limit):
        report, cpu, wall = self.repeated(lambda seconds: self.solve(seconds), limit)
        share = min(cpu / wall, 1.0) / self.product
        return {"arm": records.TUNED, "outcome": report["status"], "iterations": report["iterations"], "total": rounded(cpu / self.product),
                "residual": rounded(report["relative_residual"], 2), "product": rounded(self.product),
                "choice": words_of(report["choice"]), "why": report["why"],
                "trials": [{"arm": words_of(trial["choice"]), "outcome": trial["outcome"], "iterations": trial["iterations"],
                            "setup": rounded(trial["seconds"]["setup"] * share), "solve": rounded(trial["seconds"]["solve"] * share)}
                           for trial in report["trials"]]}


def missing_arms(facts, done, wanted):
    """Names of arms that have no record yet, in the order in which to run them; the tuned solve comes last."""
    names = [*map(all_arms.name_of, all_arms.arms_of(facts)), records.TUNED]
    return [name for name in names if name not in done and (wanted is None or name in wanted)]


def seconds_of(record):
    return record["total"] * record["product"]


def words_of(choice):
    restart = f"({choice['restart']})" if choice["restart"] else ""
    return f"{choice['method']}{restart} + {choice['preconditioner']}"


def outcome_of(report, trial):
    if report["status"] == "time limit reached":
        return "time limit"
    return trial["outcome"] if trial["outcome"] not in ("", "converged") else report["status"]


def history_of(report):
    """The history of the first arm, thinned, and the first iterations with these residuals."""
    arms = report["history"]
    if not arms or not arms[0]["iterations"]:
        return {}
    iterations, residuals = arms[0]["iterations"], [float("nan") if r is None else r for r in arms[0]["relative_residuals"]]
    reached = [next((i for i, r in zip(iterations, residuals) if r <= tolerance), None) for tolerance in TOLERANCES]
    return {"at": reached, "last": iterations[-1], "history": records.thin(iterations, residuals, records.POINTS)}


def say(entry):
    print(json.dumps(entry), flush=True)


def work():
    """Of the process that Recording starts: a job comes in, lines go out."""
    job = json.loads(sys.stdin.readline())
    limit = int(job["memory"] * 2**30)
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    Worker(job).run()


class Recording:
    """One system: starts processes until every arm has its record."""

    def __init__(self, options, recipe, known, stop):
        self.options, self.recipe, self.stop = options, recipe, stop
        self.records = []
        self.system = None
        self.begun = time.monotonic()
        known_arms = known["arms"] if known else {}
        self.done = list(known_arms)
        self.best = min(map(seconds_of, filter(records.is_solved, known_arms.values())), default=None)

    def run(self):
        """Until no arm is missing, the system cannot be made or there is no time."""
        deaths = 0
        while deaths < 20 and not self.stop.is_set():
            at_work, failure = self.run_process()
            if failure is None:
                break
            if at_work is None:  # it was the system: too large for the memory, say
                print(f"{self.recipe.name}: {failure}", file=sys.stderr, flush=True)
                break
            deaths += 1
            if at_work["begins"] in self.done:
                break  # a second run, of which nothing is missed
            self.add({"arm": at_work["begins"], "outcome": "killed", "reason": failure})
        if self.system:
            records.append(self.options.file, self.system, self.records)

    def add(self, record):
        self.records.append(record)
        self.done.append(record["arm"])
        if records.is_solved(record):
            self.best = min(seconds_of(record), self.best or seconds_of(record))

    def run_process(self):
        """(what began but did not end, why), or (None, None)."""
        options = self.options
        job = {"system": self.recipe.name, "rtol": options.rtol, "least": options.least, "most": options.most, "memory": options.memory,
               "best": self.best, "done": self.done, "arms": options.arms}
        process = subprocess.Popen([sys.executable, __file__, "--work"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env={**os.environ, **ENVIRONMENT})
        process.stdin.write(json.dumps(job) + "\n")
        process.stdin.flush()
        lines = queue.Queue()
        errors = []
        threading.Thread(target=lambda: [*map(lines.put, process.stdout), lines.put(None)], daemon=True).start()
        threading.Thread(target=lambda: errors.extend(process.stderr), daemon=True).start()
        at_work, failure, deadline = None, None, time.monotonic() + 300
        while failure is None:
            try:
                line = lines.get(timeout=min(max(deadline - time.monotonic(), 0), 1.0))
            except queue.Empty:
                if self.stop.is_set():
                    process.kill()
                    return None, None
                if time.monotonic() > deadline:
                    failure = "took too long and was ended"
                continue
            if line is None:
                process.wait()
                if process.returncode == 0:
                    return None, None
                failure = errors[-1].strip()[:200] if errors else f"exit status {process.returncode}"
                break
            if not line.startswith("{"):
                continue
            said = json.loads(line)
            if "system" in said:
                self.system = said
            elif "again" in said:
                next(record for record in self.records if record["arm"] == said["again"])["again"] = said["totals"]
            elif "begins" in said:
                at_work, deadline = said, time.monotonic() + 6 * said["limit"] + 20
            else:
                self.add(said)
                at_work, deadline = None, time.monotonic() + 120
        process.kill()
        process.wait()
        return at_work, failure


def main():
    if sys.argv[1:] == ["--work"]:
        work()
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--families", nargs="+", help="of these names or kinds only")
    parser.add_argument("--systems", nargs="+", help="of these names instead")
    parser.add_argument("--most-rows", type=int, default=64000)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="then no other system is begun, and those at work end")
    parser.add_argument("--arms", nargs="+", help="these only, of those that apply")
    parser.add_argument("--rtol", type=float, default=1e-8)
    parser.add_argument("--least", type=float, default=0.2, help="processor seconds that any arm has")
    parser.add_argument("--most", type=float, default=20, help="... and no more than these")
    parser.add_argument("--memory", type=float, default=4, help="GB of a process")
    options = parser.parse_args()
    records.mend(options.file)
    known = records.load(options.file)
    wanted = [systems.recipe_of(name) for name in options.systems or ()] or systems.recipes(options.families, options.most_rows)
    stop = threading.Event()
    timer = threading.Timer(options.seconds, stop.set) if options.seconds < float("inf") else None
    if timer:
        timer.daemon = True
        timer.start()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())

    def run(recipe):
        earlier = known.get(recipe.name)
        if stop.is_set() or (earlier and not missing_arms(earlier["facts"], earlier["arms"], options.arms)):
            return
        recording = Recording(options, recipe, earlier, stop)
        recording.run()
        if not recording.system:
            return  # what was wrong has been said
        solved = sum(map(records.is_solved, recording.records))
        print(f"{recipe.name}: {solved} of {len(recording.records)} arms solve it, {time.monotonic() - recording.begun:.0f} s", file=sys.stderr, flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.processes) as pool:
        list(pool.map(run, wanted))


if __name__ == "__main__":
    main()
