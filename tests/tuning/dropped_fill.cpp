#include "ayatori/tuning/dropped_fill.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ayatori/tuning/facts.hpp"
#include "test_matrices.hpp"
#include "world.hpp"

namespace ayatori::tuning {
namespace {

using sparse::TestMatrix;

sparse::Csr block_of(const TestMatrix& matrix) {
  return sparse::gather(world(), sparse::split(world(), matrix.distribute(world()))).interior;
}

double mean(const DroppedFill& found) {
  return found.rows > 0 ? found.sum / found.rows : 0;
}

TEST(DroppedFill, NothingIsLeftOutOfATridiagonalMatrix) {
  const sparse::Csr block = block_of(sparse::tridiagonal_matrix(500));
  const DroppedFill found = dropped_fill(block);
  if (world().rank() > 0) {
    EXPECT_EQ(found.rows, 0) << "it holds no rows";
    return;
  }
  EXPECT_GT(found.rows, 0);
  EXPECT_LE(found.rows, 128);
  EXPECT_EQ(found.sum, 0);
}

TEST(DroppedFill, OfASquareAreTwoEntriesOfARow) {
  const sparse::Csr block = block_of(sparse::five_point_matrix(200, 1, 1));
  const sparse::Csr weak = block_of(sparse::five_point_matrix(200, 1, 0.01));
  if (world().rank() > 0) return;
  // Inside: west leaves out north, and south east, each 1 / 4, in units of 4.
  EXPECT_NEAR(mean(dropped_fill(block)), 2.0 / 16, 0.01);
  EXPECT_NEAR(mean(dropped_fill(weak)), 2 * 0.01 / (2.02 * 2.02), 0.001)
      << "lines that are hardly coupled are solved exactly";
}

TEST(DroppedFill, SignsCancel) {
  TestMatrix matrix = sparse::five_point_matrix(60, 1, 1);
  for (auto& entry : matrix.entries)
    if (entry.column == entry.row - 1) entry.value = 1;
  const sparse::Csr block = block_of(matrix);
  if (world().rank() > 0) return;
  EXPECT_LT(mean(dropped_fill(block)), 0.01);
}

TEST(DroppedFill, DenseRowsAreNotLookedAtForLong) {
  constexpr std::int64_t n = 400;
  TestMatrix matrix{"arrow", n, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    matrix.entries.push_back({i, i, 2});
    if (i == 0) continue;
    matrix.entries.push_back({0, i, -1});
    matrix.entries.push_back({i, 0, -1});
  }
  const DroppedFill found = dropped_fill(block_of(matrix));
  EXPECT_EQ(found.rows, 0) << "one row would take more than a sixteenth of all entries";
}

TEST(DroppedFill, RowsWithoutADiagonalOrWithNaNDoNotCount) {
  TestMatrix matrix = sparse::five_point_matrix(40, 1, 1);
  for (auto& entry : matrix.entries)
    if (entry.row == entry.column) entry.value = entry.row % 2 == 0 ? 0 : std::nan("");
  EXPECT_EQ(dropped_fill(block_of(matrix)).rows, 0);
  EXPECT_EQ(dropped_fill(sparse::Csr{0, 0, {0}, {}, {}}).rows, 0);
}

TEST(DroppedFill, IsAFactOfAMatrixOnAnyNumberOfRanks) {
  const auto matrix = sparse::five_point_matrix(120, 1, 1);
  const auto facts = examine(world(), sparse::split(world(), matrix.distribute(world())));
  EXPECT_NEAR(facts.dropped_fill, 2.0 / 16, 0.02);
  EXPECT_EQ(facts.min_abs_diagonal, 4);
  EXPECT_EQ(facts.max_abs_diagonal, 4);
}

}  // namespace
}  // namespace ayatori::tuning
