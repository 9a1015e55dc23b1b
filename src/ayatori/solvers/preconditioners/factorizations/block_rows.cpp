#include "ayatori/solvers/preconditioners/factorizations/block_rows.hpp"

#include <algorithm>

namespace ayatori::solvers {

bool same_columns(const sparse::Csr& matrix, std::int32_t i, std::int32_t j) {
  const auto* column = matrix.column.data();
  return std::equal(column + matrix.row_start[i], column + matrix.row_start[i + 1],
                    column + matrix.row_start[j], column + matrix.row_start[j + 1]);
}

BlockStarts fixed_blocks(std::int32_t rows, std::int64_t first_row, int size) {
  BlockStarts start{0};
  while (start.back() < rows) {
    const std::int64_t length = size - (first_row + start.back()) % size;
    start.push_back(static_cast<std::int32_t>(std::min<std::int64_t>(rows, start.back() + length)));
  }
  return start;
}

BlockStarts natural_blocks(const sparse::Csr& matrix, int largest) {
  BlockStarts start{0};
  for (std::int32_t i = 1; i < matrix.rows; ++i) {
    if (i - start.back() >= largest || !same_columns(matrix, i - 1, i)) start.push_back(i);
  }
  if (matrix.rows > 0) start.push_back(matrix.rows);
  return start;
}

}  // namespace ayatori::solvers
