#include "ayatori/machine/turns.hpp"

#include <algorithm>

namespace ayatori::machine {

namespace {

/// An interval from fewer samples says little.
constexpr int enough_samples = 6;

bool is_known(const Estimate& so_far, double relative_width) {
  const bool takes_no_time = so_far.samples > 0 && so_far.high == 0;
  return takes_no_time || (so_far.samples >= enough_samples && so_far.relative_width() < relative_width);
}

}  // namespace

int repetitions_for(double sample_seconds, double seconds, int most) {
  return seconds > 0 ? static_cast<int>(std::clamp(sample_seconds / seconds, 1.0, static_cast<double>(most)))
                     : 1;
}

std::vector<Estimate> measure_in_turns(int count, const TurnLimits& limits,
                                       const std::function<double(int)>& measure,
                                       const std::function<double()>& clock) {
  const double start = clock();
  const auto stopped = [&] { return limits.stopped && limits.stopped(); };
  for (int i = 0; i < count && !stopped(); ++i) measure(i);
  std::vector<std::vector<double>> samples(count);
  std::vector<Estimate> estimates(count);
  for (int round = 0; round < limits.most_rounds; ++round) {
    const bool late = round >= limits.least_rounds && clock() - start > limits.seconds;
    if (late || stopped()) break;
    bool all_narrow = true;
    for (int i = 0; i < count; ++i) {
      if (is_known(estimates[i], limits.relative_width)) continue;
      all_narrow = false;
      samples[i].push_back(measure(i));
      estimates[i] = estimate(samples[i]);
    }
    if (all_narrow) break;
  }
  return estimates;
}

}  // namespace ayatori::machine
