#pragma once

#include <algorithm>
#include <numeric>

#include "ayatori/solvers/preconditioners/multigrid/block_csr.hpp"

namespace ayatori::solvers::amg {

/// Brings the columns of every row into ascending order.
template <int B>
void sort_rows(BlockCsr<B>& matrix) {
  constexpr int bb = B * B;
  parallel_ranges_throwing(matrix.rows, [&](Range rows) {
    std::vector<std::int32_t> order;
    std::vector<std::int32_t> column;
    std::vector<double> value;
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      const std::int64_t begin = matrix.row_start[i];
      const std::int64_t length = matrix.row_start[i + 1] - begin;
      std::int32_t* columns = matrix.column.data() + begin;
      if (std::is_sorted(columns, columns + length)) continue;
      order.resize(length);
      std::iota(order.begin(), order.end(), 0);
      std::ranges::sort(order, [&](std::int32_t a, std::int32_t b) { return columns[a] < columns[b]; });
      column.assign(columns, columns + length);
      value.assign(matrix.block(begin), matrix.block(begin) + length * bb);
      for (std::int64_t k = 0; k < length; ++k) {
        columns[k] = column[order[k]];
        std::copy_n(&value[std::int64_t{order[k]} * bb], bb, matrix.block(begin + k));
      }
    }
  });
}

}  // namespace ayatori::solvers::amg
