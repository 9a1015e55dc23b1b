#include "ayatori/sparse/complex_form.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "ayatori/base/error.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "local_matrices.hpp"

namespace ayatori::sparse {
namespace {

comm::Comm world() {
  return comm::Comm::world();
}

TEST(ComplexForm, IsTheBlockOfTheTwoParts) {
  std::vector<Entry> entries;
  add_real_form(3, 5, {2, -7}, [&](std::int64_t i, std::int64_t j, double part) {
    entries.push_back({i, j, part});
  });
  const std::array<Entry, 4> expected{{{6, 10, 2}, {6, 11, 7}, {7, 10, -7}, {7, 11, 2}}};
  ASSERT_EQ(entries.size(), expected.size());
  for (std::size_t k = 0; k < expected.size(); ++k) {
    EXPECT_EQ(entries[k].row, expected[k].row);
    EXPECT_EQ(entries[k].column, expected[k].column);
    EXPECT_EQ(entries[k].value, expected[k].value);
  }
}

TEST(ComplexForm, IsRecognized) {
  EXPECT_TRUE(is_real_form(complex_csr(8)));
  EXPECT_FALSE(is_real_form(stencil_5(6)));
  EXPECT_FALSE(is_real_form(block_csr(60, 60, 2))) << "full blocks of any values";
  EXPECT_FALSE(is_real_form(random_csr(21, 21, 0.5, 3)));
  EXPECT_TRUE(is_real_form(csr(4, 6, {}))) << "no block is another";
}

/// One entry anywhere that does not fit, also behind the first rows.
TEST(ComplexForm, IsRefutedByASingleEntry) {
  const Csr good = complex_csr(12);
  for (const std::int64_t k : {std::int64_t{0}, std::int64_t{1}, good.nonzeros() / 2, good.nonzeros() - 1}) {
    Csr bad = good;
    bad.value[k] += 1;
    EXPECT_FALSE(is_real_form(bad)) << k;
  }
}

TEST(ComplexForm, GivesTheComplexMatrixBack) {
  const Csr real_form = complex_csr(7);
  const CsrOf<Complex> matrix = complex_matrix(real_form);
  ASSERT_EQ(matrix.rows, 49);
  ASSERT_EQ(matrix.columns, 49);
  ASSERT_EQ(4 * matrix.nonzeros(), real_form.nonzeros());
  const auto x = test_vector(real_form.columns, 5);
  std::vector<double> expected(real_form.rows);
  multiply_reference(real_form, x, expected);
  const auto of_x = as_complex(std::span<const double>(x));
  const auto of_y = as_complex(std::span<const double>(expected));
  for (std::int32_t i = 0; i < matrix.rows; ++i) {
    Complex sum = 0;
    for (auto k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k)
      sum += matrix.value[k] * of_x[matrix.column[k]];
    EXPECT_LT(std::abs(sum - of_y[i]), 1e-13);
  }
}

TEST(ComplexForm, PairsStayOnOneRank) {
  const RowPartition elements({0, 3, 3, 10});
  EXPECT_EQ(of_pairs(elements), RowPartition({0, 6, 6, 20}));
  EXPECT_EQ(of_elements(of_pairs(elements)), elements);
  EXPECT_EQ(with_whole_pairs(RowPartition({0, 5, 5, 9, 20})), RowPartition({0, 4, 4, 8, 20}));
  EXPECT_THROW(of_elements(RowPartition({0, 5, 20})), InternalError);
}

/// A graph partition of the complex pattern, for the rows of the real form: what is permuted by it is still
/// one, and multiplies as before.
TEST(ComplexForm, OutlivesAGraphPartition) {
  const auto matrix = complex_five_point_matrix(9, {4, 1}, {-1, 0.5}, {-1, 0.25});
  const auto rows = even_pairs(matrix, world().size());
  const RowBlock block = matrix.distribute(world(), rows);
  const auto permutation = of_pairs(graph_partition(world(), complex_pattern(block)));
  const auto parts = split(world(), permute(world(), block, permutation));
  EXPECT_TRUE(is_real_form(parts.interior));
  EXPECT_TRUE(is_real_form(parts.halo));

  const auto x = test_vector(matrix.n, 6);
  const auto expected = matrix.multiply(x);
  const auto mine = piece(x, rows.range(world().rank()));
  const auto permuted = permute(world(), mine, permutation);
  Array<double> y(permuted.size());
  for (const char* kernel : {"csr", "complex-csr"}) {
    DistributedMatrix(world(), std::make_shared<const SplitMatrix>(parts), {.kernel = kernel})
        .apply(permuted, y);
    const auto back = permute_back(world(), y, permutation);
    const Range range = rows.range(world().rank());
    for (std::int64_t i = 0; i < range.size(); ++i)
      EXPECT_NEAR(back[i], expected[range.begin + i], 1e-13) << kernel;
  }
}

}  // namespace
}  // namespace ayatori::sparse
