"""packaging/sbom.py: the bill of materials names every library of a build, every file of a wheel, and nothing that is not in it."""

import hashlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile

import spdx

AYATORI = pathlib.Path(os.environ["AYATORI"])
SCRIPT = pathlib.Path(os.environ["AYATORI_SOURCES"]) / "packaging/sbom.py"


class Sbom(unittest.TestCase):
    def run_script(self, *arguments, status=0):
        done = subprocess.run([sys.executable, SCRIPT, *map(str, arguments)], text=True, capture_output=True,
                              env=os.environ | {"SOURCE_DATE_EPOCH": "1700000000"})
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def bill(self, *arguments):
        bill = json.loads(self.run_script(*arguments, "-o", "-").stdout)
        self.assertEqual(list(spdx.faults(bill)), [])
        self.assertEqual(bill["creationInfo"]["created"], "2023-11-14T22:13:20Z")
        return bill

    def assert_checksums(self, bill, files):
        self.assertEqual({entry["fileName"] for entry in bill["files"]}, {f"./{name}" for name in files})
        for entry in bill["files"]:
            (sha256,) = [c["checksumValue"] for c in entry["checksums"] if c["algorithm"] == "SHA256"]
            self.assertEqual(sha256, hashlib.sha256(files[entry["fileName"][2:]]).hexdigest())

    def test_a_build(self):
        bill = self.bill("--program", AYATORI)
        self.assert_checksums(bill, {AYATORI.name: AYATORI.read_bytes()})
        said = subprocess.run([AYATORI, "--version", "--verbose"], text=True, capture_output=True, check=True).stdout
        listed = re.search("^libraries *(.*)$", said, re.MULTILINE).group(1).split(", ")
        names = {package["name"] for package in bill["packages"]}
        self.assertEqual(len(names), len(listed) + 2)  # Ayatori and the MPI
        for library in listed:
            self.assertTrue(any(library.startswith(name) for name in names), library)
        versions = {package["name"]: package.get("versionInfo") for package in bill["packages"]}
        self.assertRegex(versions["METIS"], r"^\d+\.\d+\.\d+$")
        self.assertEqual(versions["Ayatori"], said.split()[1])

    def test_a_wheel(self):
        files = {"ayatori/__init__.py": b"pass\n", "ayatori-0.1.0.dist-info/METADATA": b"Name: ayatori\n",
                 "ayatori.libs/lib b+c.so": b"\x7fELF"}
        with tempfile.TemporaryDirectory() as folder:
            wheel = pathlib.Path(folder, "ayatori-0.1.0-py3-none-any.whl")
            with zipfile.ZipFile(wheel, "w") as archive:
                for name, content in files.items():
                    archive.writestr(name, content)
            bill = self.bill("--wheel", wheel, "--program", AYATORI)
            self.assertEqual(bill["name"], wheel.name)
            self.assert_checksums(bill, files)
            self.assertIn("no program", self.run_script("--wheel", wheel, status=1).stderr)

    def test_libraries_in_a_wheel(self):
        """Its table decides, not what the program is linked with."""
        table = ("What this wheel contains besides Ayatori, by packages of Debian:\n"
                 "libklu1 1:5.12.0+dfsg-2: libklu.so.1.3.8; licence in libklu1.txt\n"
                 "nanobind 3.1.0: bindings; licence in nanobind.txt\n")
        with tempfile.TemporaryDirectory() as folder:
            for name, status in (("libklu1", 0), ("libunknown1", 1)):
                wheel = pathlib.Path(folder, f"{name}.whl")
                with zipfile.ZipFile(wheel, "w") as archive:
                    archive.writestr("ayatori-0.1.0.dist-info/licenses/LIBRARIES.txt", table.replace("libklu1", name))
                    archive.writestr("ayatori.libs/libklu-83ddea99.so.1.3.8", b"\x7fELF")
                if status:
                    self.assertIn("libunknown1: its licence is not known", self.run_script("--wheel", wheel, "--program", AYATORI, status=1).stderr)
                    continue
                bill = self.bill("--wheel", wheel, "--program", AYATORI)
                self.assertEqual([(package["name"], package["versionInfo"], package["licenseDeclared"]) for package in bill["packages"][1:]],
                                 [("libklu1", "1:5.12.0+dfsg-2", "LGPL-2.1-or-later"), ("nanobind", "3.1.0", "BSD-3-Clause")])
                self.assertEqual([relation for relation in bill["relationships"] if relation["relationshipType"] == "GENERATED_FROM"],
                                 [{"spdxElementId": "SPDXRef-File-ayatori.libs-libklu-83ddea99.so.1.3.8", "relationshipType": "GENERATED_FROM",
                                   "relatedSpdxElement": "SPDXRef-Package-libklu1"}])

    def test_what_is_missing(self):
        self.assertIn("no-such: there is no such file", self.run_script("--program", "no-such", status=1).stderr)


if __name__ == "__main__":
    unittest.main()
