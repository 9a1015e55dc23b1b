#include "ayatori/sparse/products/transposed_product.hpp"

#include <gtest/gtest.h>

#include "sparse/test_matrices.hpp"
#include "world.hpp"

namespace ayatori::sparse {
namespace {

std::vector<double> multiply_transposed(const TestMatrix& matrix, const std::vector<double>& x) {
  std::vector<double> y(matrix.n, 0.0);
  for (const Entry& e : matrix.entries) y[e.column] += e.value * x[e.row];
  return y;
}

TEST(TransposedProduct, IsTheDefinition) {
  for (const auto& matrix : awkward_matrices(world().size())) {
    SCOPED_TRACE(matrix.name);
    const auto parts = std::make_shared<const SplitMatrix>(split(world(), matrix.distribute(world())));
    const Range mine = parts->partition.range(world().rank());
    const TransposedProduct transposed(world(), parts);
    EXPECT_EQ(transposed.local_size(), mine.size());
    for (const std::uint64_t seed : {1, 2}) {  // twice: buffers are used again
      const auto x = test_vector(matrix.n, seed);
      Array<double> y(mine.size(), -1.0);
      transposed.apply(piece(x, mine), y);
      const auto expected = piece(multiply_transposed(matrix, x), mine);
      for (std::int64_t i = 0; i < mine.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-12);
    }
  }
}

TEST(TransposedProduct, ColumnsOfATransposeAscend) {
  // Rows 0 1 2 of a 3 x 2 matrix.
  const Csr matrix{3, 2, {0, 2, 2, 4}, {0, 1, 0, 1}, {1, 2, 3, 4}};
  const Csr transposed = transpose(matrix);
  EXPECT_EQ(transposed.rows, 2);
  EXPECT_EQ(transposed.columns, 3);
  EXPECT_EQ(transposed.row_start, (Array<std::int64_t>{0, 2, 4}));
  EXPECT_EQ(transposed.column, (Array<std::int32_t>{0, 2, 0, 2}));
  EXPECT_EQ(transposed.value, (Array<double>{1, 3, 2, 4}));
}

}  // namespace
}  // namespace ayatori::sparse
