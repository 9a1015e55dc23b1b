#pragma once

#include <memory>

#include "ayatori/comm/comm.hpp"
#include "ayatori/solvers/certified_norm.hpp"
#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/solvers/null_space.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/tuning/facts/facts.hpp"
#include "ayatori/tuning/solve.hpp"

namespace ayatori::tuning {

/// What is known of an x, in the scale of the system.
struct Residual {
  /// Norm of what a method can make smaller: ||P b - A x||, without rounding of boundary rows.
  double norm = 0;
  /// No more than the sums of an enormous x have lost: its norm may come out as anything, 0 included. Sums of
  /// boundary rows do not count: a penalty of 1e30 loses more in them than all that the others hold.
  double at_most() const { return norm + others.error_bound; }
  solvers::CertifiedNorm all;     ///< ||b - A x||
  solvers::CertifiedNorm others;  ///< rows that are no boundary rows alone; the same where there are none
};

/// A copy of the matrix with all signs changed.
std::shared_ptr<const sparse::SplitMatrix> negated(const sparse::SplitMatrix& parts);

/// The system as it is solved: s A (2^-e x) = s 2^-e b. The power of two brings the largest |b_i| into [1/2,
/// 1), so that neither the norm of b nor that of a small residual overflows or underflows; it changes no
/// digit. The sign s makes a negative definite matrix positive definite. Relative residuals are those of A x
/// = b. Where row or column sums show that A is singular, what of b no x can reach is set aside, and the
/// solution is the one orthogonal to the null vectors found. Boundary rows, with a diagonal entry and nothing
/// else of weight, are solved by begin(): the tolerance then holds for the other rows against what is left of
/// their right-hand side, too, as a penalty in b would make any x a solution otherwise.
class ScaledSystem {
 public:
  /// Collective. `negate`: s = -1; the matrix is then copied with all signs changed. `b` is finite. `facts`:
  /// of A, or of -A.
  ScaledSystem(const solvers::GlobalSum& sum, std::shared_ptr<const sparse::SplitMatrix> parts,
               solvers::ConstVector b, bool negate, const MatrixFacts& facts, double rtol);

  std::shared_ptr<const sparse::SplitMatrix> parts() const { return parts_; }
  double b_norm() const { return b_norm_; }
  /// Norm of what x has to solve for: b, or what the boundary rows leave of it for the others.
  double reference_norm() const { return others_norm_ > 0 ? others_norm_ : b_norm_; }
  /// 0 where there are no others.
  std::int64_t boundary_rows() const { return boundary_rows_; }

  void to_scaled(solvers::Vector x) const;  ///< x -> 2^-e x
  /// Collective. 2^-e x -> x, and null vectors are taken out.
  void to_original(solvers::Vector x) const;
  void solve_boundary_rows(solvers::Vector x) const;  ///< x_i = b_i / a_ii

  const solvers::NullSpaces& null_spaces() const { return null_spaces_; }
  /// ||b - P b||, P b being what of b is orthogonal to the null vectors of the transpose: no x leaves less.
  double unreachable() const { return unreachable_; }
  /// The norm at which the residual of A x = P b is that of a solution. That of A x = b meets rtol ||b||
  /// then, unless what of b is unreachable is more than that.
  double target() const;
  bool is_consistent() const { return unreachable_ <= rtol_ * b_norm_ / 2; }
  /// Whether the residual is proved to be that of a solution; of A x = P b where b is not consistent.
  bool is_solved_by(const Residual& residual) const;
  /// Whether ||b - A x|| is proved to meet the tolerance.
  bool meets_tolerance(const Residual& residual) const;
  /// Whether rounding such an x to double leaves more than this share of the tolerance already.
  bool is_beyond_rounding(const Residual& residual, double share = 1) const;

  /// Collective. r = P b - A x of the scaled system, in doubled precision where rounding matters; the norms
  /// are NaN or infinite if x is not finite.
  Residual residual(solvers::ConstVector x, solvers::Vector r) const;
  /// Collective. r = b - A (x + d), the sum not rounded to doubles: where that meets the tolerance and x does
  /// not, rounding is all that a claim lacks.
  Residual residual_of_sum(solvers::ConstVector x, solvers::ConstVector d, solvers::Vector r) const;
  /// The same as residual() for x = 0, where that is P b. Only without boundary rows.
  Residual residual_of_zero(solvers::Vector r) const;

 private:
  void find_boundary_rows(const MatrixFacts& facts);
  Residual sum_up(solvers::ConstVector x, solvers::ConstVector b, solvers::Vector r,
                  sparse::Summation summation) const;
  double wanted() const;            ///< bound on ||b - A x||
  double wanted_of_others() const;  ///< bound on that of the rows that are no boundary rows

  const solvers::GlobalSum& sum_;
  std::shared_ptr<const sparse::SplitMatrix> parts_;
  double rtol_;
  std::int64_t rows_;
  Array<double> b_;
  int exponent_ = 0;
  double b_norm_ = 0;
  solvers::NullSpaces null_spaces_;
  double reachable_ = 0;  ///< ||P b||
  double unreachable_ = 0;
  std::int64_t boundary_rows_ = 0;
  Array<std::uint8_t> is_boundary_;     ///< flag of every own row; empty where there are none
  std::vector<std::int32_t> boundary_;  ///< own rows
  std::vector<double> boundary_x_;
  double others_norm_ = 0;
};

/// Puts into the report what it says of residuals.
void describe_residual(const ScaledSystem& system, const Residual& residual, SolveReport& report);

}  // namespace ayatori::tuning
