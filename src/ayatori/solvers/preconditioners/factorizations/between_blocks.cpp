#include "ayatori/solvers/preconditioners/factorizations/between_blocks.hpp"

#include "ayatori/base/parallel.hpp"

namespace ayatori::solvers {

BetweenBlocks::BetweenBlocks(const sparse::Csr& matrix, const std::vector<Range>& blocks) {
  start_.push_back(0);
  if (blocks.size() < 2) return;
  for (const Range& rows : blocks) {
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
        if (rows.begin <= matrix.column[k] && matrix.column[k] < rows.end) continue;
        column_.push_back(matrix.column[k]);
        value_.push_back(matrix.value[k]);
      }
      const auto end = static_cast<std::int32_t>(column_.size());
      if (end == start_.back()) continue;
      row_.push_back(static_cast<std::int32_t>(i));
      start_.push_back(end);
    }
  }
}

void BetweenBlocks::add_product(std::span<const double> x, std::span<double> y) const {
  parallel_for(static_cast<std::int64_t>(row_.size()), [&](std::int64_t r) {
    double sum = 0;
    for (std::int32_t k = start_[r]; k < start_[r + 1]; ++k) sum += value_[k] * x[column_[k]];
    y[row_[r]] += sum;
  });
}

}  // namespace ayatori::solvers
