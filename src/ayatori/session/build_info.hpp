#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>

namespace ayatori::session {

struct LibraryInBuild {
  std::string_view name;
  std::string_view version;  ///< empty where it does not tell
};

/// What this copy of the library was made from, by what, and with which libraries.
struct BuildInfo {
  std::string_view version;
  std::string_view
      commit;  ///< when the build was configured, with -dirty after changes; empty outside of git
  std::string_view compiler;
  std::string_view flags;
  std::string_view system;  ///< operating system and processor
  std::string_view mpi;     ///< the library that is linked or was opened, or that there is none
  std::string blas;         ///< the kernels by which OpenBLAS computes here; empty with another BLAS
  std::span<const LibraryInBuild> libraries;
};

/// Where an MPI is opened at run time, comm::Environment has to be there.
BuildInfo build_info();

nlohmann::json to_json(const BuildInfo& info);

/// In lines of a name and what it is, for people.
std::string to_text(const BuildInfo& info);

}  // namespace ayatori::session
