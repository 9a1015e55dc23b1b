#pragma once

#include <memory>

#include "ayatori/comm/comm.hpp"
#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/solvers/null_space.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/tuning/facts.hpp"

namespace ayatori::tuning {

/// The system as it is solved: s A (2^-e x) = s 2^-e b. The power of two brings the largest |b_i| into [1/2,
/// 1), so that neither the norm of b nor that of a small residual overflows or underflows; it changes no
/// digit. The sign s makes a negative definite matrix positive definite. Relative residuals are those of A x
/// = b. Where row or column sums show that A is singular, what of b no x can reach is set aside, and the
/// solution is the one orthogonal to the null vectors found.
class ScaledSystem {
 public:
  /// Collective. `negate`: s = -1; the matrix is then copied with all signs changed. `b` is finite. `facts`:
  /// of A, or of -A.
  ScaledSystem(const solvers::GlobalSum& sum, std::shared_ptr<const sparse::SplitMatrix> parts,
               solvers::ConstVector b, bool negate, const MatrixFacts& facts);

  std::shared_ptr<const sparse::SplitMatrix> parts() const { return parts_; }
  double b_norm() const { return b_norm_; }

  void to_scaled(solvers::Vector x) const;  ///< x -> 2^-e x
  /// Collective. 2^-e x -> x, and null vectors are taken out.
  void to_original(solvers::Vector x) const;

  const solvers::NullSpaces& null_spaces() const { return null_spaces_; }
  /// ||b - P b||, P b being what of b is orthogonal to the null vectors of the transpose: no x leaves less.
  double unreachable() const { return unreachable_; }
  /// The norm at which the residual of A x = P b is that of a solution. That of A x = b meets rtol ||b||
  /// then, unless what of b is unreachable is more than that.
  double target(double rtol) const;
  bool is_consistent(double rtol) const { return unreachable_ <= rtol * b_norm_ / 2; }

  /// Collective. r = P b - A x of the scaled system, by reference code in double precision; gives ||r||,
  /// which is NaN or infinite if x is not finite.
  double residual(solvers::ConstVector x, solvers::Vector r) const;
  /// The same for x = 0, where that is P b.
  double residual_of_zero(solvers::Vector r) const;
  /// Collective. r = P b - A x becomes b - A x; gives its norm, from the one before.
  double add_unreachable(double norm, solvers::Vector r) const;

 private:
  const solvers::GlobalSum& sum_;
  std::shared_ptr<const sparse::SplitMatrix> parts_;
  Array<double> b_;
  int exponent_ = 0;
  double b_norm_ = 0;
  solvers::NullSpaces null_spaces_;
  Array<double> set_aside_;  ///< b - P b; empty where no null vectors were found
  double reachable_ = 0;     ///< ||P b||
  double unreachable_ = 0;
};

}  // namespace ayatori::tuning
