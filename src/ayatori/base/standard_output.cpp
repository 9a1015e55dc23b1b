#include "ayatori/base/standard_output.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "ayatori/base/error.hpp"

namespace ayatori {

bool is_standard_output(std::string_view path) {
  return path == standard_stream || path == "/dev/stdout";
}

void write_all(int descriptor, std::string_view bytes, const std::string& what) {
  while (!bytes.empty()) {
    const ssize_t count = write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0)
      throw EnvironmentError(fmt::format("{}: cannot be written: {}", what, std::strerror(errno)));
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void write_standard_output(std::string_view bytes) {
  std::fflush(stdout);
  write_all(STDOUT_FILENO, bytes, "standard output");
}

}  // namespace ayatori
