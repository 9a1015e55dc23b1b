#pragma once

#include <cstdint>
#include <span>

namespace ayatori::sparse {

/// A square linear map on distributed vectors: a matrix or a preconditioner. Each rank holds a piece of every
/// vector; the pieces have the same length for x and y.
class LinearOperator {
 public:
  virtual ~LinearOperator() = default;

  /// This rank's part of y = A x. Collective. x and y do not overlap, and both have local_size() elements.
  virtual void apply(std::span<const double> x, std::span<double> y) const = 0;

  /// Elements of a vector on this rank.
  virtual std::int32_t local_size() const = 0;
};

}  // namespace ayatori::sparse
