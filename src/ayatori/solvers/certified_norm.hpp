#pragma once

#include <cstdint>

#include "ayatori/sparse/residual.hpp"

namespace ayatori::solvers {

/// ||b - A x||_2 as it was computed, and how far the true norm may be from it.
struct CertifiedNorm {
  double value = 0;
  double error_bound = 0;
  /// What rounding the best x to double is expected to leave alone; 0 where nobody looked.
  double rounding = 0;

  /// Whether the true norm is proved to be no larger. Not if anything is NaN.
  bool is_at_most(double limit) const { return value + error_bound <= limit; }
};

/// From the sums of all ranks over this many rows in all; in the unit of the sums.
CertifiedNorm certified_norm(const sparse::ResidualSums& sums, std::int64_t rows);

/// Whether a norm by plain sums tells as much as doubled ones would: that it meets the limit, or clearly does
/// not, and is no matter of rounding.
bool is_decided(const CertifiedNorm& plain, double limit);

/// What `sum_up(summation)` finds: by plain sums first, by doubled ones, at about twice the price, where
/// `decides` says that the plain ones do not decide.
template <class SumUp, class Decides>
auto certify(const SumUp& sum_up, const Decides& decides) {
  auto plain = sum_up(sparse::Summation::plain);
  return decides(plain) ? plain : sum_up(sparse::Summation::doubled);
}

/// A norm of this many elements summed in doubles, less what rounding may have added.
double lower_bound_of_norm(double computed, std::int64_t elements);

}  // namespace ayatori::solvers
