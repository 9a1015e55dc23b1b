"""halo.py SMPIRUN AYATORI: halo exchanges by every strategy against what is forecast of them, simulated; the simulator is deterministic.

The strategy that the forecasts choose is among the best, direct messages where they are free to start and a way over nodes where
they are dear. The golden times are those of the choice, in microseconds.
"""

import argparse
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "bench"))

from simulated import halo  # noqa: E402 - of the folder above

MOST = 0.05
GOLDEN = {0: ("p2p-irecv-first", 4.3145), 0.5: ("node-aware-2step", 11.537)}


def main():
    smpirun, ayatori = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        options = argparse.Namespace(smpirun=smpirun, ayatori=ayatori, folder=pathlib.Path(folder), starts=list(GOLDEN), halo=[],
                                     platforms=["fat_tree-24x4"], matrices=["poisson3d-27:n=16"], partition="graph", repetitions=1,
                                     time_limit=100, probe_limit=100, memory=6, probe_ranks=24, bench_options="")
        for _, _, start, found in halo.measure(options):
            choice, golden = GOLDEN[start]
            times = {halo["halo"]: 1e6 * halo["seconds"] for halo in found["halos"]}
            print(f"messages that take {start} us to start: the forecasts choose {found['choice']} of {times}")
            assert found["choice"] == choice, f"{choice} is right"
            assert abs(times[choice] / golden - 1) < 1e-3, f"{golden} us is right"
            assert max(halo.excess(found)) <= MOST, "others are faster"


if __name__ == "__main__":
    main()
