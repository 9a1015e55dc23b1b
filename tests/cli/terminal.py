"""What `ayatori solve` shows on a terminal, and that none of it gets into files and pipes."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import unittest

from harness import CommandTest, command

ESCAPES = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")
# No Krylov space of two vectors solves this in a second.
ENDLESS = ("solve", "elliptic2d-5:n=400", "--method", "gmres", "--restart", "2", "--preconditioner", "none", "--time-limit", "1", "--profile", "none")


class Terminal(CommandTest):
    def on_terminal(self, *arguments, columns=100, **environment):
        """(exit status, what a terminal of this many columns is sent)."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen(command(*arguments), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=theirs,
                                   env=self.environment() | {"TERM": "xterm", "NO_COLOR": ""} | environment)
        os.close(theirs)
        sent = b""
        try:
            while piece := os.read(ours, 65536):
                sent += piece
        except OSError:  # the other side has gone
            pass
        os.close(ours)
        return process.wait(timeout=60), sent.decode().replace("\r\n", "\n")

    def test_progress(self):
        for columns in (100, 40):
            status, sent = self.on_terminal(*ENDLESS, columns=columns)
            self.assertEqual(status, 1)
            lines = re.findall(r"\r\x1b\[K(\[.*?)(?=\r|$)", sent)
            self.assertGreaterEqual(len(lines), 2, sent)
            for line in lines:
                shown = ESCAPES.sub("", line)
                self.assertLess(len(shown), columns)
                self.assertRegex(shown, r"^\[=* *\] [0-9.]+ s, ")
            if columns == 100:
                self.assertRegex(ESCAPES.sub("", lines[-1]), r" residual \d\.\de[+-]\d\d, iteration [1-9]\d*, [1-9]\d*/s, gmres\(2\)")
            # It is gone when something else is said.
            self.assertRegex(sent.rpartition("\r")[2], r"^\x1b\[K\[ +1\.\d+ s\] time limit reached")

    def test_the_summary_is_a_table(self):
        status, sent = self.on_terminal(*ENDLESS, columns=60)
        self.assertEqual(status, 1)
        table = ESCAPES.sub("", sent[sent.index("\x1b[1mmatrix     \x1b[0m"):]).splitlines()
        for line in table:
            self.assertRegex(line, r"^(\S+ {1,10}|[a-z]+ |           )\S")
            self.assertLessEqual(len(line), max(60, 11 + max(map(len, line.split()))))
        self.assertIn("\x1b[31m", sent)  # not converged
        _, sent = self.on_terminal("solve", "poisson2d-5:n=5", "--profile", "none")
        self.assertIn("\x1b[1mresult     \x1b[0m\x1b[32mconverged", sent)

    def test_no_colours(self):
        for environment in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
            status, sent = self.on_terminal(*ENDLESS, **environment)
            self.assertEqual(status, 1)
            self.assertIn("iteration", sent)
            self.assertIsNone(COLOURS.search(sent), sent)

    def test_quiet(self):
        self.assertEqual(self.on_terminal(*ENDLESS, "--quiet"), (1, ""))

    def test_nothing_of_it_in_a_pipe(self):
        done = self.run_ayatori(*ENDLESS)
        self.assertEqual(done.returncode, 1)
        self.assertIn("\nmatrix     ", done.stderr)
        self.assertNotRegex(done.stderr, r"[\r\x1b]")


if __name__ == "__main__":
    unittest.main()
