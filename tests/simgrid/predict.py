"""predict.py SMPIRUN AYATORI: `ayatori predict` against the simulated messages of `bench npb-cg`; the simulator is deterministic."""

import argparse
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "bench" / "papers"))

import nishida  # noqa: E402 - of the folder above

MEDIAN = 0.12
MOST = 0.25


def main():
    smpirun, ayatori = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        options = argparse.Namespace(smpirun=smpirun, ayatori=None, simulated=ayatori, classes=["S"], simulate=["S"],
                                     folder=pathlib.Path(folder), time_limit=200)
        errors, sides = nishida.redo(options, "ib2")
    total, messages = zip(*errors, strict=True)
    print(f"errors: {total}, of messages alone: {messages}")
    assert len(errors) == 4
    assert set(sides["S"]) <= {"bandwidth", "latency"}, "the sentence does not say which side of the network bounds"
    assert statistics.median(messages) <= MEDIAN and max(messages) <= MOST, "the forecast is off"


if __name__ == "__main__":
    main()
