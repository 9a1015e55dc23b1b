#include "ayatori/mapping/objectives/evaluation.hpp"

#include <gtest/gtest.h>

#include "ayatori/mapping/placement.hpp"
#include "mapping/graphs.hpp"

namespace ayatori::mapping {
namespace {

TEST(Evaluation, AnExampleByHand) {
  // Nodes 0-1-2-3 in a row, two ranks each; rank 0 sends 80 bytes to rank 1 and 100 to rank 6, 7 sends 30
  // to 5.
  const CommGraph graph(8, std::vector<PairVolume>{{0, 1, 1, 80}, {0, 6, 2, 100}, {7, 5, 1, 30}});
  const auto network = network::make_network("mesh:4", 4);
  network::CostModel model;
  model.inside.latency = 1;
  model.inside.bandwidth = 80;
  model.between_latency = 10;
  model.hop_latency = 1000;
  model.link_bandwidth = 10;
  model.port_bandwidth = 5;
  const Metrics metrics = Evaluation(graph, *network, model, in_order(8, 2)).metrics();
  EXPECT_EQ(metrics.total, (Volume{4, 210}));
  EXPECT_EQ(metrics.inside, (Volume{1, 80}));
  EXPECT_EQ(metrics.hop_bytes, 3 * 100 + 30);
  EXPECT_DOUBLE_EQ(metrics.mean_hops, (3 + 3 + 1) / 3.0);
  EXPECT_EQ(metrics.most_hops, 3);
  EXPECT_DOUBLE_EQ(metrics.link_seconds, 100 / 5.0) << "of the port out of node 0";
  EXPECT_DOUBLE_EQ(metrics.rank_seconds, 1 + 80 / 80.0 + 2 * 10) << "what rank 0 sends";
  EXPECT_DOUBLE_EQ(metrics.seconds, 20 + 22 + 3 * 1000);
}

TEST(Evaluation, AfterManyExchangesAllIsAsIfBegunAnew) {
  for (const char* spec : {"flat", "torus:3x4", "fat-tree:3:2", "dragonfly:4x3x1"}) {
    constexpr int ranks = 34;
    constexpr int per_node = 3;
    const CommGraph graph(ranks, random_messages(ranks, 200, 5));
    const auto network = network::make_network(spec, 12);
    Evaluation changed(graph, *network, network::CostModel(), in_order(ranks, per_node));
    for (int k = 0; k < 100; ++k) {
      const int a = static_cast<int>(random_bits(1, k) % ranks);
      const int b = static_cast<int>(random_bits(2, k) % ranks);
      if (a != b) changed.swap(a, b);
    }
    const Evaluation anew(graph, *network, network::CostModel(), changed.placement());
    EXPECT_EQ(changed.link_bytes(), anew.link_bytes()) << spec;
    EXPECT_EQ(changed.busiest_rank(), anew.busiest_rank());
    EXPECT_EQ(changed.busiest_link(), anew.busiest_link());
    const Metrics a = changed.metrics();
    const Metrics b = anew.metrics();
    EXPECT_EQ(a.inside, b.inside);
    EXPECT_EQ(a.hop_bytes, b.hop_bytes);
    EXPECT_EQ(a.most_hops, b.most_hops);
    EXPECT_EQ(a.mean_hops, b.mean_hops);
    EXPECT_EQ(a.rank_seconds, b.rank_seconds);
    EXPECT_EQ(a.seconds, b.seconds);
  }
}

}  // namespace
}  // namespace ayatori::mapping
