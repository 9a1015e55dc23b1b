"""The ABI of MPI 5: what the libraries want of an MPI is in mpi_abi.h, and a program that the ABI's own compiler makes
has both of them."""

import json
import os
import pathlib
import re
import subprocess
import unittest

from harness import MPIRUN, PRELOADED, RANKS, ProgramTest
from plans import Plans

LIBRARY = pathlib.Path(os.environ["AYATORI_C"])
COMPILER = os.environ["AYATORI_MPICC"]
MPI_LIBRARY, HEADER = (pathlib.Path(os.environ[f"AYATORI_MPI_ABI_{kind}"]) for kind in ("LIBRARY", "HEADER"))
SOURCES = pathlib.Path(os.environ["AYATORI_SOURCES"])


def output_of(*command):
    return subprocess.run(command, check=True, text=True, capture_output=True).stdout


ANOTHER = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, one = 1, sum = 0, later = 0;
  MPI_Request request;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Iallreduce(&one, &later, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 0) printf("%d %d\\n", sum, later);
  return MPI_Finalize();
}
"""


class Abi(ProgramTest):
    def run_compiled(self, compiler, *arguments):
        """A program by that compiler, with schedules for all its calls."""
        subprocess.run([compiler, *arguments, f"-Wl,-rpath,{MPI_LIBRARY.parent}", "-o", "program"], check=True, cwd=self.folder)
        (self.folder / "table.json").write_text(json.dumps(list(Plans(8).searches(RANKS))))
        done = subprocess.run([MPIRUN, "-n", str(RANKS), "env", f"LD_PRELOAD={PRELOADED}", "AYATORI_COLLECTIVES=table.json",
                               "AYATORI_COLLECTIVES_REPORT=1", "./program"], text=True, capture_output=True, timeout=200,
                              cwd=self.folder, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def test_what_is_wanted_of_an_mpi(self):
        standard = set(re.findall(r"\bP?MPI_\w+(?=\()", HEADER.read_text()))
        self.assertIn("PMPI_Allreduce_c", standard)
        for library in (PRELOADED, LIBRARY):
            wanted = set(re.findall(r" U (\w*[Mm][Pp][Ii]\w*)$", output_of("nm", "--dynamic", library), re.MULTILINE))
            self.assertGreater(len(wanted), 20)
            self.assertLessEqual(wanted, standard, library)
            needed = re.findall(r"NEEDED +(lib\w*mpi\w*\.so\.\d+)", output_of("objdump", "-p", library))
            self.assertEqual(needed, ["libmpi_abi.so.1"], library)

    def test_a_program_of_the_compiler_of_the_abi(self):
        """It solves by the one library, and its sums go by schedules of the other."""
        done = self.run_compiled(COMPILER, SOURCES / "c/examples/rows.c", f"-I{SOURCES / 'c'}", LIBRARY,
                                 f"-Wl,-rpath,{LIBRARY.parent}")
        self.assertRegex(done.stdout, r"^converged: relative residual \S+\n$")
        ours, all_calls = map(int, re.search(r"allreduce (\d+) of (\d+)", done.stderr).groups())
        self.assertGreater(all_calls, 10)
        self.assertGreater(ours, 0.9 * all_calls)

    def test_a_program_with_other_handles_runs_as_ever(self):
        compiler = COMPILER.removesuffix("_abi")
        if compiler == COMPILER or not pathlib.Path(compiler).exists():
            self.skipTest("the MPI has one compiler")
        (self.folder / "another.c").write_text(ANOTHER)
        done = self.run_compiled(compiler, "another.c")
        self.assertEqual(done.stdout, f"{RANKS} {RANKS}\n")
        self.assertRegex(done.stderr, r"^ayatori: not used: .*\n$")


if __name__ == "__main__":
    unittest.main()
