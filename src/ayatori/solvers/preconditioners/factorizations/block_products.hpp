#pragma once

#include <optional>
#include <span>

#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/sparse/products/block_product.hpp"

namespace ayatori::solvers {

/// Products of a matrix with one vector, by its kernel in use, or with blocks of several: what a polynomial
/// in the matrix is written against. A sparse::BlockProduct is made when a width is asked for first.
class BlockProducts {
 public:
  explicit BlockProducts(const sparse::DistributedMatrix& matrix) : matrix_(matrix) {}

  /// Collective. Y = A X.
  void apply(std::span<const double> x, std::span<double> y, int width) const {
    if (width == 1) return matrix_.apply(x, y);
    if (!block_ || block_->width() != width) block_.emplace(matrix_, width);
    block_->apply_block(x, y, width);
  }

 private:
  const sparse::DistributedMatrix& matrix_;
  mutable std::optional<sparse::BlockProduct> block_;
};

}  // namespace ayatori::solvers
