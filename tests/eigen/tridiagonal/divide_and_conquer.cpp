#include "ayatori/eigen/tridiagonal/divide_and_conquer.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "ayatori/base/error.hpp"
#include "ayatori/base/random.hpp"
#include "eigen/dense.hpp"

namespace ayatori::eigen {
namespace {

using Element = std::function<double(std::int64_t i)>;

/// All eigenpairs of a tridiagonal matrix of size about 1, checked one by one.
void expect_good(std::int64_t n, const Element& diagonal, const Element& off_diagonal) {
  const auto world = comm::Comm::world();
  std::vector<double> d(n);
  std::vector<double> e(n - 1);
  for (std::int64_t i = 0; i < n; ++i) d[i] = diagonal(i);
  for (std::int64_t i = 0; i + 1 < n; ++i) e[i] = off_diagonal(i);
  auto pairs = divide_and_conquer(world, d, e, [](std::span<const double> values) {
    return Range{0, static_cast<std::int64_t>(values.size())};
  });
  ASSERT_TRUE(std::ranges::is_sorted(pairs.values));
  const auto values = pairs.values;
  const auto mine = spread_by_columns(world, pairs);
  const auto all = world.allgatherv(std::span<const double>(mine)).values;
  ASSERT_EQ(static_cast<std::int64_t>(all.size()), n * n);
  const double bound = 4 * static_cast<double>(n) * eps;
  for (std::int64_t q = 0; q < n; ++q) {
    const double* const z = all.data() + q * n;
    for (std::int64_t i = 0; i < n; ++i) {
      double residual = (d[i] - values[q]) * z[i];
      if (i > 0) residual += e[i - 1] * z[i - 1];
      if (i + 1 < n) residual += e[i] * z[i + 1];
      ASSERT_LE(std::abs(residual), bound) << q;
    }
  }
  std::vector<double> products(n * n);
  const ConstBlock z{all.data(), n, n, n};
  multiply(1, Op::transpose, z, Op::none, z, 0, {products.data(), n, n, n});
  for (std::int64_t i = 0; i < n; ++i) products[i * n + i] -= 1;
  EXPECT_LE(max_abs(products), bound);
}

double noise(std::int64_t i) {
  return random_uniform(11, static_cast<std::uint64_t>(i)) - 0.5;
}

TEST(EigenDivideAndConquer, MatricesOfAllKinds) {
  for (const std::int64_t n : {1, 2, 32, 33, 65, 130, 301}) {
    SCOPED_TRACE(n);
    const auto constant = [](double value) { return [value](std::int64_t) { return value; }; };
    expect_good(n, noise, [](std::int64_t i) { return noise(i + 1000); });
    expect_good(n, constant(2), constant(-1));
    expect_good(n, constant(2), constant(0));
    expect_good(n, constant(0), constant(1));
    expect_good(
        n, [](std::int64_t i) { return noise(i) * 1e-12; }, constant(1e-16));
    // Wilkinson's W+ of order 21, glued: clusters of as many eigenvalues as there are copies.
    expect_good(
        n, [](std::int64_t i) { return std::abs(static_cast<double>(i % 21) - 10) / 10; },
        [](std::int64_t i) { return i % 21 == 20 ? 1e-14 : 0.1; });
    expect_good(
        n, [](std::int64_t i) { return std::pow(0.5, static_cast<double>(i % 60)); },
        [](std::int64_t i) { return std::pow(0.5, static_cast<double>(i % 60)); });
  }
}

TEST(EigenDivideAndConquer, GivesTheSelectedVectors) {
  const auto world = comm::Comm::world();
  for (const std::int64_t n : {20, 100}) {
    const std::vector<double> d(n, 0.0);
    const std::vector<double> e(n - 1, 0.5);
    const Range selected{n / 4, n / 4 + 3};
    auto pairs = divide_and_conquer(world, d, e, [&](std::span<const double>) { return selected; });
    EXPECT_EQ(static_cast<std::int64_t>(pairs.values.size()), n);
    const auto values = pairs.values;
    const auto mine = spread_by_columns(world, pairs);
    const auto all = world.allgatherv(std::span<const double>(mine)).values;
    ASSERT_EQ(static_cast<std::int64_t>(all.size()), 3 * n);
    for (std::int64_t q = 0; q < 3; ++q) {
      for (std::int64_t i = 1; i + 1 < n; ++i) {
        EXPECT_NEAR(0.5 * (all[q * n + i - 1] + all[q * n + i + 1]),
                    values[selected.begin + q] * all[q * n + i], 1e-14);
      }
    }
  }
}

TEST(EigenDivideAndConquer, WhatIsNotFiniteIsAnErrorOfAll) {
  const auto world = comm::Comm::world();
  std::vector<double> d(100, 1.0);
  d[70] = std::numeric_limits<double>::quiet_NaN();
  const auto none = [](std::span<const double>) { return Range{0, 0}; };
  EXPECT_THROW(divide_and_conquer(world, d, std::vector<double>(99, 0.5), none), InternalError);
}

}  // namespace
}  // namespace ayatori::eigen
