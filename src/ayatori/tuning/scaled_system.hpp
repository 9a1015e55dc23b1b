#pragma once

#include <memory>

#include "ayatori/comm/comm.hpp"
#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::tuning {

/// The system as it is solved: s A (2^-e x) = s 2^-e b. The power of two brings the largest |b_i| into [1/2,
/// 1), so that neither the norm of b nor that of a small residual overflows or underflows; it changes no
/// digit. The sign s makes a negative definite matrix positive definite. Relative residuals are those of A x
/// = b.
class ScaledSystem {
 public:
  /// Collective. `negate`: s = -1; the matrix is then copied with all signs changed. `b` is finite.
  ScaledSystem(const solvers::GlobalSum& sum, std::shared_ptr<const sparse::SplitMatrix> parts,
               solvers::ConstVector b, bool negate);

  std::shared_ptr<const sparse::SplitMatrix> parts() const { return parts_; }
  double b_norm() const { return b_norm_; }

  void to_scaled(solvers::Vector x) const;    ///< x -> 2^-e x
  void to_original(solvers::Vector x) const;  ///< 2^-e x -> x

  /// Collective. r = b - A x of the scaled system, by reference code in double precision; gives ||r||, which
  /// is NaN or infinite if x is not finite.
  double residual(solvers::ConstVector x, solvers::Vector r) const;

 private:
  const solvers::GlobalSum& sum_;
  std::shared_ptr<const sparse::SplitMatrix> parts_;
  Array<double> b_;
  int exponent_ = 0;
  double b_norm_ = 0;
};

}  // namespace ayatori::tuning
