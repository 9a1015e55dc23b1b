"""Runs `ayatori probe` on simulated racks (racks.xml) and holds the profile against what the platform file says."""

import json
import pathlib
import subprocess
import sys
import tempfile

LATENCY, MORE_LATENCY = 1e-6, 20e-6  # in a rack, and what the core adds
RATE, CORE_RATE = 12.5e9, 1.25e9
RACKS = NODES = 4


def close(found, expected, what):
    if abs(found - expected) > 0.02 * expected:
        sys.exit(f"{what}: {found:.4g}, but the platform says {expected:.4g}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "profile.json"
        subprocess.run([*sys.argv[1:], "-o", str(path)], check=True)
        profile = json.loads(path.read_text())
    near, far = profile["levels"]  # two levels, no more
    if near["group_of_rank"] != [rank % RACKS for rank in range(RACKS * NODES)]:
        sys.exit(f"the racks are not found: {near['group_of_rank']}")
    curves = [{(curve["pattern"], curve["pairs"]): curve["pieces"] for curve in level["curves"]}
              for level in (near, far)]
    for pieces in (curves[0]["one-way", 1], curves[1]["one-way", 1]):
        if len(pieces) != 1:
            sys.exit(f"there is no protocol switch, but {len(pieces)} pieces: {pieces}")
    close(curves[0]["one-way", 1][0]["alpha"], LATENCY, "latency in a rack")
    close(1 / curves[0]["one-way", 1][0]["beta"], RATE, "bandwidth in a rack")
    close(curves[1]["one-way", 1][0]["alpha"], LATENCY + MORE_LATENCY, "latency between racks")
    close(1 / curves[1]["one-way", 1][0]["beta"], CORE_RATE, "bandwidth between racks")
    close(1 / curves[1]["one-way", NODES][0]["beta"], CORE_RATE / NODES, "of each of four pairs on the core")
    close(1 / curves[1]["both-ways", 1][0]["beta"], CORE_RATE / 2, "of two messages that cross on the core")


if __name__ == "__main__":
    main()
