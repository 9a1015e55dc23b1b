#pragma once

#include <functional>
#include <vector>

#include "ayatori/machine/estimate.hpp"

namespace ayatori::machine {

/// When measuring is enough.
struct TurnLimits {
  double seconds = 1;    ///< all of it together
  int least_rounds = 3;  ///< done even where the time is over
  int most_rounds = 50;
  double relative_width = 0.02;        ///< an estimate this narrow is not measured again
  std::function<bool()> stopped = {};  ///< optional; the same on all ranks
};

/// How often to repeat something in a sample that shall take `sample_seconds`, if once takes `seconds`; once
/// where the clock stands still, as it does for computations in a simulator.
int repetitions_for(double sample_seconds, double seconds, int most);

/// Measures `count` quantities in turns, so that a slow phase of the machine does not fall on one of them
/// alone: every round measures each once. `measure(i)` gives seconds, the same on all ranks, so that all
/// decide alike; `clock()` too, in seconds. A first round warms up and is thrown away; what takes no time at
/// all is measured once.
std::vector<Estimate> measure_in_turns(int count, const TurnLimits& limits,
                                       const std::function<double(int)>& measure,
                                       const std::function<double()>& clock);

}  // namespace ayatori::machine
