#include "ayatori/tuning/solve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ayatori/base/error.hpp"
#include "ayatori/tuning/policy/policy.hpp"
#include "recorded.hpp"
#include "solved.hpp"

namespace ayatori::tuning {
namespace {

TestMatrix indefinite_matrix(std::int64_t n) {
  auto matrix = sparse::tridiagonal_matrix(n);
  for (auto& e : matrix.entries) {
    if (e.row == e.column) e.value = e.row % 2 == 0 ? 3 : -3;
  }
  return matrix;
}

TEST(Solve, DefiniteIndefiniteUnsymmetric) {
  auto negative = sparse::tridiagonal_matrix(200);
  for (auto& e : negative.entries) e.value = -e.value;
  for (const auto& matrix :
       {sparse::tridiagonal_matrix(200), negative, indefinite_matrix(150), sparse::random_matrix(300, 6, 4),
        sparse::tridiagonal_matrix(1), sparse::random_matrix(2, 2, 5)}) {
    SCOPED_TRACE(matrix.name);
    expect_solved(matrix, Solved(matrix));
  }
}

TEST(Solve, ZeroRightHandSideHasTheZeroSolution) {
  const Solved solved(sparse::tridiagonal_matrix(30), 0);
  EXPECT_TRUE(solved.report.converged());
  EXPECT_EQ(solved.report.iterations, 0);
  for (const double value : solved.x) EXPECT_EQ(value, 0);
}

TEST(Solve, ExtremeScalesNeitherOverflowNorVanish) {
  for (const double scale : {1e-303, 1e-200, 1e200, 1e304}) {
    SCOPED_TRACE(scale);
    const auto matrix = sparse::tridiagonal_matrix(50);
    expect_solved(matrix, Solved(matrix, scale));
  }
}

TEST(Solve, WhatDoubleCannotHoldIsNotCalledConverged) {
  const auto matrix = sparse::tridiagonal_matrix(50);
  // 1e-320: b and x keep three digits or so. 1.7e308: x, up to 300 times b, exceeds the range.
  for (const double scale : {1e-320, 1.7e308}) {
    SCOPED_TRACE(scale);
    const Solved solved(matrix, scale);
    EXPECT_FALSE(solved.report.converged());
    EXPECT_TRUE(std::isfinite(solved.report.relative_residual));
    for (const double value : solved.x) EXPECT_TRUE(std::isfinite(value));
  }
}

/// No other arm can do better, and the minutes that all of them would take are the user's.
TEST(Solve, EndsWhereRoundingLeavesNoBetterX) {
  SolveOptions options;
  options.rtol = 1e-17;
  const Solved solved(sparse::tridiagonal_matrix(400), 1, options);
  EXPECT_EQ(solved.report.status, Status::limited_by_rounding);
  EXPECT_LT(solved.report.backward_error, 1e-15);
  EXPECT_LT(solved.report.relative_residual, 8 * solved.report.rounding_residual);
  ASSERT_FALSE(solved.report.events.empty());
  EXPECT_EQ(solved.report.events.back().kind, "rounding");
}

TEST(Solve, NegativeDefiniteSuitsEveryMethod) {
  auto matrix = sparse::tridiagonal_matrix(60);
  for (auto& e : matrix.entries) e.value = -e.value;
  for (const char* method : {"cg", "minres"}) {
    for (const char* preconditioner : {"none", "jacobi", "block-ilu0", "chebyshev", "amg"}) {
      SCOPED_TRACE(std::string(method) + " + " + preconditioner);
      SolveOptions options;
      options.forced = {.method = method, .preconditioner = preconditioner};
      const Solved solved(matrix, 1, options);
      expect_solved(matrix, solved);
      EXPECT_EQ(solved.report.facts.negative_diagonals, 60);
    }
  }
}

TEST(Solve, AForcedMethodThatDoesNotSuitIsNoted) {
  SolveOptions options;
  options.forced = {.method = "cg"};
  options.max_iterations = 100;
  const Solved solved(sparse::random_matrix(100, 5, 6), 1, options);
  ASSERT_FALSE(solved.report.events.empty());
  EXPECT_EQ(solved.report.events.front().kind, "note");
}

TEST(Solve, SingularInconsistentEndsWithASmallLeastSquaresSolution) {
  auto matrix = sparse::tridiagonal_matrix(40);
  std::erase_if(matrix.entries,
                [](const auto& e) { return e.row == 20; });  // an empty row, and b_20 is not zero
  const Solved solved(matrix, 1, {.max_iterations = 2000});
  EXPECT_EQ(solved.report.status, Status::least_squares);
  const auto all_b = world().allgatherv(std::span<const double>(solved.b)).values;
  double square = 0;
  for (const double value : all_b) square += value * value;
  // The other rows have a solution: all that is left is b_20.
  EXPECT_NEAR(solved.report.relative_residual, std::abs(all_b[20]) / std::sqrt(square), 1e-10);
  EXPECT_NEAR(solved.residual(matrix), solved.report.relative_residual, 1e-10);
  EXPECT_LT(world().allreduce(solvers::local_max_abs(solved.x), comm::ReduceOp::max), 1e4);
}

TEST(Solve, ZeroDiagonalIsSolvedByEscalation) {
  TestMatrix matrix{"cyclic shift", 24, {}};  // GMRES(m < n) makes no progress at all
  for (std::int64_t i = 0; i < 24; ++i) matrix.entries.push_back({i, (i + 1) % 24, 1});
  expect_solved(matrix, Solved(matrix));
}

TEST(Solve, ForcedChoiceIsUsedAndReported) {
  SolveOptions options;
  options.forced = {.method = "gmres",
                    .preconditioner = "none",
                    .restart = 7,
                    .orthogonalization = "mgs",
                    .kernel = "csr-reference",
                    .halo = "allgather"};
  const Solved solved(sparse::random_matrix(100, 5, 6), 1, options);
  EXPECT_TRUE(solved.report.converged());
  EXPECT_EQ(solved.report.choice, (Choice{"gmres", "none", 7, "mgs", "csr-reference", "allgather"}));
}

TEST(Solve, EscalatesFromCgOnAMatrixThatOnlyLooksDefinite) {
  TestMatrix matrix{"looks definite", 60, {}};
  for (std::int64_t i = 0; i < 60; ++i) {
    matrix.entries.push_back({i, i, 1});
    if (i % 2 == 0) matrix.entries.push_back({i, i + 1, 3});  // eigenvalues 4 and -2
    if (i % 2 == 1) matrix.entries.push_back({i, i - 1, 3});
  }
  SolveOptions options;
  options.forced = {.preconditioner = "none", .excluded = {"minres"}};
  const Solved solved(matrix, 1, options);
  expect_solved(matrix, solved);
  EXPECT_EQ(solved.report.trials.front().choice.method, "cg");
  EXPECT_NE(solved.report.choice.method, "cg");
  EXPECT_EQ(
      std::ranges::count(solved.report.trials, "cg", [](const Trial& trial) { return trial.choice.method; }),
      1)
      << "one direction of negative curvature is enough";
  const auto& events = solved.report.events;
  EXPECT_TRUE(
      std::any_of(events.begin(), events.end(), [](const Event& e) { return e.kind == "breakdown"; }));
}

/// A solve by CG on recorded times, in products.
struct Recorded {
  ProductClock clock;
  RecordedSeconds spent;
  Solved solved;

  Recorded(const TestMatrix& matrix, const RecordedSeconds& seconds, const SolveOptions& by = options())
      : solved(matrix, 1, by, hooks(seconds)) {}

  static SolveOptions options() {
    SolveOptions options;
    options.forced = {.method = "cg"};
    options.forced.excluded = preconditioners_but({"jacobi", "block-ilu0", "chebyshev"});
    options.experience.best = Choice{.method = "cg", .preconditioner = "jacobi", .restart = 0};
    options.records = &records_that_mislead();
    return options;
  }
  SolveHooks hooks(const RecordedSeconds& seconds) {
    SolveHooks hooks;
    hooks.clock = [this] { return clock.read(); };
    hooks.progress = [this, seconds](const Choice& choice, std::int64_t, double) {
      clock.advance(seconds.at(choice.preconditioner));
      spent[choice.preconditioner] += seconds.at(choice.preconditioner);
    };
    return hooks;
  }
};

/// Iterations of CG + Jacobi where nothing challenges it.
double iterations_of_jacobi(const TestMatrix& matrix) {
  SolveOptions alone;
  alone.forced = {.method = "cg", .preconditioner = "jacobi"};
  return static_cast<double>(Solved(matrix, 1, alone).report.iterations);
}

bool has_event(const SolveReport& report, std::string_view kind) {
  return std::ranges::any_of(report.events, [&](const Event& event) { return event.kind == kind; });
}

TEST(Solve, AWrongEarlyChoiceIsCorrected) {
  const auto matrix = uneven_matrix(60);
  const Recorded recorded(matrix, {{"jacobi", 10}, {"block-ilu0", 1e-3}, {"chebyshev", 10}});
  const auto& report = recorded.solved.report;
  expect_solved(matrix, recorded.solved);
  EXPECT_EQ(report.trials.front().choice.preconditioner, "jacobi");
  EXPECT_EQ(report.choice.preconditioner, "block-ilu0");
  EXPECT_TRUE(has_event(report, "overtaken"));
  EXPECT_LT(recorded.spent.at("jacobi"), 0.7 * 10 * iterations_of_jacobi(matrix));
}

/// Random entries without a diagonal that prevails: iterations get nowhere, and elimination fills everything.
TEST(Solve, CompleteFactorsComeWhenTheSolveHasTakenAsLongWithout) {
  if (!has_complete_factors()) GTEST_SKIP() << "built without complete factors";
  TestMatrix matrix = sparse::random_matrix(1200, 6, 3);
  for (auto& e : matrix.entries)
    if (e.row == e.column) e.value = 1e-3;
  ProductClock clock;
  SolveHooks hooks;
  hooks.clock = [&clock] { return clock.read(); };
  hooks.progress = [&clock](const Choice&, std::int64_t, double) { clock.advance(40); };
  const Solved solved(matrix, 1, {}, hooks);
  expect_solved(matrix, solved);
  SCOPED_TRACE(words_of(solved.report));
  const auto& trials = solved.report.trials;
  const auto is_complete = [](const Trial& trial) { return trial.choice.preconditioner == "direct"; };
  EXPECT_TRUE(is_complete(trials.back()));
  EXPECT_EQ(trials.back().outcome, "converged");
  EXPECT_TRUE(std::ranges::none_of(trials, [](const Trial& trial) { return trial.iterations > 500; }));
}

TEST(Solve, SlowChallengersAreDroppedWithinTheBound) {
  const auto matrix = uneven_matrix(60);
  const Recorded recorded(matrix, {{"jacobi", 10}, {"block-ilu0", 400}, {"chebyshev", 400}});
  const auto& report = recorded.solved.report;
  expect_solved(matrix, recorded.solved);
  EXPECT_EQ(report.choice.preconditioner, "jacobi");
  double others = 0;
  for (const auto& [preconditioner, spent] : recorded.spent)
    if (preconditioner != "jacobi") others += spent;
  EXPECT_LE(others, 2 * 400 * (first_look + 8)) << "each is left at one of its first looks";
  EXPECT_GT(others, 0);
  EXPECT_EQ(recorded.spent.at("jacobi"), 10 * iterations_of_jacobi(matrix))
      << "nothing of a suspended iteration is lost";
}

TEST(Solve, ChallengersCountAgainstTheIterationLimit) {
  const auto matrix = uneven_matrix(60);
  SolveOptions options = Recorded::options();
  options.max_iterations = 60;
  ASSERT_GT(iterations_of_jacobi(matrix), options.max_iterations);
  const Recorded recorded(matrix, {{"jacobi", 10}, {"block-ilu0", 400}, {"chebyshev", 400}}, options);
  const auto& report = recorded.solved.report;
  EXPECT_EQ(report.status, Status::not_converged);
  EXPECT_GT(report.trials.size(), 1U);
  EXPECT_LE(report.iterations, options.max_iterations + 2);
  EXPECT_GE(report.iterations, options.max_iterations);
}

TEST(Solve, NothingIsTriedWithoutABudget) {
  const auto matrix = sparse::tridiagonal_matrix(400);
  SolveOptions options;
  options.forced = {.preconditioner = "none"};
  options.tuning_share = 0;
  const Solved solved(matrix, 1, options);
  expect_solved(matrix, solved);
  EXPECT_EQ(solved.report.trials.size(), 1U);
}

TEST(Solve, TheExcludedIsNotUsed) {
  const auto matrix = sparse::tridiagonal_matrix(200);
  SolveOptions options;
  options.forced.excluded = {"cg", "block-ilu0", "csr"};
  const Solved solved(matrix, 1, options);
  expect_solved(matrix, solved);
  for (const Trial& trial : solved.report.trials) {
    EXPECT_NE(trial.choice.method, "cg");
    EXPECT_NE(trial.choice.preconditioner, "block-ilu0");
    EXPECT_NE(trial.choice.kernel, "csr");
  }
}

TEST(Solve, OneRanksWishStopsAllWithTheBestSoFar) {
  int polls = 0;
  SolveHooks hooks;
  hooks.wants_stop = [&] { return world().rank() == world().size() - 1 && ++polls > 12; };
  const auto matrix = sparse::tridiagonal_matrix(4000);
  SolveOptions options;
  options.forced = {.preconditioner = "none"};
  const Solved solved(matrix, 1, options, hooks);
  EXPECT_EQ(solved.report.status, Status::interrupted);
  EXPECT_GT(solved.report.iterations, 0);
  EXPECT_LT(solved.report.iterations, 20);
  EXPECT_NEAR(solved.residual(matrix), solved.report.relative_residual, 1e-6);
}

TEST(Solve, TimeLimitStops) {
  const auto matrix = sparse::tridiagonal_matrix(4000);
  SolveOptions options;
  options.time_limit = 1e-9;
  const Solved solved(matrix, 1, options);
  EXPECT_EQ(solved.report.status, Status::time_limit);
}

TEST(Solve, IterationLimitIsKept) {
  SolveOptions options;
  options.max_iterations = 5;
  options.forced = {.preconditioner = "none"};
  const Solved solved(sparse::tridiagonal_matrix(4000), 1, options);
  EXPECT_EQ(solved.report.status, Status::not_converged);
  EXPECT_LE(solved.report.iterations, 5);
}

TEST(Solve, BadRightHandSidesAndTolerancesAreErrorsEverywhere) {
  const auto parts = std::make_shared<const sparse::SplitMatrix>(
      sparse::split(world(), sparse::tridiagonal_matrix(12).distribute(world())));
  Array<double> b(parts->plan.local_size, 1.0);
  Array<double> x(b.size(), 0.0);
  EXPECT_THROW(solve(world(), parts, b, x, {.rtol = 0}), InputError);
  EXPECT_THROW(solve(world(), parts, b, x, {.rtol = 2}), InputError);
  if (world().rank() == 0 && !b.empty()) b[0] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(solve(world(), parts, b, x, {}), InputError);
}

}  // namespace
}  // namespace ayatori::tuning
