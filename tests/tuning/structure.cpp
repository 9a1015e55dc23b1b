#include "ayatori/tuning/facts/structure.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "ayatori/base/error.hpp"
#include "test_matrices.hpp"
#include "world.hpp"

namespace ayatori::tuning {
namespace {

using sparse::Entry;
using sparse::TestMatrix;

Structure structure_of(const TestMatrix& matrix, bool reversed_numbers = false) {
  const auto parts = sparse::split(world(), matrix.distribute(world()));
  std::vector<std::int64_t> numbers;
  const Range mine = parts.partition.range(world().rank());
  for (std::int64_t i = mine.begin; reversed_numbers && i < mine.end; ++i)
    numbers.push_back(matrix.n - 1 - i);
  return find_structure(world(), parts, examine(world(), parts), numbers);
}

sparse::ComponentCounts components_of(const TestMatrix& matrix) {
  return find_components(world(), sparse::split(world(), matrix.distribute(world())));
}

/// Adds `factor` times a row to another one, which had no entries.
void copy_row(TestMatrix& matrix, std::int64_t from, std::int64_t to, double factor) {
  std::erase_if(matrix.entries, [&](const Entry& e) { return e.row == to; });
  const auto entries = matrix.entries;
  for (const Entry& e : entries)
    if (e.row == from) matrix.entries.push_back({to, e.column, factor * e.value});
}

void expect_says(const Structure& structure, const std::vector<std::string>& sentences) {
  EXPECT_EQ(describe(structure), sentences);
}

/// A block system [K B^T; B 0] of n + m rows: zeros on the diagonal, and regular.
TestMatrix saddle_matrix(std::int64_t n, std::int64_t m) {
  TestMatrix matrix{"saddle", n + m, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    matrix.entries.push_back({i, i, 2.5});
    if (i > 0) matrix.entries.push_back({i, i - 1, -1});
    if (i + 1 < n) matrix.entries.push_back({i, i + 1, -1});
  }
  for (std::int64_t k = 0; k < m; ++k) {
    for (const std::int64_t j : {k % n, (k + 1) % n}) {
      const double value = j == k % n ? 1.5 : -1;
      matrix.entries.push_back({n + k, j, value});
      matrix.entries.push_back({j, n + k, value});
    }
  }
  return matrix;
}

TEST(Structure, OfRegularConnectedMatricesIsNothingToSay) {
  TestMatrix permuted{"cyclic shift", 30, {}};
  for (std::int64_t i = 0; i < 30; ++i) permuted.entries.push_back({i, (i + 11) % 30, 1.0});
  for (const auto& matrix : {sparse::five_point_matrix(9, 1, 0.3), sparse::random_matrix(500, 6, 3),
                             saddle_matrix(40, 25), permuted, sparse::tridiagonal_matrix(1)}) {
    SCOPED_TRACE(matrix.name);
    const Structure structure = structure_of(matrix);
    expect_says(structure, {});
    EXPECT_FALSE(structure.is_singular());
    EXPECT_EQ(structure.structural.rank, matrix.n);
    const auto components = components_of(matrix);
    EXPECT_EQ(components.all, 1);
    EXPECT_EQ(components.rows_of_largest, matrix.n);
    EXPECT_EQ(describe(components), "");
  }
}

TEST(Structure, ZeroRowsAndColumnsAreNamed) {
  auto matrix = sparse::random_matrix(40, 5, 3);
  std::erase_if(matrix.entries, [](const Entry& e) { return e.row == 17 || e.row == 33 || e.column == 21; });
  matrix.entries.push_back({33, 5, 0.0});  // stored, and no entry all the same
  const Structure structure = structure_of(matrix);
  EXPECT_EQ(structure.zero_rows.count, 2);
  EXPECT_EQ(structure.zero_columns.count, 1);
  EXPECT_EQ(structure.structural.rank, 38);
  EXPECT_TRUE(structure.is_singular());
  expect_says(structure, {"row 18 of the matrix is zero (and 1 more)", "column 22 of the matrix is zero"});
  expect_says(structure_of(matrix, true),
              {"row 7 of the matrix is zero (and 1 more)", "column 19 of the matrix is zero"});
}

TEST(Structure, MultiplesOfRowsAreNamed) {
  for (const bool with_zeros : {false, true}) {
    auto matrix = sparse::random_matrix(40, 5, 4);
    std::erase_if(matrix.entries, [](const Entry& e) { return e.column == 2 && e.row == 30; });
    matrix.entries.push_back({2, 30, 0.3});
    matrix.entries.push_back({3, 31, 0.3});
    matrix.entries.push_back({3, 32, 0.7});
    copy_row(matrix, 2, 30, 1.0 / 3);
    copy_row(matrix, 3, 31, -7);
    copy_row(matrix, 3, 32, 0.1);
    if (with_zeros)  // on other rows' diagonals, so that all rows are looked at
      for (Entry& e : matrix.entries)
        if (e.row == e.column && e.row == 8) e.value = 0;
    const Structure structure = structure_of(matrix);
    EXPECT_EQ(structure.duplicates.count, 3);
    expect_says(structure, {"row 31 of the matrix is a multiple of row 3 (and 2 more)"});
    EXPECT_TRUE(structure.is_singular());
    expect_says(structure_of(matrix, true), {"row 9 of the matrix is a multiple of row 8 (and 2 more)"});
  }
}

TEST(Structure, RowsThatAreNearlyMultiplesAreNone) {
  auto matrix = sparse::random_matrix(40, 5, 4);
  copy_row(matrix, 2, 30, 1);
  matrix.entries.back().value *= 1 + 1e-12;
  EXPECT_EQ(structure_of(matrix).duplicates.count, 0);
}

TEST(Structure, RowsWithTooFewColumnsAreNamed) {
  // Rows 11, 12 and 25 have entries in columns 4 and 30 only; each has other values.
  auto matrix = sparse::random_matrix(40, 5, 6);
  std::erase_if(matrix.entries, [](const Entry& e) { return e.row == 11 || e.row == 12 || e.row == 25; });
  for (const std::int64_t i : {11, 12, 25}) {
    matrix.entries.push_back({i, 4, 1.0 + static_cast<double>(i * i)});
    matrix.entries.push_back({i, 30, 2});
  }
  const Structure structure = structure_of(matrix);
  EXPECT_TRUE(structure.structural.is_known);
  EXPECT_EQ(structure.structural.rank, 39);
  expect_says(structure,
              {"row 12 of the matrix and 2 more have entries in 2 columns only: whatever its values, "
               "its rank is at most 39 of 40"});
  EXPECT_EQ(structure_of(matrix, true).structural.first_crowded_row, 39 - 25);
}

TEST(Structure, ASearchThatIsGivenUpSaysSo) {
  sparse::Csr shift{200, 200, {0}, {}, {}};
  for (std::int32_t i = 0; i < 200; ++i) {
    shift.column.push_back((i + 1) % 200);
    shift.value.push_back(1);
    shift.row_start.push_back(i + 1);
  }
  const auto given_up = sparse::structural_rank(shift, 5);
  EXPECT_FALSE(given_up.is_known);
  EXPECT_LT(given_up.rank, 200);
  EXPECT_EQ(sparse::structural_rank(shift, 100000).rank, 200);
  Structure structure;
  structure.rows = 200;
  structure.structural = given_up;
  EXPECT_FALSE(structure.is_singular());
  EXPECT_EQ(describe(structure).size(), 1);
}

/// The rank by the plainest search: augmenting paths, one after the other, by recursion.
std::int64_t plain_structural_rank(const TestMatrix& matrix) {
  std::vector<std::int64_t> row_of(matrix.n, -1);
  std::int64_t rank = 0;
  for (std::int64_t i = 0; i < matrix.n; ++i) {
    std::vector<bool> seen(matrix.n, false);
    const std::function<bool(std::int64_t)> take = [&](std::int64_t row) {
      for (const Entry& e : matrix.entries) {
        if (e.row != row || e.value == 0 || seen[e.column]) continue;
        seen[e.column] = true;
        if (row_of[e.column] >= 0 && !take(row_of[e.column])) continue;
        row_of[e.column] = row;
        return true;
      }
      return false;
    };
    rank += take(i) ? 1 : 0;
  }
  return rank;
}

TEST(Structure, TheStructuralRankIsTheLargestNumberOfPairs) {
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    TestMatrix matrix{"sparse at random", 60, {}};
    const std::int64_t entries = 60 + 12 * static_cast<std::int64_t>(seed);
    for (std::int64_t k = 0; k < entries; ++k)
      matrix.entries.push_back({static_cast<std::int64_t>(random_bits(seed, 2 * k) % 60),
                                static_cast<std::int64_t>(random_bits(seed, 2 * k + 1) % 60), 1.0});
    const Structure structure = structure_of(matrix);
    EXPECT_EQ(structure.structural.rank, plain_structural_rank(matrix)) << "seed " << seed;
    EXPECT_EQ(
        structure.structural.crowded_rows + structure.zero_rows.count - structure.structural.crowded_columns,
        60 - structure.structural.rank);
  }
}

TEST(Structure, DecoupledBlocksAreCounted) {
  // Four chains, interlaced, and two rows of their own.
  const std::int64_t n = 42;
  TestMatrix matrix{"chains", n, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    matrix.entries.push_back({i, i, 2.0 + static_cast<double>(i)});
    if (i + 4 < n - 2) matrix.entries.push_back({i + 4, i, -1});
    if (i + 4 < n) matrix.entries.push_back({i, i + 4, 0});  // stored zeros connect nothing
  }
  const Structure structure = structure_of(matrix);
  const auto components = components_of(matrix);
  EXPECT_EQ(components.all, 6);
  EXPECT_EQ(components.of_one_row, 2);
  EXPECT_EQ(components.rows_of_largest, 10);
  EXPECT_FALSE(structure.is_singular());
  EXPECT_EQ(describe(components),
            "the system falls into 6 that have nothing to do with each other: the largest has 10 rows, 2 of "
            "them have one");
}

TEST(Structure, EntriesThatAreNotFiniteAreNamed) {
  const auto text_of = [](const TestMatrix& matrix, bool reversed_numbers) -> std::string {
    const auto parts = sparse::split(world(), matrix.distribute(world()));
    const Range mine = parts.partition.range(world().rank());
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = mine.begin; reversed_numbers && i < mine.end; ++i)
      numbers.push_back(matrix.n - 1 - i);
    try {
      require_finite(world(), parts, numbers);
    } catch (const InputError& error) {
      EXPECT_TRUE(error.agreed());
      return error.what();
    }
    return "";
  };
  auto matrix = sparse::tridiagonal_matrix(30);
  EXPECT_EQ(text_of(matrix, false), "");
  for (Entry& e : matrix.entries)
    if (e.row == 14 && e.column == 15) e.value = std::nan("");
  EXPECT_EQ(text_of(matrix, false), "the entry in row 15, column 16 of the matrix is a NaN");
  for (Entry& e : matrix.entries)
    if (e.row == 9 && e.column == 9) e.value = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(text_of(matrix, false),
            "the entry in row 10, column 10 of the matrix is infinite, and 1 more are not finite");
  EXPECT_EQ(text_of(matrix, true),
            "the entry in row 16, column 15 of the matrix is a NaN, and 1 more are not finite");
}

}  // namespace
}  // namespace ayatori::tuning
