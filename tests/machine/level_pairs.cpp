#include "ayatori/machine/probes/level_pairs.hpp"

#include <gtest/gtest.h>

namespace ayatori::machine {
namespace {

/// 8 ranks on 4 nodes of 2, the nodes in 2 racks.
std::vector<InferredLevel> racks() {
  return {{{0, 0, 1, 1, 2, 2, 3, 3}, 4}, {{0, 0, 0, 0, 1, 1, 1, 1}, 2}, {{0, 0, 0, 0, 0, 0, 0, 0}, 1}};
}

TEST(LevelPairs, MeetAtTheLevelAndNotBelow) {
  const auto levels = racks();
  EXPECT_EQ(pairs_at(levels, 0).pairs, (Pairs{{0, 1}, {2, 3}, {4, 5}, {6, 7}}));
  EXPECT_EQ(pairs_at(levels, 0).sharing, 1);
  EXPECT_EQ(pairs_at(levels, 1).pairs, (Pairs{{0, 2}, {1, 3}, {4, 6}, {5, 7}}));
  EXPECT_EQ(pairs_at(levels, 1).sharing, 2) << "the first two are between the same nodes";
  EXPECT_EQ(pairs_at(levels, 2).pairs, (Pairs{{0, 4}, {1, 5}, {2, 6}, {3, 7}}));
  EXPECT_EQ(pairs_at(levels, 2).sharing, 4);
}

TEST(LevelPairs, UnevenGroups) {
  const std::vector<InferredLevel> levels{{{0, 0, 0, 1, 2}, 3}, {{0, 0, 0, 0, 0}, 1}};
  EXPECT_EQ(pairs_at(levels, 0).pairs, (Pairs{{0, 1}}));
  EXPECT_EQ(pairs_at(levels, 1).pairs, (Pairs{{0, 3}})) << "the third group has no partner";
  EXPECT_EQ(pairs_at(levels, 1).sharing, 1);
}

TEST(LevelPairs, RolesOfRanks) {
  const Pairs pairs{{0, 3}, {2, 1}};
  EXPECT_EQ(role_of(0, pairs).partner, 3);
  EXPECT_TRUE(role_of(0, pairs).is_first);
  EXPECT_EQ(role_of(1, pairs).partner, 2);
  EXPECT_FALSE(role_of(1, pairs).is_first);
  EXPECT_FALSE(role_of(4, pairs).takes_part());
}

}  // namespace
}  // namespace ayatori::machine
