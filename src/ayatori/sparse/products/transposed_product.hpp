#pragma once

#include <memory>
#include <span>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/csr.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/sparse/linear_operator.hpp"
#include "ayatori/sparse/products/ghost_exchange.hpp"

namespace ayatori::sparse {

/// The transpose of a matrix on one rank; columns of its rows ascend. Traffic: 36 bytes per entry.
Csr transpose(const Csr& matrix);

/// y = A^T x of a matrix spread by rows: every rank multiplies the transposes of its two parts, and what they
/// give for ghosts goes to their owners, who add it in rank order. The result does not depend on the number
/// of threads. Holds a copy of the matrix.
class TransposedProduct final : public LinearOperator {
 public:
  /// Collective.
  TransposedProduct(comm::Comm comm, std::shared_ptr<const SplitMatrix> parts);
  TransposedProduct(const TransposedProduct&) = delete;
  TransposedProduct& operator=(const TransposedProduct&) = delete;

  void apply(std::span<const double> x, std::span<double> y) const override;
  std::int32_t local_size() const override { return parts_->plan.local_size; }

 private:
  comm::Comm comm_;
  std::shared_ptr<const SplitMatrix> parts_;
  Csr interior_;  ///< transposed
  Csr halo_;      ///< transposed, rows of ghosts; its columns are own rows, not those of the halo part
  mutable Array<double> sums_;  ///< sums of own columns, then of ghosts; one product at a time
  mutable GhostExchange<double> exchange_;
};

}  // namespace ayatori::sparse
