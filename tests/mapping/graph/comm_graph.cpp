#include "ayatori/mapping/graph/comm_graph.hpp"

#include <gtest/gtest.h>

#include "ayatori/base/error.hpp"

namespace ayatori::mapping {
namespace {

TEST(CommGraph, MessagesOfAPairAreAddedUpFromBothEnds) {
  const std::vector<PairVolume> messages{
      {0, 2, 1, 10}, {2, 0, 3, 7}, {0, 2, 2, 5}, {1, 1, 9, 99}, {1, 0, 1, 0}};
  const CommGraph graph(4, messages);
  EXPECT_EQ(graph.total(), (Volume{7, 22})) << "what a rank sends to itself is left out";
  ASSERT_EQ(graph.talks(0).size(), 2U);
  EXPECT_EQ(graph.talks(0)[0].peer, 1);
  EXPECT_EQ(graph.talks(0)[0].in, (Volume{1, 0}));
  EXPECT_EQ(graph.talks(0)[1].peer, 2);
  EXPECT_EQ(graph.talks(0)[1].out, (Volume{3, 15}));
  EXPECT_EQ(graph.talks(0)[1].in, (Volume{3, 7}));
  ASSERT_EQ(graph.talks(2).size(), 1U);
  EXPECT_EQ(graph.talks(2)[0].in, (Volume{3, 15}));
  EXPECT_TRUE(graph.talks(3).empty());
}

TEST(CommGraph, NonsenseIsRefused) {
  const auto make = [](const PairVolume& message) { return CommGraph(2, std::vector{message}); };
  EXPECT_THROW(make({0, 2, 1, 1}), InputError);
  EXPECT_THROW(make({-1, 0, 1, 1}), InputError);
  EXPECT_THROW(make({0, 1, -1, 1}), InputError);
  EXPECT_THROW(make({0, 1, 1, -1}), InputError);
  EXPECT_THROW(make({0, 1, 1, std::int64_t{1} << 60}), InputError);
}

}  // namespace
}  // namespace ayatori::mapping
