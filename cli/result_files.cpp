#include "cli/result_files.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <filesystem>

#include "ayatori/base/error.hpp"
#include "ayatori/base/memory.hpp"
#include "ayatori/base/standard_output.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::cli {

namespace {

namespace fs = std::filesystem;

/// Where else a file may go. The current directory first: a job's folder for temporary files may vanish with
/// the job.
std::vector<fs::path> second_places(const fs::path& path) {
  std::vector<fs::path> places;
  std::error_code error;
  const bool has_folder = !is_standard_output(path.string());
  const auto first =
      has_folder ? fs::weakly_canonical(fs::absolute(path, error).parent_path(), error) : fs::path();
  for (const fs::path& folder : {fs::current_path(error), fs::temp_directory_path(error)}) {
    if (!folder.empty() && fs::weakly_canonical(folder, error) != first) places.push_back(folder);
  }
  return places;
}

/// Standard output, which has no name of its own, gives way to a file of this one.
fs::path name_elsewhere(const std::string& path, const fs::path& otherwise) {
  return is_standard_output(path) ? otherwise : fs::path(path).filename();
}

/// Writes a file of this name in a new folder, and gives its path. Nothing stays where that fails.
std::string write_in(const fs::path& place, const fs::path& name,
                     const std::function<void(const std::string& path)>& write) {
  std::string folder = (place / "ayatori-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) throw EnvironmentError(folder + ": cannot be made");
  try {
    std::string path = (fs::path(folder) / name).string();
    write(path);
    return path;
  } catch (...) {
    rmdir(folder.c_str());
    throw;
  }
}

}  // namespace

std::string ResultFiles::write_array(const std::string& path, std::string_view what,
                                     std::span<const double> local, const WriteArray& write) {
  std::string why;
  try {
    write(comm_, path, local);
    return path;
  } catch (const EnvironmentError& error) {
    if (!error.agreed()) throw;
    why = error.what();
  }
  // Rank 0 writes all of it: other nodes may have another folder of the same name.
  const auto count = comm_.allreduce(static_cast<std::int64_t>(local.size()), comm::ReduceOp::sum);
  constexpr std::int64_t bytes_of_number = 8 + 32;  // itself and as text
  const bool fits = comm_.rank() != 0 || count < available_memory() / bytes_of_number;
  if (comm_.any(!fits)) {
    failures_.push_back(fmt::format("{}; rank 0 has no memory to write {} elsewhere", why, what));
    return "";
  }
  const auto all = comm_.gatherv(local, 0);
  return write_elsewhere(path, "x.mtx", what, why, [&](const std::string& elsewhere) {
    write(comm::Comm::self(), elsewhere, all.values);
  });
}

std::string ResultFiles::write_text(const std::string& path, std::string_view what,
                                    const std::function<std::string()>& make, const char* otherwise) {
  std::string text;
  try {
    comm::agree(comm_, [&] {
      if (comm_.rank() != 0) return;
      text = make();
      write_file(path, text);
    });
    return path;
  } catch (const EnvironmentError& error) {
    return write_elsewhere(path, otherwise, what, error.what(),
                           [&](const std::string& elsewhere) { write_file(elsewhere, text); });
  }
}

std::string ResultFiles::write_elsewhere(const std::string& path, const char* otherwise,
                                         std::string_view what, const std::string& why,
                                         const std::function<void(const std::string& path)>& write) {
  std::string found;
  if (comm_.rank() == 0) {
    for (const fs::path& place : second_places(path)) {
      try {
        found = write_in(place, name_elsewhere(path, otherwise), write);
        break;
      } catch (const std::exception&) {  // the next one, perhaps
      }
    }
  }
  found = comm_.broadcast(found, 0);
  failures_.push_back(found.empty() ? fmt::format("{}, nor could {} be written elsewhere", why, what)
                                    : fmt::format("{}: {} is in {}", why, what, found));
  return found;
}

void ResultFiles::finish() const {
  if (failures_.empty()) return;
  throw_error(ErrorKind::environment, fmt::format("{}", fmt::join(failures_, "; ")), true);
}

}  // namespace ayatori::cli
