#pragma once

#include <cmath>
#include <limits>
#include <span>

namespace ayatori {

/// Minimum, median and maximum of a sample: what a noisy measurement is quoted by.
struct Spread {
  double min = 0;
  double median = 0;
  double max = 0;
};

/// The spread of a non-empty sample; the median of an even count is the mean of the middle two.
Spread spread(std::span<const double> sample);

/// The larger of two errors, of which `a` is a number: infinity if `b` is none. std::max would forget that.
inline double worse(double a, double b) {
  if (std::isnan(b)) return std::numeric_limits<double>::infinity();
  return b <= a ? a : b;
}

}  // namespace ayatori
