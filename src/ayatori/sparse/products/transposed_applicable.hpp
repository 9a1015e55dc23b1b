#pragma once

#include <span>

namespace ayatori::sparse {

/// A linear map whose transpose can be applied as well.
class TransposedApplicable {
 public:
  virtual ~TransposedApplicable() = default;

  /// This rank's part of y = A^T x. Collective. x and y do not overlap.
  virtual void apply_transposed(std::span<const double> x, std::span<double> y) const = 0;
};

}  // namespace ayatori::sparse
