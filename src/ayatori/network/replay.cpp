#include "ayatori/network/replay.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "ayatori/network/fair_share.hpp"

namespace ayatori::network {

double replay_seconds(std::span<const TimedFlow> flows, std::span<const int> passed,
                      std::span<const double> capacities, double least_step) {
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> waiting(flows.size());
  for (std::size_t t = 0; t < waiting.size(); ++t) waiting[t] = t;
  std::ranges::sort(waiting, std::greater<>(), [&](std::size_t t) { return flows[t].start; });
  FairShare fair_share(capacities);
  std::vector<Flow> active;
  std::vector<double> left;  // bytes of each
  double now = 0;
  double end = 0;
  while (!waiting.empty() || !active.empty()) {
    while (!waiting.empty() && flows[waiting.back()].start <= now) {
      const std::size_t t = waiting.back();
      const std::size_t behind = t + 1 < flows.size() ? flows[t + 1].passed : passed.size();
      fair_share.add(
          active.emplace_back(Flow{passed.subspan(flows[t].passed, behind - flows[t].passed), never}));
      left.push_back(flows[t].bytes);
      waiting.pop_back();
    }
    const double next = waiting.empty() ? never : flows[waiting.back()].start;
    if (active.empty()) {
      now = next;
      continue;
    }
    fair_share.assign(active);
    double step = next - now;
    for (std::size_t f = 0; f < active.size(); ++f) step = std::min(step, left[f] / active[f].rate);
    step = std::max(step, least_step);
    std::size_t kept = 0;
    for (std::size_t f = 0; f < active.size(); ++f) {
      const double needs = left[f] / active[f].rate;
      if (needs > step) {
        left[kept] = left[f] - step * active[f].rate;
        active[kept++] = active[f];
        continue;
      }
      fair_share.remove(active[f]);
      end = std::max(end, now + needs);
    }
    active.resize(kept);
    left.resize(kept);
    now += step;
  }
  return end;
}

}  // namespace ayatori::network
