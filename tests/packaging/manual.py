"""Manual pages and completion hold what --help says, for every command."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest

AYATORI = os.environ["AYATORI"]


def say(*arguments):
    return subprocess.run([AYATORI, *arguments], check=True, text=True, capture_output=True).stdout


def read_help(path):
    """(options, subcommands, descriptions) that --help of a command lists."""
    text = say(*path, "--help").replace("{false}", "")
    options = re.findall(r"^  (-\S+)", text, re.MULTILINE)
    below = text.partition("Subcommands:\n")[2].partition("\n\n")[0]
    descriptions = re.findall(r"^  (?:-\S+.*? {2,}|\s{28}|\S+ {10,})(\S.*)$", text, re.MULTILINE)
    return [name for names in options for name in names.split(",")], re.findall(r"^  (\S+)", below, re.MULTILINE), descriptions


def tree(path=()):
    """Every command with its options and subcommands."""
    options, commands, descriptions = read_help(path)
    found = {path: (options, commands, descriptions)}
    for command in commands:
        found |= tree((*path, command))
    return found


COMMANDS = tree()


def rendered(page):
    """As a reader sees it, in one line."""
    text = subprocess.run(["groff", "-man", "-ww", "-Tascii", "-P-cbou", "-rLL=4000n"], input=page, text=True, capture_output=True)
    assert text.returncode == 0 and not text.stderr, text.stderr
    return " ".join(text.stdout.split())


class ManualPages(unittest.TestCase):
    def test_there_are_commands(self):
        self.assertIn(("solve",), COMMANDS)
        self.assertIn(("collectives", "search"), COMMANDS)
        self.assertGreater(len(COMMANDS), 25)

    def test_every_command_has_its_options_in_its_page(self):
        for path, (options, commands, descriptions) in COMMANDS.items():
            with self.subTest(path=path):
                page = rendered(say("man", *path))
                for option in options:
                    self.assertRegex(page, rf"(?<![\w-]){re.escape(option)}(?![\w-])")
                for command in commands:
                    self.assertIn("-".join(("ayatori", *path, command)) + "(1)", page)
                for description in descriptions:
                    text = " ".join(description.split())
                    words = re.fullmatch(r"(.*) \[(.*)\]", text)
                    if words and f"One of: {words[2]}." in page:
                        text = words[1]
                    self.assertIn(text, page)

    def test_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(say("man", "--folder", folder + "/man1"), "")
            self.assertEqual(sorted(os.listdir(folder + "/man1")), sorted("-".join(("ayatori", *path)) + ".1" for path in COMMANDS))
            with open(folder + "/man1/ayatori-solve.1") as page:
                self.assertEqual(page.read(), say("man", "solve"))

    def test_wrong_words(self):
        for words in (["man", "sovle"], ["man", "solve", "more"], ["completion", "csh"], ["completion"]):
            with self.subTest(words=words):
                done = subprocess.run([AYATORI, *words], text=True, capture_output=True)
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(done.stderr.count("\n"), 1)


def complete_in_bash(lines):
    """What bash offers at the end of each line."""
    questions = "".join(f"ask {' '.join(map(repr, line))}\n" for line in lines)
    script = say("completion", "bash") + """
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ayatori; echo "${COMPREPLY[*]}"; }
""" + questions
    done = subprocess.run(["bash", "--norc", "-u", "-c", script], text=True, capture_output=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return [set(line.split()) for line in done.stdout.split("\n")[:-1]]


def complete_in_zsh(lines):
    """The same of zsh, whose completion runs in its line editor alone: `compadd` is replaced by one that tells."""
    questions = "".join(f"ask {' '.join(map(repr, line))}\n" for line in lines)
    script = """
_describe() { local array=$@[-1]; [[ $1 == -o ]] && shift; local entry; for entry in ${(P)array}; do
  [[ ${entry%%:*} == $PREFIX* ]] && print -nr -- "${entry%%:*} "; done; }
_files() { }
compadd() { shift; local word; for word; do [[ $word == $PREFIX* ]] && print -nr -- "$word "; done; }
compset() { PREFIX=${PREFIX#*=}; }
compdef() { }
""" + say("completion", "zsh") + """
ask() { words=("$@"); CURRENT=$#; PREFIX=${@[-1]}; _ayatori; print; }
""" + questions
    done = subprocess.run(["zsh", "-f", "-c", script], text=True, capture_output=True)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return [set(line.split()) for line in done.stdout.split("\n")[:-1]]


class Completion(unittest.TestCase):
    def check(self, complete):
        paths = list(COMMANDS)
        for path, offered in zip(paths, complete([("ayatori", *path, "--") for path in paths]), strict=True):
            self.assertEqual(offered, {name for name in COMMANDS[path][0] if name.startswith("--")}, path)
        for path, offered in zip(paths, complete([("ayatori", *path, "") for path in paths]), strict=True):
            if COMMANDS[path][1]:
                self.assertEqual(offered, set(COMMANDS[path][1]), path)
        ordering, method, after, both, file, shell = complete([
            ("ayatori", "solve", "A.mtx", "--ordering", ""), ("ayatori", "solve", "--method", "c"),
            ("ayatori", "solve", "--ordering", "rcm", "--met"), ("ayatori", "collectives", "sh"),
            ("ayatori", "solve", "--output", ""), ("ayatori", "completion", "")])
        self.assertEqual(ordering, {"auto", "natural", "rcm"})
        self.assertIn("cg", method)
        self.assertNotIn("gmres", method)
        self.assertEqual((after, both, file, shell), ({"--method"}, {"show"}, set(), {"bash", "zsh"}))

    def test_bash(self):
        self.check(complete_in_bash)
        joined = complete_in_bash([("ayatori", "solve", "--ordering", "=", "n"), ("ayatori", "solve", "--ordering", "=")])
        self.assertEqual(joined, [{"natural"}, {"auto", "natural", "rcm"}])

    @unittest.skipUnless(shutil.which("zsh"), "no zsh")
    def test_zsh(self):
        self.check(complete_in_zsh)
        self.assertEqual(complete_in_zsh([("ayatori", "solve", "--ordering=n")]), [{"natural"}])


if __name__ == "__main__":
    unittest.main()
