#pragma once

#include <span>

#include "ayatori/solvers/block_method.hpp"

namespace ayatori::solvers {

/// What the Monitor of a block method sees: the largest ratio of a column's residual norm to its target.
class WorstColumn {
 public:
  explicit WorstColumn(std::span<const double> targets) : targets_(targets) {}

  /// A method that stops where that ratio is 1.
  MethodOptions options(const BlockMethodOptions& options) const;

  /// From the squares of the norms. NaN if one is.
  double of_squares(std::span<const double> squares) const;
  /// Ratio of one column.
  double ratio(int column, double norm) const;

 private:
  std::span<const double> targets_;
};

}  // namespace ayatori::solvers
