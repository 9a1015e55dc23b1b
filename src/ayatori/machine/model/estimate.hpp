#pragma once

#include <span>

namespace ayatori::machine {

/// A quantity measured several times: the median, and the 95 % confidence interval of the median from order
/// statistics, which assumes nothing about how the noise is distributed.
struct Estimate {
  double median = 0;
  double low = 0;
  double high = 0;
  int samples = 0;

  /// Width of the interval as a share of the median.
  double relative_width() const { return median > 0 ? (high - low) / median : 0; }
};

/// The estimate from a sample; all zeros from an empty one. Below six samples the interval is the whole
/// range, which holds the median with less than 95 %.
Estimate estimate(std::span<const double> sample);

/// The same quantity as its inverse in other units: seconds of `amount` bytes become bytes per second.
Estimate rate_of(const Estimate& seconds, double amount);

}  // namespace ayatori::machine
