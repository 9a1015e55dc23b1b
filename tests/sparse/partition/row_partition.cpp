#include "ayatori/sparse/partition/row_partition.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "world.hpp"

namespace ayatori::sparse {
namespace {

/// Every row has the owner whose range holds it.
void expect_consistent(const RowPartition& partition) {
  for (int r = 0; r < partition.ranks(); ++r) {
    for (auto i = partition.range(r).begin; i < partition.range(r).end; ++i) ASSERT_EQ(partition.owner(i), r);
  }
}

TEST(RowPartition, EvenPartsDifferByAtMostOne) {
  for (const std::int64_t n : {0, 1, 2, 3, 7, 100}) {
    const auto partition = RowPartition::even(n, 4);
    expect_consistent(partition);
    EXPECT_EQ(partition.rows(), n);
    for (int r = 0; r < 4; ++r) {
      EXPECT_GE(partition.range(r).size(), n / 4);
      EXPECT_LE(partition.range(r).size(), n / 4 + 1);
    }
  }
}

TEST(RowPartition, OwnerSkipsEmptyParts) {
  const RowPartition partition({0, 0, 3, 3, 5});
  EXPECT_EQ(partition.owner(0), 1);
  EXPECT_EQ(partition.owner(2), 1);
  EXPECT_EQ(partition.owner(3), 3);
}

TEST(RowPartition, TheFirstRankMayHoldAllRows) {
  const auto partition = RowPartition::on_first(7, 3);
  EXPECT_EQ(partition.starts(), (std::vector<std::int64_t>{0, 7, 7, 7}));
  EXPECT_EQ(partition.ranks_with_rows(), 1);
}

TEST(RowPartition, CountsRanksWithRows) {
  EXPECT_EQ(RowPartition({0, 0, 3, 3, 5}).ranks_with_rows(), 2);
  EXPECT_EQ(RowPartition::even(0, 3).ranks_with_rows(), 0);
}

TEST(RowPartition, BalancedPartsHaveNearlyEqualWeight) {
  constexpr std::int64_t n = 1000;
  std::vector<std::int64_t> weights(n);
  for (std::int64_t i = 0; i < n; ++i) weights[i] = 1 + (i * i) % 37 + (i > 900 ? 50 : 0);
  const auto current = RowPartition::even(n, world().size());
  const Range mine = current.range(world().rank());
  const auto partition =
      RowPartition::balanced(world(), current, std::span(weights).subspan(mine.begin, mine.size()));
  expect_consistent(partition);
  EXPECT_EQ(partition.rows(), n);
  const std::int64_t total = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
  const std::int64_t heaviest = *std::max_element(weights.begin(), weights.end());
  for (int r = 0; r < partition.ranks(); ++r) {
    const Range range = partition.range(r);
    const auto weight =
        std::accumulate(weights.begin() + range.begin, weights.begin() + range.end, std::int64_t{0});
    EXPECT_LE(std::abs(weight * partition.ranks() - total), heaviest * partition.ranks());
  }
}

TEST(RowPartition, OneHeavyRowLeavesSomePartsEmpty) {
  const auto current = RowPartition::even(10, world().size());
  const Range mine = current.range(world().rank());
  std::vector<std::int64_t> weights(mine.size(), 1);
  if (mine.contains(9)) weights[9 - mine.begin] = 1000000;
  const auto partition = RowPartition::balanced(world(), current, weights);
  expect_consistent(partition);
  EXPECT_EQ(partition.rows(), 10);
}

TEST(RowPartition, WithoutWeightIsEven) {
  const auto current = RowPartition::even(10, world().size());
  const std::vector<std::int64_t> weights(current.range(world().rank()).size(), 0);
  EXPECT_EQ(RowPartition::balanced(world(), current, weights), current);
}

}  // namespace
}  // namespace ayatori::sparse
