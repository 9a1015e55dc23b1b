#include "ayatori/io/petsc/header.hpp"

#include <array>
#include <limits>

#include "ayatori/io/petsc/big_endian.hpp"
#include "ayatori/io/petsc_binary.hpp"

namespace ayatori::io {

namespace petsc {

namespace {

/// Bytes per integer in a file that begins so; 0 if it is none of PETSc's.
std::int64_t index_bytes_of(std::string_view first) {
  const auto is_id = [](std::int64_t id) { return id == matrix_id || id == vector_id; };
  if (first.size() >= 4 && is_id(load_big_endian<std::int32_t>(first.data()))) return 4;
  if (first.size() >= 8 && is_id(load_big_endian<std::int64_t>(first.data()))) return 8;
  return 0;
}

/// The integers at the beginning of a file, one after the other.
class HeaderReader {
 public:
  explicit HeaderReader(const ByteSource& source) : source_(source) {
    std::array<char, 8> first{};
    const std::size_t count = source.read(0, first);
    index_bytes_ = index_bytes_of({first.data(), count});
    if (index_bytes_ == 0) throw error_at(source, 0, "neither a PETSc matrix nor a PETSc vector begins so");
  }

  std::int64_t next(std::string_view what) {
    std::array<char, 8> bytes{};
    const auto wanted = static_cast<std::size_t>(index_bytes_);
    if (source_.read(position_, std::span(bytes).first(wanted)) < wanted) {
      throw error_at(source_, source_.size(), fmt::format("the file ends before {}", what));
    }
    position_ += index_bytes_;
    return index_bytes_ == 4 ? load_big_endian<std::int32_t>(bytes.data())
                             : load_big_endian<std::int64_t>(bytes.data());
  }

  std::int64_t next_count(std::string_view what) {
    const std::int64_t count = next(what);
    if (count < 0) throw error_at(source_, position_ - index_bytes_, fmt::format("{} is {}", what, count));
    return count;
  }

  std::int64_t index_bytes() const { return index_bytes_; }
  std::int64_t position() const { return position_; }

 private:
  const ByteSource& source_;
  std::int64_t index_bytes_ = 0;
  std::int64_t position_ = 0;
};

/// Adds up the bytes of what a header promises; too many to count are as good as too many for the file.
class Promise {
 public:
  explicit Promise(std::int64_t bytes) : bytes_(bytes) {}

  void add(std::int64_t count, std::int64_t bytes_each) {
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(count, bytes_each, &bytes) || __builtin_add_overflow(bytes_, bytes, &bytes_)) {
      bytes_ = std::numeric_limits<std::int64_t>::max();
    }
  }
  std::int64_t bytes() const { return bytes_; }

 private:
  std::int64_t bytes_;
};

/// Whether the values that follow what is promised are complex, which the size of the source tells. Throws
/// InputError if it is neither that of real values nor of complex ones.
bool are_complex(const ByteSource& source, Promise promise, std::int64_t values) {
  Promise complex_promise = promise;
  promise.add(values, 8);
  complex_promise.add(values, 16);
  if (source.size() == promise.bytes()) return false;
  if (source.size() == complex_promise.bytes()) return true;
  if (source.size() < promise.bytes()) {
    throw error_at(source, source.size(),
                   fmt::format("the file ends here, but its header promises {} bytes", promise.bytes()));
  }
  const std::int64_t missing = complex_promise.bytes() - source.size();
  throw error_at(source, promise.bytes(),
                 fmt::format("{} bytes too many behind the end of what the header promises{}",
                             source.size() - promise.bytes(),
                             missing > 0 ? fmt::format(", or {} too few if it is complex", missing) : ""));
}

MatrixLayout dense_layout(const ByteSource& source, MatrixLayout layout) {
  // Without columns, no file size would limit the number of rows.
  if (layout.columns == 0 && layout.rows > 0) {
    throw error_at(source, 2 * layout.index_bytes, "a dense matrix without columns");
  }
  std::int64_t values = 0;
  if (__builtin_mul_overflow(layout.rows, layout.columns, &values)) {
    values = std::numeric_limits<std::int64_t>::max();
  }
  layout.is_complex = are_complex(source, Promise(layout.lengths_at), values);
  layout.values_at = layout.lengths_at;
  return layout;
}

}  // namespace

InputError error_at(const ByteSource& source, std::int64_t offset, std::string_view what) {
  return InputError(fmt::format("{}, byte {}: {}", source.name(), offset, what));
}

MatrixLayout read_matrix_layout(const ByteSource& source) {
  HeaderReader header(source);
  MatrixLayout layout;
  if (header.next("the kind of object") == vector_id) {
    const auto vector = read_vector_layout(source);
    layout.rows = vector.length;
    layout.columns = 1;
    layout.nonzeros = dense_mark;
    layout.values_at = vector.values_at;
    layout.is_complex = vector.is_complex;
    return layout;
  }
  layout.index_bytes = header.index_bytes();
  layout.rows = header.next_count("the number of rows");
  layout.columns = header.next_count("the number of columns");
  layout.nonzeros = header.next("the number of nonzeros");
  layout.lengths_at = header.position();
  if (layout.dense()) return dense_layout(source, layout);
  if (layout.nonzeros < 0) {
    throw error_at(source, layout.lengths_at - layout.index_bytes,
                   fmt::format("the number of nonzeros is {}", layout.nonzeros));
  }
  Promise promise(layout.lengths_at);
  promise.add(layout.rows, layout.index_bytes);
  layout.columns_at = promise.bytes();
  promise.add(layout.nonzeros, layout.index_bytes);
  layout.values_at = promise.bytes();
  layout.is_complex = are_complex(source, promise, layout.nonzeros);
  constexpr std::int64_t most_columns = std::numeric_limits<std::int64_t>::max() / 2;
  if (layout.is_complex && layout.columns > most_columns) {
    throw error_at(source, 2 * layout.index_bytes,
                   fmt::format("the number of columns is {}: too many for a complex matrix", layout.columns));
  }
  return layout;
}

VectorLayout read_vector_layout(const ByteSource& source) {
  HeaderReader header(source);
  if (header.next("the kind of object") != vector_id) {
    throw error_at(source, 0, "this is a PETSc matrix, not a vector");
  }
  VectorLayout layout;
  layout.length = header.next_count("the length");
  layout.values_at = header.position();
  layout.is_complex = are_complex(source, Promise(layout.values_at), layout.length);
  return layout;
}

bool is_vector(const ByteSource& source) {
  return HeaderReader(source).next("the kind of object") == vector_id;
}

}  // namespace petsc

bool petsc_is_complex(const ByteSource& source) {
  return petsc::is_vector(source) ? petsc::read_vector_layout(source).is_complex
                                  : petsc::read_matrix_layout(source).is_complex;
}

bool looks_like_petsc(std::string_view first_bytes) {
  return petsc::index_bytes_of(first_bytes) != 0;
}

}  // namespace ayatori::io
