#pragma once

#include <cstdint>
#include <span>

#include "ayatori/base/parallel.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "ayatori/sparse/linear_operator.hpp"
#include "ayatori/sparse/products/block_operator.hpp"
#include "ayatori/sparse/products/float_operator.hpp"

namespace ayatori::solvers {

/// y = x. Traffic: 16 bytes per row.
class Identity final : public sparse::LinearOperator,
                       public sparse::BlockOperator,
                       public sparse::FloatApplicable {
 public:
  explicit Identity(std::int32_t size) : size_(size) {}
  void apply(std::span<const double> x, std::span<double> y) const override { copy(x, y); }
  void apply_float(std::span<const float> x, std::span<float> y, double scale) const override {
    const auto factor = static_cast<float>(scale);
    parallel_for(local_size(), [&](std::int64_t i) { y[i] = factor * x[i]; });
  }
  void apply_block(std::span<const double> x, std::span<double> y, int) const override { copy(x, y); }
  std::int32_t local_size() const override { return size_; }

 private:
  std::int32_t size_;
};

}  // namespace ayatori::solvers
