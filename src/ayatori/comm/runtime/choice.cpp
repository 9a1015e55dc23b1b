#include "ayatori/comm/runtime/choice.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/runtime/library.hpp"

namespace ayatori::comm {

namespace {

/// What a launcher tells those that it has started.
struct Launch {
  std::string variable;
  int ranks = 0;  ///< 0: not told

  std::string text() const {
    return ranks > 0 ? fmt::format("the launcher started {} ranks ({})", ranks, variable)
                     : fmt::format("a launcher started this process ({})", variable);
  }
};

std::optional<Launch> find_launch() {
  for (const char* name :
       {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS", "FLUX_JOB_SIZE", "PMIX_RANK"}) {
    const char* const value = std::getenv(name);
    if (value == nullptr) continue;
    const std::string_view text(value);
    Launch launch{name, 0};
    if (launch.variable != "PMIX_RANK") std::from_chars(text.data(), text.data() + text.size(), launch.ranks);
    return launch;
  }
  return std::nullopt;
}

/// Names of MPI libraries, those of the launcher's own kind first.
std::vector<std::string> names_of_libraries(const Launch& launch) {
  std::vector<std::string> names{"libmpi.so.12", "libmpi_abi.so.1", "libmpich.so.12", "libmpi.so.40",
                                 "libmpi.so"};
  if (launch.variable.starts_with("OMPI")) std::ranges::rotate(names, names.begin() + 3);
  return names;
}

/// Folders above this library, and above the program: a virtual environment has its MPI in lib/, some levels
/// above its packages.
std::vector<std::filesystem::path> folders_above() {
  constexpr int levels = 4;
  std::vector<std::filesystem::path> folders;
  const auto add = [&](std::filesystem::path folder) {
    for (int k = 0; k < levels && folder.has_relative_path(); ++k) {
      folders.push_back(folder);
      folder = folder.parent_path();
    }
  };
  std::error_code error;
  Dl_info facts{};
  if (dladdr(reinterpret_cast<const void*>(&find_launch), &facts) != 0) {
    auto folder = std::filesystem::absolute(facts.dli_fname, error).lexically_normal().parent_path();
    // Where the loader has chosen by the processor, the library lies in FOLDER/glibc-hwcaps/x86-64-v3.
    if (folder.parent_path().filename() == "glibc-hwcaps") folder = folder.parent_path().parent_path();
    add(folder);
  }
  // Where the library is part of the program, dladdr() knows no more than argv[0].
  add(std::filesystem::read_symlink("/proc/self/exe", error).parent_path());
  return folders;
}

std::optional<MpiLibrary> find_library(const Launch& launch) {
  std::string why;
  for (const std::string& name : names_of_libraries(launch)) {
    std::error_code error;
    for (const auto& folder : folders_above()) {
      if (!std::filesystem::exists(folder / name, error)) continue;
      if (auto library = open_mpi_library(folder / name, why); library.handle != nullptr) return library;
    }
    if (auto library = open_mpi_library(name, why); library.handle != nullptr) return library;
  }
  return std::nullopt;
}

/// None: this process by itself.
std::optional<MpiLibrary> choose_library() {
  if (const char* named = std::getenv("AYATORI_MPI_LIBRARY"); named != nullptr && *named != '\0') {
    if (std::string_view(named) == "none") return std::nullopt;
    std::string why;
    auto library = open_mpi_library(named, why);
    if (library.handle == nullptr) throw EnvironmentError("AYATORI_MPI_LIBRARY: " + why);
    return library;
  }
  auto loaded = loaded_mpi_libraries();
  std::ranges::stable_partition(loaded, &MpiLibrary::has_begun);
  if (!loaded.empty()) return loaded.front();
  const auto launch = find_launch();
  if (!launch || launch->ranks == 1) return std::nullopt;
  if (auto library = find_library(*launch)) return library;
  throw EnvironmentError(
      launch->text() +
      ", but no MPI library is found: import mpi4py first, or name the launcher's libmpi.so in "
      "AYATORI_MPI_LIBRARY (none: each rank by itself)");
}

/// The file of the library in use; empty for `single`.
std::string& path_in_use() {
  static auto* const path = new std::string;
  return *path;
}

}  // namespace

void choose_transport() {
  static bool is_chosen = false;
  if (is_chosen) return;
  if (const auto library = choose_library()) {
    use_transport(transport_of(*library));
    path_in_use() = library->path;
  }
  is_chosen = true;
}

void check_launched_ranks() {
  const auto launch = find_launch();
  if (!launch || launch->ranks <= 1 || path_in_use().empty()) return;
  int size = 0;
  transport().functions.Comm_size(transport().constants.comm_world, &size);
  if (size != 1) return;
  throw EnvironmentError(
      fmt::format("{}, but {} knows of one: it is not the launcher's MPI. Import mpi4py of that MPI "
                  "first, or name its libmpi.so in AYATORI_MPI_LIBRARY",
                  launch->text(), path_in_use()));
}

void check_is_the_only_mpi() {
  for (const MpiLibrary& library : loaded_mpi_libraries()) {
    if (library.path == path_in_use() || !library.has_begun()) continue;
    throw EnvironmentError(
        fmt::format("the communicator is of {}, but ayatori has begun {}: import mpi4py before the first "
                    "call of ayatori",
                    library.path, path_in_use().empty() ? "without MPI" : "with " + path_in_use()));
  }
}

}  // namespace ayatori::comm
