#include "ayatori/sparse/partition/graph_partition.hpp"

#include <gtest/gtest.h>

#include <set>

#include "ayatori/sparse/distributed_matrix.hpp"
#include "sparse/test_matrices.hpp"
#include "world.hpp"

namespace ayatori::sparse {
namespace {

TEST(GraphPartition, IsAPermutation) {
  for (const auto& matrix : awkward_matrices(world().size())) {
    SCOPED_TRACE(matrix.name);
    const auto permutation = graph_partition(world(), matrix.distribute(world()));
    const auto all = world().allgatherv(std::span<const std::int64_t>(permutation.new_number)).values;
    const std::set<std::int64_t> different(all.begin(), all.end());
    EXPECT_EQ(static_cast<std::int64_t>(different.size()), matrix.n);
    EXPECT_EQ(permutation.target.rows(), matrix.n);
    if (matrix.n > 0) {
      EXPECT_EQ(*different.begin(), 0);
      EXPECT_EQ(*different.rbegin(), matrix.n - 1);
    }
  }
}

TEST(GraphPartition, VectorsComeBack) {
  const auto matrix = random_matrix(90, 3, 21);
  const auto block = matrix.distribute(world());
  const auto permutation = graph_partition(world(), block);
  const auto mine = piece(test_vector(90, 2), permutation.current.range(world().rank()));
  EXPECT_EQ(permute_back(world(), permute(world(), mine, permutation), permutation), mine);
}

TEST(GraphPartition, PermutedProductIsTheProductPermuted) {
  for (const auto& matrix : awkward_matrices(world().size())) {
    SCOPED_TRACE(matrix.name);
    const auto block = matrix.distribute(world());
    const auto permutation = graph_partition(world(), block);
    const auto x = test_vector(matrix.n, 4);
    const Range mine = permutation.current.range(world().rank());
    const auto parts = split(world(), permute(world(), block, permutation));
    const auto permuted_x = permute(world(), piece(x, mine), permutation);
    Array<double> y(permuted_x.size());
    multiply_reference(world(), parts, permuted_x, y);
    const auto result = permute_back(world(), y, permutation);
    const auto expected = piece(matrix.multiply(x), mine);
    for (std::size_t i = 0; i < result.size(); ++i) EXPECT_NEAR(result[i], expected[i], 1e-12);
  }
}

TEST(GraphPartition, CutsAShuffledPathInFewPlaces) {
  // A path whose vertices are numbered i -> 37 i mod 100: contiguous blocks cut it nearly everywhere.
  TestMatrix path{"shuffled path", 100, {}};
  for (std::int64_t i = 0; i < 100; ++i) {
    path.entries.push_back({37 * i % 100, 37 * i % 100, 2});
    if (i > 0) path.entries.push_back({37 * i % 100, 37 * (i - 1) % 100, -1});
    if (i < 99) path.entries.push_back({37 * i % 100, 37 * (i + 1) % 100, -1});
  }
  const auto block = path.distribute(world());
  const auto permuted = permute(world(), block, graph_partition(world(), block));
  const auto ghosts = static_cast<std::int64_t>(split(world(), permuted).plan.ghosts.size());
  EXPECT_LE(world().allreduce(ghosts, comm::ReduceOp::sum), 4 * (world().size() - 1));
}

TEST(GraphPartition, PrintsNothing) {
  for (std::int64_t n = 0; n < 12; ++n) {
    TestMatrix diagonal{"diagonal", n, {}};
    TestMatrix arrow{"arrow", n, {}};
    for (std::int64_t i = 0; i < n; ++i) {
      diagonal.entries.push_back({i, i, 1});
      arrow.entries.push_back({0, i, 1});
    }
    for (const auto& matrix : {diagonal, arrow}) {
      testing::internal::CaptureStdout();
      graph_partition(world(), matrix.distribute(world()));
      EXPECT_EQ(testing::internal::GetCapturedStdout(), "") << matrix.name << " of " << n;
    }
  }
}

}  // namespace
}  // namespace ayatori::sparse
