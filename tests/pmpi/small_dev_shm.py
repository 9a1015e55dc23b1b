"""With little room in /dev/shm, as containers have: everything ends as without the library. Needs root, and unshare."""

import json
import os
import pathlib
import subprocess
import sys
import unittest

from harness import AYATORI, MPIRUN, PRELOADED, PROGRAMS, RANKS, ProgramTest
from plans import Plans

SKIPPED = 77
MOUNT = 'mount -t tmpfs -o size="$0" tmpfs /dev/shm && exec "$@"'


def with_room(size, *command):
    return ["unshare", "-m", "sh", "-c", MOUNT, size, *command]


def can_mount():
    try:
        return subprocess.run(with_room("1m", "true"), capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@unittest.skipIf(RANKS == 1, "one rank shares nothing")
class SmallDevShm(ProgramTest):
    def run_in(self, size, *command):
        done = subprocess.run(with_room(size, MPIRUN, "-n", str(RANKS), *command), cwd=self.folder, text=True,
                              capture_output=True, timeout=100, check=False, env={**os.environ, "XDG_CACHE_HOME": str(self.folder)})
        return done.returncode, done.stdout + done.stderr

    def test_the_library_before_a_program(self):
        (self.folder / "table.json").write_text(json.dumps(list(Plans(6).searches(RANKS))))
        settings = ["AYATORI_COLLECTIVES=table.json"] + ([f"LD_PRELOAD={PRELOADED}"] if PRELOADED else [])
        for more in ([], ["no-kernel-memory"]):
            status, said = self.run_in("64m", "env", *settings, str(PROGRAMS / "pmpi_refusals"), "few", "100", *more)
            self.assertEqual(status, 0, said)

    def test_our_own_programs(self):
        if "mpich" in pathlib.Path(MPIRUN).name:
            self.skipTest("MPICH itself does not start with so little")
        for command in ("solve poisson3d-7:n=12 --halo shared-memory", "bench npb-cg --class S",
                        "probe --quick --output p.json",
                        "collectives tune --output t.json --operations allreduce --sizes 8:64 --seconds 3"):
            status, said = self.run_in("1m", AYATORI, *command.split())
            self.assertEqual(status, 0, said)

    def test_a_window_for_which_there_is_no_room(self):
        if "mpich" in pathlib.Path(MPIRUN).name:
            self.skipTest("MPICH itself does not start with so little")
        status, said = self.run_in("100k", AYATORI, *"solve poisson3d-7:n=60 --halo rma-put".split())
        self.assertEqual(status, 3, said)
        self.assertEqual(said.count("ayatori: a window of the ranks of a node takes"), 1, said)
        status, said = self.run_in("100k", AYATORI, *"bench halo poisson3d-7:n=60".split())
        self.assertEqual(status, 0, said)
        self.assertEqual(said.count("left out: halo rma-put: a window"), 1, said)


if __name__ == "__main__":
    if not can_mount():
        print("SKIPPED: no small /dev/shm can be mounted here; it takes root, and unshare -m", file=sys.stderr)
        sys.exit(SKIPPED)
    unittest.main()
