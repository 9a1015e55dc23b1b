#include "ayatori/sparse/partition/graph_partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "ayatori/sparse/distributed_matrix.hpp"
#include "ayatori/sparse/partition/partitioner.hpp"
#include "sparse/test_matrices.hpp"
#include "world.hpp"

namespace ayatori::sparse {
namespace {

/// Collective.
void expect_permutation(const Permutation& permutation, std::int64_t n) {
  const auto all = world().allgatherv(std::span<const std::int64_t>(permutation.new_number)).values;
  const std::set<std::int64_t> different(all.begin(), all.end());
  EXPECT_EQ(static_cast<std::int64_t>(different.size()), n);
  EXPECT_EQ(permutation.target.rows(), n);
  if (n > 0) {
    EXPECT_EQ(*different.begin(), 0);
    EXPECT_EQ(*different.rbegin(), n - 1);
  }
}

/// The same matrix with its rows, and its columns, numbered i -> factor i mod n.
TestMatrix shuffled(TestMatrix matrix, std::int64_t factor) {
  for (Entry& entry : matrix.entries) {
    entry.row = entry.row * factor % matrix.n;
    entry.column = entry.column * factor % matrix.n;
  }
  return matrix;
}

/// Two squares of points without an edge between them, shuffled.
TestMatrix two_squares() {
  TestMatrix both = five_point_matrix(12, 1, 1);
  const std::int64_t half = both.n;
  for (std::size_t k = 0, count = both.entries.size(); k < count; ++k) {
    const Entry entry = both.entries[k];
    both.entries.push_back({entry.row + half, entry.column + half, entry.value});
  }
  both.name = "two squares";
  both.n *= 2;
  return shuffled(std::move(both), 25);
}

/// What a partition is judged by.
struct Quality {
  std::int64_t cut;  ///< entries whose row and column are on different ranks
  double imbalance;  ///< nonzeros and rows of the rank with most of them over the mean
};

/// Collective.
Quality quality(const RowBlock& block, const Partitioner& partitioner) {
  const auto permuted = permute(world(), block, graph_partition(world(), block, partitioner));
  const Range mine{permuted.first_row, permuted.first_row + permuted.rows()};
  const auto leaves = [&](std::int64_t column) { return !mine.contains(column); };
  const auto weight = static_cast<double>(permuted.nonzeros() + permuted.rows());
  return {
      world().allreduce<std::int64_t>(std::ranges::count_if(permuted.column, leaves), comm::ReduceOp::sum),
      world().allreduce(weight, comm::ReduceOp::max) * world().size() /
          world().allreduce(weight, comm::ReduceOp::sum)};
}

TEST(GraphPartition, IsAPermutation) {
  for (const auto& matrix : awkward_matrices(world().size())) {
    SCOPED_TRACE(matrix.name);
    expect_permutation(graph_partition(world(), matrix.distribute(world())), matrix.n);
  }
}

TEST(Partitioners, GivePermutations) {
  auto matrices = awkward_matrices(world().size());
  matrices.push_back(two_squares());
  TestMatrix arrow{"arrow", 300, {}};
  for (std::int64_t i = 0; i < arrow.n; ++i) {
    arrow.entries.push_back({i, i, 1});
    arrow.entries.push_back({7, i, 1});
  }
  matrices.push_back(arrow);
  for (const Partitioner& partitioner : partitioners()) {
    for (const auto& matrix : matrices) {
      SCOPED_TRACE(std::string(partitioner.name) + ": " + matrix.name);
      expect_permutation(graph_partition(world(), matrix.distribute(world()), partitioner), matrix.n);
      const auto on_first = matrix.distribute(world(), RowPartition::on_first(matrix.n, world().size()));
      expect_permutation(graph_partition(world(), on_first, partitioner), matrix.n);
    }
  }
}

TEST(Partitioners, CutLittleAndBalance) {
  for (const auto& matrix : {shuffled(five_point_matrix(30, 1, 1), 37), two_squares()}) {
    const auto block = matrix.distribute(world());
    const Quality metis = quality(block, metis_partitioner);
    for (const Partitioner& partitioner : partitioners()) {
      SCOPED_TRACE(std::string(partitioner.name) + ": " + matrix.name);
      const Quality found = quality(block, partitioner);
      EXPECT_LE(found.imbalance, 1.06);
      EXPECT_LE(found.cut, 3 * metis.cut / 2 + 20);
    }
  }
}

TEST(Partitioners, FindTheSameEveryTime) {
  const auto block = shuffled(five_point_matrix(30, 1, 1), 37).distribute(world());
  for (const Partitioner& partitioner : partitioners()) {
    SCOPED_TRACE(partitioner.name);
    const auto first = graph_partition(world(), block, partitioner).new_number;
    for (int again = 0; again < 5; ++again) {
      const auto found = graph_partition(world(), block, partitioner).new_number;
      EXPECT_TRUE(std::ranges::equal(found, first));
    }
  }
}

// The last one takes whatever the others do not, and each larger graphs than the one before.
TEST(Partitioners, AreInTheOrderOfTheirSizes) {
  std::int64_t most = 0;
  for (const Partitioner& partitioner : partitioners()) {
    EXPECT_GT(partitioner.most_edges, most);
    most = partitioner.most_edges;
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
