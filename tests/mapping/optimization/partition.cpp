#include "ayatori/mapping/optimization/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "mapping/graphs.hpp"

namespace ayatori::mapping {
namespace {

constexpr PairCost by_bytes{"bytes", 0, 1, 1, 0};

double cut_of(const WeightedGraph& graph, const auto& part_of) {
  double cut = 0;
  for (int v = 0; v < graph.vertices(); ++v) {
    for (std::int64_t k = graph.start[v]; k < graph.start[v + 1]; ++k)
      cut += part_of[v] != part_of[graph.neighbour[k]] ? graph.weight[k] / 2 : 0;
  }
  return cut;
}

TEST(GroupExactly, EveryGroupHasItsSize) {
  for (const int ranks : {1, 5, 63, 64, 100, 500}) {
    for (const int size : {1, 3, 16, 64}) {
      const auto graph = weigh(CommGraph(ranks, random_messages(ranks, 4 * ranks, ranks)), by_bytes);
      std::vector<int> sizes(ranks / size, size);
      if (ranks % size > 0) sizes.push_back(ranks % size);
      const auto group_of = group_exactly(graph, sizes);
      for (int group = 0; group < static_cast<int>(sizes.size()); ++group)
        EXPECT_EQ(std::ranges::count(group_of, group), sizes[group]) << ranks << " by " << size;
    }
  }
}

TEST(BisectExactly, TheSizesAreRightAndTheCutIsNoWorseThanThatOfAnyOrder) {
  for (const int ranks : {2, 7, 40, 200}) {
    for (const int first : {1, ranks / 2, ranks - 1}) {
      const auto graph = weigh(CommGraph(ranks, random_messages(ranks, 3 * ranks, ranks)), by_bytes);
      const auto side = bisect_exactly(graph, first, {});
      EXPECT_EQ(std::ranges::count(side, 0), first);
      std::vector<std::uint8_t> plain(ranks, 1);
      std::fill_n(plain.begin(), first, static_cast<std::uint8_t>(0));
      EXPECT_LE(cut_of(graph, side), cut_of(graph, plain));
    }
  }
}

TEST(BisectExactly, AShuffledLadderIsCutAtItsMiddle) {
  for (const int length : {10, 100}) {
    const auto name = shuffled(2 * length, 3);
    const auto graph = weigh(CommGraph(2 * length, grid_messages(2, length, false, name)), by_bytes);
    EXPECT_EQ(cut_of(graph, bisect_exactly(graph, length, {})), 2 * 16) << "two rungs, both ways";
  }
}

TEST(BisectExactly, AnotherSeedIsAnotherCutOfTheSameSizes) {
  const auto graph = weigh(CommGraph(200, random_messages(200, 600, 5)), by_bytes);
  const auto first = bisect_exactly(graph, 90, {}, 1);
  EXPECT_EQ(first, bisect_exactly(graph, 90, {}, 1));
  bool differs = false;
  for (const int seed : {2, 3, 4}) {
    const auto side = bisect_exactly(graph, 90, {}, seed);
    EXPECT_EQ(std::ranges::count(side, 0), 90);
    differs = differs || side != first;
  }
  EXPECT_TRUE(differs);
}

TEST(BisectExactly, VerticesGoWhereTheyArePulled) {
  const auto graph = weigh(CommGraph(6, std::vector<PairVolume>{{0, 1, 1, 1}}), by_bytes);
  const std::vector<double> pull{-9, -9, 5, 5, 5, -3};
  const auto side = bisect_exactly(graph, 3, pull);
  EXPECT_EQ(side, (std::vector<std::uint8_t>{0, 0, 1, 1, 1, 0}));
}

TEST(PartitionRows, ABlockDiagonalPatternFallsApart) {
  // Four paths of 50 rows; row i belongs to path i % 4.
  Pattern pattern{{0}, {}};
  for (int row = 0; row < 200; ++row) {
    if (row >= 4) pattern.neighbour.push_back(row - 4);
    if (row < 196) pattern.neighbour.push_back(row + 4);
    pattern.start.push_back(static_cast<std::int32_t>(pattern.neighbour.size()));
  }
  const auto part = partition_rows(pattern, 4);
  int cut = 0;
  for (int row = 4; row < 200; ++row) cut += part[row] != part[row - 4] ? 1 : 0;
  EXPECT_LE(cut, 4);
  for (int p = 0; p < 4; ++p) EXPECT_NEAR(static_cast<double>(std::ranges::count(part, p)), 50, 3);
}

}  // namespace
}  // namespace ayatori::mapping
