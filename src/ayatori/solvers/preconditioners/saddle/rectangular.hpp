#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "ayatori/base/array.hpp"
#include "ayatori/sparse/csr.hpp"
#include "ayatori/sparse/products/ghost_exchange.hpp"
#include "ayatori/sparse/row_block.hpp"

namespace ayatori::solvers::saddle {

/// A sparse matrix between vectors of two kinds, each spread over the ranks in its own way.
class Rectangular {
 public:
  /// Collective. `rows` with columns spread by `columns`.
  Rectangular(const comm::Comm& comm, const sparse::RowBlock& rows, const sparse::RowPartition& columns);

  /// Collective. y = this matrix times x. Traffic: 12 bytes per entry, 16 per column, 16 per row.
  void apply(std::span<const double> x, std::span<double> y) const;

  /// Collective. This matrix times diag(middle) times `right`, plus `added`: its own rows with global
  /// columns, without entries that are but the rounding of what cancels in them. `right` has this one's
  /// columns as its rows, and `added` this one's rows.
  sparse::RowBlock multiply(std::span<const double> middle, const sparse::RowBlock& right,
                            const sparse::RowBlock& added) const;

  std::int64_t nonzeros() const { return local_.nonzeros(); }  ///< nonzeros of this rank's rows

 private:
  comm::Comm comm_;
  std::unique_ptr<const sparse::HaloPlan> plan_;  ///< exchange of the columns that this rank's rows refer to
  sparse::Csr local_;                             ///< columns: own, then ghosts
  mutable sparse::GhostExchange<double> exchange_;
  mutable Array<double> x_;  ///< own elements, then ghosts
};

}  // namespace ayatori::solvers::saddle
