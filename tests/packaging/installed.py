"""What `cmake --install` has put into a folder serves a user without CMake."""

import os
import pathlib
import subprocess
import tempfile
import unittest

STAGE = pathlib.Path(os.environ["AYATORI_STAGE"])
SOURCES = pathlib.Path(os.environ["AYATORI_SOURCES"])


def run(*words, **keywords):
    return subprocess.run(words, check=True, text=True, capture_output=True, **keywords).stdout


class PkgConfig(unittest.TestCase):
    def setUp(self):
        file, = STAGE.rglob("ayatori.pc")
        self.environment = os.environ | {"PKG_CONFIG_PATH": str(file.parent)}

    def ask(self, *words, package="ayatori"):
        return run("pkg-config", *words, package, env=self.environment).split()

    def test_version(self):
        self.assertIn(f'"{self.ask("--modversion")[0]}"', (SOURCES / "src/ayatori/base/version.hpp").read_text())

    def test_a_program(self):
        with tempfile.TemporaryDirectory() as folder:
            program = folder + "/program"
            run(os.environ["CXX"], "-std=c++20", *self.ask("--cflags"), SOURCES / "tests/cmake/consumer/main.cpp",
                *self.ask("--libs"), "-o", program)
            run(os.environ["AYATORI_MPIRUN"], "-n", "2", program)

    def test_a_program_in_c(self):
        library, = STAGE.rglob("libayatori.so")
        with tempfile.TemporaryDirectory() as folder:
            program = folder + "/program"
            run("cc", "-std=c11", *self.ask("--cflags", package="ayatori-c"), SOURCES / "c/examples/operator.c",
                *self.ask("--libs", package="ayatori-c"), f"-Wl,-rpath,{library.parent}", "-o", program)
            self.assertIn("converged", run(program))

    def test_nothing_leads_to_where_it_was_built(self):
        for flag in self.ask("--cflags", "--libs"):
            self.assertNotIn(str(SOURCES / "src"), flag)


class Shared(unittest.TestCase):
    def test_manual_pages_and_completion(self):
        program = STAGE / "bin/ayatori"
        self.assertEqual((STAGE / "share/man/man1/ayatori-solve.1").read_text(), run(program, "man", "solve"))
        self.assertEqual((STAGE / "share/bash-completion/completions/ayatori").read_text(), run(program, "completion", "bash"))
        self.assertEqual((STAGE / "share/zsh/site-functions/_ayatori").read_text(), run(program, "completion", "zsh"))


if __name__ == "__main__":
    unittest.main()
