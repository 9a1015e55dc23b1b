#include "ayatori/base/temporary_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/standard_output.hpp"

namespace ayatori {

namespace {

[[noreturn]] void cannot_write(const std::string& path, int error) {
  throw EnvironmentError(fmt::format("{}: cannot be written: {}", path, std::strerror(error)));
}

/// Creates an empty file from a name that ends in XXXXXX, with the mode that open() would give it; mkstemp
/// alone makes it private.
void create_unique(std::string& name, const std::string& final_path) {
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) cannot_write(final_path, errno);
  const mode_t mask = umask(0);
  umask(mask);
  const int error = fchmod(descriptor, 0666 & ~mask) == 0 ? 0 : errno;
  close(descriptor);
  if (error != 0) {
    unlink(name.c_str());
    cannot_write(final_path, error);
  }
}

void flush(const std::string& name, const std::string& final_path) {
  const int descriptor = open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) cannot_write(final_path, errno);
  const int error = fsync(descriptor) == 0 ? 0 : errno;
  close(descriptor);
  if (error != 0) cannot_write(final_path, error);
}

/// Whether a path leads to a file that the process has open (/dev/stderr, /dev/fd/3). Whoever opened it goes
/// on writing to that one.
bool is_open_file(std::filesystem::path path) {
  std::error_code error;
  constexpr int most_links = 40;
  for (int link = 0; link < most_links && std::filesystem::is_symlink(path, error); ++link) {
    const auto folder = std::filesystem::canonical(std::filesystem::absolute(path).parent_path(), error);
    if (folder.native().starts_with("/proc/") && folder.filename() == "fd") return true;
    path = folder / std::filesystem::read_symlink(path, error);
  }
  return false;
}

/// Adds to what is there: a temporary file is empty, and of others only the end is ours.
void write_content(const std::string& name, std::string_view content, const std::string& final_path) {
  std::ofstream stream(name, std::ios::binary | std::ios::app);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  stream.close();
  if (!stream) cannot_write(final_path, errno);
}

}  // namespace

TemporaryFile::TemporaryFile(std::string path) : path_(std::move(path)) {
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) cannot_write(path_, EISDIR);
    std::error_code unresolved;
    const auto target = std::filesystem::canonical(path_, unresolved);
    direct_ = !S_ISREG(status.st_mode) || unresolved || is_open_file(path_);
    if (!direct_) path_ = target.string();
  }
  temporary_ = path_;
  if (direct_) return;
  temporary_ += ".XXXXXX";
  create_unique(temporary_, path_);
}

TemporaryFile::~TemporaryFile() {
  if (!direct_ && !committed_) unlink(temporary_.c_str());
}

void TemporaryFile::commit(Outlives outlives) {
  if (direct_) return;
  if (outlives == Outlives::power_failure) flush(temporary_, path_);
  if (std::rename(temporary_.c_str(), path_.c_str()) != 0) cannot_write(path_, errno);
  committed_ = true;
}

void remove_abandoned(const std::string& folder, const std::function<bool(std::string_view name)>& wanted,
                      std::chrono::seconds age) {
  constexpr std::size_t random_letters = 6;
  const auto oldest = std::filesystem::file_time_type::clock::now() - age;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.size() <= random_letters + 1) continue;
    const auto dot = name.end() - random_letters - 1;
    const bool is_temporary =
        *dot == '.' && std::all_of(dot + 1, name.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
    if (!is_temporary || !wanted(std::string_view(name).substr(0, name.size() - random_letters - 1)))
      continue;
    std::error_code of_entry;
    const bool is_file = entry->symlink_status(of_entry).type() == std::filesystem::file_type::regular;
    if (!is_file || entry->last_write_time(of_entry) > oldest || of_entry) continue;
    std::filesystem::remove(entry->path(), of_entry);
  }
}

void write_file(const std::string& path, std::string_view content, Outlives outlives) {
  if (is_standard_output(path)) return write_standard_output(content);
  TemporaryFile file(path);
  write_content(file.temporary_path(), content, path);
  file.commit(outlives);
}

void check_writable(const std::string& path) {
  if (is_standard_output(path)) return;
  const TemporaryFile file(path);
  if (file.temporary_path() == path) {  // a device or a pipe, to which nothing may be written yet
    if (access(path.c_str(), W_OK) != 0) cannot_write(path, errno);
    return;
  }
  constexpr std::size_t block = 4096;  // a full disk still makes empty files
  write_content(file.temporary_path(), std::string(block, '\n'), path);
}

}  // namespace ayatori
