#include "ayatori/solvers/certified_norm.hpp"

#include <cmath>

namespace ayatori::solvers {

namespace {

constexpr double u = 0x1p-53;

/// Relative error of a sum of this many squares in any order, and of its root.
double error_of_norm(std::int64_t elements) {
  return (static_cast<double>(elements) + 8) * u;
}

}  // namespace

CertifiedNorm certified_norm(const sparse::ResidualSums& sums, std::int64_t rows) {
  // Squares of elements below 1e-154 may have been lost.
  const double lost = 2e-154 * std::sqrt(static_cast<double>(rows));
  const double share = error_of_norm(rows);
  CertifiedNorm norm;
  norm.value = std::sqrt(sums.squares);
  norm.error_bound = (std::sqrt(sums.error_squares) + lost + norm.value * share) * (1 + 2 * share);
  // The spacing of doubles is 1.4 u |x| on average, and rounding to the nearest leaves the spacing / sqrt(12)
  // as root mean square.
  constexpr double of_rounding = 0.4 * u;
  norm.rounding = of_rounding * std::sqrt(sums.product_squares);
  return norm;
}

bool is_decided(const CertifiedNorm& plain, double limit) {
  constexpr double small = 0.25;
  return plain.is_at_most(limit) ||
         (plain.error_bound <= small * limit && plain.value - plain.error_bound > limit);
}

double lower_bound_of_norm(double computed, std::int64_t elements) {
  return computed * (1 - error_of_norm(elements));
}

}  // namespace ayatori::solvers
