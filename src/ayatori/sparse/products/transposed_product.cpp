#include "ayatori/sparse/products/transposed_product.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::sparse {

Csr transpose(const Csr& matrix) {
  Csr result{matrix.columns, matrix.rows, Array<std::int64_t>(matrix.columns + std::int64_t{1}, 0),
             Array<std::int32_t>(matrix.column.size()), Array<double>(matrix.value.size())};
  for (const std::int32_t j : matrix.column) ++result.row_start[j + 1];
  std::partial_sum(result.row_start.begin(), result.row_start.end(), result.row_start.begin());
  Array<std::int64_t> next(result.row_start.begin(), result.row_start.end() - 1);
  for (std::int32_t i = 0; i < matrix.rows; ++i) {
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      const std::int64_t place = next[matrix.column[k]]++;
      result.column[place] = i;
      result.value[place] = matrix.value[k];
    }
  }
  return result;
}

TransposedProduct::TransposedProduct(comm::Comm comm, std::shared_ptr<const SplitMatrix> parts)
    : comm_(std::move(comm)),
      parts_(std::move(parts)),
      exchange_(comm_, parts_->plan, 1, 0, parts_->plan.local_size) {
  comm::agree(comm_, [&] {
    interior_ = transpose(parts_->interior);
    halo_ = transpose(parts_->halo);
    for (std::int32_t& row : halo_.column) row = parts_->halo_rows[row];
    sums_.resize(interior_.rows + parts_->plan.ghosts.size());
  });
}

void TransposedProduct::apply(std::span<const double> x, std::span<double> y) const {
  const std::span<double> sums(sums_);
  const std::span<double> own = sums.first(y.size());
  multiply_reference(interior_, x, own);
  multiply_reference(halo_, x, sums.subspan(y.size()));
  exchange_.add_back(sums_.data());
  parallel_for(static_cast<std::int64_t>(y.size()), [&](std::int64_t i) { y[i] = own[i]; });
}

}  // namespace ayatori::sparse
