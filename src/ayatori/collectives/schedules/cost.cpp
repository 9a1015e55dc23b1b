#include "ayatori/collectives/schedules/cost.hpp"

#include <algorithm>
#include <cmath>

namespace ayatori::collectives {

ScheduleLoad load_of(const Schedule& schedule, const network::Hierarchy& network) {
  std::vector<std::vector<network::Message>> by_stage(schedule.stages);
  std::vector<network::Message> all;
  // Whether a message is combined its receiver knows, so it counts in the receiver's stage.
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    for (const Step& step : schedule.steps[rank]) {
      if (step.kind == Step::Kind::send) continue;
      const double share = static_cast<double>(chunk_count(step.chunks)) / schedule.chunks;
      by_stage[step.stage].push_back({step.peer, rank, share, step.reduces(), step.rail});
    }
  }
  ScheduleLoad load;
  for (const auto& flows : by_stage) {
    load.stages.push_back(load_of(flows, network));
    all.insert(all.end(), flows.begin(), flows.end());
  }
  load.together = load_of(all, network);
  return load;
}

namespace {

double longest_latency(const ScheduleLoad& load, const network::Hierarchy& network) {
  double longest = 0;
  for (const network::Load& stage : load.stages)
    longest = std::max(longest, predict_seconds(stage, network, 0));
  return longest;
}

}  // namespace

double predict_seconds(const ScheduleLoad& load, const network::Hierarchy& network, double bytes,
                       int segments, int under_way) {
  const double of_segment = bytes / segments;
  double seconds = 0;
  for (const network::Load& stage : load.stages) seconds += predict_seconds(stage, network, of_segment);
  if (segments == 1) return seconds;
  const double busy = busy_seconds(load.together, network, of_segment);
  return seconds + (segments - 1) * std::max(busy, (longest_latency(load, network) + busy) / under_way);
}

int segments_under_way(const ScheduleLoad& load, const network::Hierarchy& network, double segment_bytes,
                       int most) {
  const double busy = busy_seconds(load.together, network, segment_bytes);
  const double needed = busy > 0 ? 1 + longest_latency(load, network) / busy : most;
  return static_cast<int>(std::clamp(std::ceil(needed), 1.0, static_cast<double>(most)));
}

}  // namespace ayatori::collectives
