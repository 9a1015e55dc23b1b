#include "ayatori/sparse/row_block.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <map>

#include "ayatori/base/error.hpp"
#include "test_matrices.hpp"
#include "world.hpp"

namespace ayatori::sparse {
namespace {

using Dense = std::map<std::pair<std::int64_t, std::int64_t>, double>;

Dense dense(const TestMatrix& matrix, bool transposed = false) {
  Dense result;
  for (const Entry& e : matrix.entries)
    result[transposed ? std::pair(e.column, e.row) : std::pair(e.row, e.column)] += e.value;
  return result;
}

/// Collective. Checks the form of every rank's block and gives all entries.
Dense collect(const RowBlock& block) {
  std::vector<Entry> mine;
  for (std::int64_t i = 0; i < block.rows(); ++i) {
    for (std::int64_t k = block.row_start[i]; k < block.row_start[i + 1]; ++k) {
      EXPECT_TRUE(k == block.row_start[i] || block.column[k - 1] < block.column[k]);
      mine.push_back({block.first_row + i, block.column[k], block.value[k]});
    }
  }
  Dense result;
  for (const Entry& e : world().allgatherv(std::span<const Entry>(mine)).values)
    result[{e.row, e.column}] = e.value;
  return result;
}

void expect_near(const Dense& actual, const Dense& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const auto& [place, value] : expected) {
    ASSERT_TRUE(actual.contains(place));
    EXPECT_NEAR(actual.at(place), value, 1e-14);
  }
}

TEST(RowBlock, AssembleSortsAndSums) {
  for (const auto& matrix : awkward_matrices(world().size())) {
    SCOPED_TRACE(matrix.name);
    expect_near(collect(matrix.distribute(world())), dense(matrix));
  }
}

TEST(RowBlock, AssembleDoesNotDependOnTheThreads) {
  const auto matrix = random_matrix(20000, 4, 5);
  omp_set_num_threads(3);
  const auto several = matrix.distribute(world());
  omp_set_num_threads(1);
  const auto one = matrix.distribute(world());
  EXPECT_EQ(several.row_start, one.row_start);
  EXPECT_EQ(several.column, one.column);
  EXPECT_EQ(several.value, one.value);  // bitwise: sums of duplicates are taken in a fixed order
}

TEST(RowBlock, AssembleRefusesSumsThatOverflow) {
  TestMatrix matrix{"overflow", 9, {{8, 2, 1e308}, {8, 2, 1e308}, {0, 0, -1e308}, {0, 0, 1e308}}};
  try {
    matrix.distribute(world());
    ADD_FAILURE() << "no error on rank " << world().rank();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(),
                 "row 9, column 3: the sum of the entries given for this place is too large for a double");
    EXPECT_TRUE(error.agreed());
  }
}

TEST(RowBlock, RedistributeKeepsTheMatrix) {
  for (const auto& matrix : awkward_matrices(world().size())) {
    SCOPED_TRACE(matrix.name);
    std::vector<std::int64_t> starts(world().size() + 1, matrix.n);  // all rows on the first rank
    starts[0] = 0;
    const RowPartition lopsided(starts);
    const auto moved = redistribute(world(), matrix.distribute(world()), lopsided);
    EXPECT_EQ(partition_of(world(), moved), lopsided);
    expect_near(collect(moved), dense(matrix));
    const auto back = redistribute(world(), moved, RowPartition::even(matrix.n, world().size()));
    expect_near(collect(back), dense(matrix));
  }
}

TEST(RowBlock, RedistributeMovesVectors) {
  const auto all = test_vector(57, 3);
  const auto even = RowPartition::even(57, world().size());
  std::vector<std::int64_t> starts(world().size() + 1, 0);
  starts.back() = 57;  // all on the last rank
  const RowPartition last(starts);
  const auto moved = redistribute(world(), piece(all, even.range(world().rank())), even, last);
  EXPECT_EQ(moved, piece(all, last.range(world().rank())));
}

TEST(RowBlock, TransposeSwapsRowsAndColumns) {
  for (const auto& matrix : awkward_matrices(world().size())) {
    SCOPED_TRACE(matrix.name);
    const auto block = matrix.distribute(world());
    expect_near(collect(transpose(world(), block, partition_of(world(), block))), dense(matrix, true));
  }
}

TEST(RowBlock, BalanceCountsNonzeros) {
  const auto matrix = random_matrix(1000, 9, 8);
  const auto block = matrix.distribute(world());
  const auto balanced = redistribute(world(), block, balance_nonzeros(world(), block));
  const auto total = world().allreduce(block.nonzeros() + 8 * block.rows(), comm::ReduceOp::sum);
  const auto mine = balanced.nonzeros() + 8 * balanced.rows();
  EXPECT_NEAR(static_cast<double>(mine), static_cast<double>(total) / world().size(), 20);
}

}  // namespace
}  // namespace ayatori::sparse
