#pragma once

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

}  // namespace ayatori
