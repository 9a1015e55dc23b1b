#pragma once

#include <cstdint>
#include <variant>

#include "ayatori/gpu/half.hpp"
#include "ayatori/gpu/portable.hpp"

// Storage formats of matrices on a device, as kernels see them: pointers into its memory. V: what values are
// stored as; R: what vectors and sums are of. row(i, x) is row i of A x, where one thread makes it.

namespace ayatori::gpu {

/// Rows of a slice: the threads of a warp.
inline constexpr int slice_rows = 32;

/// Row i of A x by one thread, of a view with compressed sparse rows.
template <class View, class R>
AYATORI_PORTABLE R row_of_csr(const View& a, std::int32_t i, const R* x) {
  R sum = 0;
  for (auto k = a.row_start[i]; k < a.row_start[i + 1]; ++k) sum += to_real(a.value[k]) * x[a.column[k]];
  return sum;
}

/// Compressed sparse rows; a group of threads shares a row (Bell & Garland 2009). Bytes an entry:
/// 4 + sizeof(V).
template <class V, class R>
struct CsrView {
  using Real = R;
  std::int32_t rows;
  int threads;  ///< threads of a group: 2, 8 or 32
  const std::int64_t* row_start;
  const std::int32_t* column;
  const V* value;

  AYATORI_PORTABLE R row(std::int32_t i, const R* x) const { return row_of_csr(*this, i, x); }
};

/// Compressed sparse rows cut into chunks of equal numbers of entries, for rows of very different lengths
/// (Greathouse & Daga 2014). A row is made by the chunk in which it begins; what later chunks have of it is
/// their `head`. Fewer than 2^31 entries.
template <class V, class R>
struct ChunkedView {
  using Real = R;
  static constexpr int chunk = 2048;  ///< entries
  std::int32_t rows;
  std::int32_t chunks;  ///< one at least
  const std::int32_t* row_start;
  const std::int32_t* column;
  const V* value;
  const std::int32_t* first_row;  ///< [chunks + 1]: of each chunk that of its first entry; 0; the last row
  R* head;                        ///< scratch: one for each chunk ...
  R* tail;                        ///< ... and what it has of the row that goes on behind it
  double* sums;                   ///< sum of each chunk

  AYATORI_PORTABLE R row(std::int32_t i, const R* x) const { return row_of_csr(*this, i, x); }
};

/// Slices of 32 rows, padded to the longest, entries of a slice in columns (SELL; Kreutzer et al. 2014).
template <class V, class R>
struct SellView {
  using Real = R;
  std::int32_t rows;
  const std::int64_t* start;  ///< start of each slice, in entries
  const std::int32_t* column;
  const V* value;

  AYATORI_PORTABLE R row(std::int32_t i, const R* x) const {
    const std::int64_t end = start[i / slice_rows + 1];
    R sum = 0;
    for (std::int64_t k = start[i / slice_rows] + i % slice_rows; k < end; k += slice_rows)
      sum += to_real(value[k]) * x[column[k]];
    return sum;
  }
};

/// Whole diagonals, without column numbers: for matrices of grids.
template <class V, class R>
struct DiagonalsView {
  using Real = R;
  std::int32_t rows;
  std::int32_t columns;
  std::int32_t diagonals;
  std::int64_t stride;  ///< values stored for each diagonal
  const std::int32_t* offset;
  const V* value;

  AYATORI_PORTABLE R row(std::int32_t i, const R* x) const {
    R sum = 0;
    for (std::int32_t d = 0; d < diagonals; ++d) {
      const std::int32_t j = i + offset[d];
      if (j >= 0 && j < columns) sum += to_real(value[d * stride + i]) * x[j];
    }
    return sum;
  }
};

/// SELL of dense blocks of B rows: one column number for B x B values. A slice holds 32 rows of blocks.
template <class V, class R, int B>
struct BlockSellView {
  using Real = R;
  std::int32_t rows;
  const std::int64_t* start;  ///< start of each slice, in blocks
  const std::int32_t* column;
  const V* value;  ///< [block / 32][column in the block][row in the block][block % 32]

  AYATORI_PORTABLE R row(std::int32_t i, const R* x) const {
    const std::int32_t node = i / B;
    const int r = i % B;
    const int lane = node % slice_rows;
    const std::int64_t end = start[node / slice_rows + 1];
    R sum = 0;
    for (std::int64_t k = start[node / slice_rows]; k < end; k += slice_rows) {
      const R* element = x + std::int64_t{column[k + lane]} * B;
      const V* block = value + k * (B * B) + r * slice_rows + lane;
      for (int c = 0; c < B; ++c) sum += to_real(block[c * (B * slice_rows)]) * element[c];
    }
    return sum;
  }
};

/// Every format with every type that it is stored in. A new one is a struct, a line here and one in
/// matrix.cpp.
template <class R>
struct ViewsOf;
template <>
struct ViewsOf<double> {
  using type = std::variant<CsrView<double, double>, ChunkedView<double, double>, SellView<double, double>,
                            DiagonalsView<double, double>, BlockSellView<double, double, 2>,
                            BlockSellView<double, double, 3>>;
};
template <>
struct ViewsOf<float> {
  using type =
      std::variant<CsrView<float, float>, ChunkedView<float, float>, SellView<float, float>,
                   DiagonalsView<float, float>, BlockSellView<float, float, 2>,
                   BlockSellView<float, float, 3>, SellView<Half, float>, DiagonalsView<Half, float>>;
};
template <class R>
using MatrixView = typename ViewsOf<R>::type;

}  // namespace ayatori::gpu
