#include "ayatori/sparse/pattern/row_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "ayatori/base/random.hpp"

namespace ayatori::sparse {
namespace {

constexpr std::int64_t many = 20000;

/// Where rows begin whose lengths are `least` and up to 7 more.
std::vector<std::int64_t> irregular(std::int64_t rows, std::int64_t least) {
  std::vector<std::int64_t> start{0};
  for (std::int64_t i = 0; i < rows; ++i)
    start.push_back(start.back() + least + static_cast<std::int64_t>(random_bits(1, i) % 8));
  return start;
}

std::vector<std::int64_t> rows_in_order(const RowOrder& order, Range places) {
  std::vector<std::int64_t> rows;
  order.for_each(places, [&](std::int64_t i) { rows.push_back(i); });
  return rows;
}

TEST(RowOrder, PutsRowsOfTheSameLengthTogether) {
  const auto start = irregular(many, 0);
  const RowOrder order(start);
  ASSERT_FALSE(order.is_as_stored());
  EXPECT_EQ(order.bytes(), 4 * many);
  const auto length = [&](std::int64_t i) { return start[i + 1] - start[i]; };
  auto rows = rows_in_order(order, {0, many});
  int changes = 0;
  for (std::int64_t k = 1; k < many; ++k) changes += length(rows[k]) != length(rows[k - 1]) ? 1 : 0;
  EXPECT_LT(changes, many / 20);
  std::ranges::sort(rows);
  for (std::int64_t i = 0; i < many; ++i) ASSERT_EQ(rows[i], i) << "each row once";
}

TEST(RowOrder, RangesOfPlacesHaveTheirRowsForThemselves) {
  const RowOrder order(irregular(many, 1));
  const auto all = rows_in_order(order, {0, many});
  auto pieces = rows_in_order(order, {0, 777});
  for (const std::int64_t row : rows_in_order(order, {777, many})) pieces.push_back(row);
  EXPECT_EQ(pieces, all);
}

TEST(RowOrder, LeavesAsStoredWhatNeedsNone) {
  EXPECT_TRUE(RowOrder().is_as_stored());
  EXPECT_TRUE(RowOrder(irregular(1000, 0)).is_as_stored()) << "few rows";
  EXPECT_TRUE(RowOrder(irregular(many, 20)).is_as_stored()) << "long rows";
  std::vector<std::int64_t> even(many + 1);
  for (std::int64_t i = 0; i <= many; ++i) even[i] = 5 * i;
  EXPECT_TRUE(RowOrder(even).is_as_stored());
  EXPECT_EQ(rows_in_order(RowOrder(even), {3, 6}), (std::vector<std::int64_t>{3, 4, 5}));
  std::vector<std::int64_t> periodic{0};  // changes from row to row, but always the same
  for (std::int64_t i = 0; i < many; ++i) periodic.push_back(periodic.back() + 1 + i * i % 36 % 7);
  EXPECT_TRUE(RowOrder(periodic).is_as_stored());
  EXPECT_TRUE(RowOrder(std::vector<std::int64_t>{0}).is_as_stored());
  EXPECT_TRUE(RowOrder(std::vector<std::int64_t>(many + 1, 0)).is_as_stored()) << "rows without entries";
}

}  // namespace
}  // namespace ayatori::sparse
