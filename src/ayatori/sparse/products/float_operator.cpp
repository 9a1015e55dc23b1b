#include "ayatori/sparse/products/float_operator.hpp"

#include <algorithm>
#include <cmath>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/sparse/kernels/row_product.hpp"

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

/// Rounded entries of the rows, touched first by the threads that multiply them.
Array<float> rounded(const Csr& a, double scale) {
  Array<float> values(a.value.size());
  parallel_for(a.rows, [&](std::int64_t i) {
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
      values[k] = static_cast<float>(a.value[k] * scale);
  });
  return values;
}

/// The kernel of this name, if it has a form in single precision.
const KernelType& kernel_like(const std::string& name) {
  const KernelType& type = sparse::kernel(name);
  return type.make_float != nullptr ? type : sparse::kernel("csr");
}

}  // namespace

FloatProduct::FloatProduct(const DistributedMatrix& matrix)
    : parts_(matrix.shared_parts()),
      scale_(power_for(matrix)),
      exchange_(matrix.comm(), parts_->plan.send_to, parts_->plan.receive_from) {
  comm::agree(matrix.comm(), [&] {
    const KernelType& type = kernel_like(matrix.options().kernel);
    kernel_ = type.name;
    interior_ = type.make_float(parts_->interior, scale_);
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
  interior_->multiply(x, y);
  request.wait();
  const Csr& outside = parts_->halo;
  parallel_for(outside.rows, [&](std::int64_t r) {
    y[parts_->halo_rows[r]] += row_product_in_vectors(
        halo_.data(), outside.column.data(), outside.row_start[r], outside.row_start[r + 1], ghosts_.data());
  });
}

std::int64_t FloatProduct::bytes() const {
  return interior_->matrix_bytes() + 8 * parts_->halo.nonzeros() + std::int64_t{12} * parts_->halo.rows +
         std::int64_t{8} * parts_->plan.local_size;
}

}  // namespace ayatori::sparse
