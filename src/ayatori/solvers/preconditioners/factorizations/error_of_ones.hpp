#pragma once

#include <cmath>
#include <complex>
#include <cstddef>

#include "ayatori/base/array.hpp"

namespace ayatori::solvers {

/// How far (L D U)^-1 A 1 is from a vector of ones: the root mean square over its elements. It tells whether
/// triangular solves amplify what a factorization has dropped (Chow & Saad 1997). `row_sums`: A 1.
template <class Scalar, class Factors>
double error_of_ones(const Factors& factors, const Array<Scalar>& row_sums) {
  Array<Scalar> ones(row_sums.size());
  factors.solve(row_sums, ones);
  double sum = 0;
  for (const Scalar& one : ones) sum += std::norm(one - 1.0);
  return std::sqrt(sum / static_cast<double>(row_sums.size()));
}

/// Factors of a shifted matrix, or with pivots that have changed sign, are usable up to here. Of systems
/// tried, those below were solved in as many iterations as with a larger shift or fewer, those beyond in a
/// hundred times as many or not at all.
inline constexpr double largest_error_of_ones = 1e4;

}  // namespace ayatori::solvers
