#include "ayatori/eigen/davidson.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "ayatori/base/error.hpp"
#include "ayatori/eigen/dense/distributed_dense.hpp"
#include "dense.hpp"
#include "dense_operator.hpp"
#include "world.hpp"

namespace ayatori::eigen {
namespace {

void expect_good(const std::vector<double>& dense, std::int64_t n, const SymmetricOperator& a,
                 const ExtremeOptions& options) {
  const auto pairs = extreme_pairs(world(), a, options);
  EXPECT_TRUE(pairs.converged);
  const auto expected = reference_values(dense, n);
  ASSERT_EQ(std::ssize(pairs.values), options.count);
  const double size = a.norm > 0 ? a.norm : 1;
  const std::int64_t first = options.largest ? n - options.count : 0;
  for (std::int64_t q = 0; q < options.count; ++q)
    EXPECT_NEAR(pairs.values[q] / size, expected[first + q] / size, options.tolerance) << q;
  const auto check = check_pairs(world(), a, a.apply, pairs);
  EXPECT_LE(check.residual, 1.5 * options.tolerance);
  EXPECT_LE(check.orthogonality, 10);
}

TEST(Davidson, FindsBothEndsWithTheirMultiplicities) {
  for (const bool largest : {false, true}) {
    for (const std::int64_t count : {1, 2, 5, 12}) {
      SCOPED_TRACE(fmt::format("{} {}", count, largest ? "largest" : "smallest"));
      const auto dense = laplacian(13);
      expect_good(dense, 169, dense_operator(dense, 169), {.count = count, .largest = largest});
    }
  }
}

TEST(Davidson, PreconditionersSaveProducts) {
  constexpr std::int64_t m = 16;
  constexpr std::int64_t n = m * m;
  auto dense = laplacian(m);
  for (std::int64_t i = 0; i < n; ++i) dense[i * n + i] += 100.0 * static_cast<double>(i);
  auto a = dense_operator(dense, n);
  const ExtremeOptions options{.count = 3, .tolerance = 1e-9};
  const auto plain = extreme_pairs(world(), a, options);
  a.precondition = [&](std::span<const double> x, std::span<double> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] / dense[(a.rows.begin + i) * (n + 1)];
  };
  expect_good(dense, n, a, options);
  const auto preconditioned = extreme_pairs(world(), a, options);
  EXPECT_TRUE(plain.converged && preconditioned.converged);
  EXPECT_LT(preconditioned.products, plain.products / 2);
}

TEST(Davidson, AnIndefiniteMatrixIsNoMatterForItsPreconditioner) {
  const auto dense = laplacian(12, 1, 3.3);
  auto a = dense_operator(dense, 144);
  a.precondition = [](std::span<const double> x, std::span<double> y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] / 0.7;
  };
  expect_good(dense, 144, a, {.count = 4});
}

TEST(Davidson, AnyScale) {
  for (const double scale : {1e-160, 1e200}) {
    SCOPED_TRACE(scale);
    const auto dense = laplacian(9, scale);
    expect_good(dense, 81, dense_operator(dense, 81), {.count = 3});
  }
}

TEST(Davidson, PreconditionersInAnyScale) {
  // About A^-1 in the scale of A: its results and residuals in that of A are up to 10^600 apart.
  std::int64_t products = 0;
  for (const double scale : {1.0, 1e-300, 1e-160, 1e160, 1e300}) {
    SCOPED_TRACE(scale);
    constexpr std::int64_t n = 100;
    auto dense = laplacian(10, scale);
    for (std::int64_t i = 0; i < n; ++i) dense[i * (n + 1)] += scale * static_cast<double>(i);
    auto a = dense_operator(dense, n);
    a.precondition = [&](std::span<const double> x, std::span<double> y) {
      const std::int64_t first = a.rows.begin;
      for (std::int64_t i = first; i < a.rows.end; ++i) y[i - first] = x[i - first] / dense[i * (n + 1)];
    };
    const auto pairs = extreme_pairs(world(), a, {.count = 3});
    EXPECT_TRUE(pairs.converged);
    if (products == 0) products = pairs.products;
    EXPECT_NEAR(static_cast<double>(pairs.products), static_cast<double>(products), 6);
  }
}

TEST(Davidson, ZeroIdentityAndAllPairs) {
  for (const std::int64_t n : {1, 2, 3, 10, 30}) {
    SCOPED_TRACE(n);
    std::vector<double> zero(n * n, 0.0);
    auto identity = zero;
    for (std::int64_t i = 0; i < n; ++i) identity[i * (n + 1)] = 1;
    for (const std::int64_t count : {std::int64_t{1}, (n + 1) / 2, n}) {
      expect_good(zero, n,
                  {n,
                   split_evenly(n, world().size(), world().rank()),
                   0,
                   [](std::span<const double>, std::span<double> y) { std::ranges::fill(y, 0.0); },
                   {}},
                  {.count = count});
      expect_good(identity, n, dense_operator(identity, n), {.count = count, .largest = true});
    }
  }
}

TEST(Davidson, TheSameOnAnyNumberOfRanksToTheTolerance) {
  // The path 1 - 2 - ... - n: lambda_k = 2 - 2 cos(k pi / (n + 1)), and n = 200 needs restarts.
  constexpr std::int64_t n = 200;
  std::vector<double> dense(n * n, 0.0);
  for (std::int64_t i = 0; i < n; ++i) {
    dense[i * (n + 1)] = 2;
    if (i > 0) dense[i * n + i - 1] = dense[(i - 1) * n + i] = -1;
  }
  const auto pairs = extreme_pairs(world(), dense_operator(dense, n), {.count = 3, .largest = true});
  EXPECT_TRUE(pairs.converged);
  EXPECT_GT(pairs.restarts, 0);
  for (int q = 0; q < 3; ++q)
    EXPECT_NEAR(pairs.values[q], 2 + 2 * std::cos((3 - q) * std::numbers::pi / (n + 1)), 1e-9);
}

TEST(Davidson, GivesUpWhenToldAndSaysSo) {
  const auto dense = laplacian(14);
  const auto pairs = extreme_pairs(world(), dense_operator(dense, 196), {.count = 3, .max_products = 10});
  EXPECT_FALSE(pairs.converged);
  EXPECT_LT(pairs.products, 20);
  EXPECT_EQ(pairs.values.size(), 3);
  EXPECT_GT(pairs.residuals[0], 1e-10);
}

TEST(Davidson, RefusesWhatMakesNoSense) {
  const auto dense = laplacian(3);
  const auto a = dense_operator(dense, 9);
  EXPECT_THROW(extreme_pairs(world(), a, {.count = 0}), InputError);
  EXPECT_THROW(extreme_pairs(world(), a, {.count = 10}), InputError);
  EXPECT_THROW(extreme_pairs(world(), a, {.tolerance = 0}), InputError);
  EXPECT_THROW(extreme_pairs(world(), a, {.tolerance = std::nan("")}), InputError);
}

}  // namespace
}  // namespace ayatori::eigen
