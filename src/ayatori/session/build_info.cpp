#include "ayatori/session/build_info.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ayatori/base/blas_kernels.hpp"
#include "ayatori/base/version.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/session/build_constants.hpp"

namespace ayatori::session {

BuildInfo build_info() {
  return {.version = version,
          .commit = built_from_commit,
          .compiler = built_by,
          .flags = built_with_flags,
          .system = built_for,
          .mpi = comm::mpi_version(),
          .blas = blas_kernels(),
          .libraries = libraries_in_build};
}

nlohmann::json to_json(const BuildInfo& info) {
  nlohmann::json libraries = nlohmann::json::object();
  for (const LibraryInBuild& library : info.libraries) libraries[std::string(library.name)] = library.version;
  return {{"version", info.version}, {"commit", info.commit}, {"compiler", info.compiler},
          {"flags", info.flags},     {"system", info.system}, {"mpi", info.mpi},
          {"blas", info.blas},       {"libraries", libraries}};
}

std::string to_text(const BuildInfo& info) {
  std::string text;
  const auto line = [&](std::string_view name, std::string_view value) {
    text += fmt::format("{:<10} {}\n", name, value.empty() ? "unknown" : value);
  };
  line("Ayatori", info.version);
  line("commit", info.commit);
  line("compiler", info.compiler);
  line("flags", info.flags);
  line("system", info.system);
  line("MPI", info.mpi);
  line("BLAS", info.blas.empty() ? "" : info.blas + " kernels");
  std::string libraries;
  for (const LibraryInBuild& library : info.libraries)
    libraries += fmt::format("{}{}{}{}", libraries.empty() ? "" : ", ", library.name,
                             library.version.empty() ? "" : " ", library.version);
  line("libraries", libraries);
  return text;
}

}  // namespace ayatori::session
