#include "ayatori/io/standard_streams.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "ayatori/base/array.hpp"
#include "ayatori/base/error.hpp"
#include "ayatori/base/standard_output.hpp"

namespace ayatori::io {

namespace {

[[noreturn]] void fail(std::string_view what, std::string_view deed) {
  throw EnvironmentError(fmt::format("{}: cannot be {}: {}", what, deed, std::strerror(errno)));
}

/// A file that nobody else sees.
int open_unnamed() {
  std::error_code error;
  auto folder = std::filesystem::temp_directory_path(error);
  std::string name = ((error ? std::filesystem::path("/tmp") : folder) / "ayatori-input-XXXXXX").string();
  const int descriptor = mkstemp(name.data());
  if (descriptor < 0) fail(name, "made");
  unlink(name.c_str());
  return descriptor;
}

/// All that comes from a pipe.
int keep(int pipe) {
  const int descriptor = open_unnamed();
  Array<char> buffer(std::size_t{1} << 20);
  while (true) {
    const ssize_t count = ::read(pipe, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("standard input", "read");
    if (count == 0) return descriptor;
    write_all(descriptor, {buffer.data(), static_cast<std::size_t>(count)},
              "standard input, in the folder for temporary files (TMPDIR),");
  }
}

}  // namespace

std::unique_ptr<ByteSource> standard_input() {
  struct stat status {};
  if (fstat(STDIN_FILENO, &status) != 0) fail("standard input", "read");
  const bool is_file = S_ISREG(status.st_mode);
  const int descriptor = is_file ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : keep(STDIN_FILENO);
  if (descriptor < 0) fail("standard input", "read");
  return std::make_unique<FileBytes>(descriptor, "standard input");
}

}  // namespace ayatori::io
