#!/usr/bin/env python3
"""Checks who includes whom. The allowed includes are those of the ayatori_module() lines in CMakeLists.txt.

Beyond the layers: <mpi.h>, and the header that includes it, stay in comm/ (and its tests). Headers of CUDA, and those of
device code, stay in gpu/, and out of what is compiled without nvcc. Every header says `#pragma once`, and its source
includes it first, which shows that it needs nothing before it; the library prints nothing and ends no process.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MPI_FOLDERS = ("src/ayatori/comm/", "src/ayatori/collectives/pmpi/", "tests/comm/", "tests/pmpi/", "tests/c/", "c/examples/")
MPI_HEADERS = ("mpi.h", "ayatori/comm/mpi/native.hpp")
CUDA_FOLDER = "src/ayatori/gpu/"
CUDA_HEADERS = re.compile(r"cuda\w*\.h|(cuda|cub)/.*|.*\.cuh")
# They may include every module, and no module any of them. A face stands on the library, not on another face: the command
# line shows the benchmarks, and tests look at what they test.
MAY_INCLUDE = {"bench": {"bench"}, "cli": {"cli", "bench"}, "python": {"python"}, "c": {"c"}, "petsc": {"petsc"},
               "tests": {"tests", "bench", "cli", "c", "petsc"}}
TOP_FOLDERS = tuple(MAY_INCLUDE)
UMBRELLA = "src/ayatori/ayatori.hpp"  # for applications: of no module, and no module includes it
SUFFIXES = (".cpp", ".hpp", ".c", ".h", ".cu", ".cuh")
BAN = re.compile(r"\b(std::cout|std::cerr|std::clog|printf|puts|fmt::print|std::exit|std::_Exit|std::abort)\b")
BAN_EXCEPTIONS = ("src/ayatori/comm/environment.cpp",)  # abort_job()
# What the tuner knows stands in records, not in numbers: of named ones there may be this many, sizes and formats included.
TUNING_FOLDER, TUNING_NUMBERS = ROOT / "src" / "ayatori" / "tuning", 95
NAMED_NUMBER = re.compile(r"constexpr (?:double|int|std::u?int\d+_t|std::size_t) \w+ = ")


def allowed_modules():
    """Module -> the modules it may include, itself and everything below it."""
    text = (ROOT / "CMakeLists.txt").read_text()
    allowed = {}
    for name, arguments in re.findall(r"^ayatori_module\((\w+)([^)]*)\)", text, re.MULTILINE):
        depends = re.search(r"\bDEPENDS((?:\s+[a-z_]+)+)", arguments)
        allowed[name] = {name}.union(*(allowed[d] for d in (depends.group(1).split() if depends else [])))
    return allowed


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", lambda m: re.sub(r"[^\n]", "", m.group()), text, flags=re.DOTALL)


def problems_of(path, allowed):
    name = path.relative_to(ROOT).as_posix()
    module = name.split("/")[2] if name.startswith("src/ayatori/") and name != UMBRELLA else None
    text = path.read_text()
    if path.suffix in (".hpp", ".cuh") and not re.search(r"^#pragma once$", text, re.MULTILINE):
        yield 1, "no #pragma once"
    beside = path.with_suffix({".cpp": ".hpp", ".cu": ".cuh"}.get(path.suffix, path.suffix))
    own = beside.relative_to(ROOT).as_posix().removeprefix("src/")
    first = re.search(r'^#include ["<](.*)[">]', text, re.MULTILINE)
    if beside != path and beside.exists() and (first is None or first.group(1) != own):
        yield 1, f"{own} is not included first"
    if module is not None and module not in allowed:
        yield 1, f"module {module} is not declared in CMakeLists.txt"
        return
    for number, line in enumerate(without_comments(text).splitlines(), 1):
        include = re.match(r'\s*#\s*include\s*[<"]([^>"]+)[>"]', line)
        if include:
            header = include.group(1)
            if header in MPI_HEADERS and not name.startswith(MPI_FOLDERS):
                yield number, f"{header} outside comm/"
            if CUDA_HEADERS.fullmatch(header) and (path.suffix == ".cpp" or not name.startswith(CUDA_FOLDER)):
                yield number, f"{header} outside gpu/, or in a file that is compiled without nvcc"
            if module and header.startswith("ayatori/") and header.split("/")[1] not in allowed[module]:
                yield number, f"{module} may not include {header.split('/')[1]} (only {', '.join(sorted(allowed[module]))})"
            if header.split("/")[0] in TOP_FOLDERS and header.split("/")[0] not in MAY_INCLUDE.get(name.split("/")[0], set()):
                yield number, f"{'the library' if module else name.split('/')[0]} may not include {header}"
        elif module and name not in BAN_EXCEPTIONS and (banned := BAN.search(line)):
            yield number, f"the library may not use {banned.group()}"


def main():
    allowed = allowed_modules()
    files = [p for folder in ("src", *TOP_FOLDERS) for p in sorted((ROOT / folder).rglob("*")) if p.suffix in SUFFIXES]
    found = [(p.relative_to(ROOT), *problem) for p in files for problem in problems_of(p, allowed)]
    numbers = sum(len(NAMED_NUMBER.findall(p.read_text())) for p in TUNING_FOLDER.rglob("*.?pp"))
    if numbers > TUNING_NUMBERS:
        found.append((TUNING_FOLDER.relative_to(ROOT), 1, f"{numbers} named numbers, of which there may be {TUNING_NUMBERS}: derive it, or take one from judgement.hpp"))
    for name, number, text in found:
        print(f"{name}:{number}: {text}")
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main())
