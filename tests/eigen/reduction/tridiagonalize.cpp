#include "ayatori/eigen/reduction/tridiagonalize.hpp"

#include <gtest/gtest.h>

#include "ayatori/eigen/reduction/back_transform.hpp"
#include "ayatori/eigen/test_matrix.hpp"
#include "eigen/dense.hpp"

namespace ayatori::eigen {
namespace {

/// Q T Q^T gives A again, with Q orthogonal, for Q made of the reflectors by back_transform().
TEST(EigenTridiagonalize, IsASimilarity) {
  const auto world = comm::Comm::world();
  for (const GridShape shape : shapes_of(world.size())) {
    const auto grid = make_grid(world, shape);
    for (const std::int64_t n : {1, 2, 3, 4, 33, 61}) {
      for (const std::int64_t block : {1, 4, 32}) {
        auto a = make_test_matrix(grid, {n, "uniform", 1, 9});
        const auto before = whole(a);
        const Tridiagonal t = tridiagonalize(a, block);
        ASSERT_EQ(static_cast<std::int64_t>(t.diagonal.size()), n);
        ASSERT_EQ(static_cast<std::int64_t>(t.off_diagonal.size()), n - 1);

        std::vector<double> q(n * n, 0.0);
        for (std::int64_t i = 0; i < n; ++i) q[i * n + i] = 1;
        back_transform(a, t.tau, 1, 7, {q.data(), n, n, n});
        std::vector<double> product(n * n, 0.0);  // Q T
        for (std::int64_t j = 0; j < n; ++j) {
          for (std::int64_t i = 0; i < n; ++i) {
            product[j * n + i] = q[j * n + i] * t.diagonal[j];
            if (j > 0) product[j * n + i] += q[(j - 1) * n + i] * t.off_diagonal[j - 1];
            if (j + 1 < n) product[j * n + i] += q[(j + 1) * n + i] * t.off_diagonal[j];
          }
        }
        const ConstBlock of_q{q.data(), n, n, n};
        std::vector<double> after(n * n);
        multiply(1, Op::none, {product.data(), n, n, n}, Op::transpose, of_q, 0, {after.data(), n, n, n});
        EXPECT_LE(distance(after, before), 10 * static_cast<double>(n) * eps) << n << " " << block;
        multiply(1, Op::none, of_q, Op::transpose, of_q, 0, {after.data(), n, n, n});
        for (std::int64_t i = 0; i < n; ++i) after[i * n + i] -= 1;
        EXPECT_LE(max_abs(after), 10 * static_cast<double>(n) * eps);
      }
    }
  }
}

/// Some panels are the first ones of all.
TEST(EigenTridiagonalize, FirstColumns) {
  const auto grid = make_grid(comm::Comm::world(), {});
  auto a = make_test_matrix(grid, {40, "uniform", 1, 3});
  auto b = a;
  const auto all = tridiagonalize(a, 8);
  const auto some = tridiagonalize(b, 8, 9);  // two panels
  for (std::int64_t j = 0; j < 16; ++j) {
    EXPECT_NEAR(some.diagonal[j], all.diagonal[j], 1e-14) << j;
    EXPECT_NEAR(some.off_diagonal[j], all.off_diagonal[j], 1e-14) << j;
  }
  EXPECT_NE(some.tau[15], 0);
  EXPECT_EQ(some.tau[16], 0);
}

}  // namespace
}  // namespace ayatori::eigen
