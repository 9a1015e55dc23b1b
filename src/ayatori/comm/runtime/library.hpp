#pragma once

#include <string>
#include <vector>

#include "ayatori/comm/runtime/transport.hpp"

namespace ayatori::comm {

/// An MPI library in this process.
struct MpiLibrary {
  void* handle = nullptr;  ///< handle from dlopen; never closed
  std::string path;

  /// Null where it has none of that name.
  void* find(const char* name) const;
  bool has_begun() const;
};

/// Those that are loaded, by this program or by what it has imported.
std::vector<MpiLibrary> loaded_mpi_libraries();

/// Opens a library by its name or path; without a handle where that fails, `why` is then the loader's reason.
MpiLibrary open_mpi_library(const std::string& name, std::string& why);

/// How the library is called: by the interface of MPI 5 (libmpi_abi.so), that of MPICH and its relatives, or
/// that of Open MPI. Throws EnvironmentError of others, and where a function is missing.
Transport transport_of(const MpiLibrary& library);

/// Constants of MPICH and its relatives, but for what is a symbol there.
const Constants& constants_of_mpich();
/// Constants of Open MPI, whose handles are addresses in it.
Constants constants_of_open_mpi(const MpiLibrary& library);

}  // namespace ayatori::comm
