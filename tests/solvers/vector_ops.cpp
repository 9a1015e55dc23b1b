#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <limits>
#include <vector>

#include "ayatori/base/random.hpp"
#include "ayatori/solvers/vector_ops.hpp"

namespace ayatori::solvers {
namespace {

using Values = std::vector<double>;

Values random_values(std::int64_t n, std::uint64_t seed) {
  Values v(n);
  for (std::int64_t i = 0; i < n; ++i) v[i] = 2 * random_uniform(seed, i) - 1;
  return v;
}

long double plain_dot(const Values& x, const Values& y) {
  long double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += static_cast<long double>(x[i]) * y[i];
  return sum;
}

void expect_sum(double value, const Values& x, const Values& y) {
  EXPECT_NEAR(value, static_cast<double>(plain_dot(x, y)), 1e-13 * (1 + static_cast<double>(x.size())));
}

template <class F>
void expect_each(const Values& result, F&& expected) {
  for (std::size_t i = 0; i < result.size(); ++i)
    ASSERT_NEAR(result[i], expected(i), 1e-14) << "element " << i;
}

/// For every size, with one thread and with three.
class VectorOps : public testing::TestWithParam<std::tuple<std::int64_t, int>> {
 protected:
  void SetUp() override { omp_set_num_threads(std::get<1>(GetParam())); }
  void TearDown() override { omp_set_num_threads(before_); }
  int before_ = omp_get_max_threads();
  std::int64_t n = std::get<0>(GetParam());
  const Values x = random_values(n, 1);
  const Values y0 = random_values(n, 2);
  const Values z = random_values(n, 3);
  Values y = y0;
};

TEST_P(VectorOps, Elementwise) {
  Values u(n);
  fill(u, 2.5);
  expect_each(u, [](std::size_t) { return 2.5; });
  copy(x, u);
  EXPECT_EQ(u, x);
  scale(3, u);
  expect_each(u, [&](std::size_t i) { return 3 * x[i]; });
  axpy(0.5, x, y);
  expect_each(y, [&](std::size_t i) { return y0[i] + 0.5 * x[i]; });
  y = y0;
  aypx(0.5, x, y);
  expect_each(y, [&](std::size_t i) { return x[i] + 0.5 * y0[i]; });
  subtract(x, y0, u);
  expect_each(u, [&](std::size_t i) { return x[i] - y0[i]; });
  u = x;
  subtract(y0, u, u);
  expect_each(u, [&](std::size_t i) { return y0[i] - x[i]; });
}

TEST_P(VectorOps, ElementwiseOfThree) {
  axpbypz(2, x, 3, z, y);
  expect_each(y, [&](std::size_t i) { return y0[i] + 2 * x[i] + 3 * z[i]; });
  y = y0;
  axpbypcz(2, x, 3, z, 0.5, y);
  expect_each(y, [&](std::size_t i) { return 0.5 * y0[i] + 2 * x[i] + 3 * z[i]; });
  y = y0;
  aypx_minus(2, x, 3, z, y);
  expect_each(y, [&](std::size_t i) { return x[i] + 2 * (y0[i] - 3 * z[i]); });
  y = y0;
  Values p = x;
  axpy_aypx(2, p, y, 3, z);
  expect_each(y, [&](std::size_t i) { return y0[i] + 2 * x[i]; });
  expect_each(p, [&](std::size_t i) { return z[i] + 3 * x[i]; });
  y = y0;
  Values w_old = x;
  advance_minres(z, 2, w_old, 3, x, 0.5, 4, y);
  expect_each(w_old, [&](std::size_t i) { return (z[i] - 5 * x[i]) * 0.5; });
  expect_each(y, [&](std::size_t i) { return y0[i] + 4 * w_old[i]; });
}

TEST_P(VectorOps, Sums) {
  expect_sum(local_dot(x, y), x, y);
  const auto [xy, yy] = local_dot_and_square(x, y);
  expect_sum(xy, x, y);
  expect_sum(yy, y, y);
  expect_sum(axpy_square(0.5, x, y), y, y);
  expect_sum(axpy_dot(0.5, x, y, z), y, z);
  const auto [zy, square] = axpy_dot_and_square(0.5, x, y, z);
  expect_sum(zy, y, z);
  expect_sum(square, y, y);
  expect_each(y, [&](std::size_t i) { return y0[i] + 1.5 * x[i]; });
  y = y0;
  expect_sum(axpby_square(2, x, 3, y), y, y);
  expect_each(y, [&](std::size_t i) { return 2 * x[i] + 3 * y0[i]; });
  y = y0;
  Values u = x;
  expect_sum(aypx_axpy_square(2, z, u, 0.5, y), y, y);
  expect_each(u, [&](std::size_t i) { return z[i] + 2 * x[i]; });
  expect_each(y, [&](std::size_t i) { return y0[i] + 0.5 * u[i]; });
}

TEST_P(VectorOps, ProductsOfPairs) {
  Values products(5);
  local_products({{x, y}, {y, y}, {z, x}, {y, z}, {z, z}}, products);
  expect_sum(products[0], x, y);
  expect_sum(products[1], y, y);
  expect_sum(products[2], z, x);
  expect_sum(products[3], y, z);
  expect_sum(products[4], z, z);
  local_products({{z, z}, {x, y}, {x, x}, {y, z}}, products);
  expect_sum(products[0], z, z);
  expect_sum(products[1], x, y);
  expect_sum(products[2], x, x);
  expect_sum(products[3], y, z);
  local_products({{x, y}, {z, x}, {y, y}}, products);
  expect_sum(products[0], x, y);
  expect_sum(products[1], z, x);
  expect_sum(products[2], y, y);
}

TEST_P(VectorOps, LargestElement) {
  double expected = 0;
  for (const double value : x) expected = std::max(expected, std::abs(value));
  EXPECT_EQ(local_max_abs(x), expected);
  if (n == 0) return;
  y[n / 2] = -std::numeric_limits<double>::infinity();
  EXPECT_EQ(local_max_abs(y), std::numeric_limits<double>::infinity());
  y[n - 1] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(local_max_abs(y)));
}

TEST_P(VectorOps, ManyVectors) {
  for (const int k : {0, 1, 4, 7, 32, 70}) {
    if (n * k > 3'000'000) continue;
    const std::int64_t stride = n + 3;
    const Values v = random_values(stride * k, 5);
    const Basis basis{v.data(), stride, k};
    const Values h = random_values(k, 6);
    Values dots(k);
    expect_sum(local_dots(basis, x, dots), x, x);
    for (int j = 0; j < k; ++j) expect_sum(dots[j], Values(&v[j * stride], &v[j * stride] + n), x);

    Values combination(n, 0.0);
    for (int j = 0; j < k; ++j)
      for (std::int64_t i = 0; i < n; ++i) combination[i] += h[j] * v[j * stride + i];
    Values w = x;
    const double square = subtract_combination(basis, h, w);
    expect_sum(square / 100, w, [&] {
      Values scaled = w;
      scale(0.01, scaled);
      return scaled;
    }());
    for (std::int64_t i = 0; i < n; ++i) ASSERT_NEAR(w[i], x[i] - combination[i], 1e-13);
    combine(basis, h, w);
    for (std::int64_t i = 0; i < n; ++i) ASSERT_NEAR(w[i], combination[i], 1e-13);
  }
}

INSTANTIATE_TEST_SUITE_P(SizesAndThreads, VectorOps,
                         testing::Combine(testing::Values(0, 1, 1023, 1024, 100003), testing::Values(1, 3)));

TEST(Norm, IsRightWhereSquaresAreNot) {
  const comm::Comm world = comm::Comm::world();
  const GlobalSum sum(world);
  const auto n = static_cast<double>(world.size());
  for (const double scale : {1e-300, 1e-160, 1.0, 1e160, 1e300}) {
    const Values x{3 * scale, 4 * scale};
    EXPECT_NEAR(norm(sum, x) / scale, 5 * std::sqrt(n), 1e-14 * n) << scale;
  }
  EXPECT_EQ(norm(sum, Values{0.0, 0.0}), 0);
  const double odd = world.rank() == world.size() - 1 ? std::numeric_limits<double>::quiet_NaN() : 1;
  EXPECT_TRUE(std::isnan(norm(sum, Values{odd})));
  EXPECT_TRUE(std::isinf(norm(sum, Values{std::numeric_limits<double>::infinity()})));
}

TEST(GlobalSum, SumsAndCounts) {
  const comm::Comm world = comm::Comm::world();
  const GlobalSum sum(world);
  const double ranks = world.size();
  EXPECT_EQ(sum(world.rank() + 1.0), ranks * (ranks + 1) / 2);
  Values many(2000, 0.5);
  sum(many);
  EXPECT_EQ(many.back(), ranks / 2);
  EXPECT_EQ(sum.count(), 2);
  EXPECT_FALSE(sum.stop_requested());
  EXPECT_EQ(sum.seconds() > 0, world.size() > 1);
}

TEST(GlobalSum, TellsAllRanksThatOneWantsToStop) {
  const comm::Comm world = comm::Comm::world();
  bool stop = false;
  const GlobalSum sum(world, [&] { return stop && world.rank() == world.size() - 1; });
  EXPECT_EQ(sum(1.0), world.size());
  EXPECT_FALSE(sum.stop_requested());
  stop = true;
  EXPECT_EQ(sum(1.0), world.size());
  EXPECT_TRUE(sum.stop_requested());
}

}  // namespace
}  // namespace ayatori::solvers
