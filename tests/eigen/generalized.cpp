#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "ayatori/base/error.hpp"
#include "ayatori/eigen/solve.hpp"
#include "ayatori/eigen/standard_form.hpp"
#include "ayatori/eigen/test_matrix.hpp"
#include "dense.hpp"
#include "world.hpp"

extern "C" void dsygv_(const int* type, const char* job, const char* uplo, const int* n, double* a,
                       const int* lda, double* b, const int* ldb, double* w, double* work, const int* lwork,
                       int* info);

namespace ayatori::eigen {
namespace {

using Element = std::function<double(std::int64_t i, std::int64_t j)>;

DistributedDense make(const ProcessGrid& grid, std::int64_t n, const Element& element) {
  auto a = make_dense(grid, n);
  fill(a, element);
  return a;
}

/// Positive definite (Lehmer), condition about n^2.
double lehmer(std::int64_t i, std::int64_t j) {
  return static_cast<double>(std::min(i, j) + 1) / static_cast<double>(std::max(i, j) + 1);
}

/// Eigenvalues by LAPACK, ascending.
std::vector<double> reference_values(std::vector<double> a, std::vector<double> b, std::int64_t n) {
  std::vector<double> values(n);
  const int order = static_cast<int>(n);
  const int type = 1;
  const int size = 3 * order;
  std::vector<double> work(size);
  int info = 0;
  dsygv_(&type, "N", "L", &order, a.data(), &order, b.data(), &order, values.data(), work.data(), &size,
         &info);
  EXPECT_EQ(info, 0);
  return values;
}

/// B-orthonormal vectors and their residuals, counted here.
void expect_pairs(const std::vector<double>& a, const std::vector<double>& b, std::int64_t n,
                  const std::vector<double>& values, const std::vector<double>& x, double bound) {
  std::vector<double> ax(n * n);
  std::vector<double> bx(n * n);
  std::vector<double> xbx(n * n);
  const ConstBlock vectors{x.data(), n, n, n};
  multiply(1, Op::none, {a.data(), n, n, n}, Op::none, vectors, 0, {ax.data(), n, n, n});
  multiply(1, Op::none, {b.data(), n, n, n}, Op::none, vectors, 0, {bx.data(), n, n, n});
  multiply(1, Op::transpose, vectors, Op::none, {bx.data(), n, n, n}, 0, {xbx.data(), n, n, n});
  for (std::int64_t q = 0; q < n; ++q) {
    for (std::int64_t i = 0; i < n; ++i) {
      ASSERT_NEAR(ax[q * n + i], values[q] * bx[q * n + i], bound * (1 + std::abs(values[q])))
          << i << " " << q;
      ASSERT_NEAR(xbx[q * n + i], i == q ? 1 : 0, bound) << i << " " << q;
    }
  }
}

TEST(EigenGeneralized, ReducesToStandardForm) {
  for (const GridShape shape : shapes_of(world().size())) {
    const auto grid = make_grid(world(), shape);
    for (const auto& [n, block] : {std::pair{1, 1}, {2, 1}, {5, 2}, {33, 7}}) {
      const auto a = make_test_matrix(grid, {n, "uniform", 1, 4});
      const auto b = make(grid, n, lehmer);
      auto c = a;
      auto l = b;
      reduce_to_standard(c, l, block);
      EXPECT_LE(reduction_ratio(a, b, c, l), 1) << n << " " << block;
      if (l.rows.owns(n - 1) && l.columns.owns(0))
        l.values[l.rows.local(n - 1)] += 1e-9;  // one element, below the diagonal unless n = 1
      EXPECT_GE(reduction_ratio(a, b, c, l), 100) << n << " " << block;
    }
  }
}

TEST(EigenGeneralized, AsLapackForAllGrids) {
  for (const GridShape shape : shapes_of(world().size())) {
    const auto grid = make_grid(world(), shape);
    for (const std::int64_t n : {1, 7, 50}) {
      SCOPED_TRACE(fmt::format("n={} on {}x{}", n, shape.rows, shape.columns));
      const auto a = make_test_matrix(grid, {n, "uniform", 1, 5});
      const auto b = make(grid, n, lehmer);
      const auto of_a = whole(a);
      const auto of_b = whole(b);
      const auto result = solve_generalized(a, b, {.selection = {}, .vectors = true, .block = 16});
      const auto expected = reference_values(of_a, of_b, n);
      const double size = max_abs(expected);
      EXPECT_LE(distance(result.values, expected) / size, 10 * static_cast<double>(n) * eps);
      EXPECT_TRUE(result.check.passed());
      EXPECT_LE(result.check.residual, 3);
      EXPECT_LE(result.check.orthogonality, 1);
      EXPECT_GT(result.times.reduction, 0);
      const auto x = world().allgatherv(std::span<const double>(result.vectors.values)).values;
      const auto condition = static_cast<double>(n * n);
      expect_pairs(of_a, of_b, n, result.values, x, 10 * static_cast<double>(n) * condition * eps);
    }
  }
}

/// Floats in the middle cost digits, and mixed precision brings them back.
TEST(EigenGeneralized, OtherPrecisions) {
  const auto grid = make_grid(world(), {});
  const std::int64_t n = 50;
  const auto a = make_test_matrix(grid, {n, "uniform", 1, 5});
  const auto b = make(grid, n, [](std::int64_t i, std::int64_t j) { return i == j ? 2.0 : 1.0 / 64; });
  const auto expected = reference_values(whole(a), whole(b), n);
  for (const auto precision : {Precision::float32, Precision::mixed}) {
    EigenOptions options;
    options.precision = precision;
    const auto result = solve_generalized(a, b, options);
    EXPECT_EQ(result.precision, precision);
    EXPECT_TRUE(result.check.passed());
    const double error = distance(result.values, expected) / max_abs(expected);
    const double unit = precision == Precision::mixed ? eps : double{std::numeric_limits<float>::epsilon()};
    EXPECT_LE(error, static_cast<double>(n) * unit);
    EXPECT_GE(error, precision == Precision::mixed ? 0 : 1e-10);
  }
}

TEST(EigenGeneralized, AnyScale) {
  const auto grid = make_grid(world(), {});
  constexpr std::int64_t n = 20;
  const auto a = make_test_matrix(grid, {n, "uniform", 1, 5});
  const auto b = make(grid, n, lehmer);
  const auto expected = solve_generalized(a, b, {}).values;
  for (const auto& [left, right] : {std::pair{1e-200, 1e-150}, {1e150, 1e300}, {3.0, 5e-101}}) {
    const auto scaled = [](DistributedDense matrix, double factor) {
      for (double& value : matrix.values) value *= factor;
      return matrix;
    };
    const auto result = solve_generalized(scaled(a, left), scaled(b, right), {});
    EXPECT_TRUE(result.check.passed());
    for (std::int64_t i = 0; i < n; ++i)
      EXPECT_NEAR(result.values[i] * (right / left), expected[i], 1e-11 * std::abs(expected[n - 1]));
    // x^T B x = 1
    const auto x = world().allgatherv(std::span<const double>(result.vectors.values)).values;
    const auto bx = apply(scaled(b, right), Shape::symmetric, Op::none, false, std::span(x).first(n));
    double product = 0;
    for (std::int64_t i = 0; i < n; ++i) product += x[i] * bx[i];
    EXPECT_NEAR(product, 1, 1e-12);
  }
}

TEST(EigenGeneralized, GradedAndZero) {
  const auto grid = make_grid(world(), {});
  constexpr std::int64_t n = 30;
  const auto graded = make(grid, n, [](std::int64_t i, std::int64_t j) {
    return i == j ? std::ldexp(1.0, -static_cast<int>(i)) : 0.0;
  });
  const auto identity = make(grid, n, [](std::int64_t i, std::int64_t j) { return i == j ? 1.0 : 0.0; });
  const auto powers = solve_generalized(identity, graded, {});
  for (std::int64_t i = 0; i < n; ++i)
    EXPECT_NEAR(powers.values[i], std::ldexp(1.0, static_cast<int>(i)), n * eps * powers.values[n - 1]);
  EXPECT_TRUE(powers.check.passed());
  const auto zero = solve_generalized(make_dense(grid, n), graded, {});
  EXPECT_EQ(max_abs(zero.values), 0);
  EXPECT_TRUE(zero.check.passed());
  const auto same = solve_generalized(graded, graded, {});
  for (const double value : same.values) EXPECT_NEAR(value, 1, 1e-13);
}

/// Cholesky's way loses the small eigenvalues when B is badly conditioned, and says so.
TEST(EigenGeneralized, WhatAnIllConditionedMatrixCostsIsSaid) {
  const auto grid = make_grid(world(), {});
  const auto a = make_test_matrix(grid, {30, "uniform", 1, 2});
  const auto b = [&](int step) {
    return make(grid, 30, [&](std::int64_t i, std::int64_t j) {
      return i == j ? std::ldexp(1.0, -step * static_cast<int>(i)) : 0.0;
    });
  };
  const auto bad = solve_generalized(a, b(1), {});
  EXPECT_LE(bad.check.reduction, 1);
  EXPECT_GT(bad.check.residual, largest_good_ratio);
  EXPECT_FALSE(bad.check.passed());
}

TEST(EigenGeneralized, SelectsTheSameAsFromAll) {
  const auto grid = make_grid(world(), {});
  constexpr std::int64_t n = 24;
  const auto a = make_test_matrix(grid, {n, "uniform", 4, 6});
  const auto b = make(grid, n, lehmer);
  const auto all = solve_generalized(a, b, {}).values;
  using Kind = Selection::Kind;
  const auto expect = [&](const Selection& selection, std::int64_t first, std::int64_t count) {
    for (const bool vectors : {false, true}) {
      const auto result = solve_generalized(a, b, {.selection = selection, .vectors = vectors, .block = 8});
      EXPECT_LE(distance(result.values, {all.begin() + first, all.begin() + first + count}),
                1e-12 * max_abs(all));
      EXPECT_TRUE(result.check.passed());
      EXPECT_EQ(result.vectors.count, vectors ? count : 0);
    }
  };
  expect({Kind::smallest, 3, 0, 0}, 0, 3);
  expect({Kind::largest, 2, 0, 0}, n - 2, 2);
  expect({Kind::range, 0, (all[9] + all[10]) / 2, (all[20] + all[21]) / 2}, 10, 11);
  expect({Kind::range, 0, 1e9, 1e10}, n, 0);
}

TEST(EigenGeneralized, AWrongPairIsFound) {
  const auto grid = make_grid(world(), {});
  const auto a = make_test_matrix(grid, {50, "uniform", 1, 7});
  const auto b = make(grid, 50, lehmer);
  auto result = solve_generalized(a, b, {});
  // Some units, more or fewer with another processor's BLAS, where a wrong pair has thousands.
  EXPECT_LE(residual_ratio(a, b, result.values, result.vectors), 20);
  EXPECT_LE(orthogonality_ratio(b, result.vectors), 1);
  auto wrong = result.values;
  wrong[25] += 1e-8;
  EXPECT_GE(residual_ratio(a, b, wrong, result.vectors), 1000);
  if (split_evenly(50, world().size(), world().rank()).end == 50)
    result.vectors.values[result.vectors.values.size() - 7] *= 1 + 1e-4;
  EXPECT_GE(orthogonality_ratio(b, result.vectors), 1000);
  EXPECT_GE(residual_ratio(a, b, result.values, result.vectors), 1000);
}

TEST(EigenGeneralized, NamesTheLeadingMinor) {
  for (const GridShape shape : shapes_of(world().size())) {
    const auto grid = make_grid(world(), shape);
    constexpr std::int64_t n = 40;
    const auto a = make_test_matrix(grid, {n, "uniform", 1, 1});
    const auto error_for = [&](std::int64_t bad, double value) -> std::string {
      const auto b = make(grid, n, [&](std::int64_t i, std::int64_t j) {
        return i != j ? 0.0 : i == bad ? value : 1.0;
      });
      try {
        solve_generalized(a, b, {.selection = {}, .vectors = false, .block = 16});
      } catch (const InputError& error) {
        EXPECT_TRUE(error.agreed());
        return error.what();
      }
      return "";
    };
    EXPECT_EQ(error_for(3, 0.5), "");
    for (const auto& [bad, value] : {std::pair{0, 0.0}, {17, -1e-3}, {39, 0.0}}) {
      const auto error = error_for(bad, value);
      EXPECT_NE(error.find(fmt::format("minor of order {} is not", bad + 1)), std::string::npos) << error;
    }
    EXPECT_THROW(solve_generalized(a, make_dense(grid, n), {}), InputError);
    EXPECT_THROW(solve_generalized(a, make(grid, n - 1, lehmer), {}), InputError);
  }
}

}  // namespace
}  // namespace ayatori::eigen
