#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ayatori/base/error.hpp"
#include "ayatori/io/byte_source.hpp"

namespace ayatori::io::petsc {

inline constexpr std::int64_t matrix_id = 1211216;
inline constexpr std::int64_t vector_id = 1211214;
/// In the place of the number of nonzeros: a dense matrix follows.
inline constexpr std::int64_t dense_mark = -1;

/// What stands before the data, and where they lie. The file has room for all that is promised.
struct MatrixLayout {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t nonzeros = 0;     ///< or dense_mark
  std::int64_t index_bytes = 4;  ///< bytes of each integer in this file
  std::int64_t lengths_at = 0;   ///< offset of the row lengths; if dense, of the values
  std::int64_t columns_at = 0;
  std::int64_t values_at = 0;
  bool is_complex = false;

  bool dense() const { return nonzeros == dense_mark; }
};

struct VectorLayout {
  std::int64_t length = 0;
  std::int64_t values_at = 0;
  bool is_complex = false;
};

/// Read and check the header against the size of the source. A vector is also a dense matrix of one column.
/// Throw InputError.
MatrixLayout read_matrix_layout(const ByteSource& source);
VectorLayout read_vector_layout(const ByteSource& source);

/// Whether the source is a vector, and not a matrix. Throws InputError if it is neither.
bool is_vector(const ByteSource& source);

/// The error "NAME, byte OFFSET: what".
InputError error_at(const ByteSource& source, std::int64_t offset, std::string_view what);

}  // namespace ayatori::io::petsc
