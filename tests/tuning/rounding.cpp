#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ayatori/tuning/solve.hpp"
#include "solved.hpp"

namespace ayatori::tuning {
namespace {

/// Frank's matrix: upper Hessenberg, of determinant 1 and a condition number beyond all digits. Complete
/// factors leave a residual at rounding; iterations leave an x of enormous norm.
TestMatrix frank_matrix(std::int64_t n) {
  TestMatrix matrix{"Frank", n, {}};
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = std::max<std::int64_t>(i - 1, 0); j < n; ++j)
      matrix.entries.push_back({i, j, static_cast<double>(n - std::max(i, j))});
  return matrix;
}

/// A clamped beam of n Hermite elements: deflections and slopes.
TestMatrix beam_matrix(std::int64_t n) {
  const double h = 1 / static_cast<double>(n);
  const double k = 1 / (h * h * h);
  const double element[4][4] = {{12 * k, 6 * h * k, -12 * k, 6 * h * k},
                                {6 * h * k, 4 * h * h * k, -6 * h * k, 2 * h * h * k},
                                {-12 * k, -6 * h * k, 12 * k, -6 * h * k},
                                {6 * h * k, 2 * h * h * k, -6 * h * k, 4 * h * h * k}};
  std::map<std::pair<std::int64_t, std::int64_t>, double> sums;
  for (std::int64_t e = 0; e < n; ++e)
    for (std::int64_t a = 0; a < 4; ++a)
      for (std::int64_t c = 0; c < 4; ++c) {
        const std::int64_t i = 2 * e + a - 2;  // the first node is clamped
        const std::int64_t j = 2 * e + c - 2;
        if (i >= 0 && j >= 0) sums[{i, j}] += element[a][c];
      }
  TestMatrix matrix{"beam", 2 * n, {}};
  for (const auto& [place, value] : sums) matrix.entries.push_back({place.first, place.second, value});
  return matrix;
}

/// A right-hand side on all ranks, spread and solved for.
struct Loaded {
  Array<double> x;
  SolveReport report;

  Loaded(const TestMatrix& matrix, const std::vector<double>& load) {
    const auto parts =
        std::make_shared<const sparse::SplitMatrix>(sparse::split(world(), matrix.distribute(world())));
    const auto b = sparse::piece(load, parts->partition.range(world().rank()));
    x.assign(b.size(), 0.0);
    report = solve(world(), parts, b, x, {});
  }
};

TEST(Rounding, AnEnormousXPoisonsNoArm) {
  if (!has_complete_factors()) GTEST_SKIP() << "built without complete factors";
  for (const std::int64_t n : {16, 20, 24, 28}) {
    SCOPED_TRACE(n);
    const TestMatrix matrix = frank_matrix(n);
    const Loaded loaded(matrix, matrix.multiply(sparse::test_vector(n, 5)));
    EXPECT_TRUE(loaded.report.converged()) << words_of(loaded.report);
  }
}

TEST(Rounding, WhatCompleteFactorsCannotMendEndsAtOnce) {
  if (!has_complete_factors()) GTEST_SKIP() << "built without complete factors";
  const TestMatrix matrix = beam_matrix(600);
  std::vector<double> load(matrix.n, 0.0);
  load[matrix.n - 2] = 1;  // on the tip
  const Loaded loaded(matrix, load);
  const SolveReport& report = loaded.report;
  EXPECT_EQ(report.status, Status::limited_by_rounding);
  EXPECT_LT(report.relative_residual, 10 * report.rounding_residual);
  EXPECT_LT(report.backward_error, 1e-15);
  EXPECT_GT(report.condition_estimate, 1e10);
  // The end's deflection is 1/3 (Euler and Bernoulli).
  const auto all = world().allgatherv(std::span<const double>(loaded.x)).values;
  EXPECT_NEAR(all[matrix.n - 2], 1.0 / 3, 1e-3);
}

/// Rows of a tiny matrix, and a right-hand side.
struct Tiny {
  std::vector<std::vector<double>> rows;
  std::vector<double> b;

  TestMatrix matrix() const {
    TestMatrix matrix{"tiny", static_cast<std::int64_t>(b.size()), {}};
    for (std::int64_t i = 0; i < matrix.n; ++i)
      for (std::int64_t j = 0; j < matrix.n; ++j)
        if (rows[i][j] != 0) matrix.entries.push_back({i, j, rows[i][j]});
    return matrix;
  }
};

TEST(Rounding, IsSaidWhereTheBestOfDoublesLeavesMuchOfTheRightHandSide) {
  if (!has_complete_factors()) GTEST_SKIP() << "built without complete factors";
  // Regular, with an x of moderate size; rounding that leaves 0.05 to 2 of b.
  const std::vector<Tiny> systems = {
      {{{1e16, 1, -1e16}, {0, 1, 0}, {1, 0, 1}}, {0, 1, 2}},
      {{{1, 1, -1}, {0, -1e17, -1e17}, {1, 1e17, 1e17}}, {-3, 3, 0}},
      {{{1, 1, -1, 1}, {-1, 0, 0, 0}, {0, -1e18, 0, 1e18}, {1, -1e18, 1e18, 0}}, {3, 3, -1, 3}},
      {{{-1, 1e16, 1e16}, {0, -1, -1}, {0, -1e16, 0}}, {3, -2, 2}},
      {{{1e16, -1e16}, {1, 2}}, {1, 1}},
      {{{1, 1, 1}, {1e17, 0, -1e17}, {0, 1, -1}}, {1, 1, 0}}};
  for (const Tiny& system : systems) {
    SCOPED_TRACE(fmt::format("{} rows, first entry {}", system.b.size(), system.rows[0][0]));
    const Loaded loaded(system.matrix(), system.b);
    const SolveReport& report = loaded.report;
    EXPECT_EQ(report.status, Status::limited_by_rounding) << words_of(report);
    EXPECT_LT(report.relative_residual, 10 * report.rounding_residual);
    EXPECT_LT(report.backward_error, 1e-15);
  }
}

TEST(Rounding, IsNotSaidWhereNoXSolvesTheSystem) {
  const std::vector<Tiny> systems = {
      {{{1e16, 1, -1e16}, {0, 1, 0}, {1e16, 1, -1e16}}, {0, 1, 2}},
      {{{1, 1, 0}, {1, 1, 1e16}, {0, 0, 1e16}}, {1, 2, 3}},
      {{{1e16, -1e16, 0, 0}, {-1e16, 1e16, 0, 0}, {0, 0, 1, 1}, {1, 0, 1, 1}}, {1, 2, 3, 4}}};
  for (const Tiny& system : systems) {
    SCOPED_TRACE(fmt::format("{} rows, first entry {}", system.b.size(), system.rows[0][0]));
    const Loaded loaded(system.matrix(), system.b);
    EXPECT_TRUE(loaded.report.status == Status::least_squares ||
                loaded.report.status == Status::not_converged)
        << words_of(loaded.report);
  }
}

}  // namespace
}  // namespace ayatori::tuning
