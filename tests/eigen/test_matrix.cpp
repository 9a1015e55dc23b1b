#include "ayatori/eigen/test_matrix.hpp"

#include <gtest/gtest.h>

#include "ayatori/base/error.hpp"
#include "dense.hpp"

namespace ayatori::eigen {
namespace {

TEST(EigenTestMatrix, HasItsEigenvaluesOnAnyGrid) {
  const auto world = comm::Comm::world();
  for (const Spectrum& spectrum : spectra()) {
    for (const std::int64_t n : {1, 2, 40}) {
      const TestMatrix spec{n, std::string(spectrum.name), 3, 2};
      const auto first = whole(make_test_matrix(make_grid(world, {}), spec));
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < i; ++j) ASSERT_EQ(first[j * n + i], first[i * n + j]);
      }
      const auto expected = eigenvalues_of(spec);
      EXPECT_LE(distance(reference_values(first, n), expected), 20 * eps * std::max(1.0, max_abs(expected)))
          << spectrum.name << " " << n;
      for (const GridShape shape : shapes_of(world.size()))
        EXPECT_EQ(whole(make_test_matrix(make_grid(world, shape), spec)), first);
    }
  }
}

TEST(EigenTestMatrix, IsDense) {
  const auto a = whole(make_test_matrix(make_grid(comm::Comm::world(), {}), {50, "uniform", 1, 1}));
  EXPECT_EQ(std::ranges::count(a, 0.0), 0);
}

TEST(EigenTestMatrix, Specs) {
  EXPECT_TRUE(is_test_matrix("random:n=3"));
  EXPECT_TRUE(is_test_matrix("random"));
  EXPECT_FALSE(is_test_matrix("random-spd:n=3"));
  const auto spec = parse_test_matrix("random:n=30,spectrum=graded,scale=1e-3,seed=9");
  EXPECT_EQ(spec.n, 30);
  EXPECT_EQ(spec.spectrum, "graded");
  EXPECT_EQ(spec.scale, 1e-3);
  EXPECT_EQ(spec.seed, 9U);
  for (const char* wrong :
       {"random:", "random:n=0", "random:n", "random:n=3,n=3", "random:n=3.5", "random:m=3",
        "random:spectrum=pink", "random:scale=nan", "random:scale=-1", "random:n=3,"})
    EXPECT_THROW(parse_test_matrix(wrong), InputError) << wrong;
  const TestMatrix too_large{10, "wilkinson", 1e308, 1};
  EXPECT_THROW(eigenvalues_of(too_large), InputError);
}

}  // namespace
}  // namespace ayatori::eigen
