#include "ayatori/mapping/heat_map.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace ayatori::mapping {

HeatMap heat_map(const Evaluation& evaluation, int most_cells) {
  const auto& graph = evaluation.graph();
  std::vector<int> ranks(graph.ranks());
  std::iota(ranks.begin(), ranks.end(), 0);
  std::ranges::stable_sort(ranks, {}, [&](int rank) { return evaluation.node_of(rank); });
  std::vector<int> cell_of(graph.ranks());
  HeatMap map{std::min(most_cells, graph.ranks()), {}, 0};
  for (int place = 0; place < graph.ranks(); ++place)
    cell_of[ranks[place]] = static_cast<int>(static_cast<std::int64_t>(place) * map.cells / graph.ranks());
  map.bytes.assign(static_cast<std::size_t>(map.cells) * map.cells, 0);
  for (int rank = 0; rank < graph.ranks(); ++rank) {
    for (const auto& talk : graph.talks(rank))
      map.bytes[cell_of[rank] * static_cast<std::size_t>(map.cells) + cell_of[talk.peer]] +=
          static_cast<double>(talk.out.bytes);
  }
  map.most = std::ranges::max(map.bytes);
  return map;
}

}  // namespace ayatori::mapping
