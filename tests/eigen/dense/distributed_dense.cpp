#include "ayatori/eigen/dense/distributed_dense.hpp"

#include <gtest/gtest.h>

#include <string>

#include "ayatori/base/error.hpp"
#include "eigen/dense.hpp"

namespace ayatori::eigen {
namespace {

/// Calls body(grid) for every shape of grid.
template <class Body>
void for_all_grids(Body&& body) {
  const auto world = comm::Comm::world();
  for (const GridShape shape : shapes_of(world.size())) body(make_grid(world, shape));
}

double element(std::int64_t i, std::int64_t j) {
  return static_cast<double>(100 * i + j);
}

TEST(EigenDistributedDense, GathersColumns) {
  for_all_grids([](const ProcessGrid& grid) {
    for (const std::int64_t n : {1, 2, 5, 11}) {
      auto a = make_dense(grid, n);
      fill(a, element);
      for (const Range wanted : {Range{0, n}, Range{n / 2, n}, Range{n - 1, n}}) {
        for (const std::int64_t first : {std::int64_t{0}, n / 3, n - 1}) {
          const auto panel = gather_columns(a, wanted, first);
          ASSERT_EQ(static_cast<std::int64_t>(panel.size()), (n - first) * wanted.size());
          for (std::int64_t j = wanted.begin; j < wanted.end; ++j) {
            for (std::int64_t i = first; i < n; ++i)
              ASSERT_EQ(panel[(j - wanted.begin) * (n - first) + i - first], element(i, j));
          }
        }
      }
    }
  });
}

TEST(EigenDistributedDense, AddsEntriesOfAnyRank) {
  for_all_grids([](const ProcessGrid& grid) {
    constexpr std::int64_t n = 9;
    auto a = make_dense(grid, n);
    std::vector<DenseEntry> entries;
    for (std::int64_t k = grid.all.rank(); k < n * n; k += grid.all.size())
      entries.push_back({k % n, k / n, element(k % n, k / n)});
    add_entries(a, entries);
    add_entries(a, grid.all.rank() == 0 ? std::vector<DenseEntry>{{3, 4, 0.5}} : std::vector<DenseEntry>());
    auto expected = make_dense(grid, n);
    fill(expected,
         [](std::int64_t i, std::int64_t j) { return element(i, j) + (i == 3 && j == 4 ? 0.5 : 0); });
    EXPECT_EQ(a.values, expected.values);
  });
}

TEST(EigenDistributedDense, Norms) {
  for_all_grids([](const ProcessGrid& grid) {
    auto a = make_dense(grid, 7);
    fill(a, [](std::int64_t i, std::int64_t j) { return j == 3 ? -2.0 : i == 6 && j == 6 ? 5.0 : 0.0; });
    EXPECT_EQ(max_abs(a), 5);
    EXPECT_EQ(one_norm(a), 14);
  });
}

TEST(EigenDistributedDense, SaysWhereSymmetryIsBroken) {
  for_all_grids([](const ProcessGrid& grid) {
    constexpr std::int64_t n = 70;  // more than a panel
    auto a = make_dense(grid, n);
    const auto error_of = [&](std::int64_t row, std::int64_t column, double value) -> std::string {
      fill(a, [&](std::int64_t i, std::int64_t j) {
        return i == row && j == column ? value : 1.0 / static_cast<double>(i + j + 1);
      });
      try {
        check_symmetric(a, "A");
      } catch (const InputError& error) {
        EXPECT_TRUE(error.agreed());
        return error.what();
      }
      return "";
    };
    EXPECT_EQ(error_of(4, 4, 7), "");
    EXPECT_EQ(error_of(60, 2, 1.0 / 63 + 1e-15), "");  // less than 70 eps
    EXPECT_NE(error_of(60, 2, 0.25).find("(61, 3) is 0.25"), std::string::npos) << error_of(60, 2, 0.25);
    EXPECT_NE(error_of(2, 65, 1.0 / 68 + 1e-12).find("not symmetric"), std::string::npos);
    EXPECT_NE(error_of(5, 5, std::numeric_limits<double>::quiet_NaN()).find("(6, 6) is nan"),
              std::string::npos);
  });
}

}  // namespace
}  // namespace ayatori::eigen
