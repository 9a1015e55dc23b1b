#include <gtest/gtest.h>

#include <cmath>

#include "ayatori/solvers/method.hpp"
#include "ayatori/tuning/solve.hpp"
#include "solved.hpp"

namespace ayatori::tuning {
namespace {

/// The Laplacian of a line whose ends are held by an entry of this size on the diagonal, or are identity
/// rows.
TestMatrix held_line(std::int64_t n, double penalty) {
  TestMatrix matrix = sparse::tridiagonal_matrix(n);
  if (penalty == 1)
    std::erase_if(matrix.entries,
                  [&](const auto& e) { return (e.row == 0 || e.row == n - 1) && e.row != e.column; });
  for (auto& e : matrix.entries)
    if (e.row == e.column && (e.row == 0 || e.row == n - 1)) e.value = penalty;
  return matrix;
}

struct Held {
  Array<double> x;
  SolveReport report;
};

/// -u'' = 0 between u = 1 and u = 3, as the ends' rows say.
Held solve_line(const TestMatrix& matrix, double penalty, const SolveOptions& options = {}) {
  const auto parts =
      std::make_shared<const sparse::SplitMatrix>(sparse::split(world(), matrix.distribute(world())));
  std::vector<double> b(matrix.n, 0.0);
  b.front() = penalty;
  b.back() = 3 * penalty;
  const auto mine = sparse::piece(b, parts->partition.range(world().rank()));
  Held held{Array<double>(mine.size(), 0.0), {}};
  held.report = solve(world(), parts, mine, held.x, options);
  return held;
}

TEST(BoundaryRows, APenaltyInTheRightHandSideDoesNotPassForASolution) {
  constexpr std::int64_t n = 101;
  for (const double penalty : {1.0, 1e20, 1e30}) {
    SCOPED_TRACE(penalty);
    const Held held = solve_line(held_line(n, penalty), penalty);
    EXPECT_TRUE(held.report.converged());
    EXPECT_EQ(held.report.boundary_rows, 2);
    EXPECT_LE(held.report.relative_residual_of_others, 1e-8);
    const auto x = world().allgatherv(std::span<const double>(held.x)).values;
    for (std::int64_t i = 0; i < n; ++i)
      EXPECT_NEAR(x[i], 1 + 2 * static_cast<double>(i) / (n - 1), 1e-4) << i;
  }
}

/// The conditions take the place of rows only: their columns make the matrix unsymmetric.
TEST(BoundaryRows, WhatIsSymmetricWithoutTheirColumnsIsSolvedAsThat) {
  for (const double sign : {1.0, -1.0}) {
    SCOPED_TRACE(sign);
    auto matrix = sparse::five_point_matrix(20, 1, 1);
    for (auto& e : matrix.entries) {
      e.value *= sign;
      if (e.row % 20 == 0) e.value = e.row == e.column ? 2.5 * sign : 0;
    }
    SolveOptions options;
    options.deterministic = true;
    options.forced.preconditioner = "jacobi";
    const Solved solved(matrix, 1, options);
    expect_solved(matrix, solved);
    EXPECT_TRUE(solved.report.facts.symmetric_inside);
    EXPECT_EQ(solved.report.boundary_rows, 20);
    EXPECT_TRUE(solvers::method(solved.report.choice.method).needs_symmetric) << solved.report.choice.method;
  }
}

/// Whose sums of penalty rows are uncertain by more than the residual of all others.
TEST(BoundaryRows, AnImplicitStepWithPenaltiesTakesOneTrial) {
  for (const double penalty : {1e22, 1e30}) {
    SCOPED_TRACE(penalty);
    auto matrix = sparse::five_point_matrix(40, 1e-6, 1e-6);
    std::vector<double> b(matrix.n, 1e-6);
    for (std::int64_t i = 0; i < matrix.n; i += 5) b[i] = 0.3 * penalty;
    for (auto& e : matrix.entries) {
      if (e.row == e.column) e.value += e.row % 5 == 0 ? penalty : 1e-5;
    }
    const auto parts =
        std::make_shared<const sparse::SplitMatrix>(sparse::split(world(), matrix.distribute(world())));
    const auto mine = sparse::piece(b, parts->partition.range(world().rank()));
    Array<double> x(mine.size(), 0.0);
    const SolveReport report = solve(world(), parts, mine, x, {});
    EXPECT_TRUE(report.converged());
    EXPECT_EQ(report.trials.size(), 1);
    EXPECT_LE(report.relative_residual_of_others, 1e-8);
  }
}

TEST(BoundaryRows, WhereNothingElseIsThereNoneIsSetApart) {
  TestMatrix matrix{"diagonal", 30, {}};
  for (std::int64_t i = 0; i < 30; ++i) matrix.entries.push_back({i, i, 1.0 + static_cast<double>(i)});
  const Solved solved(matrix);
  expect_solved(matrix, solved);
  EXPECT_EQ(solved.report.boundary_rows, 0);
}

TEST(BoundaryRows, ASolutionThatOthersCannotBeMultipliedWithIsNotSetFirst) {
  TestMatrix matrix = sparse::tridiagonal_matrix(20);
  for (auto& e : matrix.entries) {
    if (e.row == 0) e.value = e.column == 0 ? 1e-300 : 0;
    if (e.row == 1 && e.column == 0) e.value = 1e200;
  }
  const Solved solved(matrix);
  EXPECT_TRUE(std::isfinite(solved.report.relative_residual));
  EXPECT_EQ(solved.report.boundary_rows, 0);
}

/// Two penalty rows with an entry between them which is negligible beside the penalty, but not by itself.
TEST(BoundaryRows, OnesThatLeaveAnInfiniteResidualAreNotSetFirst) {
  TestMatrix matrix = sparse::tridiagonal_matrix(20);
  for (auto& e : matrix.entries) {
    if (e.row == 0) e.value = e.column == 0 ? 1e286 : 1e251;
    if (e.row == 1) e.value = e.column == 1 ? 1 : 0;
  }
  const Solved solved(matrix);
  EXPECT_TRUE(std::isfinite(solved.report.relative_residual));
  EXPECT_LE(solved.report.relative_residual, 1);
}

TEST(Trials, AClaimThatWasRefutedReadsSo) {
  auto matrix = sparse::random_matrix(200, 4, 6);
  std::erase_if(matrix.entries, [](const auto& e) { return e.row == 100; });
  const Solved solved(matrix, 1, {.max_iterations = 3000});
  EXPECT_FALSE(solved.report.converged());
  for (const Trial& trial : solved.report.trials) EXPECT_NE(trial.outcome, "converged");
}

TEST(TimeLimit, DoesNotForbidCompleteFactors) {
  SolveOptions options;
  options.time_limit = 1000;
  options.forced.preconditioner = "direct";
  const auto matrix = sparse::five_point_matrix(60, 1, 1);
  expect_solved(matrix, Solved(matrix, 1, options));
}

}  // namespace
}  // namespace ayatori::tuning
