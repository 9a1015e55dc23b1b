#include "ayatori/tuning/facts/facts.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "test_matrices.hpp"
#include "world.hpp"

namespace ayatori::tuning {
namespace {

using sparse::TestMatrix;

MatrixFacts facts_of(const TestMatrix& matrix) {
  return examine(world(), sparse::split(world(), matrix.distribute(world())));
}

TEST(MatrixFacts, OfAPoissonMatrix) {
  const auto facts = facts_of(sparse::tridiagonal_matrix(40));
  EXPECT_EQ(facts.rows, 40);
  EXPECT_EQ(facts.nonzeros, 118);
  EXPECT_EQ(facts.min_row_nonzeros, 2);
  EXPECT_EQ(facts.max_row_nonzeros, 3);
  EXPECT_DOUBLE_EQ(facts.mean_row_of_entries, (38 * 9 + 2 * 4) / 118.0);
  EXPECT_TRUE(facts.symmetric);
  EXPECT_TRUE(facts.pattern_symmetric);
  EXPECT_TRUE(facts.looks_positive_definite());
  EXPECT_EQ(facts.dominant_rows, 1);
  EXPECT_EQ(facts.diffusive_rows, 1);
  EXPECT_EQ(facts.strongly_dominant_rows, 2.0 / 40) << "the first and the last";
  EXPECT_EQ(facts.least_dominance, 0);
  EXPECT_DOUBLE_EQ(facts.constant_quotient, 2.0 / 80);
  EXPECT_EQ(facts.least_diameter, 40);
  EXPECT_EQ(facts.bandwidth, 1);
  EXPECT_EQ(facts.max_abs, 2);
  EXPECT_EQ(facts.norm_infinity, 4);
  EXPECT_EQ(facts.asymmetry, 0);
}

TEST(MatrixFacts, OfRealFormsTellTheKindOfTheComplexMatrix) {
  const auto facts_of_complex = [](sparse::Complex diagonal, sparse::Complex before, sparse::Complex behind) {
    const auto matrix = sparse::complex_five_point_matrix(7, diagonal, before, behind);
    return examine(world(), sparse::split(world(), matrix.distribute(
                                                       world(), sparse::even_pairs(matrix, world().size()))));
  };
  const auto hermitian = facts_of_complex(4, {-0.6, 0.8}, {-0.6, -0.8});
  EXPECT_TRUE(hermitian.complex_form);
  EXPECT_TRUE(hermitian.symmetric);
  EXPECT_FALSE(hermitian.complex_symmetric);
  EXPECT_TRUE(hermitian.looks_positive_definite());
  const auto symmetric = facts_of_complex({4, 1}, {-1, 0.5}, {-1, 0.5});
  EXPECT_TRUE(symmetric.complex_form);
  EXPECT_FALSE(symmetric.symmetric);
  EXPECT_TRUE(symmetric.complex_symmetric);
  const auto neither = facts_of_complex({4, 1}, {-1, 0.5}, {-1, 0.25});
  EXPECT_TRUE(neither.complex_form);
  EXPECT_FALSE(neither.symmetric);
  EXPECT_FALSE(neither.complex_symmetric);
  EXPECT_FALSE(facts_of_complex({4, 1}, {1, 2}, {2, 1}).complex_symmetric) << "parts that change places";
  EXPECT_TRUE(facts_of_complex({4, 1}, {-1, 0.5}, {-1 - 1e-15, 0.5}).complex_symmetric) << "up to rounding";
  const auto dominant = facts_of_complex({3, 4}, {0.6, 0.8}, {-0.6, 0.8});
  EXPECT_EQ(dominant.dominant_rows, 1) << "5 beside four times 1, where parts are 3 beside 5.6 and more";
  EXPECT_NEAR(dominant.least_dominance, 0.2, 1e-12);
  EXPECT_DOUBLE_EQ(dominant.max_abs_diagonal, 5);
  EXPECT_EQ(dominant.positive_diagonals, dominant.rows);
  EXPECT_FALSE(facts_of(sparse::five_point_matrix(6, 1, 1)).complex_form);

  const auto shown = in_complex_numbers(neither);
  EXPECT_EQ(shown.rows, 49);
  EXPECT_EQ(shown.nonzeros, 49 + 4 * 6 * 7);
  EXPECT_EQ(shown.min_row_nonzeros, 3);
  EXPECT_EQ(shown.max_row_nonzeros, 5);
}

TEST(MatrixFacts, RowsThatSumToNothingAreDiffusiveWithoutDominance) {
  auto matrix = sparse::tridiagonal_matrix(40);  // 2 on the diagonal, -1 beside it
  for (std::int64_t i = 0; i + 10 < matrix.n; ++i) {
    matrix.entries.push_back({i, i + 10, 0.5});
    matrix.entries.push_back({i + 10, i, 0.5});
  }
  for (std::int64_t i = 0; i < matrix.n; ++i)
    matrix.entries.push_back({i, i, (i < 10 || i >= 30 ? -0.5 : -1)});
  matrix.entries.push_back({20, 20, 1});
  const auto facts = facts_of(matrix);
  EXPECT_EQ(facts.dominant_rows, 2.0 / 40) << "the first and the last";
  EXPECT_EQ(facts.diffusive_rows, 39.0 / 40);
  EXPECT_EQ(facts.bandwidth, 10);
  EXPECT_GE(facts.least_diameter, 4) << "more where a rank has only neighbours";
}

TEST(MatrixFacts, AChainOnOneRankDoesNotMakeManySteps) {
  auto matrix = sparse::tridiagonal_matrix(80);
  for (std::int64_t i = 40; i < matrix.n; ++i) {
    matrix.entries.push_back({i, 119 - i, 0.1});  // to the other end of the second half
    matrix.entries.push_back({i, 40 + (7 * i) % 40, 0.1});
  }
  EXPECT_LE(facts_of(matrix).least_diameter, 4);
}

TEST(MatrixFacts, LeastDominanceBoundsTheSpectrum) {
  auto matrix = sparse::tridiagonal_matrix(40);
  for (std::int64_t i = 0; i < matrix.n; ++i) matrix.entries.push_back({i, i, 2});
  EXPECT_EQ(facts_of(matrix).least_dominance, 0.5);
  matrix.entries.push_back({25, 25, 4});
  EXPECT_EQ(facts_of(matrix).least_dominance, 0.5);
  matrix.entries.push_back({20, 5, 3});
  EXPECT_EQ(facts_of(matrix).least_dominance, 0);
}

TEST(MatrixFacts, StrongDominanceIsThatOfTwice) {
  TestMatrix matrix{"lower triangle", 64, {}};
  for (std::int64_t i = 0; i < matrix.n; ++i) {
    matrix.entries.push_back({i, i, i < 16 ? -0.2 : 0.2});
    if (i >= 32) matrix.entries.push_back({i, i - 32, -0.1});
    if (i >= 40) matrix.entries.push_back({i, i - 1, 1e-3});
  }
  EXPECT_EQ(facts_of(matrix).strongly_dominant_rows, 8.0 / 32) << "the first half are boundary rows";
  matrix.entries.push_back({50, 50, 0.01});
  EXPECT_EQ(facts_of(matrix).strongly_dominant_rows, 9.0 / 32);
  matrix.entries.push_back({5, 5, 0.2});
  EXPECT_EQ(facts_of(matrix).strongly_dominant_rows, 9.0 / 33) << "a zero dominates nothing";
}

TEST(MatrixFacts, ConstantQuotientBoundsTheSmallestEigenvalue) {
  auto matrix = sparse::tridiagonal_matrix(40);  // 2 on the diagonal, -1 beside it
  matrix.entries.push_back({3, 30, 1});
  EXPECT_DOUBLE_EQ(facts_of(matrix).constant_quotient, 3.0 / 80);
  for (auto& entry : matrix.entries) entry.value = -entry.value;
  EXPECT_DOUBLE_EQ(facts_of(matrix).constant_quotient, 3.0 / 80);
  std::erase_if(matrix.entries, [](const auto& e) { return e.row == e.column; });
  EXPECT_EQ(facts_of(matrix).constant_quotient, 0);
}

/// A condition in place of every fourth row of a square: `value` on the diagonal, and nothing beside it.
TestMatrix held_square(double value) {
  auto matrix = sparse::five_point_matrix(8, 1, 1);
  for (auto& e : matrix.entries)
    if (e.row % 4 == 0) e.value = e.row == e.column ? value : 0;
  return matrix;
}

TEST(MatrixFacts, BoundaryRowsMayHaveAnyScale) {
  const auto small = facts_of(held_square(1e-3));
  const auto large = facts_of(held_square(1e30));
  for (const auto& facts : {small, large}) {
    EXPECT_EQ(facts.boundary_rows, 16);
    EXPECT_EQ(facts.min_abs_diagonal, 4);
    EXPECT_EQ(facts.max_abs_diagonal, 4);
    EXPECT_EQ(facts.dominant_rows, 1);
    EXPECT_EQ(facts.least_dominance, small.least_dominance);
    EXPECT_EQ(facts.constant_quotient, small.constant_quotient);
  }
  TestMatrix diagonal{"diagonal", 9, {}};
  for (std::int64_t i = 0; i < 9; ++i) diagonal.entries.push_back({i, i, 2});
  const auto facts = facts_of(diagonal);
  EXPECT_EQ(facts.dominant_rows, 1);
  EXPECT_EQ(facts.strongly_dominant_rows, 1);
  EXPECT_EQ(facts.least_dominance, 1);
  EXPECT_EQ(facts.constant_quotient, 1);
}

TEST(ExaminedMatrix, IsSymmetricWithoutTheColumnsOfConditions) {
  const auto parts =
      std::make_shared<const sparse::SplitMatrix>(sparse::split(world(), held_square(7).distribute(world())));
  EXPECT_FALSE(examine(world(), *parts).symmetric);
  const auto inside = examine_inside(world(), parts);
  EXPECT_TRUE(inside.facts.symmetric);
  EXPECT_TRUE(inside.facts.symmetric_inside);
  EXPECT_NE(inside.at_work, parts);
  EXPECT_EQ(inside.facts.nonzeros, examine(world(), *parts).nonzeros);

  auto skewed = held_square(7);
  skewed.entries.push_back({1, 2, 0.5});
  const auto others =
      std::make_shared<const sparse::SplitMatrix>(sparse::split(world(), skewed.distribute(world())));
  const auto whole = examine_inside(world(), others);
  EXPECT_FALSE(whole.facts.symmetric || whole.facts.symmetric_inside);
  EXPECT_EQ(whole.at_work, others) << "nothing is gained without the columns";
}

/// Wherever the odd entry lies - inside a rank's block or across two ranks - it is noticed.
TEST(MatrixFacts, OneOddEntryAnywhereIsNoticed) {
  for (const std::int64_t row : {0, 1, 9, 10, 19, 20, 29, 30, 38}) {
    SCOPED_TRACE(row);
    auto values = sparse::tridiagonal_matrix(40);
    values.entries.push_back({row, row + 1, 1e-9});
    EXPECT_FALSE(facts_of(values).symmetric);
    EXPECT_TRUE(facts_of(values).pattern_symmetric);
    EXPECT_NEAR(facts_of(values).asymmetry, 5e-10, 1e-15);

    auto pattern = sparse::tridiagonal_matrix(40);
    pattern.entries.push_back({row, (row + 20) % 40, 0.5});
    EXPECT_FALSE(facts_of(pattern).symmetric);
    EXPECT_FALSE(facts_of(pattern).pattern_symmetric);
  }
}

TEST(MatrixFacts, RoundingIsNotAsymmetry) {
  auto matrix = sparse::tridiagonal_matrix(40);
  matrix.entries.push_back({19, 20, 1e-15});
  EXPECT_TRUE(facts_of(matrix).symmetric);
}

TEST(MatrixFacts, SmallRowsAreJudgedByTheirOwnScale) {
  TestMatrix matrix{"badly scaled", 4, {{0, 0, 1e20}, {1, 1, 1}, {2, 2, 1}, {3, 3, 1}, {2, 3, 1e-3}}};
  EXPECT_FALSE(facts_of(matrix).symmetric);
}

TEST(MatrixFacts, CountsDiagonalSigns) {
  const TestMatrix matrix{"signs", 5, {{0, 0, 1}, {1, 1, -2}, {2, 2, 0}, {4, 4, 3}, {3, 4, 1}, {4, 3, 1}}};
  const auto facts = facts_of(matrix);
  EXPECT_EQ(facts.positive_diagonals, 2);
  EXPECT_EQ(facts.negative_diagonals, 1);
  EXPECT_EQ(facts.zero_diagonals, 2);
  EXPECT_TRUE(facts.symmetric);
  EXPECT_FALSE(facts.looks_positive_definite());
  EXPECT_FALSE(facts.looks_negative_definite());
}

/// Symmetry by its definition, entry by entry.
struct PlainSymmetry {
  bool symmetric = true;
  bool pattern_symmetric = true;
  double asymmetry = 0;

  explicit PlainSymmetry(const TestMatrix& matrix) {
    std::map<std::pair<std::int64_t, std::int64_t>, double> values;
    std::vector<double> largest(matrix.n, 0.0);
    double max_abs = 0;
    for (const auto& e : matrix.entries) values[{e.row, e.column}] += e.value;
    for (const auto& [place, value] : values) {
      largest[place.first] = std::max(largest[place.first], std::abs(value));
      max_abs = std::max(max_abs, std::abs(value));
    }
    for (const auto& [place, value] : values) {
      const auto mirror = values.find({place.second, place.first});
      pattern_symmetric = pattern_symmetric && mirror != values.end();
      const double difference = std::abs(value - (mirror != values.end() ? mirror->second : 0));
      const double scale = std::min(largest[place.first], largest[place.second]);
      symmetric = symmetric && difference <= 1e-13 * scale;
      asymmetry = std::max(asymmetry, difference);
    }
    if (max_abs > 0) asymmetry /= max_abs;
  }
};

void expect_plain_symmetry(const TestMatrix& matrix) {
  SCOPED_TRACE(matrix.name);
  const PlainSymmetry plain(matrix);
  const auto facts = facts_of(matrix);
  EXPECT_EQ(facts.symmetric, plain.symmetric);
  EXPECT_EQ(facts.pattern_symmetric, plain.pattern_symmetric);
  if (plain.symmetric || facts.nonzeros < (1 << 11)) {
    EXPECT_DOUBLE_EQ(facts.asymmetry, plain.asymmetry);
  } else {  // asymmetry of a few rows
    EXPECT_GT(facts.asymmetry, 0);
    EXPECT_LE(facts.asymmetry, plain.asymmetry);
  }
}

/// The matrix plus its transpose.
TestMatrix symmetrized(TestMatrix matrix) {
  matrix.name += " + transpose";
  const std::size_t count = matrix.entries.size();
  for (std::size_t k = 0; k < count; ++k) {
    const auto e = matrix.entries[k];
    matrix.entries.push_back({e.column, e.row, e.value});
  }
  return matrix;
}

TEST(MatrixFacts, SymmetryIsThatOfTheDefinition) {
  for (const auto& matrix : sparse::awkward_matrices(world().size())) {
    expect_plain_symmetry(matrix);
    expect_plain_symmetry(symmetrized(matrix));
    for (const bool below : {true, false}) {
      TestMatrix triangle = matrix;
      triangle.name += below ? ", below the diagonal" : ", above the diagonal";
      std::erase_if(triangle.entries, [below](const auto& e) { return (e.row >= e.column) != below; });
      expect_plain_symmetry(triangle);
    }
  }
}

TEST(MatrixFacts, OneMissingMirrorImageIsNoticed) {
  const TestMatrix whole = symmetrized(sparse::dense_row_matrix(77));
  for (std::size_t k = 0; k < whole.entries.size(); k += 13) {
    TestMatrix matrix = whole;
    const auto removed = matrix.entries[k];
    std::erase_if(matrix.entries,
                  [&](const auto& e) { return e.row == removed.row && e.column == removed.column; });
    expect_plain_symmetry(matrix);
    EXPECT_EQ(facts_of(matrix).pattern_symmetric, removed.row == removed.column);
  }
}

TEST(MatrixFacts, StoredZerosAreEqualToMissingOnesOnAnotherPattern) {
  auto matrix = sparse::tridiagonal_matrix(40);
  matrix.entries.push_back({3, 33, 0.0});
  EXPECT_TRUE(facts_of(matrix).symmetric);
  EXPECT_FALSE(facts_of(matrix).pattern_symmetric);
  matrix.entries.push_back({33, 3, -0.0});
  EXPECT_TRUE(facts_of(matrix).symmetric);
  EXPECT_TRUE(facts_of(matrix).pattern_symmetric);
}

TEST(MatrixFacts, OneOddEntryBesideStoredZerosIsNoticed) {
  for (const auto& [row, column] : {std::pair(5, 6), std::pair(6, 5), std::pair(39, 38), std::pair(3, 33)}) {
    auto matrix = sparse::tridiagonal_matrix(40);
    matrix.entries.push_back({3, 33, 0.0});
    for (auto& entry : matrix.entries)
      if (entry.row == row && entry.column == column) entry.value += 1e-3;
    EXPECT_FALSE(facts_of(matrix).symmetric) << row << " " << column;
  }
}

/// Sums over all entries that treat equal contributions alike would not tell these from symmetric matrices.
TEST(MatrixFacts, RegularAsymmetryIsNoticed) {
  TestMatrix skew{"skew-symmetric", 64, {}};
  TestMatrix circulant{"circulant", 64, {}};
  TestMatrix exchanged = symmetrized(sparse::random_matrix(64, 5, 3));
  exchanged.name = "two values exchanged";
  for (std::int64_t i = 0; i < 64; ++i) {
    skew.entries.push_back({i, (i + 1) % 64, 1});
    skew.entries.push_back({(i + 1) % 64, i, -1});
    circulant.entries.push_back({i, (i + 1) % 64, 1});
  }
  exchanged.entries.push_back({5, 6, 1});
  exchanged.entries.push_back({6, 5, 2});
  exchanged.entries.push_back({40, 50, 2});
  exchanged.entries.push_back({50, 40, 1});
  for (const auto& matrix : {skew, circulant, exchanged}) {
    EXPECT_FALSE(PlainSymmetry(matrix).symmetric);
    expect_plain_symmetry(matrix);
  }
}

/// Enough entries that not all rows are compared at once.
TestMatrix large_matrix() {
  return sparse::tridiagonal_matrix(50000);
}

TEST(MatrixFacts, OneOddEntryAmongManyIsNoticed) {
  for (const std::int64_t row : {1, 24999, 25001, 49998}) {
    auto matrix = large_matrix();
    matrix.entries.push_back({row, row + 1, 0.25});
    EXPECT_FALSE(facts_of(matrix).symmetric);
    EXPECT_TRUE(facts_of(matrix).pattern_symmetric);
    EXPECT_EQ(facts_of(matrix).asymmetry, 0.125);
  }
}

TEST(MatrixFacts, RoundingInManyRowsIsNotAsymmetry) {
  auto matrix = large_matrix();
  for (std::int64_t i = 0; i + 1 < matrix.n; ++i) matrix.entries.push_back({i, i + 1, 0x1p-50});
  EXPECT_TRUE(facts_of(matrix).symmetric);
  EXPECT_EQ(facts_of(matrix).asymmetry, 0x1p-51);
}

TEST(MatrixFacts, AsymmetryOfManyRowsIsNotOverstated) {
  auto matrix = large_matrix();
  for (std::int64_t i = 0; i + 1 < matrix.n; ++i) matrix.entries.push_back({i, i + 1, 0.25});
  matrix.entries.push_back({7, 8, 0.25});
  EXPECT_FALSE(facts_of(matrix).symmetric);
  EXPECT_TRUE(facts_of(matrix).pattern_symmetric);
  EXPECT_GE(facts_of(matrix).asymmetry, 0.125);
  EXPECT_LE(facts_of(matrix).asymmetry, 0.25);
}

TEST(MatrixFacts, DoNotDependOnTheNumberOfThreads) {
  const int threads = omp_get_max_threads();
  for (const auto& matrix :
       {sparse::random_matrix(9000, 10, 4), symmetrized(sparse::random_matrix(9000, 10, 5)),
        sparse::dense_row_matrix(9000)}) {
    omp_set_num_threads(1);
    const auto expected = facts_of(matrix);
    omp_set_num_threads(5);
    const auto facts = facts_of(matrix);
    EXPECT_EQ(facts.symmetric, expected.symmetric);
    EXPECT_EQ(facts.pattern_symmetric, expected.pattern_symmetric);
    EXPECT_EQ(facts.asymmetry, expected.asymmetry);
    EXPECT_EQ(facts.dominant_rows, expected.dominant_rows);
    EXPECT_EQ(facts.diffusive_rows, expected.diffusive_rows);
    EXPECT_EQ(facts.strongly_dominant_rows, expected.strongly_dominant_rows);
    EXPECT_EQ(facts.least_dominance, expected.least_dominance);
    EXPECT_NEAR(facts.constant_quotient, expected.constant_quotient, 1e-12);
    EXPECT_EQ(facts.least_diameter, expected.least_diameter);
    EXPECT_EQ(facts.positive_diagonals, expected.positive_diagonals);
    EXPECT_EQ(facts.min_row_nonzeros, expected.min_row_nonzeros);
    EXPECT_EQ(facts.max_row_nonzeros, expected.max_row_nonzeros);
    EXPECT_EQ(facts.mean_row_of_entries, expected.mean_row_of_entries);
    EXPECT_EQ(facts.norm_infinity, expected.norm_infinity);
    EXPECT_EQ(facts.max_abs, expected.max_abs);
  }
  omp_set_num_threads(threads);
}

TEST(MatrixFacts, OfAwkwardMatrices) {
  for (const auto& matrix : sparse::awkward_matrices(world().size())) {
    SCOPED_TRACE(matrix.name);
    const auto facts = facts_of(matrix);
    EXPECT_EQ(facts.rows, matrix.n);
    EXPECT_EQ(facts.positive_diagonals + facts.negative_diagonals + facts.zero_diagonals, matrix.n);
  }
}

}  // namespace
}  // namespace ayatori::tuning
