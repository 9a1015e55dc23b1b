#!/usr/bin/env python3
"""Compares what `ayatori probe` measures with standard tools: HPC Challenge's STREAM and ping-pong, NetPIPE, mpi4py's.

usage: bench/peers/probe.py [--rounds 5] [--ranks 2] [--seconds 15] [--ayatori build/release/cli/ayatori]
                            [--venv build/peers-probe-venv] [--markdown FILE]

Needs Debian's hpcc and netpipe-openmpi, and with them Open MPI. mpi4py, whose ping-pong is that of the OSU
micro-benchmarks in Python, is installed from PyPI into --venv the first time; Python's share of a short message is in
its time. In every round the tools take turns (A B C, then C B A). The table gives the median of the rounds, with the
least and the largest; the last column is the ratio of the best rounds, which other load disturbs least. Of its own
repetitions NetPIPE counts the best, hpcc's STREAM too; mpi4py the mean, ayatori the median. Messages go between ranks
0 and 1 on one node.
"""

import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import runs  # noqa: E402

DEBIAN = {"mpirun.openmpi": "openmpi-bin", "hpcc": "hpcc", "NPopenmpi": "netpipe-openmpi"}
HPCC_INPUT = pathlib.Path("/usr/share/doc/hpcc/examples/_hpccinf.txt")
KERNELS = ("copy", "scale", "add", "triad")
SIZES = (8, 64 << 10, 1 << 20)
HPCC_MESSAGE = 2_000_000  # bytes, of its ping-pong's bandwidth
ARRAYS = 64 << 20  # bytes of a rank's three arrays: what the probe has beyond the caches


def python_of(venv):
    """The Python of the environment that has mpi4py; makes it the first time."""
    python = venv / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", venv], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "mpi4py==4.1.2"], check=True)
    return python


def start(options, folder, *words, ranks=2):
    """The output of an MPI program."""
    done = subprocess.run(["mpirun.openmpi", "-n", str(ranks), *map(str, words)], cwd=folder, text=True,
                          capture_output=True, timeout=options.time_limit, check=False,
                          env=os.environ | {"OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        sys.exit(f"{words[0]} fails: {done.stderr.strip()}")
    return done.stdout


def measure_ayatori(options, folder):
    start(options, folder, options.ayatori, "probe", "--seconds", options.seconds, "--threads", 1, "-o", "profile.json",
          ranks=options.ranks)
    profile = json.loads((folder / "profile.json").read_text())
    figures = {}
    streams = [figure for figure in profile["memory"] if figure["threads"] == options.ranks]
    most = max(figure["bytes"] for figure in streams)
    for figure in streams:
        if figure["bytes"] == most:
            figures["stream", figure["kernel"]] = figure["bytes_per_second"]["median"]
    for curve in profile["levels"][0]["curves"]:
        if curve["pairs"] == 1:
            for point in curve["points"]:
                figures[curve["pattern"], point["bytes"]] = point["seconds"]["median"]
    # Not a size that the probe has: between its neighbours.
    low, high = HPCC_MESSAGE // (1 << 20) << 20, 2 << 20
    share = math.log(HPCC_MESSAGE / low) / math.log(high / low)
    figures["one-way", HPCC_MESSAGE] = (figures["one-way", low] ** (1 - share) * figures["one-way", high] ** share)
    return figures


def measure_hpcc(options, folder):
    lines = HPCC_INPUT.read_text().splitlines()
    for line, value in ((5, math.isqrt(options.ranks * ARRAYS // 8)), (10, 1), (11, options.ranks)):
        lines[line] = f"{value} {lines[line].split()[-1]}"  # N, which gives STREAM its arrays; P; Q
    (folder / "hpccinf.txt").write_text("\n".join(lines) + "\n")
    output = folder / "hpccoutf.txt"
    output.unlink(missing_ok=True)  # it appends
    start(options, folder, "hpcc", ranks=options.ranks)
    values = dict(line.split("=") for line in output.read_text().splitlines() if line.count("=") == 1)
    figures = {("stream", kernel): 1e9 * options.ranks * float(values[f"StarSTREAM_{kernel.capitalize()}"])
               for kernel in KERNELS}
    figures["one-way", 8] = 1e-6 * float(values["AvgPingPongLatency_usec"])
    figures["one-way", HPCC_MESSAGE] = HPCC_MESSAGE / (1e9 * float(values["AvgPingPongBandwidth_GBytes"]))
    return figures


def measure_netpipe(options, folder):
    figures = {}
    for pattern, settings, messages in (("one-way", [], 1), ("both-ways", ["-a", "-2"], 2)):
        start(options, folder, "NPopenmpi", *settings, "-p", 0, "-u", max(SIZES), "-o", "netpipe.out")
        for line in (folder / "netpipe.out").read_text().splitlines():
            total, megabits, _ = map(float, line.split())  # bytes of all messages; the seconds have few digits
            figures[pattern, int(total) // messages] = 8 * total / (megabits * (1 << 20))
    return figures


def measure_mpi4py(options, folder):
    output = start(options, folder, options.python, "-m", "mpi4py.bench", "pingpong", "--array", "none",
                   "--min-size", min(SIZES), "--max-size", max(SIZES), "--loop", 2000)
    rows = [line.replace("|", " ").split() for line in output.splitlines() if not line.startswith("#")]
    return {("one-way", int(row[0])): float(row[2]) for row in rows}


TOOLS = {"ayatori": measure_ayatori, "hpcc": measure_hpcc, "NetPIPE": measure_netpipe, "mpi4py": measure_mpi4py}


def text(figure, value):
    return f"{value / 1e9:.1f}" if figure[0] == "stream" else f"{1e6 * value:.3g}"


def name(figure):
    what, detail = figure
    if what == "stream":
        return f"STREAM {detail}, all ranks, GB/s"
    return f"{detail} B, {what.replace('-', ' ')}, us"


def table(rounds):
    lines = ["| figure | tool | median (least - largest) | ayatori | ayatori / tool | of the best |",
             "|---|---|---|---|---|---|"]
    wanted = [("stream", kernel) for kernel in KERNELS]
    wanted += [(pattern, size) for pattern in ("one-way", "both-ways") for size in (*SIZES, HPCC_MESSAGE)]
    for figure in wanted:
        ours = [round_[figure] for round_ in rounds["ayatori"] if figure in round_]
        for tool in TOOLS:
            if tool == "ayatori" or figure not in rounds[tool][0]:
                continue
            theirs = [round_[figure] for round_ in rounds[tool]]
            cells = [f"{text(figure, statistics.median(v))} ({text(figure, min(v))} - {text(figure, max(v))})"
                     for v in (theirs, ours)]
            best = max if figure[0] == "stream" else min
            ratios = [f"{of(ours) / of(theirs):.2f}" for of in (statistics.median, best)]
            lines.append(f"| {name(figure)} | {tool} | {' | '.join(cells + ratios)} |")
    return "\n".join(lines)


def main():
    parser = runs.parser_of(__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=2, help="of STREAM")
    parser.add_argument("--seconds", type=float, default=15, help="of the probe")
    parser.add_argument("--time-limit", type=float, default=300, help="seconds of one run of a tool")
    parser.add_argument("--ayatori", type=pathlib.Path, default=ROOT / "build" / "release" / "cli" / "ayatori")
    parser.add_argument("--venv", type=pathlib.Path, default=ROOT / "build" / "peers-probe-venv")
    parser.add_argument("--markdown", type=pathlib.Path, help="write the table here")
    options = parser.parse_args()
    missing = [tool for tool in DEBIAN if shutil.which(tool) is None]
    if missing:
        sys.exit(f"needs {', '.join(missing)} (Debian: {', '.join(DEBIAN[tool] for tool in missing)})")
    if not HPCC_INPUT.exists():
        sys.exit(f"needs {HPCC_INPUT} (Debian: hpcc, installed with its documentation)")
    options.ayatori = options.ayatori.resolve()
    options.python = python_of(options.venv.resolve())
    rounds = {tool: [] for tool in TOOLS}
    with tempfile.TemporaryDirectory() as folder:
        for tool in runs.take_turns(TOOLS, options.rounds):
            print(f"{tool} ...", file=sys.stderr, flush=True)
            rounds[tool].append(TOOLS[tool](options, pathlib.Path(folder)))
    result = table(rounds)
    print(result)
    if options.markdown:
        options.markdown.write_text(result + "\n")


if __name__ == "__main__":
    main()
