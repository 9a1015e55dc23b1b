#include "ayatori/mapping/objectives/objective.hpp"

#include <array>
#include <cmath>

#include "ayatori/mapping/objectives/replay.hpp"

namespace ayatori::mapping {

namespace {

PairCost messages_between(const network::CostModel&) {
  return {"messages", 1, 0, 1, 0};
}

PairCost bytes_between(const network::CostModel&) {
  return {"bytes", 0, 1, 1, 0};
}

PairCost hop_bytes(const network::CostModel&) {
  return {"hop-bytes", 0, 1, 0, 1};
}

/// A node's port is as good as another link.
PairCost link_bytes(const network::CostModel&) {
  return {"bytes on links and ports", 0, 1, 1, 1};
}

PairCost link_seconds(const network::CostModel& model) {
  return {"seconds of messages and bytes", model.between_latency, 1 / model.link_bandwidth, 1, 1};
}

/// The 16-norm of what links and ports take: at most 1.6 times the largest for 2000 of them.
double norm_of_links(const Evaluation& evaluation) {
  const auto links = static_cast<int>(evaluation.link_bytes().size());
  const double scale =
      static_cast<double>(evaluation.graph().total().bytes) / evaluation.model().port_bandwidth;
  if (scale <= 0) return 0;
  double sum = 0;
  for (int link = 0; link < links; ++link) {
    double power = evaluation.link_seconds(link) / scale;
    for (int squared = 0; squared < 4; ++squared) power *= power;
    sum += power;
  }
  return scale * std::pow(sum, 1.0 / 16);
}

template <PairCost (*... costs)(const network::CostModel&)>
std::vector<PairCost> all(const network::CostModel& model) {
  return {costs(model)...};
}

}  // namespace

std::span<const Objective> objectives() {
  static constexpr std::array list{
      Objective{"messages", "messages between nodes",
                [](const Metrics& m) { return static_cast<double>(m.total.messages - m.inside.messages); },
                all<messages_between>, true},
      Objective{"bytes", "bytes between nodes",
                [](const Metrics& m) { return static_cast<double>(m.total.bytes - m.inside.bytes); },
                all<bytes_between>, true},
      Objective{"hop-bytes", "bytes, times the links that they pass",
                [](const Metrics& m) { return static_cast<double>(m.hop_bytes); },
                all<hop_bytes, link_bytes, bytes_between>, true},
      Objective{"link-load", "seconds that the busiest link takes for its bytes",
                [](const Metrics& m) { return m.link_seconds; }, all<link_bytes, bytes_between>, false,
                nullptr, 0, norm_of_links},
      Objective{"time", "seconds that the exchange takes", [](const Metrics& m) { return m.seconds; },
                all<link_bytes, link_seconds, bytes_between, messages_between>, false, replay_seconds,
                replay_resolution}};
  return list;
}

}  // namespace ayatori::mapping
