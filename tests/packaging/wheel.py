"""The binary wheel serves who has neither a compiler nor an MPI, and with an MPI of the package index, ranks."""

import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import venv
import zipfile

import spdx

SOURCES = pathlib.Path(os.environ["AYATORI_SOURCES"])
# Packages of the index that a user would add; a wheel of MPICH 5 has libmpi_abi.so as well.
RANKS = ("mpich>=5", "mpi4py>=4")
# What a processor of x86-64-v3 has, as Linux names it.
V3 = {"avx2", "bmi1", "bmi2", "f16c", "fma", "abm", "movbe"}
WITHOUT_AVX2 = {"GLIBC_TUNABLES": "glibc.cpu.hwcaps=-AVX2"}  # as the loader then sees the processor

SERIAL = """
import time
began = time.perf_counter()
import ayatori
seconds = time.perf_counter() - began
import numpy
def check(A, b, result):
    assert result.converged and numpy.linalg.norm(b - A @ result.x) <= 1e-8 * numpy.linalg.norm(b), result
A = ayatori.load("poisson2d-5:n=40")
b = numpy.ones(1600)
for arguments in {}, {"method": "cg", "preconditioner": "amg"}, {"preconditioner": "direct"}:
    result = ayatori.solve(A, b, **arguments)
    check(A, b, result)
    assert result.report["mpi"] == "one process without MPI", result.report["mpi"]
large = ayatori.load("poisson3d-7:n=24")
c = numpy.ones(24**3)
result = ayatori.solve(large, c, preconditioner="direct")
check(large, c, result)
print(result.explain())
values, vectors = ayatori.eigh(numpy.diag([3.0, 1.0, 2.0]))
assert abs(values - [1, 2, 3]).max() < 1e-12
libraries = {line.split("/", 1)[1].strip() for line in open("/proc/self/maps") if "/" in line}
assert not [name for name in libraries if "libmpi" in name], libraries
ours = ("libfmt", "libgomp", "libhwloc", "libklu", "libmetis", "libopenblas")
assert not [path for path in libraries if path.rpartition("/")[2].startswith(ours) and "/site-packages/" not in path], libraries
print("flags", ayatori.build_info()["flags"])
print("core", *(path for path in libraries if "libayatori_core" in path))
print("import", seconds)
"""

PARALLEL = """
import numpy
from mpi4py import MPI
import ayatori
comm = MPI.COMM_WORLD
assert comm.size == 2
def solve(A, **arguments):
    half = A.shape[0] // 2
    rows = slice(half * comm.rank, half * (comm.rank + 1))
    b = numpy.ones(A.shape[0])
    result = ayatori.solve(A[rows], b[rows], comm=comm, **arguments)
    x = numpy.concatenate(comm.allgather(result.x))
    assert result.converged and numpy.linalg.norm(b - A @ x) <= 1e-8 * numpy.linalg.norm(b), result
    assert result.report["mpi"] == MPI.Get_library_version().split(",")[0].split("\\n")[0], result.report["mpi"]
    return result
A = ayatori.load("poisson2d-5:n=40")
for arguments in {}, {"method": "cg", "preconditioner": "amg"}, {"preconditioner": "direct"}, {"halo": "rma-put"}:
    solve(A, **arguments)
assert "factors by MUMPS" in solve(ayatori.load("poisson3d-7:n=24"), preconditioner="direct").explain()
b = numpy.ones(1600)
assert ayatori.solve(A, b).converged  # each by itself
print("rank", comm.rank, "is done")
"""

EACH_BY_ITSELF = """
import ayatori, numpy
A = ayatori.load("poisson2d-5:n=20")
print(ayatori.solve(A, numpy.ones(400)).status)
"""

READ_BACK = """
import ayatori, numpy
A = ayatori.load("poisson3d-7:n=12")
assert numpy.linalg.norm(1 - A @ numpy.load("x.npy")) <= 1e-8 * 12**1.5
"""

TOO_LATE = EACH_BY_ITSELF + """
from mpi4py import MPI
try:
    ayatori.solve(A, numpy.ones(400), comm=MPI.COMM_SELF)
except OSError as error:
    print(error)
"""


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        subprocess.run([sys.executable, SOURCES / "packaging/wheel/build.py", cls.folder / "wheels"], check=True)
        cls.wheel, = (cls.folder / "wheels").glob("*.whl")
        venv.create(cls.folder / "bare", with_pip=True)
        cls.install(cls.wheel)
        # The loader finds these before the libraries of the system, and cannot load them.
        (cls.folder / "hidden").mkdir()
        for name in ("libmpi.so.12", "libmpi_abi.so.1", "libmpich.so.12", "libmpi.so.40", "libmpi.so"):
            (cls.folder / "hidden" / name).touch()

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    @classmethod
    def install(cls, *packages):
        subprocess.run([cls.folder / "bare/bin/python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages],
                       check=True, env=cls.environment())

    @classmethod
    def environment(cls, **more):
        """Without a compiler, and without what the tests of the build tree say."""
        kept = {name: value for name, value in os.environ.items() if not re.match("PYTHON|LD_|OMPI_|CC$|CXX$", name)}
        return kept | {"PATH": str(cls.folder / "bare/bin"), "LD_LIBRARY_PATH": str(cls.folder / "hidden")} | more

    def run_python(self, script, *launcher, **variables):
        (self.folder / "script.py").write_text(script)
        done = subprocess.run([*launcher, self.folder / "bare/bin/python", self.folder / "script.py"], text=True, capture_output=True,
                              cwd=self.folder, env=self.environment(**variables), timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_1_nothing_to_compile_with(self):
        self.assertIsNone(shutil.which("cc", path=self.environment()["PATH"]))

    def test_1_size_and_licences(self):
        self.assertLess(self.wheel.stat().st_size, 40e6)
        self.assertRegex(self.wheel.name, r"manylinux_2_\d+_x86_64|manylinux_2_\d+_aarch64")
        with zipfile.ZipFile(self.wheel) as wheel:
            names = wheel.namelist()
            table, = (name for name in names if name.endswith("licenses/LIBRARIES.txt"))
            lines = wheel.read(table).decode().splitlines()[1:]
            for library in names:
                if library.startswith("ayatori.libs/lib") and "libayatori_core" not in library:
                    start = re.match(r"(lib[\w.+-]*?)-[0-9a-f]{8}[.-]", pathlib.Path(library).name)[1]
                    self.assertTrue(any(start in line for line in lines), (start, lines))
            for line in lines:
                licence = table.replace("LIBRARIES.txt", re.search(r"licence in (\S+)$", line)[1])
                self.assertGreater(len(wheel.read(licence)), 500, licence)
        self.assertTrue(any("libdmumps_seq.a" in line for line in lines), lines)
        self.assertTrue(any("libopenblas" in line for line in lines), lines)

    def test_1_bill_of_materials(self):
        """It names every library that is inside, with version and licence, and every file."""
        done = subprocess.run([sys.executable, SOURCES / "packaging/sbom.py", "--wheel", self.wheel, "-o", "-"], check=True, text=True,
                              capture_output=True)
        bill = json.loads(done.stdout)
        self.assertEqual(list(spdx.faults(bill)), [])
        with zipfile.ZipFile(self.wheel) as wheel:
            names = {name for name in wheel.namelist() if not name.endswith("/")}
        self.assertEqual({entry["fileName"].removeprefix("./") for entry in bill["files"]}, names)
        files = {entry["SPDXID"]: entry["fileName"].removeprefix("./") for entry in bill["files"]}
        from_others = {files[relation["spdxElementId"]] for relation in bill["relationships"] if relation["relationshipType"] == "GENERATED_FROM"}
        self.assertEqual(from_others, {name for name in names if name.startswith("ayatori.libs/") and "libayatori_core" not in name})
        own, *others = bill["packages"]
        self.assertEqual((own["name"], own["versionInfo"]), ("Ayatori", self.wheel.name.split("-")[1]))
        for other in others:
            self.assertTrue(other["versionInfo"] and other["licenseDeclared"] != "NOASSERTION", other)
        self.assertLessEqual({"libopenblas0-pthread", "libmumps-seq-dev", "libklu1", "nanobind"}, {other["name"] for other in others})

    def check_core(self, is_for_v3, **variables):
        """Solves in one process by the core for these processors."""
        said = self.run_python(SERIAL, **variables)
        self.assertIn("factors by MUMPS", said)
        core, = re.findall("^core (.*)$", said, re.MULTILINE)
        self.assertEqual("glibc-hwcaps/x86-64-v3/" in core, is_for_v3, core)
        self.assertEqual("flags -march=x86-64-v3" in said, is_for_v3, said)
        print(said.splitlines()[-1])

    def is_v3(self):
        """Whether this processor is of x86-64-v3."""
        flags = re.search("^flags.*", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        return platform.machine() == "x86_64" and V3.issubset(flags[0].split())

    def test_1_one_process(self):
        self.check_core(self.is_v3())

    @unittest.skipUnless(platform.machine() == "x86_64", "one core serves all processors")
    def test_1_older_processors(self):
        self.check_core(False, **WITHOUT_AVX2)
        for feature in "AVX2", "BMI2", "FMA", "LZCNT", "MOVBE":
            with self.subTest(feature):
                said = self.run_command("--version", "--verbose", GLIBC_TUNABLES=f"glibc.cpu.hwcaps=-{feature}").stdout
                self.assertNotIn("-march", said)

    def test_1_cores_compared(self):
        if not self.is_v3():
            self.skipTest("one core serves this processor")
        said = subprocess.run([self.folder / "bare/bin/python", SOURCES / "bench/wheel_cores.py", "--rounds", "1", "poisson2d-5:n=20 method=cg"],
                              check=True, text=True, capture_output=True, env=self.environment()).stdout
        self.assertRegex(said, r"\| poisson2d-5:n=20 method=cg \| [\d.]+ \| [\d.]+ \|")

    def run_command(self, *words, launcher=(), status=0, **variables):
        done = subprocess.run([*launcher, self.folder / "bare/bin/ayatori", *words], text=True, capture_output=True, cwd=self.folder,
                              env=self.environment(**variables), timeout=300)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_1_command(self):
        """`ayatori` in the environment is the command line of any other build."""
        said = self.run_command("--version", "--verbose").stdout
        self.assertRegex(said, r"MPI +one process without MPI\n")
        self.assertIn("(sequential)", said)
        self.run_command("solve", "poisson3d-7:n=12", "--preconditioner", "direct", "-o", "x.npy", "--json", "result.json")
        result = json.loads((self.folder / "result.json").read_text())
        self.assertEqual((result["status"], result["ranks"]), ("converged", 1))
        self.run_python(READ_BACK)
        self.run_command("eigen", "poisson2d-5:n=6")
        self.assertIn("no.mtx", self.run_command("solve", "no.mtx", status=2).stderr)
        refused = self.run_command("solve", "poisson2d-5:n=3", status=3, PMI_SIZE="2", PMI_RANK="0").stderr
        self.assertIn("the launcher started 2 ranks (PMI_SIZE), but no MPI library is found", refused)

    def test_1_ranks_without_an_mpi_are_refused(self):
        (self.folder / "script.py").write_text(EACH_BY_ITSELF)
        done = subprocess.run([self.folder / "bare/bin/python", self.folder / "script.py"], text=True, capture_output=True,
                              env=self.environment(PMI_SIZE="2", PMI_RANK="0"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("OSError: the launcher started 2 ranks (PMI_SIZE), but no MPI library is found", done.stderr)
        self.assertIn("converged", self.run_python(EACH_BY_ITSELF, PMI_SIZE="2", PMI_RANK="0", AYATORI_MPI_LIBRARY="none"))

    def test_2_ranks(self):
        self.install(*RANKS)
        launcher = [self.folder / "bare/bin/mpiexec", "-n", "2"]
        said = self.run_python(PARALLEL, *launcher)
        self.assertEqual(sorted(re.findall("rank . is done", said)), ["rank 0 is done", "rank 1 is done"])
        with self.subTest("without mpi4py"):
            for processor in {}, WITHOUT_AVX2:
                self.assertEqual(self.run_python(EACH_BY_ITSELF, *launcher, **processor).split(), ["converged"] * 2)
        with self.subTest("command"):
            self.run_command("solve", "poisson2d-5:n=40", "--json", "ranks.json", launcher=launcher)
            result = json.loads((self.folder / "ranks.json").read_text())
            self.assertEqual((result["status"], result["ranks"], result["mpi"].split()[0]), ("converged", 2, "MPICH"))
        with self.subTest("too late"):
            self.assertIn("has begun without MPI: import mpi4py before the first call of ayatori", self.run_python(TOO_LATE))
        with self.subTest("the interface of MPI 5"):
            bare = self.folder / "bare"
            subprocess.run([sys.executable, SOURCES / "tests/comm/runtime/constants.py", SOURCES, "abi", bare / "include/mpi_abi.h"],
                           check=True)
            subprocess.run([*launcher, os.environ["AYATORI_COMM_TESTS"], "--gtest_filter=-*NodeChannels*", "--gtest_brief=1"], check=True,
                           env=self.environment(AYATORI_MPI_LIBRARY=str(bare / "lib/libmpi_abi.so.1")), timeout=300)


if __name__ == "__main__":
    unittest.main()
