#include "ayatori/solvers/preconditioners/block_rows.hpp"

#include <algorithm>

namespace ayatori::solvers {

namespace {

bool same_columns(const sparse::Csr& matrix, std::int32_t i, std::int32_t j) {
  const auto* column = matrix.column.data();
  return std::equal(column + matrix.row_start[i], column + matrix.row_start[i + 1],
                    column + matrix.row_start[j], column + matrix.row_start[j + 1]);
}

}  // namespace

BlockStarts fixed_blocks(std::int32_t rows, std::int64_t first_row, int size) {
  BlockStarts start{0};
  while (start.back() < rows) {
    const std::int64_t length = size - (first_row + start.back()) % size;
    start.push_back(static_cast<std::int32_t>(std::min<std::int64_t>(rows, start.back() + length)));
  }
  return start;
}

BlockStarts natural_blocks(const sparse::Csr& matrix, int target, int largest_node) {
  BlockStarts start{0};
  for (std::int32_t node = 0; node < matrix.rows;) {
    std::int32_t end = node + 1;
    while (end < matrix.rows && end - node < largest_node && same_columns(matrix, node, end)) ++end;
    if (node > start.back() && end - start.back() > target) start.push_back(node);
    node = end;
  }
  if (matrix.rows > 0) start.push_back(matrix.rows);
  return start;
}

}  // namespace ayatori::solvers
