#include "ayatori/tuning/solver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/preconditioners/complete/complete_factors.hpp"
#include "test_matrices.hpp"
#include "world.hpp"

namespace ayatori::tuning {
namespace {

using sparse::TestMatrix;

/// Diffusion on n x n points; `change` raises every third diagonal entry.
TestMatrix diffusion(std::int64_t n, double change = 0) {
  TestMatrix matrix = sparse::five_point_matrix(n, 1, 1);
  for (sparse::Entry& entry : matrix.entries)
    if (entry.row == entry.column) entry.value = 4.01 + (entry.row % 3 == 0 ? change : 0);
  return matrix;
}

std::shared_ptr<const sparse::SplitMatrix> spread(const TestMatrix& matrix) {
  return std::make_shared<const sparse::SplitMatrix>(sparse::split(world(), matrix.distribute(world())));
}

/// Solves by CG with one preconditioner, checked by code of the test's own.
struct Sequence {
  explicit Sequence(const TestMatrix& matrix, const char* preconditioner = "block-ilu0")
      : parts(spread(matrix)), solver(world(), parts, options(preconditioner)) {}

  static SolveOptions options(const char* preconditioner) {
    SolveOptions options;
    options.forced.method = "cg";
    options.forced.preconditioner = preconditioner;
    return options;
  }

  SolveReport solve(const TestMatrix& matrix, std::uint64_t seed) {
    const auto b = sparse::piece(sparse::test_vector(matrix.n, seed), parts->partition.range(world().rank()));
    Array<double> x(b.size(), 0.0);
    auto report = solver.solve(b, x);
    EXPECT_TRUE(report.converged());
    Array<double> residual(b.size());
    sparse::multiply_reference(world(), *spread(matrix), x, residual);
    double sums[2] = {0, 0};
    for (std::size_t i = 0; i < b.size(); ++i) {
      sums[0] += (b[i] - residual[i]) * (b[i] - residual[i]);
      sums[1] += b[i] * b[i];
    }
    world().allreduce(std::span<double>(sums), comm::ReduceOp::sum);
    EXPECT_LE(std::sqrt(sums[0] / sums[1]), 1.01e-8) << "of the matrix as it is now";
    return report;
  }

  std::shared_ptr<const sparse::SplitMatrix> parts;
  Solver solver;
};

TEST(Solver, SetUpsServeEveryRightHandSide) {
  const auto matrix = diffusion(20);
  for (const char* preconditioner : {"block-ilu0", "chebyshev", "jacobi"}) {
    SCOPED_TRACE(preconditioner);
    Sequence sequence(matrix, preconditioner);
    for (std::uint64_t k = 0; k < 4; ++k) {
      const auto report = sequence.solve(matrix, k);
      EXPECT_EQ(report.trials.front().kept_set_up, k > 0);
      EXPECT_EQ(report.trials.size(), 1U);
    }
    EXPECT_EQ(sequence.solver.reuse().solves, 4);
    EXPECT_EQ(sequence.solver.reuse().set_ups, 1);
  }
}

TEST(Solver, TheSecondSolveIsTheSameAsAlone) {
  const auto matrix = diffusion(20);
  Sequence sequence(matrix);
  sequence.solve(matrix, 1);
  Sequence alone(matrix);
  EXPECT_EQ(sequence.solve(matrix, 2).iterations, alone.solve(matrix, 2).iterations);
}

TEST(Solver, APreconditionerOfEarlierValuesIsKeptUntilItCostsMoreThanANewOne) {
  Sequence sequence(diffusion(20));
  sequence.solve(diffusion(20), 0);
  double change = 1;
  int kept = 0;
  bool renewed = false;
  for (std::uint64_t k = 1; k <= 40 && !renewed; ++k, change *= 1.5) {
    const auto matrix = diffusion(20, change);
    sequence.solver.update(spread(matrix));
    const double extra = sequence.solver.reuse().extra_seconds;
    const bool outworn = extra >= sequence.solver.reuse().set_up_seconds;
    const auto report = sequence.solve(matrix, k);
    EXPECT_EQ(report.trials.front().kept_set_up, !outworn);
    kept += outworn ? 0 : 1;
    renewed = outworn;
  }
  EXPECT_GT(kept, 0);
  EXPECT_TRUE(renewed) << "a diagonal that has grown a thousandfold wants another preconditioner";
  EXPECT_EQ(sequence.solver.reuse().extra_seconds, 0);
  EXPECT_EQ(sequence.solver.reuse().set_ups, 2);
}

TEST(Solver, AnotherPatternBeginsAnew) {
  const auto matrix = diffusion(20);
  Sequence sequence(matrix);
  sequence.solve(matrix, 0);
  const auto other = sparse::tridiagonal_matrix(400);
  sequence.solver.update(spread(other));
  EXPECT_FALSE(sequence.solve(other, 1).trials.front().kept_set_up);
}

/// Several right-hand sides at once, one of them 0, beside each alone.
void solve_several(const TestMatrix& matrix, const SolveOptions& options, int most_at_once,
                   const std::vector<int>& together) {
  const auto parts = spread(matrix);
  Solver solver(world(), parts, options);
  const Range mine = parts->partition.range(world().rank());
  std::vector<Array<double>> b;
  std::vector<Array<double>> x;
  for (std::uint64_t k = 0; k < together.size(); ++k) {
    b.push_back(sparse::piece(sparse::test_vector(matrix.n, k), mine));
    if (k == 2) std::ranges::fill(b.back(), 0.0);
    if (k == 3)
      for (double& value : b.back()) value *= 1e100;
    x.emplace_back(b.back().size(), 0.0);
  }
  const auto reports = solver.solve(std::vector<solvers::ConstVector>(b.begin(), b.end()),
                                    std::vector<solvers::Vector>(x.begin(), x.end()), most_at_once);
  ASSERT_EQ(reports.size(), together.size());
  EXPECT_EQ(solver.reuse().solves, static_cast<int>(together.size()));
  for (std::size_t k = 0; k < reports.size(); ++k) {
    SCOPED_TRACE(fmt::format("right-hand side {}", k));
    EXPECT_TRUE(reports[k].converged());
    EXPECT_EQ(reports[k].together, together[k]);
    Array<double> residual(b[k].size());
    sparse::multiply_reference(world(), *parts, x[k], residual);
    solvers::subtract(b[k], residual, residual);
    const solvers::GlobalSum sum(world());
    const double left = solvers::norm(sum, residual);
    EXPECT_LE(left, 1.01e-8 * solvers::norm(sum, b[k]));
    EXPECT_EQ(left > 0, k != 2);
  }
}

TEST(Solver, SeveralRightHandSidesAtOnce) {
  const auto matrix = diffusion(20);
  auto options = Sequence::options("jacobi");
  solve_several(matrix, options, 8, {1, 4, 4, 4, 4});
  auto negative = matrix;
  for (auto& entry : negative.entries) entry.value = -entry.value;
  solve_several(negative, Sequence::options("chebyshev"), 8, {1, 3, 3, 3});
  options.forced.method = "gmres";
  solve_several(matrix, options, 8, {1, 3, 3, 3});
  options.forced.method = "bicgstab";
  solve_several(matrix, options, 8, {1, 1, 1});
}

bool has_mumps() {
  return std::ranges::any_of(solvers::factor_libraries(), [](const auto& l) { return l.name == "MUMPS"; });
}

int count(const SolveReport& report, std::string_view what) {
  return static_cast<int>(std::ranges::count_if(
      report.events, [&](const Event& event) { return event.text.find(what) != std::string::npos; }));
}

/// (4 on the diagonal, -1 beside it)^power on a grid: the condition number grows with the power.
TestMatrix power_of_diffusion(std::int64_t n, int power) {
  TestMatrix base = sparse::five_point_matrix(n, 1, 1);
  std::vector<std::map<std::int64_t, double>> rows(n * n);
  for (const auto& entry : base.entries) rows[entry.row][entry.column] += entry.value;
  auto product = rows;
  for (int k = 1; k < power; ++k) {
    std::vector<std::map<std::int64_t, double>> next(n * n);
    for (std::int64_t i = 0; i < n * n; ++i)
      for (const auto& [j, a] : product[i])
        for (const auto& [c, b] : rows[j]) next[i][c] += a * b;
    product = std::move(next);
  }
  base.entries.clear();
  for (std::int64_t i = 0; i < n * n; ++i)
    for (const auto& [j, a] : product[i]) base.entries.push_back({i, j, a});
  return base;
}

/// The analysis of complete factors serves until the pattern changes.
TEST(Solver, FactorsOfOtherValuesKeepTheirOrder) {
  if (!has_mumps()) GTEST_SKIP() << "built without MUMPS";
  auto matrix = power_of_diffusion(12, 2);
  Sequence sequence(matrix, "direct");
  EXPECT_EQ(count(sequence.solve(matrix, 1), "as before"), 0);
  // The old factors serve until their iterations have cost as much as new ones, whenever that is.
  constexpr int most_solves = 2000;
  for (int k = 0; k < 2; ++k) {
    for (auto& entry : matrix.entries) entry.value *= entry.row == entry.column && entry.row % 3 == k ? 4 : 1;
    sequence.solver.update(sequence.parts = spread(matrix));
    int made = 0;
    for (int solve = 0; made == 0 && solve < most_solves; ++solve) {
      const auto report = sequence.solve(matrix, solve);
      made = count(report, "complete ");
      EXPECT_EQ(made, count(report, "as before"));
    }
    EXPECT_EQ(made, 1);
  }
  for (auto& entry : matrix.entries)
    if (entry.row % 7 == 3) entry.value = entry.row == entry.column ? 100 : 0;
  sequence.solver.update(sequence.parts = spread(matrix));
  int made = 0;
  for (int solve = 0; made == 0 && solve < most_solves; ++solve) {
    const auto report = sequence.solve(matrix, solve);
    EXPECT_TRUE(report.facts.symmetric_inside);
    made = count(report, "complete ");
    EXPECT_EQ(count(report, "as before"), 0) << "conditions in place of rows: their columns are left out";
  }
  EXPECT_EQ(made, 1);
  const auto other = power_of_diffusion(12, 3);
  sequence.solver.update(sequence.parts = spread(other));
  EXPECT_EQ(count(sequence.solve(other, 1), "as before"), 0) << "of another pattern";
}

/// With which the method gets nowhere: new ones are made at once, in the old order.
TEST(Solver, FactorsOfQuiteOtherValuesMakeWayForNewOnes) {
  if (!has_mumps()) GTEST_SKIP() << "built without MUMPS";
  auto matrix = power_of_diffusion(12, 2);
  Sequence sequence(matrix, "direct");
  sequence.solve(matrix, 1);
  for (auto& entry : matrix.entries)
    if (entry.row != entry.column)
      entry.value *= 40 * std::sin(static_cast<double>(entry.row * entry.column));
  sequence.solver.update(sequence.parts = spread(matrix));
  const auto report = sequence.solve(matrix, 2);
  ASSERT_GT(report.trials.size(), 1U);
  EXPECT_TRUE(report.trials.front().kept_set_up);
  EXPECT_NE(report.trials.front().outcome, "converged");
  EXPECT_FALSE(report.trials.back().kept_set_up);
  EXPECT_EQ(count(report, "as before"), 1);
}

/// Three matrices: well conditioned; with zero pivots in single precision; with factors around which
/// BiCGSTAB does not converge.
TEST(Solver, FactorsInSinglePrecisionThatAreNotEnoughMakeWayForDoubles) {
  if (!has_mumps()) GTEST_SKIP() << "built without MUMPS";
  struct Case {
    std::int64_t n;
    int power;
    const char* says;
  };
  for (const auto& [n, power, says] : {Case{20, 1, ""}, Case{20, 6, "finds zero pivots"},
                                       Case{36, 4, "factors of fewer digits are not enough"}}) {
    SCOPED_TRACE(says);
    const auto matrix = power_of_diffusion(n, power);
    const auto parts = spread(matrix);
    SolveOptions options;
    options.rtol = 1e-10;
    options.forced.method = "bicgstab";
    options.forced.preconditioner = "direct";
    options.preconditioner.factor_precision = "single";
    Solver solver(world(), parts, options);
    const Range mine = parts->partition.range(world().rank());
    const auto b = sparse::piece(matrix.multiply(sparse::test_vector(matrix.n, 5)), mine);
    for (int solve = 0; solve < 2; ++solve) {
      Array<double> x(b.size(), 0.0);
      const auto report = solver.solve(b, x);
      EXPECT_TRUE(report.converged());
      const bool falls_back = power > 1 && solve == 0;
      EXPECT_EQ(count(report, "double precision") > 0, falls_back) << solve;
      EXPECT_TRUE(!falls_back || count(report, says) == 1);
      EXPECT_EQ(count(report, "false-convergence"), 0);
      EXPECT_LT(report.iterations, 100);
    }
  }
}

}  // namespace
}  // namespace ayatori::tuning
