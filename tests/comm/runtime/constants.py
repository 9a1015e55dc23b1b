"""constants.py SOURCES {abi,mpich} HEADER: the constants by which comm calls an MPI are those of the MPI's own header."""

import pathlib
import re
import sys


def of_header(text):
    """Names with numbers, by #define or in an enum."""
    defined = re.findall(r"^#define (MPI_\w+) +\(*(?:(?:MPI_\w+|void|int) *\** *\) *)?\(?(-?(?:0x[0-9a-fA-F]+|\d+))\)*(?=\s|$)", text, re.MULTILINE)
    return {name: int(value, 0) for name, value in defined + re.findall(r"^ +(MPI_\w+) += +(-?\w+),", text, re.MULTILINE)
            if re.fullmatch(r"-?(0x[0-9a-fA-F]+|\d+)", value)}


def of_sources(folder, kind):
    """The same by MPI's names, as runtime/mpi.h has them for the fields of a table."""
    fields = re.findall(r"^#define (MPI_\w+) \(::\S+constants\.(\w+)\)", (folder / "mpi.h").read_text(), re.MULTILINE)
    text = (folder / {"abi": "single.cpp", "mpich": "library.cpp"}[kind]).read_text()
    table = text.partition(f"const Constants& constants_of_{kind}() {{")[2].partition("};")[0]
    values = dict(re.findall(r"\.(\w+) = (?:\w+<[\w*]+>\()?([^,)]+)", table))
    words = {"nullptr": 0, "~std::uintptr_t{0}": -1}
    return {name: words[values[field]] if values[field] in words else int(values[field], 0) for name, field in fields}


sources = pathlib.Path(sys.argv[1]) / "src/ayatori/comm/runtime"
ours, theirs = of_sources(sources, sys.argv[2]), of_header(pathlib.Path(sys.argv[3]).read_text())
compared = ours.keys() & theirs.keys()
wrong = {name: (ours[name], theirs[name]) for name in compared if ours[name] != theirs[name]}
print(f"{len(compared)} of {len(ours)} compared; without a number in the header: {sorted(ours.keys() - compared)}")
if wrong or len(compared) < len(ours) - 2:
    sys.exit(f"wrong: {wrong}")
