#include "ayatori/tuning/facts/dropped_fill.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "ayatori/base/parallel.hpp"
#include "ayatori/io/generator.hpp"
#include "ayatori/tuning/facts/facts.hpp"
#include "test_matrices.hpp"
#include "world.hpp"

namespace ayatori::tuning {
namespace {

using sparse::TestMatrix;

sparse::Csr block_of(const sparse::RowBlock& rows) {
  return sparse::gather(world(), sparse::split(world(), rows)).interior;
}

sparse::Csr block_of(const TestMatrix& matrix) {
  return block_of(matrix.distribute(world()));
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
  EXPECT_LE(found.rows, 32);
  EXPECT_EQ(found.sum, 0);
}

/// Inside a large mesh pivots tend to d = c - (x^2 + y^2) / d; west leaves out north, and south east, x y / d
/// each.
double of_five_points(double along, double across) {
  const double centre = 2 * (across + along);
  const double pivot = (centre + std::sqrt(centre * centre - 4 * (across * across + along * along))) / 2;
  return 2 * across * along / pivot / centre;
}

TEST(DroppedFill, OfAMeshAreTwoEntriesOfARow) {
  const sparse::Csr block = block_of(sparse::five_point_matrix(200, 1, 1));
  const sparse::Csr weak = block_of(sparse::five_point_matrix(200, 1, 0.01));
  if (world().rank() > 0) return;
  EXPECT_NEAR(mean(dropped_fill(block)), of_five_points(1, 1), 1e-3);
  EXPECT_NEAR(mean(dropped_fill(weak)), of_five_points(1, 0.01), 1e-3)
      << "lines that are hardly coupled are solved exactly";
}

/// Eliminated all over, in natural order.
double mean_of_all_rows(const sparse::Csr& a) {
  std::vector<std::map<std::int32_t, double>> factors;
  double sum = 0;
  for (std::int32_t i = 0; i < a.rows; ++i) {
    std::map<std::int32_t, double> row;
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k) row[a.column[k]] = a.value[k];
    const double diagonal = row.at(i);
    double dropped = 0;
    for (auto& [k, value] : row) {
      if (k >= i) break;
      value /= factors[k].at(k);
      for (auto of_k = factors[k].upper_bound(k); of_k != factors[k].end(); ++of_k) {
        const auto place = row.find(of_k->first);
        if (place == row.end()) {
          dropped += value * of_k->second;
        } else {
          place->second -= value * of_k->second;
        }
      }
    }
    sum += std::abs(dropped / diagonal);
    factors.push_back(std::move(row));
  }
  return sum / static_cast<double>(a.rows);
}

TEST(DroppedFill, SomeRowsTellWhatTheEliminationOfAllLeavesOut) {
  for (const char* problem : {"anisotropic2d:n=160", "poisson3d-7:n=36", "tetrahedra3d:n=24"}) {
    const sparse::Csr block = block_of(io::generate(world(), problem));
    if (world().rank() > 0) continue;
    const double all = mean_of_all_rows(block);
    EXPECT_NEAR(mean(dropped_fill(block)), all, 0.25 * all) << problem;
  }
}

TEST(DroppedFill, SignsCancel) {
  TestMatrix matrix = sparse::five_point_matrix(60, 1, 1);
  for (auto& entry : matrix.entries)
    if (entry.column == entry.row - 1) entry.value = 1;
  const sparse::Csr block = block_of(matrix);
  if (world().rank() > 0) return;
  EXPECT_GT(dropped_fill(block).rows, 0);
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
  EXPECT_EQ(found.rows, 0) << "one row would take more than a part of all entries";
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
  EXPECT_NEAR(facts.dropped_fill, of_five_points(1, 1), 0.02);
  EXPECT_EQ(facts.blocks, world().size() * threads_for(matrix.n / world().size()));
  const auto gathered = sparse::gather(world(), sparse::split(world(), matrix.distribute(world())));
  EXPECT_EQ(examine(world(), gathered).blocks, threads_for(matrix.n)) << "ranks without rows have no block";
  EXPECT_EQ(facts.min_abs_diagonal, 4);
  EXPECT_EQ(facts.max_abs_diagonal, 4);
}

TEST(DroppedFill, IsNotLookedForWhereRowsAreNotOfDiffusion) {
  auto matrix = sparse::five_point_matrix(120, 1, 1);
  for (auto& entry : matrix.entries)
    if (entry.row == entry.column) entry.value = 2;
  EXPECT_EQ(examine(world(), sparse::split(world(), matrix.distribute(world()))).dropped_fill, 0);
}

}  // namespace
}  // namespace ayatori::tuning
