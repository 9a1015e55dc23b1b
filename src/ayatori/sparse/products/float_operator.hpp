#pragma once

#include <memory>
#include <span>
#include <string>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/transfers/neighbour_exchange.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/sparse/kernel.hpp"

namespace ayatori::sparse {

/// scale() A for vectors in single precision, the scale being such that it stays in their range.
class FloatOperator {
 public:
  virtual ~FloatOperator() = default;

  /// This rank's part of y = scale() A x. Collective. x and y do not overlap.
  virtual void apply_float(std::span<const float> x, std::span<float> y) const = 0;
  /// Known after the first application, and the same from then on and on all ranks.
  virtual double scale() const = 0;
};

/// A linear map in double precision that can also be applied to vectors in single precision.
class FloatApplicable {
 public:
  virtual ~FloatApplicable() = default;

  /// Whether it can: what wraps another operator does as that one does.
  virtual bool has_float() const { return true; }
  /// This rank's part of y = scale A x. Collective.
  virtual void apply_float(std::span<const float> x, std::span<float> y, double scale) const = 0;
};

/// 2^-e A with values and vectors in single precision, so scaled that its largest entry is in [1/2, 1).
/// By the kernel that the matrix uses when this is made, or by csr where that has no form in single
/// precision. Ghosts travel as 4 bytes.
class FloatProduct final : public FloatOperator {
 public:
  /// Collective. Of the matrix as it is now. Entries that are not finite stay so.
  explicit FloatProduct(const DistributedMatrix& matrix);

  void apply_float(std::span<const float> x, std::span<float> y) const override;

  /// 2^-e.
  double scale() const override { return scale_; }
  /// The name of the kernel.
  const std::string& kernel() const { return kernel_; }
  /// Bytes that a product moves on this rank: the matrix as stored, x and y once.
  std::int64_t bytes() const;

 private:
  std::shared_ptr<const SplitMatrix> parts_;
  double scale_;
  std::string kernel_;
  std::unique_ptr<FloatKernel> interior_;
  Array<float> halo_;  ///< values
  comm::NeighbourExchange exchange_;
  mutable Array<float> outgoing_;
  mutable Array<float> ghosts_;
};

}  // namespace ayatori::sparse
