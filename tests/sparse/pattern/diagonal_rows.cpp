#include "ayatori/sparse/pattern/diagonal_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "sparse/test_matrices.hpp"
#include "world.hpp"

namespace ayatori::sparse {
namespace {

bool is_held(std::int64_t i) {
  return i % 5 == 2;
}

/// Every fifth row holds a number alone; with `zeros`, and stored zeros where its entries were.
TestMatrix held_square(bool zeros) {
  TestMatrix matrix = five_point_matrix(8, 1, 2);
  if (!zeros)
    std::erase_if(matrix.entries, [](const Entry& e) { return is_held(e.row) && e.row != e.column; });
  for (Entry& e : matrix.entries)
    if (is_held(e.row)) e.value = e.row == e.column ? 3 : 0;
  return matrix;
}

Array<double> product(const std::shared_ptr<const SplitMatrix>& parts, std::span<const double> x) {
  Array<double> y(x.size());
  DistributedMatrix(world(), parts, {}).apply(x, y);
  return y;
}

TEST(DiagonalRows, WhereVectorsAreZeroTheirColumnsDoNotMatter) {
  for (const bool zeros : {false, true}) {
    const auto matrix = held_square(zeros);
    const auto parts = std::make_shared<const SplitMatrix>(split(world(), matrix.distribute(world())));
    const auto rest = std::make_shared<const SplitMatrix>(without_columns_of_diagonal_rows(world(), *parts));
    auto x = test_vector(matrix.n, 3);
    for (std::int64_t i = 0; i < matrix.n; ++i)
      if (is_held(i)) x[i] = 0;
    const auto mine = piece(x, parts->partition.range(world().rank()));
    const auto expected = product(parts, mine);
    const auto actual = product(rest, mine);
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-12) << i;
  }
}

TEST(DiagonalRows, NothingElseIsLeftInTheirRowsAndColumns) {
  for (const bool zeros : {false, true}) {
    const auto matrix = held_square(zeros);
    const auto parts = split(world(), matrix.distribute(world()));
    const auto rest = std::make_shared<const SplitMatrix>(without_columns_of_diagonal_rows(world(), parts));
    std::vector<double> x(matrix.n, 0.0);
    for (std::int64_t i = 0; i < matrix.n; ++i)
      if (is_held(i)) x[i] = 1;
    const Range rows = rest->partition.range(world().rank());
    const auto y = product(rest, piece(x, rows));
    for (std::int64_t i = rows.begin; i < rows.end; ++i)
      EXPECT_EQ(y[i - rows.begin], is_held(i) ? 3 : 0) << i;
    const auto wanted = std::ranges::count_if(matrix.entries, [](const Entry& e) {
      return e.row == e.column || (!is_held(e.row) && !is_held(e.column));
    });
    EXPECT_EQ(world().allreduce(rest->interior.nonzeros() + rest->halo.nonzeros(), comm::ReduceOp::sum),
              wanted);
    for (std::int32_t r = 0; r < rest->halo.rows; ++r)
      EXPECT_LT(rest->halo.row_start[r], rest->halo.row_start[r + 1])
          << "rows of the halo part are not empty";
  }
}

TEST(DiagonalRows, WithoutThemNothingIsTakenAway) {
  const auto parts = split(world(), five_point_matrix(6, 1, 1).distribute(world()));
  const auto rest = without_columns_of_diagonal_rows(world(), parts);
  EXPECT_EQ(rest.interior.column, parts.interior.column);
  EXPECT_EQ(rest.halo.column, parts.halo.column);
  EXPECT_EQ(rest.halo_rows, parts.halo_rows);
}

}  // namespace
}  // namespace ayatori::sparse
