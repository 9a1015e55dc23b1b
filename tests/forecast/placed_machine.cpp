#include "ayatori/forecast/placed_machine.hpp"

#include <gtest/gtest.h>

#include "ayatori/mapping/placement.hpp"
#include "ayatori/network/hierarchy.hpp"

namespace ayatori::forecast {
namespace {

using network::CostModel;
using network::Hierarchy;

TEST(PlacedMachine, LevelsOfATree) {
  const CostModel model;
  const auto network = network::make_network("tree:4x4", 16);
  const auto node_of = mapping::in_order(32, 2);
  const auto machine = placed_machine(*network, model, node_of);
  ASSERT_EQ(machine.levels.size(), 3U);
  EXPECT_EQ(machine.levels[0].structure.groups, 16);
  EXPECT_EQ(machine.levels[1].structure.groups, 4);
  EXPECT_EQ(machine.levels[2].structure.groups, 1);

  const Hierarchy seen(machine, 32);
  EXPECT_EQ(seen.level_of(0, 1), 0);
  EXPECT_EQ(seen.level_of(0, 7), 1);
  EXPECT_EQ(seen.level_of(0, 8), 2);
  EXPECT_DOUBLE_EQ(seen.model(0, false, 1, 1).latency(), model.inside.latency);
  EXPECT_DOUBLE_EQ(seen.model(1, false, 1, 1).latency(), model.between_latency + 2 * model.hop_latency);
  EXPECT_DOUBLE_EQ(seen.model(2, false, 1, 1).latency(), model.between_latency + 4 * model.hop_latency);
  EXPECT_NEAR(seen.port(1), model.port_bandwidth, 1) << "of a node";
  EXPECT_NEAR(seen.port(2), model.link_bandwidth, 1) << "eight ranks share one link up";
}

TEST(PlacedMachine, LinksOfAFatTreeAreWider) {
  const auto node_of = mapping::in_order(32, 2);
  const auto port_of = [&](const char* spec) {
    const auto network = network::make_network(spec, 16);
    return Hierarchy(placed_machine(*network, CostModel(), node_of), 32).port(2);
  };
  EXPECT_NEAR(port_of("fat-tree:4x4"), 4 * port_of("tree:4x4"), 1);
  EXPECT_NEAR(port_of("fat-tree:4x4:2"), 2 * port_of("tree:4x4"), 1);
}

TEST(PlacedMachine, RanksOfANodeNeedNotFollowEachOther) {
  const auto network = network::make_network("flat", 3);
  const std::vector<int> node_of{2, 0, 2, 1, 0, 1};
  const Hierarchy seen(placed_machine(*network, CostModel(), node_of), 6);
  for (int a = 0; a < 6; ++a) {
    for (int b = 0; b < 6; ++b) EXPECT_EQ(seen.level_of(a, b), node_of[a] == node_of[b] ? 0 : 1);
  }
}

TEST(PlacedMachine, PairsOfATorusAreAsFarAsTheyHaveLinks) {
  const CostModel model;
  const auto network = network::make_network("torus:4x4", 16);
  const Hierarchy seen(placed_machine(*network, model, mapping::in_order(16, 1)), 16);
  EXPECT_EQ(seen.levels(), 1) << "nodes of one rank are no level";
  EXPECT_TRUE(seen.knows_pairs());
  const double step = model.between_latency / 8;  // distances are rounded to parts of the latency
  EXPECT_NEAR(seen.farther(0, 0, 1), 0, step);
  EXPECT_NEAR(seen.farther(0, 0, 10), 3 * model.hop_latency, step) << "four links, one more than three more";
}

TEST(PlacedMachine, OneRankAndOneNode) {
  const auto network = network::make_network("flat", 1);
  EXPECT_EQ(placed_machine(*network, CostModel(), mapping::in_order(1, 4)).levels.size(), 1U);
  EXPECT_EQ(placed_machine(*network, CostModel(), mapping::in_order(4, 4)).levels.size(), 1U);
}

}  // namespace
}  // namespace ayatori::forecast
