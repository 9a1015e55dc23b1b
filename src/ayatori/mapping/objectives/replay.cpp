#include "ayatori/mapping/objectives/replay.hpp"

#include <algorithm>
#include <vector>

#include "ayatori/network/replay.hpp"

namespace ayatori::mapping {

std::optional<double> replay_seconds(const Evaluation& evaluation) {
  constexpr std::size_t most_passages = 1'000'000;
  const network::CostModel& model = evaluation.model();
  std::vector<network::TimedFlow> flows;  // what leaves nodes
  std::vector<int> passed;                // by them: links, ports included
  double end = 0;                         // when the last rank has begun its messages
  for (int rank = 0; rank < evaluation.graph().ranks(); ++rank) {
    const int from = evaluation.node_of(rank);
    double now = 0;
    for (const auto& talk : evaluation.graph().talks(rank)) {
      const auto messages = static_cast<double>(talk.out.messages);
      const auto bytes = static_cast<double>(talk.out.bytes);
      const int to = evaluation.node_of(talk.peer);
      now += from == to ? model.inside.seconds(messages, bytes) : messages * model.between_latency;
      if (from == to || talk.out.bytes == 0) continue;
      const std::size_t first = passed.size();
      network::route_with_ports(evaluation.network(), from, to, passed);
      const auto hops = static_cast<double>(passed.size() - first) - 2;
      flows.push_back({now + hops * model.hop_latency, bytes, first});
    }
    end = std::max(end, now);
  }
  if (passed.size() > most_passages) return std::nullopt;
  std::vector<double> capacities = evaluation.seconds_per_byte();
  for (double& capacity : capacities) capacity = 1 / capacity;
  const double least_step = replay_resolution * evaluation.metrics().seconds;
  return std::max(end, network::replay_seconds(flows, passed, capacities, least_step));
}

}  // namespace ayatori::mapping
