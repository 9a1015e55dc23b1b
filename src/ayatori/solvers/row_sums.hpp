#pragma once

#include <cmath>
#include <cstdint>

namespace ayatori::solvers {

/// Whether no more is left of a sum of entries than rounding leaves, against the sum of their absolute
/// values. Where these are more than doubles hold, nothing is known.
inline bool vanishes(double sum, double sum_abs) {
  constexpr double rounding = 1e-14;
  return std::isfinite(sum_abs) && std::abs(sum) <= rounding * sum_abs;
}

/// What the sums of the rows of a matrix tell.
struct RowSums {
  std::int64_t positive = 0;
  std::int64_t negative = 0;
  std::int64_t vanishing = 0;
  double total = 0;      ///< sum of all entries
  double total_abs = 0;  ///< sum of their absolute values

  void add_row(double sum, double sum_abs) {
    const bool none = vanishes(sum, sum_abs);
    positive += !none && sum > 0 ? 1 : 0;
    negative += !none && sum < 0 ? 1 : 0;
    vanishing += none ? 1 : 0;
    total += sum;
    total_abs += sum_abs;
  }
  void merge(const RowSums& other) {
    positive += other.positive;
    negative += other.negative;
    vanishing += other.vanishing;
    total += other.total;
    total_abs += other.total_abs;
  }
};

}  // namespace ayatori::solvers
