#include "ayatori/mapping/heat_map.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "ayatori/mapping/placement.hpp"
#include "graphs.hpp"

namespace ayatori::mapping {
namespace {

TEST(HeatMap, RanksStandInTheOrderOfTheirNodes) {
  const CommGraph graph(4, std::vector<PairVolume>{{0, 1, 1, 10}, {2, 3, 1, 20}, {3, 0, 1, 30}});
  const auto network = network::make_network("mesh:2", 2);
  const Evaluation round(graph, *network, network::CostModel(),
                         std::vector<int>{0, 1, 0, 1});  // places: ranks 0, 2, 1, 3
  const auto map = heat_map(round, 100);
  EXPECT_EQ(map.cells, 4);
  EXPECT_EQ(map.bytes, (std::vector<double>{0, 0, 10, 0, 0, 0, 0, 20, 0, 0, 0, 0, 30, 0, 0, 0}));
  EXPECT_EQ(map.most, 30);
}

TEST(HeatMap, PlacesAreTakenTogetherWhereThereAreMany) {
  constexpr int ranks = 10;
  std::vector<PairVolume> messages;
  for (int rank = 0; rank < ranks; ++rank) messages.push_back({rank, (rank + 1) % ranks, 1, 1 + rank});
  const CommGraph graph(ranks, messages);
  const auto network = network::make_network("mesh:10", 1);
  const Evaluation order(graph, *network, network::CostModel(), in_order(ranks, 1));
  const auto map = heat_map(order, 4);  // cells of places 0 to 2, 3 to 4, 5 to 7, 8 to 9
  EXPECT_EQ(map.bytes, (std::vector<double>{3, 3, 0, 0, 0, 4, 5, 0, 0, 0, 13, 8, 10, 0, 0, 9}));
  EXPECT_EQ(std::accumulate(map.bytes.begin(), map.bytes.end(), 0.0),
            static_cast<double>(graph.total().bytes));
}

}  // namespace
}  // namespace ayatori::mapping
