#pragma once

#include <algorithm>
#include <atomic>
#include <optional>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/range.hpp"
#include "ayatori/sparse/csr.hpp"

namespace ayatori::sparse {

/// Whether every entry (i, j) of these rows of a square matrix has an equal (j, i).
inline bool has_mirror_images(const Csr& matrix, Range rows) {
  const std::int32_t* column = matrix.column.data();
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      const std::int32_t j = column[k];
      if (j == i) continue;
      const std::int32_t* end = column + matrix.row_start[j + 1];
      const std::int32_t* found = std::lower_bound(column + matrix.row_start[j], end, i);
      if (found == end || *found != i || matrix.value[found - column] != matrix.value[k]) return false;
    }
  }
  return true;
}

/// Entries of rows on either side of the diagonal.
struct Halves {
  std::int64_t lower = 0;
  std::int64_t upper = 0;
};

/// The halves of some rows of a square matrix if every entry of the lower one has an equal mirror image. As
/// the rows ascend, the entries of a row j beyond its diagonal are met in their order, as mirror images of
/// what stands in column j: nothing is searched for but the first.
inline std::optional<Halves> match_lower_half(const Csr& matrix, Range rows) {
  constexpr std::int64_t unknown = -1;
  Array<std::int64_t> next(rows.end, unknown);
  const std::int32_t* column = matrix.column.data();
  Halves halves;
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      const std::int32_t j = column[k];
      if (j >= i) {
        halves.upper += j > i ? 1 : 0;
        continue;
      }
      const std::int64_t end = matrix.row_start[j + 1];
      std::int64_t& place = next[j];
      if (place == unknown) place = std::lower_bound(column + matrix.row_start[j], column + end, i) - column;
      if (place == end || column[place] != i || matrix.value[place] != matrix.value[k]) return std::nullopt;
      ++place;
      ++halves.lower;
    }
  }
  return halves;
}

/// Whether every entry (i, j) of a matrix has an equal (j, i).
inline bool is_symmetric(const Csr& matrix) {
  if (matrix.rows != matrix.columns) return false;
  std::atomic<bool> lower_matches = true;
  std::atomic<std::int64_t> more_lower = 0;  // than upper: 0 where no upper entry is left without its image
  parallel_ranges_throwing(matrix.rows, [&](Range rows) {
    const auto halves = match_lower_half(matrix, rows);
    if (!halves) {
      lower_matches = false;
    } else {
      more_lower += halves->lower - halves->upper;
    }
  });
  return lower_matches && more_lower == 0;
}

}  // namespace ayatori::sparse
