from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage, generator

from spack.package import *


class Ayatori(CMakePackage):
    """Parallel linear algebra that measures the machine, chooses, verifies and explains."""

    # The repository that this recipe stands in: packaging/spack/spack_repo/ayatori/packages/ayatori/package.py.
    git = Path(__file__).resolve().parents[6].as_uri()

    license("Apache-2.0", checked_by="ayatori")
    version("main", branch="main")

    variant("hdf5", default=True, description="Read HDF5 files (HDF5 without MPI)")
    variant("hypre", default=True, description="BoomerAMG as a preconditioner (hypre)")
    variant("klu", default=True, description="Direct solution of circuits and networks (KLU of SuiteSparse)")
    variant("mumps", default=True, description="Direct solution as a preconditioner (MUMPS)")
    variant("native", default=True, description="Compile for the processor of the build machine alone")

    generator("ninja")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("cli11", type="build")
    depends_on("mpi")
    depends_on("fmt")
    depends_on("nlohmann-json")
    depends_on("zlib-api")
    depends_on("bzip2")
    depends_on("xz")
    depends_on("zstd")
    depends_on("metis@5:")
    depends_on("lapack")
    depends_on("hwloc@2:")
    depends_on("hdf5~mpi", when="+hdf5")
    depends_on("hypre+mpi", when="+hypre")
    depends_on("mumps+mpi", when="+mumps")
    depends_on("suite-sparse", when="+klu")

    conflicts("%gcc@:11", msg="C++20")

    def cmake_args(self):
        return [
            self.define("AYATORI_TESTS", False),
            self.define_from_variant("AYATORI_HDF5", "hdf5"),
            self.define_from_variant("AYATORI_HYPRE", "hypre"),
            self.define_from_variant("AYATORI_KLU", "klu"),
            self.define_from_variant("AYATORI_MUMPS", "mumps"),
            self.define_from_variant("AYATORI_NATIVE", "native"),
        ]
