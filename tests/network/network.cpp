#include "ayatori/network/network.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ayatori/base/error.hpp"

namespace ayatori::network {
namespace {

struct Case {
  const char* spec;
  int nodes;  ///< needed
};

class EveryNetwork : public testing::TestWithParam<Case> {};

TEST_P(EveryNetwork, RoutesAreChainsOfAsManyLinksAsThereAreHops) {
  const auto network = make_network(GetParam().spec, GetParam().nodes);
  ASSERT_GE(network->nodes(), GetParam().nodes);
  std::vector<int> way;
  for (int from = 0; from < network->nodes(); ++from) {
    for (int to = 0; to < network->nodes(); ++to) {
      way.clear();
      network->route(from, to, way);
      EXPECT_EQ(static_cast<int>(way.size()), network->hops(from, to)) << from << " to " << to;
      EXPECT_EQ(network->hops(from, to), network->hops(to, from));
      int at = from;
      for (const int link : way) {
        ASSERT_GE(link, 0);
        ASSERT_LT(link, static_cast<int>(network->links().size()));
        EXPECT_EQ(network->links()[link].from, at) << from << " to " << to;
        at = network->links()[link].to;
      }
      EXPECT_EQ(at, to);
    }
  }
}

TEST_P(EveryNetwork, EveryLinkIsOnSomeRouteAndNoAddressComesTwice) {
  const auto network = make_network(GetParam().spec, GetParam().nodes);
  std::vector<int> way;
  std::vector<std::vector<int>> addresses;
  for (int from = 0; from < network->nodes(); ++from) {
    for (int to = 0; to < network->nodes(); ++to) network->route(from, to, way);
    const auto address = network->address(from);
    addresses.emplace_back(address.begin(), address.end());
  }
  std::ranges::sort(way);
  const auto repeated = std::ranges::unique(way);
  EXPECT_EQ(repeated.begin() - way.begin(), static_cast<std::ptrdiff_t>(network->links().size()));
  std::ranges::sort(addresses);
  EXPECT_TRUE(std::ranges::adjacent_find(addresses) == addresses.end());
}

TEST_P(EveryNetwork, EveryVertexHasItsPlaceInThePicture) {
  const auto network = make_network(GetParam().spec, GetParam().nodes);
  for (const Link& link : network->links()) {
    const Point a = network->position(link.from);
    const Point b = network->position(link.to);
    for (const double x : {a.x, a.y, b.x, b.y}) {
      EXPECT_GE(x, 0);
      EXPECT_LE(x, 1);
    }
    EXPECT_FALSE(a.x == b.x && a.y == b.y) << link.from << " and " << link.to;
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, EveryNetwork,
                         testing::Values(Case{"flat", 2}, Case{"flat", 9}, Case{"tree:3", 8},
                                         Case{"tree:2x3", 20}, Case{"fat-tree:4", 16},
                                         Case{"fat-tree:4x2:2", 30}, Case{"mesh:7", 7}, Case{"mesh:3x4", 12},
                                         Case{"torus:2", 2}, Case{"torus:5", 3}, Case{"torus:4x6x4", 96},
                                         Case{"torus:3x2x2x2mx3x2m", 144}, Case{"dragonfly:2x1x2", 4},
                                         Case{"dragonfly:5x4x2", 40}, Case{"dragonfly:9x3x1", 20},
                                         Case{"measured:pc-cluster-gbe", 4}));

TEST(Torus, TheShorterWayRound) {
  const auto network = make_network("torus:4x6x4", 96);
  EXPECT_EQ(network->hops(0, 3), 1);      // x: 0 to 3 of 4
  EXPECT_EQ(network->hops(0, 4 * 3), 3);  // y: half way round 6
  EXPECT_EQ(network->hops(0, 2 + 4 * 3 + 48), 7);
  EXPECT_EQ(network->links().size(), 96U * 6);
  EXPECT_EQ(make_network("mesh:4x6x4", 96)->hops(0, 3), 3);
  EXPECT_EQ(make_network("torus:4mx2", 8)->hops(0, 3), 3);
}

TEST(Torus, HalfWayRoundBothWaysAreUsed) {
  const auto network = make_network("torus:4", 4);
  std::vector<int> even;
  std::vector<int> odd;
  network->route(0, 2, even);
  network->route(1, 3, odd);
  EXPECT_EQ(network->links()[even[0]].to, 1);
  EXPECT_EQ(network->links()[odd[0]].to, 0);
}

TEST(FatTree, LinksGetWiderUpwards) {
  const auto network = make_network("fat-tree:4x3:2", 24);
  EXPECT_EQ(network->hops(0, 3), 2);
  EXPECT_EQ(network->hops(0, 4), 4);
  EXPECT_EQ(network->hops(0, 12), 6);
  std::vector<int> way;
  network->route(0, 12, way);
  EXPECT_EQ(network->links()[way[0]].width, 1);
  EXPECT_EQ(network->links()[way[1]].width, 2) << "four nodes, half as wide";
  EXPECT_EQ(network->links()[way[2]].width, 3) << "three such, half as wide";
  EXPECT_EQ(network->links()[way[5]].width, 1);
}

TEST(Dragonfly, OneLinkBetweenTwoGroups) {
  const auto network = make_network("dragonfly:9x4x2", 72);
  int most = 0;
  for (int node = 1; node < 72; ++node) most = std::max(most, network->hops(0, node));
  EXPECT_EQ(most, 5);
  EXPECT_EQ(network->hops(0, 1), 2);
  EXPECT_EQ(network->hops(0, 2), 3);
  EXPECT_EQ(network->links().size(), 2U * 72 + 9 * 4 * 3 + 9 * 8);
}

TEST(Networks, NonsenseIsRefused) {
  for (const char* spec : {"",
                           "ring",
                           "flat:3",
                           "torus",
                           "torus:",
                           "torus:0x3",
                           "torus:4x",
                           "torus:x4",
                           "torus:-4",
                           "torus:4y",
                           "mesh:4m",
                           "torus:9999999",
                           "torus:1000000x1000000",
                           "mesh:2000",
                           "tree",
                           "tree:a",
                           "tree:1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1x1",
                           "fat-tree",
                           "fat-tree:4:",
                           "fat-tree:4:0",
                           "fat-tree:4:nan",
                           "fat-tree::2",
                           "dragonfly:3",
                           "dragonfly:3x3x3x3",
                           "dragonfly:1000000x1000000x1000000",
                           "measured",
                           "measured:no-such-profile",
                           "measured:altix3700bx2"})
    EXPECT_THROW(make_network(spec, 2), InputError) << spec;
  EXPECT_THROW(make_network("torus:4x4", 17), InputError);
}

}  // namespace
}  // namespace ayatori::network
