"""joint.py SMPIRUN AYATORI: ranks placed for exchange and collectives together, simulated; the simulator is deterministic.

What is predicted for the exchange is what its simulation takes, nearly, and the joint placement is the best of the three
in the simulation, too, but for what the prediction cannot tell. The golden times, in microseconds, are those of the whole:
exchange, then collectives.
"""

import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "bench"))

from simulated import placement  # noqa: E402 - of the folder above

SMPIRUN, AYATORI = sys.argv[1:]
RESOLUTION = 1 / 128  # replay_resolution: below it the order of ranks stays
CASES = {
    ("poisson3d-7:n=20", "graph", 24, 3, "tree:2x4", ("allreduce:8:2",)):
        {"order of ranks": 32.3172, "by the exchange": 32.0686, "jointly": 32.0686},
    ("poisson2d-5:n=48", "graph", 24, 3, "torus:4x2", ("allreduce:32K:1",)):
        {"order of ranks": 27.1964, "by the exchange": 27.9285, "jointly": 27.1964},
}


def main():
    for case, golden in CASES.items():
        with tempfile.TemporaryDirectory() as name:
            hosts = pathlib.Path(name) / "hosts"
            hosts.write_text("node-0\n", encoding="utf-8")
            launch = [SMPIRUN, "-np", "1", "-platform", HERE / "torus.xml", "-hostfile", hosts, AYATORI]
            found = placement.measure(SMPIRUN, case, launch)
        times = {what: figures["simulated_together"] for what, figures in found.items()}
        print(case, {what: f"{1e6 * seconds:.4f} us" for what, seconds in times.items()})
        for what, seconds in golden.items():
            if abs(1e6 * times[what] / seconds - 1) > 1e-3:
                sys.exit(f"{case}, {what}: {1e6 * times[what]:.4f} us, but {seconds} us is right")
        if times["jointly"] > (1 + RESOLUTION) * min(times.values()):
            sys.exit(f"{case}: the joint placement is not the best of those simulated, nearly: {times}")
        for what, figures in found.items():
            if not 0.8 < figures["simulated_exchange"] / figures["exchange"] < 1.25:
                sys.exit(f"{case}, {what}: the exchange was predicted to take {figures['exchange']} s")


if __name__ == "__main__":
    main()
