"""Rounds of messages, simulated by SMPI's replay: in each every rank receives, sends and waits once. Deterministic.

Messages have sizes and no data, so thousands of ranks take little memory. The platform is what `ayatori map --platform`
writes: the routes and widths that the placement was found by, shared by the messages that are under way at the same time
(max-min fair, as SimGrid does it). What a rank does for a message is computing before it is sent: inside a node latency
and copy, between nodes the latency, as the cost model has it.
"""

import re
import subprocess

BYTE = 6  # SMPI's number of the type in a trace
SPEED = 1e9  # operations per second of a host
FIXED = ["-no-privatize", "--cfg=network/model:CM02", "--cfg=network/weight-S:0", "--cfg=network/crosstraffic:no",
         "--cfg=surf/precision:1e-12", "--cfg=smpi/host-speed:1Gf",
         "--cfg=smpi/display-timing:yes", "--log=xbt_cfg.thresh:warning"]


def trace_of(rounds, node_of, model):
    """The actions of every rank. `rounds`: lists of (from, to, bytes), ranks from 0; who has a message in a round waits for
    all of its own there. `model` as in the JSON of `ayatori map`."""
    lines = [f"{rank} init" for rank in range(len(node_of))]
    for edges in rounds:
        lines += [f"{b} irecv {a} 0 {size} {BYTE}" for a, b, size in edges]
        for a, b, size in edges:
            seconds = (model["inside_latency"] + size / model["inside_bandwidth"] if node_of[a] == node_of[b]
                       else model["between_latency"])
            lines.append(f"{a} compute {SPEED * seconds:.6f}\n{a} isend {b} 0 {size} {BYTE}")
        lines += [f"{rank} waitall" for rank in sorted({end for a, b, _ in edges for end in (a, b)})]
    return "\n".join(lines + [f"{rank} finalize" for rank in range(len(node_of))]) + "\n"


def seconds(smpirun, folder, platform, rounds, node_of, model, time_limit=3600):
    """That these rounds of messages take (an exchange is one), the ranks on these nodes of the platform."""
    trace, traces, hosts = folder / "exchange.trace", folder / "exchange.traces", folder / "exchange.hosts"
    trace.write_text(trace_of(rounds, node_of, model))
    traces.write_text(f"{trace}\n")
    hosts.write_text("".join(f"node-{node}\n" for node in node_of))
    command = ["nice", "-n", "10", smpirun, "-np", str(len(node_of)), "-platform", str(platform), "-hostfile", str(hosts),
               "-replay", str(traces), *FIXED]
    done = subprocess.run(command, text=True, capture_output=True, timeout=time_limit, check=False)
    found = re.search(r"Simulated time: (\S+) seconds", done.stdout + done.stderr)
    if not found:
        raise RuntimeError(f"{command}: {(done.stdout + done.stderr)[-800:]}")
    return float(found.group(1))
