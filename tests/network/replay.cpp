#include "ayatori/network/replay.hpp"

#include <gtest/gtest.h>

namespace ayatori::network {
namespace {

/// Links of 10 and of 6 bytes per second.
double replay(const std::vector<TimedFlow>& flows, const std::vector<int>& passed, double least_step = 0) {
  return replay_seconds(flows, passed, std::vector<double>{10, 6}, least_step);
}

TEST(FlowReplay, WhatIsFreeGoesToTheOthers) {
  EXPECT_EQ(replay({}, {}), 0);
  EXPECT_DOUBLE_EQ(replay({{3, 100, 0}}, {0}), 3 + 10);
  EXPECT_DOUBLE_EQ(replay({{3, 60, 0}}, {0, 1}), 3 + 10) << "the narrower of its links";
  // Both have half of the first link for 10 s, then the longer one has all of it.
  EXPECT_DOUBLE_EQ(replay({{0, 50, 0}, {0, 100, 1}}, {0, 0}), 10 + 5);
  // The first has 6 until the second begins, and 3 from then on; then the second has 6.
  EXPECT_DOUBLE_EQ(replay({{0, 60, 0}, {5, 60, 2}}, {0, 1, 1}), 5 + 10 + 5);
  EXPECT_DOUBLE_EQ(replay({{7, 10, 0}, {0, 10, 1}}, {0, 0}), 8) << "nothing is under way in between";
}

TEST(FlowReplay, EventsThatAreNearCountAsOne) {
  // The first ends after 10 s, but the second has only half of the link until 12 s have passed.
  EXPECT_DOUBLE_EQ(replay({{0, 50, 0}, {0, 100, 1}}, {0, 0}, 12), 12 + 4);
}

}  // namespace
}  // namespace ayatori::network
