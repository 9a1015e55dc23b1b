#include "ayatori/mapping/optimization/refine.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ayatori/base/find_named.hpp"
#include "ayatori/mapping/optimization/anneal.hpp"
#include "ayatori/mapping/placement.hpp"
#include "mapping/graphs.hpp"

namespace ayatori::mapping {
namespace {

double sum_of(const WeightedGraph& graph, const network::Network& network, const PairCost& cost,
              const std::vector<int>& node_of) {
  double sum = 0;
  for (int v = 0; v < graph.vertices(); ++v) {
    for (std::int64_t k = graph.start[v]; k < graph.start[v + 1]; ++k)
      sum += graph.weight[k] * cost.distance(network, node_of[v], node_of[graph.neighbour[k]]) / 2;
  }
  return sum;
}

TEST(RefineSum, TheSumFallsAndNoPairCouldStillGain) {
  constexpr int ranks = 24;
  const auto network = network::make_network("torus:2x3", 6);
  const PairCost cost{"", 1, 1, 1, 1};
  // All on all: every node is a candidate.
  std::vector<PairVolume> messages;
  for (int a = 0; a < ranks; ++a) {
    for (int b = 0; b < ranks; ++b) messages.push_back({a, b, 1, static_cast<int>(random_bits(a, b) % 50)});
  }
  const auto graph = weigh(CommGraph(ranks, messages), cost);
  auto node_of = in_order(ranks, 4);
  const double before = sum_of(graph, *network, cost, node_of);
  EXPECT_GT(refine_sum(graph, *network, cost, {}, node_of), 0);
  const double after = sum_of(graph, *network, cost, node_of);
  EXPECT_LT(after, before);
  for (int node = 0; node < 6; ++node) EXPECT_EQ(std::ranges::count(node_of, node), 4);
  for (int a = 0; a < ranks; ++a) {
    for (int b = 0; b < a; ++b) {
      std::swap(node_of[a], node_of[b]);
      EXPECT_GE(sum_of(graph, *network, cost, node_of), after - 1e-6) << a << " and " << b;
      std::swap(node_of[a], node_of[b]);
    }
  }
}

TEST(RefineSum, WhereAllTalkToAllItEndsEarly) {
  // Until nobody could gain it would take minutes, which the test's time limit would not grant.
  constexpr int ranks = 512;
  const auto network = network::make_network("torus:4x4x4", 64);
  const PairCost cost{"", 0, 1, 0, 1};
  std::vector<PairVolume> messages;
  for (int a = 0; a < ranks; ++a) {
    for (int b = 0; b < a; ++b) messages.push_back({a, b, 1, static_cast<int>(random_bits(a, b) % 1000)});
  }
  const auto graph = weigh(CommGraph(ranks, messages), cost);
  auto node_of = in_order(ranks, 8);
  const double before = sum_of(graph, *network, cost, node_of);
  EXPECT_GT(refine_sum(graph, *network, cost, {}, node_of), 0);
  EXPECT_LT(sum_of(graph, *network, cost, node_of), before);
}

TEST(ShakeSum, LeavesWhereTheLocalSearchIsStuckAndNeverGetsWorse) {
  constexpr int side = 12;
  const auto network = network::make_network("torus:3x3", 9);
  const PairCost cost{"", 0, 1, 0, 1};
  const auto graph =
      weigh(CommGraph(side * side, grid_messages(side, side, false, shuffled(side * side, 2))), cost);
  auto node_of = in_order(side * side, side * side / 9);
  refine_sum(graph, *network, cost, {}, node_of);
  const double refined = sum_of(graph, *network, cost, node_of);
  auto again = node_of;
  shake_sum(graph, *network, cost, {}, 0, again);
  EXPECT_EQ(again, node_of);
  shake_sum(graph, *network, cost, {}, 1, again);
  EXPECT_LE(sum_of(graph, *network, cost, again), refined);
  shake_sum(graph, *network, cost, {}, 2000, again);
  EXPECT_LT(sum_of(graph, *network, cost, again), 0.8 * refined);
  for (int node = 0; node < 9; ++node) EXPECT_EQ(std::ranges::count(again, node), side * side / 9);
}

TEST(RefineSum, OnlyEqualsChangePlaces) {
  const auto network = network::make_network("mesh:4", 4);
  const PairCost cost{"", 0, 1, 0, 1};
  const auto graph = weigh(CommGraph(4, grid_messages(4, 1, false, {0, 2, 1, 3})), cost);
  std::vector<int> node_of{0, 1, 2, 3};
  const std::vector<int> sizes{5, 4, 3, 2};
  EXPECT_EQ(refine_sum(graph, *network, cost, sizes, node_of), 0);
  EXPECT_EQ(refine_sum(graph, *network, cost, {}, node_of), 1);
  EXPECT_EQ(node_of, (std::vector<int>{0, 2, 1, 3}));
}

TEST(RefinePeak, TheBusiestLinkIsRelieved) {
  // Two heavy pairs share the middle of a row of nodes, and need not.
  const CommGraph graph(4, std::vector<PairVolume>{{0, 2, 1, 1000}, {1, 3, 1, 1000}});
  const auto network = network::make_network("mesh:4", 4);
  Evaluation evaluation(graph, *network, network::CostModel(), in_order(4, 1));
  const auto& objective = find_named(objectives(), "link-load", "objective");
  const double before = evaluation.metrics().link_seconds;
  EXPECT_GT(refine_peak(evaluation, objective), 0);
  EXPECT_DOUBLE_EQ(evaluation.metrics().link_seconds, before / 2);
}

TEST(Anneal, LeavesWhereExchangesAloneEnd) {
  constexpr int side = 12;
  const CommGraph traffic(side * side, grid_messages(side, side, false, shuffled(side * side, 4)));
  const auto network = network::make_network("mesh:4x4", 16);
  const PairCost cost{"hop-bytes", 0, 1, 0, 1};
  const auto graph = weigh(traffic, cost);
  auto node_of = in_order(side * side, 9);
  refine_sum(graph, *network, cost, {}, node_of);
  const double refined = sum_of(graph, *network, cost, node_of);
  anneal_sum(graph, *network, cost, 0, node_of);
  EXPECT_EQ(sum_of(graph, *network, cost, node_of), refined);
  auto again = node_of;
  for (auto* placement : {&node_of, &again}) anneal_sum(graph, *network, cost, 200'000, *placement);
  EXPECT_EQ(again, node_of) << "the same for the same input";
  EXPECT_LT(sum_of(graph, *network, cost, node_of), 0.9 * refined);
  for (int node = 0; node < 16; ++node) EXPECT_EQ(std::ranges::count(node_of, node), 9);
}

TEST(Anneal, RelievesTheBusiestLinkWhereExchangesThatHelpAtOnceEnd) {
  constexpr int side = 12;
  const CommGraph graph(side * side, grid_messages(side, side, false, shuffled(side * side, 6), 1000));
  const auto network = network::make_network("tree:4", 16);
  const auto& objective = find_named(objectives(), "link-load", "objective");
  Evaluation refined(graph, *network, network::CostModel(), in_order(side * side, 9));
  refine_peak(refined, objective);
  const auto annealed = anneal_value(refined, objective.smooth);
  EXPECT_EQ(anneal_value(refined, objective.smooth), annealed) << "the same for the same input";
  for (int node = 0; node < 16; ++node) EXPECT_EQ(std::ranges::count(annealed, node), 9);
  const Evaluation evaluation(graph, *network, network::CostModel(), annealed);
  EXPECT_LT(objective.smooth(evaluation), objective.smooth(refined));
  EXPECT_LT(evaluation.metrics().link_seconds, 0.9 * refined.metrics().link_seconds);
}

TEST(Objectives, WhatIsSmoothIsNearTheMaximum) {
  const CommGraph graph(60, random_messages(60, 300, 2));
  const auto network = network::make_network("torus:4x3", 12);
  const Evaluation evaluation(graph, *network, network::CostModel(), in_order(60, 5));
  for (const auto& objective : objectives()) {
    if (objective.smooth == nullptr) continue;
    const double value = objective.value(evaluation.metrics());
    EXPECT_GE(objective.smooth(evaluation), value) << objective.name;
    EXPECT_LE(objective.smooth(evaluation), 1.5 * value) << objective.name << ": 72 links and ports";
  }
}

}  // namespace
}  // namespace ayatori::mapping
