#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace ayatori::io {

/// Bytes at known positions: a file or memory. Reading is thread-safe.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// What messages call it: the path of a file.
  const std::string& name() const { return name_; }
  std::int64_t size() const { return size_; }
  /// Where a library may open it for itself; empty if nowhere.
  virtual std::string path() const { return {}; }

  /// Copies the bytes from `offset` on; gives how many there were: fewer than asked for only at the end.
  /// Throws EnvironmentError when the device fails.
  virtual std::size_t read(std::int64_t offset, std::span<char> destination) const = 0;

 protected:
  ByteSource(std::string name, std::int64_t size) : name_(std::move(name)), size_(size) {}
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  std::string name_;
  std::int64_t size_;
};

/// A regular file. The constructor throws InputError that says what is wrong: no such file, a directory, not
/// readable.
class FileBytes final : public ByteSource {
 public:
  explicit FileBytes(const std::string& path);
  /// Owns the descriptor of an open file, which messages call `name`.
  FileBytes(int descriptor, std::string name);
  ~FileBytes() override;
  std::string path() const override { return path_; }
  std::size_t read(std::int64_t offset, std::span<char> destination) const override;

 private:
  std::string path_;  ///< empty of what was open already
  int descriptor_ = -1;
};

/// Bytes of memory that outlives it.
class MemoryBytes final : public ByteSource {
 public:
  explicit MemoryBytes(std::span<const char> bytes, std::string name = "memory")
      : ByteSource(std::move(name), static_cast<std::int64_t>(bytes.size())), bytes_(bytes) {}
  std::size_t read(std::int64_t offset, std::span<char> destination) const override;

 private:
  std::span<const char> bytes_;
};

/// Bytes in order.
class ByteStream {
 public:
  virtual ~ByteStream() = default;

  /// Gives how many bytes it wrote: fewer than asked for only at the end. Throws InputError when compressed
  /// data are damaged or end early.
  virtual std::size_t read(std::span<char> destination) = 0;
  /// Passes over bytes; those beyond the end are not missed until the next read.
  virtual void skip(std::int64_t bytes);
};

/// Some bytes of a source as they are, in order. The source outlives the stream.
std::unique_ptr<ByteStream> open_range(const ByteSource& source, std::int64_t begin, std::int64_t bytes);

/// The content of a source in order, decompressed if it is compressed (told by content, whatever the name
/// says; several members count as one). The source outlives the stream. Throws EnvironmentError if the
/// library for this compression was not built in.
std::unique_ptr<ByteStream> open_stream(const ByteSource& source);

/// Whether the source begins as one of the compressions of compression/list.cpp does.
bool is_compressed(const ByteSource& source);

/// Bytes that the content can have at most, the greatest number if there is no bound: what promises in
/// headers are held against.
std::int64_t most_content(const ByteSource& source);

/// Rows or columns that a matrix in this source can have. Empty ones cost memory, but nothing in the file:
/// more are a damaged number.
std::int64_t most_rows(const ByteSource& source);

/// The first bytes of the content, decompressed if need be; fewer than `count` if there are no more. What
/// format detection looks at.
std::string first_bytes(const ByteSource& source, std::size_t count);

/// The whole content, decompressed if need be. Throws InputError if it is longer than `limit`.
std::string all_bytes(const ByteSource& source, std::int64_t limit);

/// A piece of input for an error message: printable, at most 40 characters, in quotes.
std::string in_quotes(std::string_view text);

}  // namespace ayatori::io
