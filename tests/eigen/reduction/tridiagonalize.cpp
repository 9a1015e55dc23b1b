#include "ayatori/eigen/reduction/tridiagonalize.hpp"

#include <fmt/format.h>
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
        SCOPED_TRACE(fmt::format("n={} block={}", n, block));
        expect_similarity(
            t, [&](Block z) { back_transform(a, t.tau, 1, 7, z); }, before, n);
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
