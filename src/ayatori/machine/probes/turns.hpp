#pragma once

#include <functional>
#include <vector>

#include "ayatori/machine/model/estimate.hpp"

namespace ayatori::machine {

/// When measuring is enough.
struct TurnLimits {
  double seconds = 1;    ///< all of it together
  int least_rounds = 3;  ///< done even where the time is over, unless warming up has used it up
  int most_rounds = 50;
  double relative_width = 0.02;  ///< an estimate this narrow is not measured again
  double sample_seconds = 2e-4;  ///< a sample shall take as long, by repeating what is measured
  int most_repetitions = 100;
  std::function<bool()> stopped = {};  ///< optional; the same on all ranks
};

/// Measures `count` quantities in turns, so that a slow phase of the machine does not fall on one of them
/// alone: every round takes a sample of each. `measure(i, repetitions)` gives the mean seconds of this many,
/// the same on all ranks, so that all decide alike; `clock()` too, in seconds. A first round warms up, finds
/// the repetitions and is thrown away. What takes no time at all is measured once: so it is with computations
/// where a simulator lets the clock stand still.
std::vector<Estimate> measure_in_turns(int count, const TurnLimits& limits,
                                       const std::function<double(int, int)>& measure,
                                       const std::function<double()>& clock);

}  // namespace ayatori::machine
