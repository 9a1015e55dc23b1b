#include "ayatori/base/temporary_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "ayatori/base/error.hpp"

namespace ayatori {

namespace {

[[noreturn]] void cannot_write(const std::string& path) {
  throw EnvironmentError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
}

}  // namespace

TemporaryFile::TemporaryFile(std::string path) : path_(std::move(path)), temporary_(path_ + ".XXXXXX") {
  struct stat status {};
  if (stat(path_.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    errno = EISDIR;
    cannot_write(path_);
  }
  const int descriptor = mkstemp(temporary_.data());
  if (descriptor < 0) cannot_write(path_);
  const mode_t mask = umask(0);  // mkstemp makes the file private; give it the mode that open() would have
  umask(mask);
  const bool failed = fchmod(descriptor, 0666 & ~mask) != 0;
  close(descriptor);
  if (failed) {
    unlink(temporary_.c_str());
    cannot_write(path_);
  }
}

TemporaryFile::~TemporaryFile() {
  if (!committed_) unlink(temporary_.c_str());
}

void TemporaryFile::commit() {
  const int descriptor = open(temporary_.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) cannot_write(path_);
  const bool synced = fsync(descriptor) == 0;
  close(descriptor);
  if (!synced || std::rename(temporary_.c_str(), path_.c_str()) != 0) cannot_write(path_);
  committed_ = true;
}

void write_file(const std::string& path, std::string_view content) {
  TemporaryFile file(path);
  std::ofstream stream(file.temporary_path(), std::ios::binary | std::ios::trunc);
  stream.write(content.data(), static_cast<std::streamsize>(content.size()));
  stream.close();
  if (!stream) cannot_write(path);
  file.commit();
}

}  // namespace ayatori
