#include "ayatori/io/shared_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include "ayatori/base/standard_output.hpp"
#include "ayatori/base/temporary_file.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::io {

namespace {

class OpenFile final : public SharedFile {
 public:
  /// `path` is what messages call the file whose name is `name`.
  OpenFile(const std::string& name, const std::string& path, bool alone) : path_(path) {
    const bool is_standard = is_standard_output(name);
    descriptor_ =
        is_standard ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0) : ::open(name.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail();
    // A file on standard output may have something in it already.
    seekable_ = !is_standard && lseek(descriptor_, 0, SEEK_CUR) >= 0;
    if (!seekable_ && !alone) {
      ::close(descriptor_);
      throw EnvironmentError(path +
                             ": several ranks cannot write to a pipe: write to a file, or use one rank");
    }
  }
  ~OpenFile() override {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  void write(std::string_view bytes, std::int64_t offset) const override {
    while (!bytes.empty()) {
      const ssize_t count = seekable_ ? pwrite(descriptor_, bytes.data(), bytes.size(), offset)
                                      : ::write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) fail();
      bytes.remove_prefix(static_cast<std::size_t>(count));
      offset += count;
    }
  }

  /// File systems on a network may say only now that the disk is full.
  void close() {
    if (::close(std::exchange(descriptor_, -1)) != 0) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw EnvironmentError(fmt::format("{}: cannot be written: {}",
                                       is_standard_output(path_) ? "standard output" : path_,
                                       std::strerror(errno)));
  }

  const std::string& path_;
  int descriptor_ = -1;
  bool seekable_ = true;
};

}  // namespace

void write_shared_file(const comm::Comm& comm, const std::string& path,
                       const std::function<void(const SharedFile& file)>& write) {
  std::optional<TemporaryFile> temporary;
  comm::agree(comm, [&] {
    if (comm.rank() == 0 && !is_standard_output(path)) temporary.emplace(path);
  });
  const std::string name = comm.broadcast(temporary ? temporary->temporary_path() : path, 0);
  comm::agree(comm, [&] {
    OpenFile file(name, path, comm.size() == 1);
    write(file);
    file.close();
  });
  comm::agree(comm, [&] {
    if (temporary) temporary->commit();
  });
}

}  // namespace ayatori::io
