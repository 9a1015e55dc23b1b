#include "ayatori/io/byte_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/io/compression/codec.hpp"

namespace ayatori::io {

namespace {

/// Bytes of a source as they are.
class PlainStream final : public ByteStream {
 public:
  PlainStream(const ByteSource& source, std::int64_t begin, std::int64_t bytes)
      : source_(source), position_(begin), rest_(bytes) {}

  std::size_t read(std::span<char> destination) override {
    const auto wanted = std::min(destination.size(), static_cast<std::size_t>(rest_));
    const std::size_t count = source_.read(position_, destination.first(wanted));
    skip(static_cast<std::int64_t>(count));
    return count;
  }
  void skip(std::int64_t bytes) override {
    bytes = std::min(bytes, rest_);
    position_ += bytes;
    rest_ -= bytes;
  }

 private:
  const ByteSource& source_;
  std::int64_t position_;
  std::int64_t rest_;
};

}  // namespace

FileBytes::FileBytes(const std::string& path) : ByteSource(path, 0), path_(path) {
  // Non-blocking, so that opening a pipe nobody writes to says so rather than waits.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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

FileBytes::FileBytes(int descriptor, std::string name)
    : ByteSource(std::move(name), 0), descriptor_(descriptor) {
  struct stat status {};
  size_ = fstat(descriptor_, &status) == 0 ? status.st_size : 0;
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

void ByteStream::skip(std::int64_t bytes) {
  constexpr std::int64_t chunk = std::int64_t{1} << 16;
  std::string passed(static_cast<std::size_t>(std::min(bytes, chunk)), '\0');
  while (bytes > 0) {
    const auto wanted = static_cast<std::size_t>(std::min(bytes, chunk));
    const auto count = static_cast<std::int64_t>(read(std::span(passed).first(wanted)));
    if (count == 0) return;
    bytes -= count;
  }
}

std::unique_ptr<ByteStream> open_range(const ByteSource& source, std::int64_t begin, std::int64_t bytes) {
  return std::make_unique<PlainStream>(source, begin, bytes);
}

std::unique_ptr<ByteStream> open_stream(const ByteSource& source) {
  const Codec* const codec = codec_of(source);
  if (codec == nullptr) return open_range(source, 0, std::numeric_limits<std::int64_t>::max());
  if (codec->make_decoder == nullptr) {
    throw EnvironmentError(fmt::format(
        "{0}: is {1}'ed, and this build cannot read that: decompress it ({1} -d), or build with {2}",
        source.name(), codec->name, codec->package));
  }
  return decode(source, 0, source.size(), codec->name, codec->make_decoder());
}

bool is_compressed(const ByteSource& source) {
  return codec_of(source) != nullptr;
}

std::int64_t most_content(const ByteSource& source) {
  constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();
  const Codec* const codec = codec_of(source);
  const std::int64_t growth = codec == nullptr ? 1 : codec->most_growth;
  return growth == 0 || source.size() > unbounded / growth ? unbounded : source.size() * growth;
}

std::int64_t most_rows(const ByteSource& source) {
  constexpr std::int64_t harmless = std::int64_t{1} << 20;
  constexpr std::int64_t most_rows_per_byte = 1024;
  constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();
  if (source.size() > (unbounded - harmless) / most_rows_per_byte) return unbounded;
  return harmless + most_rows_per_byte * source.size();
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
