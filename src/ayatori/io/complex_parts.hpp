#pragma once

#include <cstdint>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/row_block.hpp"

// A complex matrix between a file and its real form (sparse/complex_form.hpp): its own rows, in which an
// entry a + i b of column c is a in column 2 c and b in column 2 c + 1. Where one of them is missing it is
// zero. So a value has `parts` numbers, 1 or 2, and readers and writers are the same for real and complex
// matrices.

namespace ayatori::io {

/// Numbers in a value.
constexpr std::int64_t parts_of(bool is_complex) {
  return is_complex ? 2 : 1;
}

/// Entries of a complex matrix become two each: the value, and, behind it, a zero for the imaginary part.
void split_into_parts(Array<sparse::Entry>& entries);

/// The real form of these rows of a complex matrix.
sparse::RowBlock to_real_form(const sparse::RowBlock& complex_rows);

/// A block as files have it: itself, or, of a real form, the rows of the complex matrix. The block outlives
/// it.
class StoredRows {
 public:
  /// Collective. Throws InternalError, agreed, if the block should be in the real form and is not.
  StoredRows(const comm::Comm& comm, const sparse::RowBlock& block, bool is_complex);
  const sparse::RowBlock& rows() const { return real_ != nullptr ? *real_ : complex_; }

 private:
  const sparse::RowBlock* real_;
  sparse::RowBlock complex_;
};

/// Values of a matrix that is written.
struct ValueCounts {
  std::int64_t mine;    ///< values of this rank
  std::int64_t before;  ///< values of the ranks before
  std::int64_t all;
};
/// Collective. Of stored rows, whose values have this many parts.
ValueCounts count_values(const comm::Comm& comm, const sparse::RowBlock& rows, std::int64_t parts);

/// Collective. The matrix of the entries that all ranks hold, with its rows evenly spread; of a complex one
/// the real form, from entries of its parts. Errors are those of sparse::assemble.
sparse::RowBlock assemble_evenly(const comm::Comm& comm, std::int64_t rows, std::int64_t columns,
                                 bool is_complex, std::vector<Array<sparse::Entry>> batches);

}  // namespace ayatori::io
