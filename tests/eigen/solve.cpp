#include "ayatori/eigen/solve.hpp"

#include <gtest/gtest.h>

#include "ayatori/base/error.hpp"
#include "ayatori/eigen/reduction/reduction.hpp"
#include "ayatori/eigen/test_matrix.hpp"
#include "dense.hpp"
#include "world.hpp"

namespace ayatori::eigen {
namespace {

/// Eigenvalues as LAPACK has them, and vectors as good as the result says, which this counts for itself.
void expect_good_by(const Reduction& reduction, const DistributedDense& a, EigenOptions options,
                    const std::string& what) {
  SCOPED_TRACE(fmt::format("{}, {}", what, reduction.name));
  options.reduction = reduction.name;
  const std::int64_t n = a.order();
  const auto dense = whole(a);
  const auto expected = reference_values(dense, n);
  const auto result = solve_symmetric(a, options);
  ASSERT_EQ(result.values.size(), expected.size());
  const double size = std::max(max_abs(expected), std::numeric_limits<double>::min());
  EXPECT_LE(distance(result.values, expected) / size, 10 * static_cast<double>(n) * eps);
  EXPECT_TRUE(result.check.passed()) << result.check.residual << " " << result.check.orthogonality << " "
                                     << result.check.moments;

  const auto vectors = world().allgatherv(std::span<const double>(result.vectors.values)).values;
  ASSERT_EQ(vectors.size(), static_cast<std::size_t>(n * n));
  const double bound = 10 * static_cast<double>(n) * eps;
  for (std::int64_t q = 0; q < n; ++q) {
    const double* const z = vectors.data() + q * n;
    for (std::int64_t p = 0; p <= q; ++p) {
      double product = p == q ? -1 : 0;
      for (std::int64_t i = 0; i < n; ++i) product += z[i] * vectors[p * n + i];
      ASSERT_LE(std::abs(product), bound) << p << " " << q;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      double residual = 0;
      for (std::int64_t j = 0; j < n; ++j) residual += dense[i + j * n] / size * z[j];
      ASSERT_LE(std::abs(residual - result.values[q] / size * z[i]), bound) << i << " " << q;
    }
  }
}

/// By every reduction that these ranks can have.
void expect_good(const DistributedDense& a, const EigenOptions& options, const std::string& what) {
  for (const Reduction& reduction : reductions()) {
    if (!reduction.one_rank_only || world().size() == 1) expect_good_by(reduction, a, options, what);
  }
}

TEST(EigenSolve, AsLapackForAllSpectraSizesAndGrids) {
  for (const GridShape shape : shapes_of(world().size())) {
    const auto grid = make_grid(world(), shape);
    for (const Spectrum& spectrum : spectra()) {
      for (const std::int64_t n : {1, 2, 3, 7, 97}) {
        const auto a = make_test_matrix(grid, {n, std::string(spectrum.name), 1, 5});
        expect_good(a, {.selection = {}, .vectors = true, .block = 16},
                    fmt::format("{} n={} on {}x{}", spectrum.name, n, shape.rows, shape.columns));
      }
    }
  }
}

TEST(EigenSolve, AnyBlock) {
  const auto grid = make_grid(world(), {});
  const auto a = make_test_matrix(grid, {97, "uniform", 1, 2});
  for (const std::int64_t block : {1, 5, 95, 97, 1000})
    expect_good(a, {.selection = {}, .vectors = true, .block = block}, fmt::format("block {}", block));
}

TEST(EigenSolve, HugeAndTinyScales) {
  const auto grid = make_grid(world(), {});
  for (const double scale : {1e-305, 1e-160, 1e160, 1e304})
    expect_good(make_test_matrix(grid, {50, "uniform", scale, 3}), {}, fmt::format("scale {}", scale));
}

TEST(EigenSolve, MatricesThatSplit) {
  const auto grid = make_grid(world(), {});
  auto a = make_dense(grid, 90);
  fill(a, [](std::int64_t i, std::int64_t j) { return i == j ? static_cast<double>(i % 4) : 0.0; });
  expect_good(a, {}, "diagonal");
  fill(a, [](std::int64_t i, std::int64_t j) { return std::abs(i - j) == 1 ? -1.0 : i == j ? 2.0 : 0.0; });
  expect_good(a, {}, "tridiagonal");
  fill(a, [](std::int64_t i, std::int64_t j) { return i / 3 == j / 3 ? 1.0 : 0.0; });
  expect_good(a, {}, "blocks of ones");
  fill(a, [](std::int64_t, std::int64_t) { return 1.0; });
  expect_good(a, {}, "ones");
  fill(a, [](std::int64_t i, std::int64_t j) { return i + j == 89 ? 1e-150 : i == j && i < 40 ? 1.0 : 0.0; });
  expect_good(a, {}, "parts of very different size");
}

TEST(EigenSolve, LargerThanPanelsOfVectors) {
  const auto grid = make_grid(world(), {});
  for (const char* spectrum : {"uniform", "clustered"}) {
    const TestMatrix spec{600, spectrum, 1, 4};
    const auto result = solve_symmetric(make_test_matrix(grid, spec), {});
    EXPECT_LE(distance(result.values, eigenvalues_of(spec)), 600 * eps);
    EXPECT_LE(result.check.residual, 1);
    EXPECT_LE(result.check.orthogonality, 1);
    EXPECT_LE(result.check.moments, 1);
  }
}

TEST(EigenSolve, SelectsTheSameAsFromAll) {
  const auto grid = make_grid(world(), {});
  for (const std::int64_t n : {20, 97}) {
    const TestMatrix spec{n, "uniform", 8, 6};
    const auto a = make_test_matrix(grid, spec);
    const auto all = eigenvalues_of(spec);
    const auto count = [&](double lower, double upper) {
      return std::ranges::count_if(all, [&](double value) { return lower <= value && value <= upper; });
    };
    const auto expect = [&](const Selection& selection, std::int64_t first, std::int64_t number) {
      for (const bool vectors : {false, true}) {
        const auto result = solve_symmetric(a, {.selection = selection, .vectors = vectors, .block = 8});
        ASSERT_EQ(static_cast<std::int64_t>(result.values.size()), number);
        EXPECT_LE(distance(result.values, {all.begin() + first, all.begin() + first + number}),
                  100 * eps * 8);
        EXPECT_TRUE(result.check.passed());
        EXPECT_EQ(result.vectors.count, vectors ? number : 0);
      }
    };
    using Kind = Selection::Kind;
    expect({Kind::all, 0, 0, 0}, 0, n);
    expect({Kind::smallest, 3, 0, 0}, 0, 3);
    expect({Kind::smallest, n, 0, 0}, 0, n);
    expect({Kind::largest, 1, 0, 0}, n - 1, 1);
    expect({Kind::range, 0, -2, 1.5}, count(-9, -2), count(-2, 1.5));
    expect({Kind::range, 0, 9, 10}, n, 0);
  }
}

TEST(EigenSolve, EqualElementsAreJudgedFairly) {
  constexpr std::int64_t n = 1000;
  auto a = make_dense(make_grid(world(), {}), n);
  fill(a, [](std::int64_t, std::int64_t) { return 0.3; });
  std::vector<double> values(n, 0.0);
  values.back() = 0.3 * n;
  EXPECT_LE(moment_ratio(moments_of(a), n, values), 1);
}

TEST(EigenSolve, AWrongPairIsFound) {
  const auto grid = make_grid(world(), {});
  const auto a = make_test_matrix(grid, {50, "uniform", 1, 7});
  auto result = solve_symmetric(a, {});
  EXPECT_LE(residual_ratio(a, result.values, result.vectors), 1);
  auto wrong = result.values;
  wrong[49] += 1e-10;
  EXPECT_GE(residual_ratio(a, wrong, result.vectors), 1000);
  EXPECT_GE(moment_ratio(moments_of(a), 50, wrong), 1000);
  // The last column belongs to the last rank that has any.
  if (split_evenly(50, world().size(), world().rank()).end == 50)
    result.vectors.values[result.vectors.values.size() - 7] += 1e-10;
  EXPECT_GE(orthogonality_ratio(world(), result.vectors), 1000);
  if (world().rank() == 0) result.vectors.values[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isinf(orthogonality_ratio(world(), result.vectors)));
  EXPECT_TRUE(std::isinf(residual_ratio(a, result.values, result.vectors)));
}

TEST(EigenSolve, TellsWhatItCosts) {
  const auto grid = make_grid(world(), {1, world().size()});
  const auto result = solve_symmetric(make_test_matrix(grid, {40, "uniform", 1, 8}), {});
  const EigenTimes& times = result.times;
  EXPECT_GT(times.total, 0);
  EXPECT_GE(times.total * 1.01, times.tridiagonalization);
  EXPECT_EQ(times.collectives.empty(), world().size() == 1);
  if (world().size() == 1) return;
  EXPECT_GE(times.collectives.at("broadcast").calls, 38);  // a reflector each
  EXPECT_GE(times.collectives.at("allreduce").calls, 38);
  EXPECT_EQ(times.collectives.at("alltoallv").calls, 1);
}

TEST(EigenSolve, RefusesWhatMakesNoSense) {
  const auto grid = make_grid(world(), {});
  const auto a = make_test_matrix(grid, {5, "uniform", 1, 1});
  using Kind = Selection::Kind;
  for (const Selection& selection : {Selection{Kind::smallest, 6, 0, 0}, Selection{Kind::largest, 0, 0, 0},
                                     Selection{Kind::range, 0, 2, 1},
                                     Selection{Kind::range, 0, std::numeric_limits<double>::quiet_NaN(), 1}})
    EXPECT_THROW(solve_symmetric(a, {.selection = selection, .vectors = true, .block = 8}), InputError);
  EXPECT_THROW(solve_symmetric(a, {.selection = {}, .vectors = true, .block = 0}), InputError);
  EXPECT_THROW(solve_symmetric(make_dense(grid, 0), {}), InputError);
  auto not_finite = a;
  if (world().rank() == 0) not_finite.values[0] = std::numeric_limits<double>::infinity();
  EXPECT_THROW(solve_symmetric(not_finite, {}), InputError);
  auto huge = make_dense(grid, 3);
  fill(huge, [](std::int64_t, std::int64_t) { return 1e308; });
  EXPECT_THROW(solve_symmetric(huge, {}), InputError);
  EXPECT_THROW(check_memory(world(), 4'000'000, {}), EnvironmentError);
  EXPECT_NO_THROW(check_memory(world(), 100, {}));
}

}  // namespace
}  // namespace ayatori::eigen
