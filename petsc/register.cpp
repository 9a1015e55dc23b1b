#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "ayatori/comm/environment.hpp"
#include "petsc/guard.hpp"
#include "petsc/petsc.hpp"

namespace ayatori::petsc {

namespace {

/// The MPI that this was compiled with, as MPI_Get_library_version() begins.
#if defined(OPEN_MPI)
const std::string compiled_mpi = fmt::format("Open MPI v{}.", OMPI_MAJOR_VERSION);
#elif defined(MPICH_VERSION)
const std::string compiled_mpi = "MPICH Version";
#else
const std::string compiled_mpi;
#endif

/// Whether nobody has begun to initialise the PETSc that this is linked with.
bool is_foreign() {
  return PETSC_COMM_WORLD == MPI_COMM_NULL;
}

/// Why this must not be used in the program at hand; empty where it may.
PetscErrorCode find_obstacle(std::string& obstacle) {
  const std::string mpi = comm::mpi_version();
  if (!mpi.starts_with(compiled_mpi)) {
    obstacle = fmt::format("it was built for {}, but the program runs on {}", compiled_mpi, mpi);
    return success;
  }
  PetscInt major = 0;
  PetscInt minor = 0;
  PetscInt patch = 0;
  PetscInt is_release = 0;
  PetscCall(PetscGetVersionNumber(&major, &minor, &patch, &is_release));
  if (major != PETSC_VERSION_MAJOR || minor != PETSC_VERSION_MINOR) {
    obstacle = fmt::format("it was built for PETSc {}.{}, but the program has {}.{}", PETSC_VERSION_MAJOR,
                           PETSC_VERSION_MINOR, major, minor);
    return success;
  }
  PetscDataType scalar = PETSC_DATATYPE_UNKNOWN;
  PetscDataType index = PETSC_DATATYPE_UNKNOWN;
  PetscBool is_known = PETSC_FALSE;
  size_t index_bytes = 0;
  PetscCall(PetscDataTypeFromString("scalar", &scalar, &is_known));
  PetscCall(PetscDataTypeFromString("int", &index, &is_known));
  PetscCall(PetscDataTypeGetSize(PETSC_INT, &index_bytes));
  if (scalar != PETSC_DOUBLE)
    obstacle = "it was built for real double scalars, but the program's PETSc has others (complex?)";
  else if (index_bytes != sizeof(PetscInt))
    obstacle = "it was built for 32-bit indices, but the program's PETSc has 64-bit ones";
  else if (is_foreign())
    obstacle = "the program runs on another PETSc than this one is linked with, maybe one of complex scalars";
  return success;
}

}  // namespace

}  // namespace ayatori::petsc

/// What PETSc calls when it has opened libayatori_petsc.so.
extern "C" PETSC_VISIBILITY_PUBLIC PetscErrorCode PetscDLLibraryRegister_ayatori_petsc() {
  using namespace ayatori::petsc;
  return guarded(PETSC_COMM_SELF, "-ksp_ayatori_", [] {
    std::string obstacle;
    PetscCall(find_obstacle(obstacle));
    // A PETSc that is not initialised has no stream to write to.
    if (!obstacle.empty() && is_foreign())
      fmt::print(stderr, "libayatori_petsc.so cannot be used: {}\n", obstacle);
    PetscCheck(obstacle.empty(), PETSC_COMM_SELF, PETSC_ERR_LIB, "libayatori_petsc.so cannot be used: %s",
               obstacle.c_str());
    PetscCall(KSPRegister("ayatori", create_ksp));
    PetscCall(PCRegister("ayatori", create_pc));
    return success;
  });
}
