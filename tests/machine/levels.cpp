#include "ayatori/machine/model/levels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "ayatori/base/random.hpp"
#include "ayatori/machine/probes/pair_rounds.hpp"

namespace ayatori::machine {
namespace {

/// All pairs that the rounds bring together, timed by a function and disturbed by up to `noise`.
std::vector<PairTime> measured(int ranks, const std::function<double(int, int)>& seconds, double noise,
                               std::vector<int> distances = {}) {
  const PairRounds rounds(ranks, distances);
  std::vector<PairTime> pairs;
  for (int round = 0; round < rounds.count(); ++round) {
    for (int rank = 0; rank < ranks; ++rank) {
      const int other = rounds.partner(round, rank);
      if (other > rank)
        pairs.push_back({rank, other, seconds(rank, other) * (1 + noise * random_uniform(5, pairs.size()))});
    }
  }
  return pairs;
}

/// 4 ranks a socket, 2 sockets a node, 4 nodes a switch.
double four_levels(int a, int b) {
  if (a / 4 == b / 4) return 0.5e-6;
  if (a / 8 == b / 8) return 1e-6;
  return a / 32 == b / 32 ? 5e-6 : 9e-6;
}

TEST(Levels, RecoversAHierarchy) {
  const auto levels = infer_levels(64, measured(64, four_levels, 0.15));
  ASSERT_EQ(levels.size(), 4U);
  EXPECT_EQ(levels[0].groups, 16);
  EXPECT_EQ(levels[1].groups, 8);
  EXPECT_EQ(levels[2].groups, 2);
  EXPECT_EQ(levels[3].groups, 1);
  for (int rank = 0; rank < 64; ++rank) {
    EXPECT_EQ(levels[0].group_of[rank], rank / 4);
    EXPECT_EQ(levels[2].group_of[rank], rank / 32);
  }
  EXPECT_NEAR(levels[2].typical_seconds, 5e-6, 0.8e-6);
  EXPECT_GE(levels[3].least_seconds, 9e-6);
}

TEST(Levels, RanksMayBeNumberedAnyWay) {
  const auto cyclic = [](int a, int b) { return a % 3 == b % 3 ? 1e-6 : 30e-6; };
  const auto levels = infer_levels(12, measured(12, cyclic, 0.1));
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_EQ(levels[0].groups, 3);
  for (int rank = 0; rank < 12; ++rank) EXPECT_EQ(levels[0].group_of[rank], rank % 3);
}

TEST(Levels, FromASampleOfManyPairs) {
  const int ranks = 1024;
  const int nodes = 64;
  for (const bool cyclic : {false, true}) {
    const auto node = [&](int rank) { return cyclic ? rank % nodes : rank / (ranks / nodes); };
    const auto pairs = measured(ranks, [&](int a, int b) { return node(a) == node(b) ? 1e-6 : 10e-6; }, 0.1,
                                {nodes, ranks / nodes});
    EXPECT_LT(pairs.size(), 14U * ranks);
    const auto levels = infer_levels(ranks, pairs);
    ASSERT_EQ(levels.size(), 2U);
    EXPECT_EQ(levels[0].groups, nodes);
  }
}

TEST(Levels, AFlatMachineHasOne) {
  EXPECT_EQ(infer_levels(10, measured(
                                 10, [](int, int) { return 1e-6; }, 0.2))
                .size(),
            1U);
  EXPECT_EQ(infer_levels(1, {}).size(), 1U);
  EXPECT_EQ(infer_levels(1, {}).front().groups, 1);
}

/// Times without any structure, over a factor of a hundred: gaps there may be, groups there are none.
TEST(Levels, NoiseIsNoLevel) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto random = [seed](int a, int b) { return std::exp(4.6 * random_uniform(seed, 100 * a + b)); };
    EXPECT_LE(infer_levels(16, measured(16, random, 0)).size(), 2U) << seed;
  }
}

/// Halves that are hardly farther than bricks, but share a narrow wire (Imamura's Altix: 4.05 and 4.46 us).
TEST(Levels, AlsoThoseThatOnlyLongMessagesShow) {
  constexpr int ranks = 16;
  std::vector<PairTime> of_short;
  std::vector<PairTime> of_long;
  for (int a = 0; a < ranks; ++a) {
    for (int b = a + 1; b < ranks; ++b) {
      const bool same_pair = a / 2 == b / 2;
      const bool same_half = a / 8 == b / 8;
      of_short.push_back({a, b, same_pair ? 2.77e-6 : same_half ? 4.05e-6 : 4.46e-6});
      of_long.push_back({a, b, same_pair ? 40e-6 : same_half ? 62e-6 : 180e-6});
    }
  }
  EXPECT_EQ(infer_levels(ranks, of_short).size(), 2U);
  const auto levels = infer_levels(ranks, of_short, of_long);
  ASSERT_EQ(levels.size(), 3U);
  EXPECT_EQ(levels[0].groups, 8);
  EXPECT_EQ(levels[1].groups, 2);
  EXPECT_EQ(levels[1].typical_seconds, 4.05e-6);
  EXPECT_EQ(levels[2].typical_seconds, 4.46e-6);
}

/// Long messages that meet others on their way show groups that cross the real ones.
TEST(Levels, WhatDoesNotNestIsLeftOut) {
  constexpr int ranks = 8;
  std::vector<PairTime> of_short;
  std::vector<PairTime> of_long;
  for (int a = 0; a < ranks; ++a) {
    for (int b = a + 1; b < ranks; ++b) {
      of_short.push_back({a, b, a / 4 == b / 4 ? 1e-6 : 9e-6});
      of_long.push_back({a, b, a % 2 == b % 2 ? 10e-6 : 90e-6});
    }
  }
  const auto levels = infer_levels(ranks, of_short, of_long);
  ASSERT_EQ(levels.size(), 2U);
  EXPECT_EQ(levels[0].group_of, (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
}

}  // namespace
}  // namespace ayatori::machine
