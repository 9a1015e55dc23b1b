#include "ayatori/mapping/optimization/weighted_graph.hpp"

namespace ayatori::mapping {

WeightedGraph weigh(const CommGraph& graph, const PairCost& cost) {
  WeightedGraph weighted{{0}, {}, {}};
  for (int rank = 0; rank < graph.ranks(); ++rank) {
    for (const auto& talk : graph.talks(rank)) {
      weighted.neighbour.push_back(talk.peer);
      weighted.weight.push_back(cost.weight(talk.both()));
    }
    weighted.start.push_back(static_cast<std::int64_t>(weighted.neighbour.size()));
  }
  return weighted;
}

WeightedGraph contract(const WeightedGraph& graph, std::span<const int> group_of, int groups) {
  std::vector<std::vector<int>> members(groups);
  for (int v = 0; v < graph.vertices(); ++v) members[group_of[v]].push_back(v);
  WeightedGraph contracted{{0}, {}, {}};
  std::vector<std::int64_t> place(groups, -1);
  for (int group = 0; group < groups; ++group) {
    const auto first = static_cast<std::int64_t>(contracted.neighbour.size());
    for (const int v : members[group]) {
      for (std::int64_t k = graph.start[v]; k < graph.start[v + 1]; ++k) {
        const int other = group_of[graph.neighbour[k]];
        if (other == group) continue;
        if (place[other] < first) {
          place[other] = static_cast<std::int64_t>(contracted.neighbour.size());
          contracted.neighbour.push_back(other);
          contracted.weight.push_back(0);
        }
        contracted.weight[place[other]] += graph.weight[k];
      }
    }
    contracted.start.push_back(static_cast<std::int64_t>(contracted.neighbour.size()));
  }
  return contracted;
}

WeightedGraph induce(const WeightedGraph& graph, std::span<const int> vertices, std::vector<int>& number_in) {
  for (std::size_t i = 0; i < vertices.size(); ++i) number_in[vertices[i]] = static_cast<int>(i);
  WeightedGraph part{{0}, {}, {}};
  for (const int v : vertices) {
    for (std::int64_t k = graph.start[v]; k < graph.start[v + 1]; ++k) {
      const int number = number_in[graph.neighbour[k]];
      if (number < 0) continue;
      part.neighbour.push_back(number);
      part.weight.push_back(graph.weight[k]);
    }
    part.start.push_back(static_cast<std::int64_t>(part.neighbour.size()));
  }
  for (const int v : vertices) number_in[v] = -1;
  return part;
}

}  // namespace ayatori::mapping
