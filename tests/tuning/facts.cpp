#include "ayatori/tuning/facts.hpp"

#include <gtest/gtest.h>

#include "test_matrices.hpp"

namespace ayatori::tuning {
namespace {

using sparse::TestMatrix;

const comm::Comm& world() {
  static const comm::Comm comm = comm::Comm::world();
  return comm;
}

MatrixFacts facts_of(const TestMatrix& matrix) {
  return examine(world(), sparse::split(world(), matrix.distribute(world())));
}

TEST(MatrixFacts, OfAPoissonMatrix) {
  const auto facts = facts_of(sparse::tridiagonal_matrix(40));
  EXPECT_EQ(facts.rows, 40);
  EXPECT_EQ(facts.nonzeros, 118);
  EXPECT_EQ(facts.min_row_nonzeros, 2);
  EXPECT_EQ(facts.max_row_nonzeros, 3);
  EXPECT_TRUE(facts.symmetric);
  EXPECT_TRUE(facts.pattern_symmetric);
  EXPECT_TRUE(facts.looks_positive_definite());
  EXPECT_EQ(facts.dominant_rows, 1);
  EXPECT_EQ(facts.max_abs, 2);
  EXPECT_EQ(facts.norm_infinity, 4);
  EXPECT_EQ(facts.asymmetry, 0);
}

/// Wherever the odd entry lies - inside a rank's block or across two ranks - it is noticed.
TEST(MatrixFacts, OneOddEntryAnywhereIsNoticed) {
  for (const std::int64_t row : {1, 9, 10, 19, 20, 29, 30, 38}) {
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
