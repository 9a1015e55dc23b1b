#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ayatori::network {

/// Bytes that begin to flow at a time, past links that they share with others.
struct TimedFlow {
  double start;        ///< seconds
  double bytes;        ///< more than none
  std::size_t passed;  ///< where its links begin; they end where the next flow's begin
};

/// Seconds until the last flow has ended. Those under way share the links max-min fairly (FairShare).
/// `passed`: links of all flows, one flow after the other, one at least of each. `capacities`: bytes per
/// second, by link. Events that are less than `least_step` seconds apart count as one.
double replay_seconds(std::span<const TimedFlow> flows, std::span<const int> passed,
                      std::span<const double> capacities, double least_step);

}  // namespace ayatori::network
