#pragma once

#include <algorithm>

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

}  // namespace ayatori::sparse
