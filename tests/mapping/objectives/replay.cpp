#include "ayatori/mapping/objectives/replay.hpp"

#include <gtest/gtest.h>

#include "ayatori/mapping/placement.hpp"
#include "mapping/graphs.hpp"

namespace ayatori::mapping {
namespace {

/// A second for ten bytes on a link of a row of four nodes; ports are wide.
network::CostModel slow_links() {
  network::CostModel model;
  model.inside.latency = 1;
  model.inside.bandwidth = 80;
  model.between_latency = 10;
  model.hop_latency = 100;
  model.link_bandwidth = 10;
  model.port_bandwidth = 1e9;
  return model;
}

double replayed(const std::vector<PairVolume>& messages, std::span<const int> node_of,
                const network::CostModel& model = slow_links()) {
  const auto network = network::make_network("mesh:4", 4);
  const CommGraph graph(static_cast<int>(node_of.size()), messages);
  return replay_seconds(Evaluation(graph, *network, model, node_of)).value();
}

constexpr double tolerance = 0.02;  // a hundredth of the exchange, twice

TEST(Replay, MessagesByHand) {
  const std::vector<int> each{0, 1, 2, 3};
  EXPECT_NEAR(replayed({{0, 3, 1, 10'000}}, each), 10 + 300 + 1000, 1e-6);
  EXPECT_NEAR(replayed({{0, 1, 1, 10'000}, {1, 0, 1, 10'000}}, each), 10 + 100 + 1000, 1e-6) << "both ways";
  EXPECT_NEAR(replayed({{0, 2, 1, 10'000}, {1, 3, 1, 10'000}}, each), 10 + 200 + 2000, 1e-6)
      << "a shared link";
  EXPECT_NEAR(replayed({{0, 1, 3, 0}, {0, 2, 2, 0}}, each), 5 * 10, 1e-6) << "of no bytes";
  EXPECT_NEAR(replayed({{0, 1, 2, 800}, {0, 2, 1, 80}}, std::vector<int>{1, 1, 1}), 3 + 11, 1e-6) << "copies";
}

TEST(Replay, WhatIsFreeGoesToTheOthers) {
  // 0-1 and 0-2 share the first link; when the short one has ended, the long one has all of it.
  const std::vector<PairVolume> messages{{0, 2, 1, 10'000}, {1, 3, 1, 1'000}};
  const double alone = 10 + 200;
  EXPECT_NEAR(replayed(messages, std::vector<int>{0, 1, 2, 3}), alone + 1100, tolerance * 1300);
}

TEST(Replay, WhoSharesSeveralLinksGetsTheLeastOfThem) {
  auto model = slow_links();
  model.hop_latency = model.between_latency = 0;
  // Three share the middle link, so 0 to 3 leaves two thirds of the first link to 0 to 1, until the others
  // end after 1800 s. Then both have half, for 600 s, and 0 to 1 all of it for its last 3000 bytes.
  const std::vector<PairVolume> messages{
      {0, 3, 1, 9000}, {0, 1, 1, 18'000}, {1, 2, 2, 6000}, {1, 3, 1, 6000}};
  EXPECT_NEAR(replayed(messages, std::vector<int>{0, 1, 2, 3}, model), 2700, tolerance * 2700);
  const std::vector<PairVolume> shorter{{0, 3, 1, 9000}, {0, 1, 1, 12'000}, {1, 2, 2, 6000}, {1, 3, 1, 6000}};
  EXPECT_NEAR(replayed(shorter, std::vector<int>{0, 1, 2, 3}, model), 2100, tolerance * 2100)
      << "0 to 3 alone has the last 3000 of its bytes to go";
}

TEST(Replay, NeverBeatsTheBusiestLinkOrRank) {
  for (const char* spec : {"torus:3x4", "fat-tree:3:2", "dragonfly:4x3x1"}) {
    constexpr int ranks = 34;
    const auto network = network::make_network(spec, 12);
    const CommGraph graph(ranks, random_messages(ranks, 200, 5));
    const Evaluation evaluation(graph, *network, network::CostModel(), in_order(ranks, 3));
    const auto metrics = evaluation.metrics();
    const double seconds = replay_seconds(evaluation).value();
    EXPECT_GE(seconds, metrics.link_seconds) << spec;
    EXPECT_LE(seconds, 2 * metrics.seconds) << spec;
  }
}

}  // namespace
}  // namespace ayatori::mapping
