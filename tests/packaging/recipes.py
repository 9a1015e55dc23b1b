"""The recipes in packaging/ name what the build asks for and what the program needs. Neither Spack nor a container's engine runs here."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types
import unittest

SOURCES = pathlib.Path(os.environ["AYATORI_SOURCES"])
PACKAGING = SOURCES / "packaging"


def load_spack_recipe():
    """The recipe's class, with Spack's directives replaced by ones that record: {directive: [first arguments]}."""
    told = {}
    package = types.ModuleType("spack.package")
    cmake = types.ModuleType("spack_repo.builtin.build_systems.cmake")
    for directive in ("license", "version", "variant", "depends_on", "conflicts"):
        setattr(package, directive, lambda name, *_, _kind=directive, **__: told.setdefault(_kind, []).append(name))
    cmake.generator = lambda *_: None

    class CMakePackage:
        def define(self, name, value):
            return f"-D{name}={'ON' if value else 'OFF'}"

        def define_from_variant(self, name, variant):
            assert variant in told["variant"], variant
            return f"-D{name}=ON"

    cmake.CMakePackage = CMakePackage
    for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        sys.modules[name] = types.ModuleType(name)
    sys.modules[package.__name__], sys.modules[cmake.__name__] = package, cmake
    file = PACKAGING / "spack/spack_repo/ayatori/packages/ayatori/package.py"
    names = {"__file__": str(file)}
    exec(compile(file.read_text(), file, "exec"), names)
    return names["Ayatori"], told


def looked_for(names):
    """What the build looks for, by the names of another collection."""
    found = re.findall(r"^find_package\((\w+) ", (SOURCES / "CMakeLists.txt").read_text(), re.MULTILINE)
    found += re.findall(r"\b(\w+)/\w+\.h/", (SOURCES / "cmake/AyatoriCompressions.cmake").read_text())
    return {names.get(name, name.lower()) for name in found} - {"threads", "openmp"}


class Conda(unittest.TestCase):
    RECIPE = (PACKAGING / "conda/recipe.yaml").read_text()

    def section(self, name):
        lines = re.search(rf"^  {name}:\n((?:    - .*\n)+)", self.RECIPE, re.MULTILINE)[1]
        return {re.match(r"\S+", line)[0] for line in re.findall("^    - (.*)$", lines, re.MULTILINE)}

    def test_everything_that_the_build_looks_for_is_a_dependency(self):
        names = {"MPI": "openmpi", "hwloc": "libhwloc", "HWLOC": "libhwloc", "LAPACK": "liblapack", "LZMA": "xz", "METIS": "metis"}
        self.assertEqual(looked_for(names) | {"openmpi", "hdf5", "mumps-mpi", "hypre", "suitesparse"}, self.section("host"))
        needs = re.search(r"cmake_minimum_required\(VERSION (\S+)\)", (SOURCES / "CMakeLists.txt").read_text())[1]
        self.assertIn(f"cmake >={needs}\n", self.RECIPE)

    def test_version_and_arguments_are_those_of_the_build(self):
        version = re.search(r'version = "([^"]+)"', (SOURCES / "src/ayatori/base/version.hpp").read_text())[1]
        self.assertIn(f'version: "{version}"', self.RECIPE)
        options = "".join(file.read_text() for file in (SOURCES / "cmake").glob("*.cmake"))
        arguments = re.findall(r"-D(AYATORI_\w+)=", self.RECIPE)
        self.assertTrue(arguments)
        for argument in arguments:
            self.assertIn(f"option({argument} ", options)


class Versions(unittest.TestCase):
    def test_they_agree(self):
        version = re.search(r'version = "([^"]+)"', (SOURCES / "src/ayatori/base/version.hpp").read_text())[1]
        self.assertIn(f"project(ayatori VERSION {version} ", (SOURCES / "CMakeLists.txt").read_text())
        self.assertIn(f"\nversion: {version}\n", (SOURCES / "CITATION.cff").read_text())
        places = [SOURCES / "README.md", *(SOURCES / "docs").rglob("*.md"), *(SOURCES / "tests/cmake").rglob("CMakeLists.txt")]
        asked = {(place.name, number) for place in places for number in re.findall(r"find_package\(ayatori ([\d.]+)", place.read_text())}
        self.assertGreater(len(asked), 3)
        self.assertEqual({number for _, number in asked}, {version.rpartition(".")[0]})


class Spack(unittest.TestCase):
    def test_everything_that_the_build_looks_for_is_a_dependency(self):
        _, told = load_spack_recipe()
        dependencies = {re.match("[a-z0-9-]+", name).group() for name in told["depends_on"]}
        wanted = looked_for({"ZLIB": "zlib-api", "nlohmann_json": "nlohmann-json", "LZMA": "xz"})
        self.assertEqual(wanted | {"mpi", "hdf5", "mumps", "hypre", "suite-sparse", "cmake", "cxx"}, dependencies)
        needs = re.search(r"cmake_minimum_required\(VERSION (\S+)\)", (SOURCES / "CMakeLists.txt").read_text()).group(1)
        self.assertIn(f"cmake@{needs}:", told["depends_on"])

    def test_arguments_are_options_of_the_build(self):
        recipe, _ = load_spack_recipe()
        options = "".join(file.read_text() for file in (SOURCES / "cmake").glob("*.cmake"))
        arguments = recipe().cmake_args()
        for argument in arguments:
            self.assertIn(f"option({re.match('-D(.*)=', argument)[1]} ", options)
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(["cmake", "-S", SOURCES, "-B", folder, "-G", "Ninja", "-DAYATORI_CUDA=OFF", *arguments], text=True, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("not used by the project", done.stderr)

    def test_it_is_a_repository_of_this_repository(self):
        recipe, _ = load_spack_recipe()
        self.assertEqual(recipe.git, SOURCES.as_uri())
        self.assertIn("namespace: ayatori", (PACKAGING / "spack/spack_repo/ayatori/repo.yaml").read_text())


def packages_in(file):
    """What apt-get install is told."""
    words = re.search(r"apt-get install(.*?)(?:&&|\n *rm)", file.read_text(), re.DOTALL).group(1).replace("\\", "").split()
    return {word for word in words if not word.startswith("-")}


def needed_packages(program):
    """Debian's packages of the libraries that a program is linked with, less those that every image has."""
    needed = re.findall(r"NEEDED.*\[(.*)\]", subprocess.run(["readelf", "-d", program], check=True, text=True, capture_output=True).stdout)
    where = dict(re.findall(r"^\t(\S+) => (\S+)", subprocess.run(["ldd", program], check=True, text=True, capture_output=True).stdout,
                            re.MULTILINE))
    packages = set()
    for library in needed:
        if library not in where:  # the loader itself
            continue
        path = pathlib.Path(where[library]).resolve()
        for spelling in (path, pathlib.Path(str(path).removeprefix("/usr"))):
            said = subprocess.run(["dpkg", "-S", spelling], text=True, capture_output=True).stdout
            packages |= {line.split(":")[0] for line in said.splitlines()}
    return packages - {"libc6", "libgcc-s1", "libstdc++6"}


class Containers(unittest.TestCase):
    FILES = [PACKAGING / "container/Dockerfile", PACKAGING / "container/ayatori.def"]

    def test_the_image_has_what_the_program_is_linked_with(self):
        needed = needed_packages(os.environ["AYATORI"])
        self.assertIn("libopenmpi3", needed)
        for file in self.FILES:
            self.assertLessEqual(needed | {"openmpi-bin"}, packages_in(file), file)

    def test_both_build_by_the_same_script_for_any_processor(self):
        script = (PACKAGING / "install.sh").read_text()
        self.assertIn("-DAYATORI_NATIVE=OFF", script)
        self.assertTrue(os.access(PACKAGING / "install.sh", os.X_OK))
        for file in self.FILES:
            self.assertIn("/source/packaging/install.sh /opt/ayatori", file.read_text())

    def test_shell_syntax(self):
        subprocess.run(["sh", "-n", PACKAGING / "install.sh"], check=True)
        text = self.FILES[1].read_text()
        sections = re.findall(r"^%(?:post|environment|runscript)\n(.*?)(?=^%|^Bootstrap|\Z)", text, re.MULTILINE | re.DOTALL)
        self.assertEqual(len(sections), 4)
        for section in sections:
            subprocess.run(["sh", "-n"], input=section, text=True, check=True)


if __name__ == "__main__":
    unittest.main()
