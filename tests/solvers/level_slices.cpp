#include "ayatori/solvers/preconditioners/orderings/level_slices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "ayatori/base/random.hpp"
#include "ayatori/solvers/preconditioners/factorizations/factored_block.hpp"
#include "ayatori/solvers/preconditioners/factorizations/ilu0.hpp"
#include "ayatori/solvers/preconditioners/factorizations/triangular_row.hpp"
#include "dense.hpp"

namespace ayatori::solvers {
namespace {

/// A strict triangle on these rows, in compressed sparse rows from row 0 on.
struct Rows {
  Range range;
  bool is_lower;
  std::vector<std::int32_t> start{0};
  std::vector<std::int32_t> column;
  std::vector<double> value;

  RowEntries<double> operator()(std::int32_t i) const {
    const std::int32_t first = start[i - range.begin];
    return {column.data() + first, value.data() + first, start[i - range.begin + 1] - first};
  }
  std::optional<LevelSlices<double>> slices() const {
    return LevelSlices<double>::of(range, is_lower, *this);
  }

  /// y_i = 2 (x_i - the row times y) + 3 y_i, one row after the other.
  void sweep(const std::vector<double>& x, std::vector<double>& y) const {
    for (std::int64_t n = 0; n < range.size(); ++n) {
      const auto i = static_cast<std::int32_t>(is_lower ? range.begin + n : range.end - 1 - n);
      const RowEntries<double> row = (*this)(i);
      y[i] = 2 * solve_row<1>(x[i], row.column, row.value, 0, row.count, y.data(), -1, 0.0) + 3 * y[i];
    }
  }
};

/// Up to `most` entries to a row, of other rows up to `reach` away.
Rows random_rows(Range range, bool is_lower, int most, std::int64_t reach, std::uint64_t seed) {
  Rows rows{range, is_lower};
  std::uint64_t draw = 0;
  const auto uniform = [&] { return random_uniform(seed, static_cast<std::int64_t>(draw++)); };
  for (std::int64_t i = range.begin; i < range.end; ++i) {
    const std::int64_t before = is_lower ? i - range.begin : range.end - 1 - i;
    const auto count = before == 0 ? 0 : static_cast<int>(uniform() * (most + 1));
    for (int k = 0; k < count; ++k) {
      const auto away =
          1 + static_cast<std::int64_t>(uniform() * static_cast<double>(std::min(reach, before)));
      const std::int64_t distance = std::min(away, before);
      rows.column.push_back(static_cast<std::int32_t>(is_lower ? i - distance : i + distance));
      rows.value.push_back(uniform() - 0.5);
    }
    rows.start.push_back(static_cast<std::int32_t>(rows.column.size()));
  }
  return rows;
}

TEST(LevelSlices, SumsAreThoseOfRowByRowToTheBit) {
  for (const bool is_lower : {true, false}) {
    for (const Range range : {Range{0, 2000}, Range{300, 1333}}) {
      const Rows rows = random_rows(range, is_lower, 7, 2000, 5);
      const auto slices = rows.slices();
      ASSERT_TRUE(slices);
      std::vector<double> x(range.end), expected(range.end);
      for (std::int64_t i = 0; i < range.end; ++i) {
        x[i] = std::sin(static_cast<double>(i));
        expected[i] = std::cos(static_cast<double>(i));
      }
      std::vector<double> y = expected;
      rows.sweep(x, expected);
      slices->solve([&](std::int32_t i) { return x[i]; },
                    [&](std::int32_t i, double sum) { return 2 * sum + 3 * y[i]; }, y.data());
      EXPECT_EQ(y, expected) << is_lower << " " << range.begin;
    }
  }
}

TEST(LevelSlices, AreNotMadeWhereRowByRowIsAsFast) {
  EXPECT_FALSE(random_rows({0, 2000}, true, 40, 2000, 5).slices()) << "long rows";
  EXPECT_FALSE(random_rows({0, 2000}, true, 7, 3, 5).slices()) << "few rows in a level";
  EXPECT_FALSE(random_rows({0, 2000}, true, 0, 3, 5).slices()) << "a diagonal matrix";
  EXPECT_FALSE(random_rows({0, 0}, true, 7, 3, 5).slices()) << "no rows";
  Rows regular{{0, 2000}, true};
  for (int i = 0; i < 2000; ++i) {
    if (i >= 50) regular.column.push_back(i - 50);
    regular.start.push_back(static_cast<std::int32_t>(regular.column.size()));
  }
  regular.value.assign(regular.column.size(), 1.0);
  EXPECT_FALSE(regular.slices()) << "rows of one length";
}

/// Solves with the same x again and again, past the one that makes slices.
template <class Solve>
void expect_the_same(std::int32_t rows, double tolerance, const Solve& solve) {
  std::vector<double> x(rows), first(rows), y(rows);
  for (std::int32_t i = 0; i < rows; ++i) x[i] = std::sin(i + 1.0);
  solve(x, first);
  for (int k = 0; k < 12; ++k) {
    solve(x, y);
    for (std::int32_t i = 0; i < rows; ++i)
      ASSERT_NEAR(y[i], first[i], tolerance * (1 + std::abs(first[i]))) << "solve " << k << ", row " << i;
  }
}

TEST(TriangleSlices, FactorsSolveAsBefore) {
  const auto matrix = tests::csr_of(tests::random_dominant(900, 0.005, 1.1, 3, true));
  const Ilu0 ilu0 = ilu0_factor(matrix, {0, matrix.rows});
  expect_the_same(matrix.rows, 0, [&](const auto& x, auto& y) { ilu0.solve(x, y); });
  EXPECT_TRUE(ilu0.slices.lower && ilu0.slices.upper);
  using enum FactorOptions::Kind;
  for (const FactorOptions::Kind kind : {ic, ilu, ilut}) {
    const FactoredBlock block = factor_block(matrix, {.kind = kind, .fill = 0, .drop_tolerance = 0.1},
                                             [](std::int32_t) { return ""; });
    std::vector<double> work(matrix.rows);
    // Where L = U^T the sums of L are others.
    expect_the_same(matrix.rows, kind == ic ? 1e-13 : 0,
                    [&](const auto& x, auto& y) { block.solve(x, y, work); });
    EXPECT_TRUE(block.factors.slices.lower && block.factors.slices.upper) << static_cast<int>(kind);
  }
}

}  // namespace
}  // namespace ayatori::solvers
