#include "ayatori/io/numpy/zip.hpp"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/io/compression/codec.hpp"

namespace ayatori::io::zip {

namespace {

[[noreturn]] void refuse(const ByteSource& source, std::string_view what) {
  throw InputError(fmt::format("{}: the zip archive {}", source.name(), what));
}

/// Bytes of an archive with the little-endian numbers in them.
class Record {
 public:
  Record(const ByteSource& source, std::int64_t offset, std::int64_t bytes) : source_(source) {
    if (offset < 0 || bytes < 0 || offset > source.size() - bytes) refuse(source, "is truncated or damaged");
    bytes_.resize(static_cast<std::size_t>(bytes));
    if (source.read(offset, bytes_) < bytes_.size()) refuse(source, "is truncated");
  }

  std::uint64_t number(std::size_t at, std::size_t bytes) const {
    if (at + bytes > bytes_.size()) refuse(source_, "has a damaged directory");
    std::uint64_t value = 0;
    for (std::size_t k = bytes; k-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes_[at + k]);
    return value;
  }
  /// A length or an offset.
  std::int64_t size(std::size_t at, std::size_t bytes) const {
    const auto value = static_cast<std::int64_t>(number(at, bytes));
    if (value < 0) refuse(source_, "has a damaged directory");
    return value;
  }
  const std::string& bytes() const { return bytes_; }

 private:
  const ByteSource& source_;
  std::string bytes_;
};

constexpr std::int64_t end_bytes = 22;
constexpr std::uint64_t in_extra_field = 0xffffffff;  // a number that needs 64 bits

/// Where the directory lies, and how many members it names.
struct Directory {
  std::int64_t at = 0;
  std::int64_t bytes = 0;
  std::int64_t members = 0;
};

Directory find_directory(const ByteSource& source) {
  constexpr std::int64_t longest_comment = 65535;
  const std::int64_t from = std::max<std::int64_t>(source.size() - end_bytes - longest_comment, 0);
  const Record tail(source, from, source.size() - from);
  const auto found = tail.bytes().rfind("PK\5\6");
  if (found == std::string::npos || found + end_bytes > tail.bytes().size())
    refuse(source, "has no directory at its end: it is truncated");
  const Directory plain{tail.size(found + 16, 4), tail.size(found + 12, 4), tail.size(found + 10, 2)};
  constexpr std::int64_t locator_bytes = 20;
  const std::int64_t locator_at = from + static_cast<std::int64_t>(found) - locator_bytes;
  if (locator_at < 0) return plain;
  const Record locator(source, locator_at, locator_bytes);
  if (!locator.bytes().starts_with("PK\6\7")) return plain;
  constexpr std::int64_t large_end_bytes = 56;
  const Record large(source, locator.size(8, 8), large_end_bytes);
  return {large.size(48, 8), large.size(40, 8), large.size(32, 8)};
}

/// Puts the numbers of 64 bits where those of 32 say that they are in the extra field.
void read_extra_field(const Record& directory, std::size_t at, std::size_t bytes, Member& member) {
  const std::size_t end = at + bytes;
  while (at + 4 <= end) {
    const auto length = static_cast<std::size_t>(directory.number(at + 2, 2));
    if (directory.number(at, 2) == 1) {
      std::size_t next = at + 4;
      for (std::int64_t* number : {&member.bytes, &member.packed_bytes, &member.header_at}) {
        if (static_cast<std::uint64_t>(*number) != in_extra_field) continue;
        *number = directory.size(next, 8);
        next += 8;
      }
    }
    at += 4 + length;
  }
}

/// A stream of known length, of which the checksum is known, too.
class CheckedStream final : public ByteStream {
 public:
  CheckedStream(std::unique_ptr<ByteStream> stream, const ByteSource& source, const Member& member)
      : stream_(std::move(stream)), source_(source), member_(member), rest_(member.bytes) {}

  std::size_t read(std::span<char> destination) override {
    const auto wanted = std::min(destination.size(), static_cast<std::size_t>(rest_));
    const std::size_t count = stream_->read(destination.first(wanted));
    if (count < wanted) refuse(source_, "is truncated or damaged");
    checksum_ = crc32_z(checksum_, reinterpret_cast<const Bytef*>(destination.data()), count);
    rest_ -= static_cast<std::int64_t>(count);
    if (rest_ == 0 && wanted > 0 && !has_skipped_ && checksum_ != member_.checksum)
      refuse(source_, fmt::format("is damaged: the checksum of {} is wrong", in_quotes(member_.name)));
    return count;
  }
  /// What is stored can be passed over without a look at it.
  void skip(std::int64_t bytes) override {
    bytes = std::min(bytes, rest_);
    if (bytes == 0) return;
    if (member_.method != 0) return ByteStream::skip(bytes);
    stream_->skip(bytes);
    rest_ -= bytes;
    has_skipped_ = true;
  }

 private:
  std::unique_ptr<ByteStream> stream_;
  const ByteSource& source_;
  Member member_;
  std::int64_t rest_;
  uLong checksum_ = 0;
  bool has_skipped_ = false;
};

}  // namespace

std::vector<Member> read_directory(const ByteSource& source) {
  const Directory directory = find_directory(source);
  const Record record(source, directory.at, directory.bytes);
  std::vector<Member> members;
  std::size_t at = 0;
  for (std::int64_t k = 0; k < directory.members; ++k) {
    constexpr std::size_t fixed_bytes = 46;
    if (record.number(at, 4) != 0x02014b50) refuse(source, "has a damaged directory");
    const auto name_bytes = static_cast<std::size_t>(record.number(at + 28, 2));
    const auto extra_bytes = static_cast<std::size_t>(record.number(at + 30, 2));
    const auto comment_bytes = static_cast<std::size_t>(record.number(at + 32, 2));
    const std::size_t next = at + fixed_bytes + name_bytes + extra_bytes + comment_bytes;
    if (next > record.bytes().size()) refuse(source, "has a damaged directory");
    Member member{record.bytes().substr(at + fixed_bytes, name_bytes),
                  static_cast<int>(record.number(at + 10, 2)),
                  static_cast<std::uint32_t>(record.number(at + 16, 4)),
                  record.size(at + 20, 4),
                  record.size(at + 24, 4),
                  record.size(at + 42, 4)};
    read_extra_field(record, at + fixed_bytes + name_bytes, extra_bytes, member);
    members.push_back(std::move(member));
    at = next;
  }
  return members;
}

std::unique_ptr<ByteStream> open_member(const ByteSource& source, const Member& member) {
  constexpr std::int64_t fixed_bytes = 30;
  const Record header(source, member.header_at, fixed_bytes);
  if (header.number(0, 4) != 0x04034b50) refuse(source, "is damaged: a member is not where it should be");
  const std::int64_t at = member.header_at + fixed_bytes + header.size(26, 2) + header.size(28, 2);
  if (member.packed_bytes > source.size() - at) refuse(source, "is truncated");
  constexpr int stored = 0;
  constexpr int deflated = 8;
  std::unique_ptr<ByteStream> stream;
  if (member.method == stored && member.packed_bytes == member.bytes) {
    stream = open_range(source, at, member.packed_bytes);
  } else if (member.method == deflated) {
    stream = decode(source, at, member.packed_bytes, "zip", make_inflater(-MAX_WBITS));
  } else {
    refuse(source, fmt::format("has {} in a form (method {}) that is not read: save it anew",
                               in_quotes(member.name), member.method));
  }
  return std::make_unique<CheckedStream>(std::move(stream), source, member);
}

}  // namespace ayatori::io::zip
