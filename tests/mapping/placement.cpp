#include "ayatori/mapping/placement.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "graphs.hpp"

namespace ayatori::mapping {
namespace {

Placement place_on(const CommGraph& graph, const char* spec, int per_node, const Objective& objective) {
  const int nodes = (graph.ranks() - 1) / per_node + 1;
  return place(graph, *network::make_network(spec, nodes), network::CostModel(),
               in_order(graph.ranks(), per_node), objective);
}

const Objective& by(const char* name) {
  return find_named(objectives(), name, "objective");
}

TEST(Place, EveryNodeGetsItsRanksAndNothingGetsWorse) {
  for (const char* spec : {"flat", "torus:4x4x4", "fat-tree:3:2", "dragonfly:8x4x2"}) {
    for (const auto& [ranks, per_node] : {std::pair(1, 4), {4, 4}, {5, 4}, {17, 1}, {40, 6}}) {
      const CommGraph graph(ranks, random_messages(ranks, 5 * ranks, ranks));
      const int nodes = (ranks - 1) / per_node + 1;
      const auto network = network::make_network(spec, nodes);
      for (const Objective& objective : objectives()) {
        const auto placement =
            place(graph, *network, network::CostModel(), in_order(ranks, per_node), objective);
        for (int node = 0; node < nodes; ++node)
          EXPECT_EQ(std::ranges::count(placement.node_of, node), std::min(per_node, ranks - node * per_node))
              << spec << ", " << ranks << " by " << per_node;
        const double order = placement.attempts.front().value;
        const double value =
            objective.value(Evaluation(graph, *network, network::CostModel(), placement.node_of).metrics());
        EXPECT_LE(value, order) << spec << ", " << ranks << " by " << per_node << ": " << objective.name;
        const auto& taken = *std::ranges::find(placement.attempts, placement.how, &Attempt::how);
        EXPECT_EQ(taken.value, value);
        const bool is_looked_at = taken.closer.has_value();
        EXPECT_TRUE(!is_looked_at || objective.look_closer != nullptr);
        for (const auto& attempt : placement.attempts) {
          const double found = is_looked_at ? attempt.closer.value_or(*taken.closer) : attempt.value;
          EXPECT_GE(found, is_looked_at ? (1 - objective.resolution) * *taken.closer : value);
        }
        EXPECT_EQ(placement.is_order, placement.node_of == in_order(ranks, per_node));
      }
    }
  }
}

TEST(Place, UnevenNodesKeepAsManyRanksAsTheyHave) {
  const std::vector<int> sizes{3, 1, 4, 2, 2, 4};
  std::vector<int> order;
  for (int node = 0; node < 6; ++node) order.insert(order.end(), sizes[node], node);
  const auto mixing = shuffled(16, 3);
  for (int rank = 0; rank < 16; ++rank) std::swap(order[rank], order[mixing[rank]]);
  const CommGraph graph(16, random_messages(16, 60, 7));
  for (const char* spec : {"flat", "torus:3x2", "tree:2"}) {
    const auto network = network::make_network(spec, 6);
    for (const Objective& objective : objectives()) {
      const auto placement = place(graph, *network, network::CostModel(), order, objective);
      for (int node = 0; node < 6; ++node)
        EXPECT_EQ(std::ranges::count(placement.node_of, node), sizes[node]) << spec << ", " << objective.name;
      const auto value = [&](const std::vector<int>& node_of) {
        return objective.value(Evaluation(graph, *network, network::CostModel(), node_of).metrics());
      };
      EXPECT_EQ(placement.attempts.front().value, value(order));
      EXPECT_LT(value(placement.node_of), value(order)) << spec << ", " << objective.name;
    }
  }
}

TEST(Place, TheSameTwice) {
  const CommGraph graph(100, random_messages(100, 300, 9));
  EXPECT_EQ(place_on(graph, "torus:5x5", 4, by("time")).node_of,
            place_on(graph, "torus:5x5", 4, by("time")).node_of);
}

TEST(Place, AShuffledGridIsCutIntoSquares) {
  constexpr int side = 16;
  const CommGraph graph(side * side, grid_messages(side, side, false, shuffled(side * side, 4)));
  const auto network = network::make_network("flat", side);
  const auto placement =
      place(graph, *network, network::CostModel(), in_order(side * side, side), by("messages"));
  const auto metrics = Evaluation(graph, *network, network::CostModel(), placement.node_of).metrics();
  // 4 x 4 tiles: 24 edges in each of 16 of the 480; a fifth of that by chance.
  EXPECT_GE(metrics.inside.messages, 2 * 360);
  EXPECT_LE(metrics.inside.messages, 2 * 384);
}

TEST(Place, AShuffledTorusIsLaidOntoATorus) {
  const CommGraph graph(36, grid_messages(6, 6, true, shuffled(36, 8)));
  const auto network = network::make_network("torus:6x6", 36);
  const auto placement = place(graph, *network, network::CostModel(), in_order(36, 1), by("hop-bytes"));
  const auto metrics = Evaluation(graph, *network, network::CostModel(), placement.node_of).metrics();
  EXPECT_LE(metrics.mean_hops, 1.35) << "1 is the best, 3.1 what chance gives";
}

TEST(Place, WhereNothingHelpsTheOrderStays) {
  std::vector<PairVolume> messages;
  for (int a = 0; a < 24; ++a) {
    for (int b = 0; b < 24; ++b) messages.push_back({a, b, 1, 100});
  }
  const CommGraph graph(24, messages);
  for (const Objective& objective : objectives()) {
    const auto placement = place_on(graph, "flat", 4, objective);
    EXPECT_TRUE(placement.is_order) << objective.name;
    EXPECT_EQ(placement.how, "order of ranks");
  }
}

TEST(Place, ANetworkThatIsTooSmallIsRefused) {
  const CommGraph graph(24, std::vector<PairVolume>());
  const auto network = network::make_network("torus:5", 5);
  EXPECT_THROW(place(graph, *network, network::CostModel(), in_order(24, 4), by("time")), InputError);
}

TEST(DealtRound, AsManyOnEachNodeAsInOrder) {
  EXPECT_EQ(dealt_round(in_order(7, 3)), (std::vector<int>{0, 1, 2, 0, 1, 0, 1}));
  EXPECT_EQ(dealt_round(std::vector<int>{1, 1, 0, 2, 1}), (std::vector<int>{0, 1, 2, 1, 1}));
  EXPECT_EQ(in_order(7, 3), (std::vector<int>{0, 0, 0, 1, 1, 1, 2}));
}

}  // namespace
}  // namespace ayatori::mapping
