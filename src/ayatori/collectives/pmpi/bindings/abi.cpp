#include "ayatori/collectives/pmpi/bindings/abi.hpp"

#include "ayatori/collectives/pmpi/library.hpp"

#ifdef MPI_ABI_VERSION

#include <dlfcn.h>

#include <cstdlib>
#include <string_view>

namespace ayatori::pmpi {

namespace {

template <class F>
const void* library_of(F* function) {
  Dl_info facts{};
  dladdr(reinterpret_cast<const void*>(function), &facts);
  return facts.dli_fbase;
}

/// As far as launchers tell: without handles the MPI cannot be asked.
bool is_first_rank() {
  for (const char* name : {"PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"}) {
    if (const char* const rank = std::getenv(name)) return std::string_view(rank) == "0";
  }
  return true;
}

}  // namespace

bool fits_the_mpi() {
  // What the program is linked with is found first. An older MPI has no such function, and it is found in
  // another library; a newer one has it in the library with its own handles, too, for which the version is
  // none.
  int version = 0;
  int subversion = 0;
  if (library_of(&PMPI_Init) == library_of(&PMPI_Abi_get_version))
    PMPI_Abi_get_version(&version, &subversion);
  if (version == MPI_ABI_VERSION) return true;
  if (is_first_rank())
    say("not used: this library is for programs with the ABI of MPI 5 (mpicc_abi), and the program has "
        "another");
  return false;
}

}  // namespace ayatori::pmpi

#else

bool ayatori::pmpi::fits_the_mpi() {
  return true;
}

#endif
