#include "ayatori/machine/probes/turns.hpp"

#include <algorithm>

namespace ayatori::machine {

namespace {

/// An interval from fewer samples says little.
constexpr int enough_samples = 6;

bool is_known(const Estimate& so_far, double relative_width) {
  const bool takes_no_time = so_far.samples > 0 && so_far.high == 0;
  return takes_no_time || (so_far.samples >= enough_samples && so_far.relative_width() < relative_width);
}

int repetitions_for(const TurnLimits& limits, double seconds) {
  if (!(seconds > 0)) return 1;
  return static_cast<int>(
      std::clamp(limits.sample_seconds / seconds, 1.0, static_cast<double>(limits.most_repetitions)));
}

}  // namespace

std::vector<Estimate> measure_in_turns(int count, const TurnLimits& limits,
                                       const std::function<double(int, int)>& measure,
                                       const std::function<double()>& clock) {
  const double start = clock();
  const auto stopped = [&] { return limits.stopped && limits.stopped(); };
  std::vector<int> repetitions(count, 1);
  for (int i = 0; i < count && !stopped(); ++i) repetitions[i] = repetitions_for(limits, measure(i, 1));
  // Where warming up has used up the time, one sample each must do.
  const double warm_up = clock() - start;
  const int least_rounds = warm_up > limits.seconds ? 1 : limits.least_rounds;
  // What others keep busy may be slower by orders of magnitude than it was a moment ago: then the question is
  // asked before every sample, not once a round.
  constexpr double patience = 4;
  const double most_seconds = patience * std::max(limits.seconds, warm_up);
  double spent = 0;
  std::vector<std::vector<double>> samples(count);
  std::vector<Estimate> estimates(count);
  for (int round = 0; round < limits.most_rounds; ++round) {
    const bool late = round >= least_rounds && clock() - start > limits.seconds;
    if (late || stopped()) break;
    bool all_narrow = true;
    for (int i = 0; i < count; ++i) {
      if (is_known(estimates[i], limits.relative_width)) continue;
      if (spent > most_seconds && stopped()) return estimates;
      all_narrow = false;
      samples[i].push_back(measure(i, repetitions[i]));
      spent += samples[i].back() * repetitions[i];
      estimates[i] = estimate(samples[i]);
    }
    if (all_narrow) break;
  }
  return estimates;
}

}  // namespace ayatori::machine
