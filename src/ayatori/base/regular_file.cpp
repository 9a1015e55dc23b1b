#include "ayatori/base/regular_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ayatori/base/error.hpp"

namespace ayatori {

namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(number_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

[[noreturn]] void cannot_read() {
  throw InputError(fmt::format("cannot be read: {}", std::strerror(errno)));
}

}  // namespace

int open_regular_file(const std::string& path) {
  // Non-blocking, so that opening a pipe nobody writes to says so rather than waits.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) cannot_read();
  struct stat status {};
  const bool known = fstat(descriptor, &status) == 0;
  if (known && S_ISREG(status.st_mode)) return descriptor;
  close(descriptor);
  throw InputError(known && S_ISDIR(status.st_mode) ? "is a directory, not a file" : "is not a regular file");
}

std::string read_regular_file(const std::string& path, std::int64_t most_bytes) {
  constexpr std::int64_t piece = 1 << 16;
  const Descriptor file(open_regular_file(path));
  struct stat status {};
  if (fstat(file.number(), &status) != 0) cannot_read();
  std::string text;
  // One byte more than there should be shows the end. The size is a hint alone: a file may grow meanwhile.
  std::int64_t room = std::min<std::int64_t>(status.st_size, most_bytes) + 1;
  while (true) {
    const std::size_t before = text.size();
    text.resize(before + static_cast<std::size_t>(room));
    const ssize_t count = read(file.number(), text.data() + before, static_cast<std::size_t>(room));
    if (count < 0 && errno != EINTR) cannot_read();
    text.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (static_cast<std::int64_t>(text.size()) > most_bytes)
      throw InputError(fmt::format("is larger than {} bytes, the most that is read", most_bytes));
    if (count == 0) return text;
    room = std::min(piece, most_bytes - static_cast<std::int64_t>(text.size()) + 1);
  }
}

void check_regular_file(const std::string& path) {
  try {
    close(open_regular_file(path));
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", path, error.what()));
  }
}

}  // namespace ayatori
