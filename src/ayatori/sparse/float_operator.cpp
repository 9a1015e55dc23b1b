#include "ayatori/sparse/float_operator.hpp"

#include <algorithm>
#include <cmath>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::sparse {

namespace {

double largest_of(const Csr& a) {
  double largest = 0;
  for (const double value : a.value)
    if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
  return largest;
}

/// Collective.
double power_for(const DistributedMatrix& matrix) {
  const double own = std::max(largest_of(matrix.parts().interior), largest_of(matrix.parts().halo));
  const double largest = matrix.comm().allreduce(own, comm::ReduceOp::max);
  int exponent = 0;
  if (largest > 0) std::frexp(largest, &exponent);
  return std::ldexp(1, -std::min(exponent, 1022));
}

/// Of the rows' entries, touched first by the threads that multiply them.
Array<float> rounded(const Csr& a, double scale) {
  Array<float> values(a.value.size());
  parallel_for(a.rows, [&](std::int64_t i) {
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
      values[k] = static_cast<float>(a.value[k] * scale);
  });
  return values;
}

float row_product(const float* value, const std::int32_t* column, std::int64_t k, std::int64_t end,
                  const float* x) {
  float sums[4] = {};
  for (; k + 4 <= end; k += 4)
    for (int u = 0; u < 4; ++u) sums[u] += value[k + u] * x[column[k + u]];
  for (; k < end; ++k) sums[0] += value[k] * x[column[k]];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace

FloatProduct::FloatProduct(const DistributedMatrix& matrix)
    : parts_(matrix.shared_parts()),
      scale_(power_for(matrix)),
      exchange_(matrix.comm(), parts_->plan.send_to, parts_->plan.receive_from) {
  comm::agree(matrix.comm(), [&] {
    interior_ = rounded(parts_->interior, scale_);
    halo_ = rounded(parts_->halo, scale_);
    outgoing_.resize(parts_->plan.send_index.size());
    ghosts_.resize(parts_->plan.ghosts.size());
  });
}

void FloatProduct::apply_float(std::span<const float> x, std::span<float> y) const {
  const HaloPlan& plan = parts_->plan;
  AYATORI_ASSERT(static_cast<std::int32_t>(x.size()) == plan.local_size && x.size() == y.size());
  parallel_for(static_cast<std::int64_t>(outgoing_.size()),
               [&](std::int64_t i) { outgoing_[i] = x[plan.send_index[i]]; });
  auto request = exchange_.start(std::span<const float>(outgoing_), std::span<float>(ghosts_));
  const Csr& inside = parts_->interior;
  parallel_for(inside.rows, [&](std::int64_t i) {
    y[i] = row_product(interior_.data(), inside.column.data(), inside.row_start[i], inside.row_start[i + 1],
                       x.data());
  });
  request.wait();
  const Csr& outside = parts_->halo;
  parallel_for(outside.rows, [&](std::int64_t r) {
    y[parts_->halo_rows[r]] += row_product(halo_.data(), outside.column.data(), outside.row_start[r],
                                           outside.row_start[r + 1], ghosts_.data());
  });
}

std::int64_t FloatProduct::bytes() const {
  return 8 * (parts_->interior.nonzeros() + parts_->halo.nonzeros()) +
         20 * std::int64_t{parts_->interior.rows};
}

}  // namespace ayatori::sparse
