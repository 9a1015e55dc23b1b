#include "ayatori/machine/probes/pair_rounds.hpp"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace ayatori::machine {
namespace {

TEST(PairRounds, EverybodyMeetsEverybodyOnce) {
  for (int ranks = 0; ranks <= PairRounds::complete_up_to; ++ranks) {
    const PairRounds rounds(ranks);
    std::set<std::pair<int, int>> met;
    for (int round = 0; round < rounds.count(); ++round) {
      for (int rank = 0; rank < ranks; ++rank) {
        const int other = rounds.partner(round, rank);
        if (other < 0) continue;
        EXPECT_NE(other, rank);
        EXPECT_EQ(rounds.partner(round, other), rank);
        if (rank < other) {
          EXPECT_TRUE(met.insert({rank, other}).second);
        }
      }
    }
    EXPECT_EQ(met.size(), static_cast<std::size_t>(ranks * (ranks - 1) / 2));
    EXPECT_LE(rounds.count(), ranks) << "as few rounds as there can be";
  }
}

TEST(PairRounds, ManyMeetThoseAtSomeDistances) {
  const int ranks = 100;
  const std::vector<int> distances{12, 12, 0, 1000};
  const PairRounds rounds(ranks, distances);
  std::set<int> seen;
  std::set<std::pair<int, int>> met;
  for (int round = 0; round < rounds.count(); ++round) {
    for (int rank = 0; rank < ranks; ++rank) {
      const int other = rounds.partner(round, rank);
      if (other < 0) continue;
      ASSERT_LT(other, ranks);
      EXPECT_EQ(rounds.partner(round, other), rank);
      if (rank < other) {
        EXPECT_TRUE(met.insert({rank, other}).second);
        seen.insert(other - rank);
      }
    }
  }
  EXPECT_EQ(seen, (std::set<int>{1, 2, 4, 8, 12, 16, 32, 64}));
  for (int rank = 0; rank + 12 < ranks; ++rank) EXPECT_TRUE(met.contains({rank, rank + 12}));
}

/// In a hierarchy of powers of two all pairs of a round meet at the same level.
TEST(PairRounds, AlignedPairsOfARoundLieAlike) {
  const std::vector<int> distances{24};
  const PairRounds rounds(128, distances, true);
  EXPECT_EQ(rounds.count(), 8);
  for (int round = 0; round < rounds.count(); ++round) {
    for (int rank = 0; rank < 128; ++rank) {
      const int other = rounds.partner(round, rank);
      EXPECT_EQ(rounds.partner(round, other), rank);
      for (int group = 2; group < 128; group *= 2)
        EXPECT_EQ(rank / group == other / group, 0 == rounds.partner(round, 0) / group);
    }
  }
}

}  // namespace
}  // namespace ayatori::machine
