#include "ayatori/sparse/partition/move_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "ayatori/io/generator.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::sparse {
namespace {

/// Part p on the next rank, round all of them.
std::vector<int> rotated(int ranks) {
  std::vector<int> rank_of_part(ranks);
  for (int part = 0; part < ranks; ++part) rank_of_part[part] = (part + 1) % ranks;
  return rank_of_part;
}

Array<double> elements(Range rows) {
  Array<double> x(rows.size());
  for (std::int64_t i = 0; i < rows.size(); ++i) x[i] = static_cast<double>((rows.begin + i) * 7 % 17 - 8);
  return x;
}

Array<double> product(const comm::Comm& comm, const RowBlock& block, std::span<const double> x) {
  Array<double> y(x.size());
  multiply_reference(comm, split(comm, block), x, y);
  return y;
}

/// Sums of a row may be taken in another order.
void expect_near(const Array<double>& got, const Array<double>& wanted) {
  ASSERT_EQ(got.size(), wanted.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-11) << i;
}

TEST(MoveParts, TheMatrixIsTheSameElsewhere) {
  const auto world = comm::Comm::world();
  for (const char* spec : {"poisson3d-27:n=5", "convection2d:n=9", "poisson2d-5:n=2"}) {
    const auto block = io::generate(world, spec);
    const auto rows = partition_of(world, block);
    const Range mine = rows.range(world.rank());
    const auto x = elements(mine);
    const auto expected = product(world, block, x);

    const auto move = move_parts(unchanged(rows, world.rank()), rotated(world.size()));
    const auto moved = permute(world, block, move);
    const int from = (world.rank() + world.size() - 1) % world.size();
    EXPECT_EQ(moved.rows(), rows.range(from).size()) << spec;
    const auto y = product(world, moved, permute(world, x, move));
    const auto back = permute_back(world, y, move);
    expect_near(back, expected);
  }
}

TEST(MoveParts, FollowsAnotherRenumbering) {
  const auto world = comm::Comm::world();
  const auto block = io::generate(world, "convection2d:n=12");
  const auto rows = partition_of(world, block);
  const auto graph = graph_partition(world, block);
  const auto cut = permute(world, block, graph);
  const auto rank_of_part = rotated(world.size());
  const auto moved = permute(world, cut, move_parts(unchanged(graph.target, world.rank()), rank_of_part));
  const auto both = move_parts(graph, rank_of_part);
  EXPECT_EQ(both.target, partition_of(world, moved));
  const auto x = elements(rows.range(world.rank()));
  const auto back = permute_back(world, product(world, moved, permute(world, x, both)), both);
  expect_near(back, product(world, block, x));
}

TEST(MoveParts, PartsMayBeEmpty) {
  const RowPartition rows({0, 3, 3, 5});
  const auto moved = move_parts(unchanged(rows, 2), std::vector<int>{1, 2, 0});
  EXPECT_EQ(moved.target, RowPartition({0, 2, 5, 5}));
  EXPECT_TRUE(std::ranges::equal(moved.new_number, std::vector<std::int64_t>{0, 1}));
}

}  // namespace
}  // namespace ayatori::sparse
