#!/usr/bin/env python3
"""check_prose.py [--all] [--counts COMMIT] [PAGE...]: holds the documentation against the style sheet of CONTRIBUTING.md.

Sentences have at most 25 words, and a guide has at most 900. A span of code is one word; blocks of code and tables do not count.
Pages in docs/measured/ and CHANGELOG.md are no guides: their length is not limited, but a release has at most 60 lines. Some phrases are
not used, in comments and messages of the sources neither. No comment in C++, C or Fortran begins with "of": it names its subject first.
--all: prints words, sentences and their mean length of every page as well.
--counts: prints a table of all pages at that commit and now instead.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MOST_WORDS = 900
LONGEST_SENTENCE = 25
MOST_LINES = 60  # of a release in the change log
PHRASES = ("so many", "as well as", "in order to", "is said to be", "utilize", "leverage", "it is worth noting", "please note", "obviously", "simply put")
SOURCES = ("src", "cli", "c", "petsc", "python", "bench", "tests", "cmake", "packaging", "docs/site")
SOURCE_NAMES = (".cpp", ".hpp", ".c", ".h", ".cu", ".f90", ".py", ".sh", ".txt", ".cmake")
# What stands before a comment, how the comment begins, and what it says.
COMMENT = re.compile(r"""((?:[^"'/]|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|'|/(?![/*]))*)(?://+<?|/\*+<?)\s*(.*)""")
FORTRAN_COMMENT = re.compile(r"""((?:[^"'!]|"[^"]*"|'[^']*')*)!\s*(.*)""")
COMMENTS = {".cpp": COMMENT, ".hpp": COMMENT, ".c": COMMENT, ".h": COMMENT, ".cu": COMMENT, ".f90": FORTRAN_COMMENT}
# Written by scripts.
GENERATED = {"docs/options.md"}

# What says how a figure was made: a command, a script or a test of the repository. Some were said to be from elsewhere.
MAKER = re.compile(r"\bayatori [a-z]|\b(?:bench|tests|python|cmake|packaging)/[\w/-]+")
ELSEWHERE = re.compile(r"outside\s+(?:of\s+)?the\s+repository", re.IGNORECASE)
BLOCK = re.compile(r"^( *)```.*?^\1```$|<!--.*?-->", re.MULTILINE | re.DOTALL)
ITEM = re.compile(r"^\s*([-*]|\d+\.) ")
SENTENCE_END = re.compile(r"(?<=[.!?])[\"')]?\s+(?=[A-Z\"'(\[0-9-])|:\s+(?=[A-Z])")


def blank(match):
    """As many lines, so that numbers of lines stay."""
    return "\n" * match.group().count("\n")


def paragraphs(text):
    """(line, text) of each paragraph, item of a list and heading."""
    begin, words = 0, []
    for number, line in enumerate([*BLOCK.sub(blank, text).split("\n"), ""], 1):
        is_table, is_heading = line.lstrip().startswith("|"), line.startswith("#")
        if words and (not line.strip() or is_table or is_heading or ITEM.match(line)):
            yield begin, " ".join(words)
            words = []
        if line.strip() and not is_table:
            if not words:
                begin = number
            words.append(ITEM.sub("", line, count=1).lstrip("#> ").strip())
            if is_heading:
                yield begin, " ".join(words)
                words = []


def plain(text):
    """With a link's words alone, and Code in the place of code."""
    text = re.sub(r"`[^`]*`", "Code", text)
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    return re.sub(r"<[^>]*>|[*_]{1,2}(?=\w)|(?<=\w)[*_]{1,2}", "", text)


def sentences(text):
    """(line, words) of each sentence."""
    for line, paragraph in paragraphs(text):
        for sentence in SENTENCE_END.split(plain(paragraph)):
            words = [word for word in sentence.split() if re.search(r"\w", word)]
            if words:
                yield line, words


def is_guide(page):
    return "measured" not in page.parts and page.name != "CHANGELOG.md"


def faults(page, text):
    found = list(sentences(text))
    total = sum(len(words) for _, words in found)
    if is_guide(page) and total > MOST_WORDS:
        yield 1, f"{total} words, want at most {MOST_WORDS}"
    if page.name == "CHANGELOG.md":
        for release in re.finditer(r"^## .*\n(?:(?!## ).*\n)*", text, re.MULTILINE):
            if (lines := release.group().rstrip().count("\n") + 1) > MOST_LINES:
                yield text.count("\n", 0, release.start()) + 1, f"{lines} lines on a release, want at most {MOST_LINES}"
    for line, words in found:
        if len(words) > LONGEST_SENTENCE:
            yield line, f"{len(words)} words in a sentence, want at most {LONGEST_SENTENCE}: {' '.join(words[:8])} ..."
    for line, paragraph in paragraphs(text):
        for phrase in PHRASES:
            if phrase in plain(paragraph).lower():
                yield line, f"'{phrase}' is not used"


def subjectless_comments(text, comment):
    """Numbers of the lines where a comment begins with "of"; a small letter may also go on with what the line before says."""
    is_comment = False
    for number, line in enumerate(text.split("\n"), 1):
        found = comment.match(line)
        goes_on = is_comment and found and not found[1].strip()
        if found and re.match(r"Of\b" if goes_on else r"[Oo]f\b", found[2]):
            yield number
        is_comment = bool(found)


def faults_of_sources():
    """(path, line, fault) of phrases in comments and messages, and of comments that begin with "of"."""
    phrase = re.compile(rf"\b({'|'.join(PHRASES)})\b", re.IGNORECASE)
    own = pathlib.Path(__file__).resolve()
    for path in sorted(path for folder in SOURCES for path in (ROOT / folder).rglob("*")):
        if path.suffix in SOURCE_NAMES and path != own and path.is_file():
            text = path.read_text()
            for number, line in enumerate(text.split("\n"), 1):
                for found in phrase.finditer(line):
                    yield path.relative_to(ROOT), number, f"'{found[1].lower()}' is not used"
            if path.suffix in COMMENTS:
                for number in subjectless_comments(text, COMMENTS[path.suffix]):
                    yield path.relative_to(ROOT), number, "a comment begins with 'of': want its subject first"


def pages_at(commit):
    """{path: text} of all pages in a commit, or of the working tree without one."""
    def git(*words):
        return subprocess.run(["git", "-C", ROOT, *words], check=True, text=True, capture_output=True).stdout

    paths = [pathlib.PurePath(line) for line in git(*(("ls-tree", "-r", "--name-only", commit) if commit else ("ls-files",))).splitlines()]
    wanted = [path for path in paths if path.suffix == ".md" and path.parts[0] in ("docs", path.name) and str(path) not in GENERATED]
    return {path: git("show", f"{commit}:{path}") if commit else (ROOT / path).read_text() for path in wanted}


def counts(pages):
    """{what: number} of {path: text}."""
    found = {path: [len(words) for _, words in sentences(text)] for path, text in pages.items()}
    lengths = [length for page in found.values() for length in page]
    guides = [sum(page) for path, page in found.items() if is_guide(path)]
    prose = " ".join(plain(paragraph).lower() for text in pages.values() for _, paragraph in paragraphs(text))
    return {"pages": len(pages),
            "words": sum(lengths),
            "sentences": len(lengths),
            "words in a sentence, mean": f"{sum(lengths) / len(lengths):.1f}",
            "sentences of more than 25 words": sum(length > LONGEST_SENTENCE for length in lengths),
            "sentences of more than 35 words": sum(length > 35 for length in lengths),
            "guides of more than 900 words": sum(words > MOST_WORDS for words in guides),
            "words of the longest guide": max(guides),
            "phrases that are not used": sum(prose.count(phrase) for phrase in PHRASES),
            "figures without a script": sum(len(ELSEWHERE.findall(text)) for text in pages.values()),
            "measured pages that name no command or script": sum(not is_guide(path) and "measured" in path.parts and not MAKER.search(text)
                                                                 for path, text in pages.items())}


def print_counts(commit):
    before, now = counts(pages_at(commit)), counts(pages_at(None))
    print(f"| | {commit} | now |\n|---|---|---|")
    for what, number in before.items():
        print(f"| {what} | {number} | {now[what]} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="the figures of every page")
    parser.add_argument("--counts", metavar="COMMIT", help="a table of all pages then and now")
    parser.add_argument("pages", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    if options.counts:
        print_counts(options.counts)
        return 0
    pages = options.pages or [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
    count = 0
    for page in pages:
        page = page.resolve().relative_to(ROOT)
        if str(page) in GENERATED:
            continue
        text = (ROOT / page).read_text()
        for line, fault in faults(page, text):
            print(f"{page}:{line}: {fault}")
            count += 1
        if options.all:
            lengths = [len(words) for _, words in sentences(text)]
            print(f"{page}: {sum(lengths)} words, {len(lengths)} sentences, {sum(lengths) / max(len(lengths), 1):.1f} words each")
    for path, line, fault in faults_of_sources() if not options.pages else ():
        print(f"{path}:{line}: {fault}")
        count += 1
    print(f"{len(pages)} pages, {count} faults of style")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
