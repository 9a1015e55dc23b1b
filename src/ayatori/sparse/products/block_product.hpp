#pragma once

#include <cstdint>
#include <memory>

#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/sparse/products/block_operator.hpp"

namespace ayatori::sparse {

/// Y = A X for several vectors: the matrix is read once, and one exchange brings the ghosts of all. Traffic:
/// 12 bytes per nonzero, 8 per row, and 24 per row and vector.
class BlockProduct final : public BlockOperator {
 public:
  /// Collective. Of the matrix as it is now, exchanged by the halo strategy that is in use.
  BlockProduct(const DistributedMatrix& matrix, int width);

  /// Collective. Of the width that it was made for.
  void apply_block(std::span<const double> x, std::span<double> y, int width) const override;

  int width() const { return width_; }
  std::int64_t count() const { return count_; }  ///< products so far

 private:
  std::shared_ptr<const SplitMatrix> parts_;
  RowPartition partition_;  ///< partition of all elements of X, interleaved
  HaloPlan plan_;
  std::unique_ptr<HaloExchange> exchange_;
  bool overlap_;
  int width_;
  mutable std::int64_t count_ = 0;
};

/// Bytes that a product with `width` vectors moves on this rank.
std::int64_t block_product_bytes(const SplitMatrix& parts, int width);

}  // namespace ayatori::sparse
