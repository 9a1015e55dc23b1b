#!/usr/bin/env python3
"""Records what every arm does on training systems: set-up, iterations, an iteration's cost, how it ended.

usage: bench/training/record.py FILE [--families NAME_OR_KIND ...] [--systems NAME ...] [--most-rows 64000] [--processes 1]
                                     [--seconds TOTAL] [--rtol 1e-8] [--least 0.2] [--most 20] [--memory 4]

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
import statistics
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import arms as all_arms  # noqa: E402
import records  # noqa: E402
import systems  # noqa: E402

POINTS = 30
TOLERANCES = (1e-2, 1e-4, 1e-6, 1e-8)
TUNED = "tuned"
FIRST_PRODUCTS = 2000        # an arm may take so many while none has solved the system, ...
FIRST_SECONDS = 1.0          # ... but as long at least
REFERENCE = {"method": "gmres", "preconditioner": "none", "restart": 10, "orthogonalization": "cgs", "max_iterations": 24}
BETWEEN_REFERENCES = 2.0     # processor seconds between measurements of the product
MOST_CROWDED = 6.0           # processor time may come so many times slower than the wall clock's
SHORT = ((0.02, 3), (0.1, 2))  # processor seconds below which a run is repeated, and how often it runs then
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "AYATORI_KNOWLEDGE": "none", "OMPI_ALLOW_RUN_AS_ROOT": "1",
               "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def rounded(value, digits=4):
    """So many significant digits, as files should be small."""
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


class Worker:
    """What runs in a process of its own: the arms of one system."""

    def __init__(self, job):
        import ayatori

        self.package, self.job = ayatori, job
        self.system = systems.make(systems.recipe_of(job["system"]))
        self.crowded = 1.0  # wall clock over processor time
        self.product = None
        self.since_reference = 0.0
        self.best = job["best"]  # seconds

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
        return self.solve(time_limit, kernel="csr", exclude=["lsmr"], **arm)

    def measure_product(self):
        """Seconds of a product with compressed sparse rows, in a plain iteration."""
        measured = []
        for _ in range(2):
            report, *_ = self.forced(60.0, REFERENCE)
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
        done = set(self.job["done"])
        for arm in all_arms.arms_of(facts):
            if all_arms.name_of(arm) in done:
                continue
            if self.since_reference > BETWEEN_REFERENCES:
                self.measure_product()
            limit = self.limit()
            say({"begins": all_arms.name_of(arm), "options": arm, "limit": limit * self.crowded})
            say(self.record(arm, limit))
        if TUNED not in done:
            self.measure_product()
            limit = self.job["most"] if self.best is None else min(max(20 * self.best, 2.0), 3 * self.job["most"])
            say({"begins": TUNED, "options": {}, "limit": limit * self.crowded})
            say(self.record_tuned(limit))

    def repeated(self, run, limit):
        """The run that others on the machine disturbed least: short ones are repeated."""
        best = run(limit * self.crowded * 1.1)
        times = next((times for seconds, times in SHORT if best[1] < seconds), 1)
        for _ in range(times - 1):
            again = run(limit * self.crowded * 1.1)
            best = min(best, again, key=lambda result: result[2])
        return best

    def record(self, arm, limit):
        base = {"arm": all_arms.name_of(arm), "options": arm}
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
        record = {**base, "outcome": "converged" if solved else outcome_of(report, trial), "iterations": trial["iterations"],
                  "setup": rounded(trial["seconds"]["setup"] * share), "total": rounded(cpu / self.product),
                  "residual": rounded(report["relative_residual"], 2), "seconds": rounded(cpu), "product": rounded(self.product)}
        if not solved and trial["reason"]:
            record["reason"] = trial["reason"][:200]
        if trial["iterations"]:
            record["iteration"] = rounded(trial["seconds"]["solve"] * share / trial["iterations"])
            record["apply"] = rounded(report["seconds"]["preconditioner"] * share / trial["iterations"])
        return {**record, **history_of(report)}

    def record_tuned(self, limit):
        report, cpu, wall = self.repeated(lambda seconds: self.solve(seconds), limit)
        share = min(cpu / wall, 1.0) / self.product
        return {"arm": TUNED, "outcome": report["status"], "iterations": report["iterations"], "total": rounded(cpu / self.product),
                "residual": rounded(report["relative_residual"], 2), "seconds": rounded(cpu), "product": rounded(self.product),
                "choice": words_of(report["choice"]), "why": report["why"],
                "trials": [{"arm": words_of(trial["choice"]), "outcome": trial["outcome"], "iterations": trial["iterations"],
                            "setup": rounded(trial["seconds"]["setup"] * share), "solve": rounded(trial["seconds"]["solve"] * share)}
                           for trial in report["trials"]]}


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
    return {"at": reached, "last": iterations[-1], "points": POINTS, "history": records.thin(iterations, residuals, POINTS)}


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
        known_arms = known["arms"] if known else {}
        self.done = list(known_arms)
        solved = [arm["seconds"] for arm in known_arms.values() if arm["outcome"] == "converged"]
        self.best = min(solved, default=None)

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
            self.add({"arm": at_work["begins"], "options": at_work["options"], "outcome": "killed", "reason": failure})
        if self.system:
            records.append(self.options.file, self.system, self.records)

    def add(self, record):
        self.records.append(record)
        self.done.append(record["arm"])
        if record["outcome"] == "converged":
            self.best = min(record["seconds"], self.best or record["seconds"])

    def run_process(self):
        """(what began but did not end, why), or (None, None)."""
        options = self.options
        job = {"system": self.recipe.name, "rtol": options.rtol, "least": options.least, "most": options.most, "memory": options.memory,
               "best": self.best, "done": self.done}
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
            elif "begins" in said:
                at_work, deadline = said, time.monotonic() + 6 * said["limit"] + 20
            else:
                self.add(said)
                at_work, deadline = None, time.monotonic() + 120
        process.kill()
        process.wait()
        return at_work, failure


def is_complete(known):
    """Whether the tuned solve, which comes last, is there, and every arm that applies."""
    return known is not None and TUNED in known["arms"] and all(
        all_arms.name_of(arm) in known["arms"] for arm in all_arms.arms_of(known["facts"]))


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

    def run(recipe):
        if stop.is_set() or is_complete(known.get(recipe.name)):
            return
        start = time.monotonic()
        recording = Recording(options, recipe, known.get(recipe.name), stop)
        recording.run()
        solved = sum(record["outcome"] == "converged" for record in recording.records)
        print(f"{recipe.name}: {solved} of {len(recording.records)} arms solve it, {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.processes) as pool:
        try:
            list(pool.map(run, wanted))
        except KeyboardInterrupt:
            stop.set()
            raise


if __name__ == "__main__":
    main()
