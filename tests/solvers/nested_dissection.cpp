#include "ayatori/solvers/preconditioners/complete/nested_dissection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

namespace ayatori::solvers {
namespace {

struct Edges {
  std::vector<int> row;
  std::vector<int> column;
};

/// Edges of a square grid, each once, with the diagonal.
Edges grid(int n) {
  Edges edges;
  const auto add = [&edges](int a, int b) {
    edges.row.push_back(a + 1);
    edges.column.push_back(b + 1);
  };
  for (int v = 0; v < n * n; ++v) {
    add(v, v);
    if (v % n < n - 1) add(v, v + 1);
    if (v < n * (n - 1)) add(v, v + n);
  }
  return edges;
}

std::vector<int> order_of(int rows, const Edges& edges) {
  return nested_dissection(rows, edges.row, edges.column);
}

/// Entries below the diagonal of the factors where rows are eliminated in the order of their places.
std::int64_t fill_of(const std::vector<int>& place, const Edges& edges) {
  const std::size_t n = place.size();
  std::vector<std::set<int>> later(n);
  for (std::size_t k = 0; k < edges.row.size(); ++k) {
    const int a = place[edges.row[k] - 1] - 1;
    const int b = place[edges.column[k] - 1] - 1;
    if (a != b) later[std::min(a, b)].insert(std::max(a, b));
  }
  std::int64_t entries = 0;
  for (const auto& row : later) {
    entries += static_cast<std::int64_t>(row.size());
    if (!row.empty()) later[*row.begin()].insert(std::next(row.begin()), row.end());
  }
  return entries;
}

TEST(NestedDissection, PlacesEachRowOnce) {
  for (const int n : {1, 2, 5, 30}) {
    auto place = order_of(n * n, grid(n));
    std::ranges::sort(place);
    std::vector<int> all(static_cast<std::size_t>(n) * n);
    std::iota(all.begin(), all.end(), 1);
    EXPECT_EQ(place, all) << n;
  }
}

TEST(NestedDissection, LeavesFarLessFillThanRowsInTheirOrder) {
  const Edges edges = grid(40);
  std::vector<int> as_they_are(1600);
  std::iota(as_they_are.begin(), as_they_are.end(), 1);
  EXPECT_LT(2 * fill_of(order_of(1600, edges), edges), fill_of(as_they_are, edges));
}

TEST(NestedDissection, TakesEdgesInEitherDirectionAndTwice) {
  const Edges once = grid(12);
  Edges again = once;
  again.row.insert(again.row.end(), once.column.rbegin(), once.column.rend());
  again.column.insert(again.column.end(), once.row.rbegin(), once.row.rend());
  EXPECT_EQ(order_of(144, once), order_of(144, again));
}

TEST(NestedDissection, TakesGraphsOfNoEdgesAndOfManyParts) {
  EXPECT_EQ(order_of(6, {}).size(), 6U);
  Edges pairs;
  for (int v = 1; v < 400; v += 2) {
    pairs.row.push_back(v);
    pairs.column.push_back(v + 1);
  }
  EXPECT_EQ(fill_of(order_of(400, pairs), pairs), 200);
}

}  // namespace
}  // namespace ayatori::solvers
