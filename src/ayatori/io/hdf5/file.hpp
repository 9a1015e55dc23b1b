#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ayatori/io/binary/numbers.hpp"
#include "ayatori/io/byte_source.hpp"

// What the readers need of HDF5's library, whose header stays out of ours.

namespace ayatori::io::hdf5 {

/// What the library names its objects by (hid_t). Below zero: it failed.
using Id = std::int64_t;

/// Closes an object at the end of its scope.
class Handle {
 public:
  Handle(Id id, int (*close)(Id)) : id_(id), close_(close) {}
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  Id id() const { return id_; }

 private:
  Id id_;
  int (*close_)(Id);
};

/// Keeps the library from printing its errors, which an application may want printed otherwise.
class QuietErrors {
 public:
  QuietErrors();
  ~QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  int (*print_)(Id stack, void* data) = nullptr;
  void* data_ = nullptr;
};

/// The innermost of the library's errors, in its words.
std::string last_error();

/// A group or an array of a file.
struct Object {
  std::string name;  ///< "/" of the root, "layers/A" of what is inside
  bool is_group = false;
};

/// What an array of numbers says about itself.
struct ArrayFacts {
  std::vector<std::int64_t> extents;  ///< one or two; the last one runs fastest
  std::int64_t count = 0;             ///< how many numbers there are in all
  bool is_whole = false;              ///< integers, or truth
  bool is_complex = false;
};

/// A file that is open for reading. What fails inside is an InputError "NAME: the HDF5 file cannot be read:",
/// with what the library says.
class File {
 public:
  /// The source outlives it. What is in no regular file is copied into memory.
  explicit File(const ByteSource& source);

  const ByteSource& source() const { return source_; }
  Id id() const { return file_.id(); }

  /// All groups and arrays, each once, a group before what is in it. Links to other files are not followed.
  std::vector<Object> objects() const;
  /// Whether a group that exists has something of this name.
  bool has(const std::string& name) const;
  /// What is known of an array of numbers of one or two dimensions; nothing if this is none.
  std::optional<ArrayFacts> array(const std::string& name) const;
  bool has_attribute(const std::string& object, const std::string& attribute) const;
  /// The whole numbers of an attribute; none if there is no such attribute, or one of other things.
  std::vector<std::int64_t> integers(const std::string& object, const std::string& attribute) const;
  /// The text of an attribute, or of an array of no dimension; empty if it is none.
  std::string text(const std::string& object, const std::string& attribute) const;
  std::string text(const std::string& array) const;

  /// Passes on what a function of the library gives, unless it says by a negative number that it failed.
  template <class Result>
  Result checked(Result result) const {
    if (result < 0) fail();
    return result;
  }
  Handle checked(Handle handle) const {
    if (handle.id() < 0) fail();
    return handle;
  }
  [[noreturn]] void fail() const;

 private:
  Handle open() const;

  const ByteSource& source_;
  QuietErrors quiet_;
  Handle file_;
};

/// The numbers of an array, in the order in which they stand. The file outlives them.
class Numbers {
 public:
  /// Throws InputError unless it is an array of numbers, as many as the file can have room for.
  Numbers(const File& file, const std::string& name);

  std::int64_t count() const { return facts_.count; }
  const ArrayFacts& facts() const { return facts_; }
  /// "FILE, NAME" for messages.
  const std::string& name() const { return name_; }
  /// To be read once. Throw InputError if the numbers are not whole ones, or are complex.
  NumberStream integers();
  NumberStream reals();

 private:
  const File& file_;
  std::string path_;
  std::string name_;
  ArrayFacts facts_;
  std::unique_ptr<ByteStream> stream_;
};

/// A new file in memory with one array of numbers in it, of complex ones from pairs; its bytes. Throws
/// EnvironmentError.
std::string file_with(const std::string& name, std::span<const double> numbers, bool is_complex);

}  // namespace ayatori::io::hdf5
