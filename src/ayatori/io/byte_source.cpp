#include "ayatori/io/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

#include "ayatori/base/array.hpp"
#include "ayatori/base/error.hpp"

namespace ayatori::io {

namespace {

/// Bytes of a source as they are.
class PlainStream final : public ByteStream {
 public:
  explicit PlainStream(const ByteSource& source) : source_(source) {}

  std::size_t read(std::span<char> destination) override {
    const std::size_t count = source_.read(position_, destination);
    position_ += static_cast<std::int64_t>(count);
    return count;
  }

 private:
  const ByteSource& source_;
  std::int64_t position_ = 0;
};

/// Inflates the members of a gzip file one after the other.
class GzipStream final : public ByteStream {
 public:
  explicit GzipStream(const ByteSource& source) : source_(source), input_(input_bytes) {
    constexpr int gzip_only = 16 + MAX_WBITS;  // zlib's way to ask for the gzip wrapper
    if (inflateInit2(&zlib_, gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~GzipStream() override { inflateEnd(&zlib_); }

  std::size_t read(std::span<char> destination) override {
    std::size_t written = 0;
    while (written < destination.size() && !finished_) {
      if (zlib_.avail_in == 0) refill();
      if (between_members_ && !begin_member()) break;
      written += inflate_some(destination.subspan(written));
    }
    return written;
  }

 private:
  static constexpr std::size_t input_bytes = std::size_t{1} << 18;

  void refill() {
    zlib_.avail_in = static_cast<uInt>(source_.read(position_, input_));
    zlib_.next_in = reinterpret_cast<Bytef*>(input_.data());
    position_ += zlib_.avail_in;
  }

  /// At the end of a member: starts the next one; false if the file ends here. Zeros may pad the end (tapes,
  /// tar).
  bool begin_member() {
    while (true) {
      while (zlib_.avail_in > 0 && *zlib_.next_in == 0) ++zlib_.next_in, --zlib_.avail_in;
      if (zlib_.avail_in > 0) break;
      refill();
      if (zlib_.avail_in == 0) {
        finished_ = true;
        return false;
      }
    }
    inflateReset(&zlib_);
    between_members_ = false;
    return true;
  }

  std::size_t inflate_some(std::span<char> destination) {
    if (zlib_.avail_in == 0)
      throw InputError(source_.name() + ": the gzip'ed data end early: the file is truncated");
    const auto room =
        static_cast<uInt>(std::min<std::size_t>(destination.size(), std::numeric_limits<int>::max()));
    zlib_.next_out = reinterpret_cast<Bytef*>(destination.data());
    zlib_.avail_out = room;
    const int status = inflate(&zlib_, Z_NO_FLUSH);
    if (status == Z_STREAM_END) {
      between_members_ = true;
    } else if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    } else if (status != Z_OK && status != Z_BUF_ERROR) {
      throw InputError(fmt::format("{}: the gzip'ed data are damaged: {}", source_.name(),
                                   zlib_.msg != nullptr ? zlib_.msg : "unknown error"));
    }
    return room - zlib_.avail_out;
  }

  const ByteSource& source_;
  Array<char> input_;
  z_stream zlib_{};
  std::int64_t position_ = 0;
  bool between_members_ = false;
  bool finished_ = false;
};

}  // namespace

FileBytes::FileBytes(const std::string& path) : ByteSource(path, 0) {
  // Non-blocking, so that opening a pipe nobody writes to says so rather than waits.
  descriptor_ = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) throw InputError(fmt::format("{}: cannot be opened: {}", path, std::strerror(errno)));
  struct stat status {};
  const bool known = fstat(descriptor_, &status) == 0;
  if (!known || !S_ISREG(status.st_mode)) {
    const char* reason =
        known && S_ISDIR(status.st_mode) ? "is a directory, not a file" : "is not a regular file";
    close(descriptor_);
    throw InputError(fmt::format("{}: {}", path, reason));
  }
  size_ = status.st_size;
}

FileBytes::~FileBytes() {
  close(descriptor_);
}

std::size_t FileBytes::read(std::int64_t offset, std::span<char> destination) const {
  std::size_t done = 0;
  while (done < destination.size()) {
    const ssize_t count = pread(descriptor_, destination.data() + done, destination.size() - done,
                                offset + static_cast<std::int64_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw EnvironmentError(fmt::format("{}: cannot be read: {}", name_, std::strerror(errno)));
    if (count == 0) break;
    done += static_cast<std::size_t>(count);
  }
  return done;
}

std::size_t MemoryBytes::read(std::int64_t offset, std::span<char> destination) const {
  if (offset >= size_) return 0;
  const std::size_t count = std::min(destination.size(), bytes_.size() - static_cast<std::size_t>(offset));
  std::copy_n(bytes_.data() + offset, count, destination.data());
  return count;
}

std::unique_ptr<ByteStream> open_stream(const ByteSource& source) {
  if (is_gzip(source)) return std::make_unique<GzipStream>(source);
  return std::make_unique<PlainStream>(source);
}

bool is_gzip(const ByteSource& source) {
  char magic[2];
  return source.read(0, magic) == 2 && magic[0] == '\x1f' && magic[1] == '\x8b';
}

std::string first_bytes(const ByteSource& source, std::size_t count) {
  std::string bytes(count, '\0');
  bytes.resize(open_stream(source)->read(bytes));
  return bytes;
}

std::string all_bytes(const ByteSource& source, std::int64_t limit) {
  const auto stream = open_stream(source);
  std::string bytes;
  std::string chunk(std::size_t{1} << 20, '\0');
  while (const std::size_t count = stream->read(chunk)) {
    bytes.append(chunk, 0, count);
    if (static_cast<std::int64_t>(bytes.size()) > limit) {
      throw InputError(fmt::format("{}: longer than {} bytes, the most that this format can be read with",
                                   source.name(), limit));
    }
  }
  return bytes;
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string result = "'";
  for (const char c : text.substr(0, longest)) result += c >= ' ' && c <= '~' ? c : '?';
  return result + (text.size() > longest ? "...'" : "'");
}

}  // namespace ayatori::io
