#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "ayatori/base/error.hpp"
#include "ayatori/solvers/preconditioners/factorizations/dense_inverse.hpp"
#include "linear_system.hpp"

namespace ayatori::solvers {
namespace {

using tests::Dense;
using tests::indefinite;
using tests::random_vector;
using tests::Trial;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// A matrix that the method is made for.
Dense suitable(const Method& method, std::int64_t n) {
  if (method.needs_definite || method.needs_complex_symmetric) return tests::random_definite(n, 0.3, 3);
  return method.needs_symmetric ? indefinite(n) : tests::random_dominant(n, 0.3, 0.9, 7, false);
}

/// H D H with Householder's H: symmetric positive definite, with eigenvalues from 1 down to 1 / condition in
/// even ratios.
Dense with_condition(std::int64_t n, double condition) {
  std::vector<double> v = random_vector(n, 8);
  const double norm = Trial::norm_of(v);
  for (double& value : v) value /= norm;
  Dense h(n);
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) h.at(i, j) = (i == j ? 1 : 0) - 2 * v[i] * v[j];
  Dense a(n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      double sum = 0;
      for (std::int64_t k = 0; k < n; ++k)
        sum += h.at(i, k) * h.at(j, k) *
               std::pow(condition, -static_cast<double>(k) / static_cast<double>(n - 1));
      a.at(i, j) = a.at(j, i) = sum;
    }
  }
  return a;
}

/// The absolute inverse diagonal: positive definite for every matrix here.
Dense positive_diagonal(const Dense& a) {
  Dense m = tests::diagonal_inverse(a);
  for (double& value : m.value) value = std::abs(value);
  return m;
}

void expect_near(const std::vector<double>& x, const std::vector<double>& expected, double tolerance) {
  ASSERT_EQ(x.size(), expected.size());
  const double scale = Trial::norm_of(expected);
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(x[i], expected[i], tolerance * scale) << "element " << i;
}

TEST(Methods, SolveWhatLapackSolves) {
  for (const Method& method : methods()) {
    for (const std::int64_t n : {1, 2, 7, 60}) {
      for (const bool preconditioned : {false, true}) {
        const Dense a = suitable(method, n);
        Trial trial{.a = a, .b = random_vector(n, 11)};
        if (preconditioned) trial.m = positive_diagonal(a);
        trial.options.restart = 60;
        trial.run(method.name, 1e-10);
        SCOPED_TRACE(
            fmt::format("{} n={} preconditioned={}: {}", method.name, n, preconditioned, trial.describe()));
        EXPECT_EQ(trial.result.stop, Stop::converged);
        EXPECT_LE(trial.true_residual(), 2e-10 * trial.b_norm());
        EXPECT_NEAR(trial.result.residual_norm, trial.true_residual(), 1e-10 * trial.b_norm());
        expect_near(trial.x, tests::direct_solution(a, trial.b), 1e-6);
      }
    }
  }
}

TEST(Methods, RanksWithoutRows) {
  const int ranks = comm::Comm::world().size();
  std::vector<std::int64_t> starts(ranks + 1, 0);
  starts[ranks] = 30;
  for (const Method& method : methods()) {
    Trial trial{.a = suitable(method, 30), .partition = sparse::RowPartition(starts)};
    trial.run(method.name, 1e-9);
    EXPECT_EQ(trial.result.stop, Stop::converged) << method.name << " " << trial.describe();
    EXPECT_LE(trial.true_residual(), 2e-9 * trial.b_norm());
  }
}

TEST(Methods, IterationsDoNotDependOnRanks) {
  const comm::Comm world = comm::Comm::world();
  for (const Method& method : methods()) {
    const Dense a = tests::laplacian_2d(8);
    Trial together{.a = a, .b = random_vector(64, 2)};
    together.run(method.name, 1e-8);
    Trial alone{.comm = comm::Comm::self(), .a = a, .b = random_vector(64, 2)};
    alone.partition = sparse::RowPartition::even(64, 1);
    alone.run(method.name, 1e-8);
    // Where the last cycle of refined-gmres misses the target by a digit of float, another begins.
    const int slack = method.name == "refined-gmres" ? 4 : 2;
    EXPECT_NEAR(together.result.iterations, alone.result.iterations, slack) << method.name;
  }
}

TEST(Methods, ZeroRightHandSideAndSolvedGuess) {
  for (const Method& method : methods()) {
    Trial zero{.a = suitable(method, 20)};
    zero.b.assign(20, 0.0);
    zero.run(method.name);
    EXPECT_EQ(zero.result.stop, Stop::converged) << method.name;
    EXPECT_EQ(zero.result.iterations, 0);
    EXPECT_EQ(Trial::norm_of(zero.x), 0);

    Trial solved{.a = suitable(method, 20)};
    solved.x0 = tests::direct_solution(solved.a, solved.b);
    solved.run(method.name, 1e-10);
    EXPECT_EQ(solved.result.stop, Stop::converged) << method.name;
    EXPECT_EQ(solved.result.iterations, 0);
    EXPECT_EQ(solved.x, solved.x0);
  }
}

TEST(Methods, StartFromANonzeroGuess) {
  for (const Method& method : methods()) {
    Trial trial{.a = suitable(method, 40), .x0 = random_vector(40, 17)};
    trial.options.restart = 40;
    trial.run(method.name, 1e-9);
    EXPECT_EQ(trial.result.stop, Stop::converged) << method.name << " " << trial.describe();
    EXPECT_LE(trial.true_residual(), 2e-9 * trial.b_norm());
  }
}

TEST(Methods, ExtremeScales) {
  for (const Method& method : methods()) {
    for (const double matrix_scale : {1e-78, 1.0, 1e28}) {
      for (const double vector_scale : {1e-190, 1e-78, 1e28, 1e190}) {
        Trial trial{.a = suitable(method, 20), .b = random_vector(20, 23)};
        for (double& value : trial.a.value) value *= matrix_scale;
        for (double& value : trial.b) value *= vector_scale;
        trial.run(method.name, 1e-9);
        SCOPED_TRACE(fmt::format("{} {} {}: {}", method.name, matrix_scale, vector_scale, trial.describe()));
        EXPECT_EQ(trial.result.stop, Stop::converged);
        EXPECT_LE(trial.true_residual(), 2e-9 * trial.b_norm());
      }
    }
  }
}

TEST(Methods, ANanIsNamedAndLeavesXFinite) {
  for (const Method& method : methods()) {
    Trial matrix{.a = suitable(method, 20), .x0 = std::vector<double>(20, 0.5)};
    matrix.a.at(19, 3) = nan;
    matrix.run(method.name, 1e-9);
    EXPECT_EQ(matrix.result.stop, Stop::breakdown) << method.name;
    EXPECT_NE(matrix.result.reason.find("not finite"), std::string::npos) << matrix.result.reason;
    EXPECT_EQ(matrix.x, matrix.x0);

    Trial preconditioner{.a = suitable(method, 20)};
    preconditioner.m.at(3, 19) = nan;
    preconditioner.run(method.name, 1e-9);
    EXPECT_EQ(preconditioner.result.stop, Stop::breakdown) << method.name;
    EXPECT_TRUE(std::isfinite(Trial::norm_of(preconditioner.x)));
    EXPECT_EQ(preconditioner.x, preconditioner.x0);
  }
}

TEST(Methods, OneRankStopsAll) {
  const comm::Comm world = comm::Comm::world();
  for (const Method& method : methods()) {
    int polled = 0;
    Trial trial{.a = suitable(method, 60)};
    trial.wants_stop = [&] { return ++polled > 12 && world.rank() == world.size() - 1; };
    trial.run(method.name);
    EXPECT_EQ(trial.result.stop, Stop::interrupted) << method.name << " " << trial.describe();
    EXPECT_GT(trial.result.iterations, 0);
    EXPECT_LT(trial.result.iterations, 30);
    // In its own precision refined-cg knows no x that it could fall back to between updates.
    const double allowed = trial.b_norm() * (method.name == "refined-cg" ? 1 + 1e-12 : 1 - 1e-12);
    EXPECT_LT(trial.true_residual(), allowed)
        << method.name << ": x is the best so far; " << trial.describe();
  }
}

TEST(Methods, IterationLimitAndProgress) {
  for (const Method& method : methods()) {
    std::vector<int> told;
    double last = 0;
    Trial trial{.a = tests::laplacian_1d(50)};
    trial.progress = [&](int iteration, double norm) {
      told.push_back(iteration);
      last = norm;
      return true;
    };
    trial.options.max_iterations = 10;
    trial.run(method.name, 1e-12);
    EXPECT_EQ(trial.result.stop, Stop::max_iterations) << method.name << trial.describe();
    EXPECT_EQ(trial.result.iterations, 10);
    EXPECT_EQ(told.back(), 10);
    // What is told comes from a recursion, of single precision in the refined methods; the result is that of
    // b - A x.
    const double rounding = method.name.starts_with("refined") ? 1e-6 : 0;
    EXPECT_GE(last, trial.result.residual_norm * (1 - rounding)) << method.name;
    EXPECT_LE(trial.products, 12) << "beside the iterations, at most the residual at start and restart";
  }
}

/// Reductions of two iterations are fused where that costs no product: the residual after the last iteration
/// is asked for before the next products where it is expected to do.
TEST(Cg, MakesNoProductInVain) {
  for (const std::int64_t n : {50, 200}) {
    Trial trial{.a = tests::laplacian_1d(n), .m = tests::identity(n)};
    for (std::int64_t i = 0; i < n; ++i) trial.a.at(i, i) = 3;
    trial.run("cg", 1e-10);
    EXPECT_EQ(trial.result.stop, Stop::converged);
    EXPECT_EQ(trial.products, trial.result.iterations + 1) << "one more for the first residual";
  }
}

TEST(Gmres, AppliesCompleteFactorsOnce) {
  const Dense a = tests::random_dominant(20, 0.3, 1.5, 7, false);
  tests::Trial trial{.a = a};
  ASSERT_TRUE(invert_dense(20, a.value, trial.m.value));
  trial.run("gmres", 1e-10);
  EXPECT_EQ(trial.result.stop, Stop::converged) << trial.describe();
  EXPECT_EQ(trial.result.iterations, 1);
  EXPECT_LT(trial.true_residual(), 1e-10 * trial.b_norm());
  EXPECT_EQ(trial.preconditionings, 1);
}

/// As accurate as double precision allows, though A p and p^T A p follow from recurrences.
TEST(Cg, ReachesTheLimitOfDoublePrecision) {
  for (const char* name : {"cg", "pipelined-cg"}) {
    for (const double condition : {1e4, 1e8, 1e12}) {
      if (condition > 1e8 && name != std::string("cg")) continue;  // too much for pipelined recurrences
      Trial trial{.a = with_condition(40, condition), .b = random_vector(40, 3)};
      if (name != std::string("cg")) {  // ranks change nothing but the time it takes
        trial.comm = comm::Comm::self();
        trial.partition = sparse::RowPartition::even(40, 1);
      }
      trial.options.max_iterations = 4000;
      trial.run(name, 1e-16);
      double square = 0;  // square of A's norm
      for (const double value : trial.a.value) square += value * value;
      EXPECT_LE(trial.true_residual(), 1e-15 * std::sqrt(square) * Trial::norm_of(trial.x))
          << name << " " << condition << ": " << trial.describe();
    }
  }
}

/// The residual of the recurrence has drifted away from the true one, by as much as twice the target.
TEST(Methods, GoOnFromTheTrueResidualWhereAClaimIsRefuted) {
  constexpr std::int64_t n = 60;
  for (const char* name : {"cg", "bicgstab"}) {
    Trial plain{.a = with_condition(n, 1e3), .b = random_vector(n, 3)};
    plain.run(name, 1e-8);
    ASSERT_EQ(plain.result.stop, Stop::converged) << plain.describe();

    Trial trial{.a = plain.a, .b = plain.b};
    std::vector<double> drift = random_vector(n, 5);
    const double target = 1e-8 * trial.b_norm();
    const double size = 2 * target / Trial::norm_of(drift);
    for (double& value : drift) value *= size;
    int asked = 0;
    trial.options.confirm = [&](Vector r) {
      ++asked;
      const auto first = trial.partition.range(trial.comm.rank()).begin;
      for (std::size_t i = 0; i < r.size(); ++i) r[i] = trial.b_norm() * r[i] + drift[first + i];
      return asked > 1;
    };
    trial.run(name, 1e-8);
    EXPECT_EQ(trial.result.stop, Stop::converged) << trial.describe();
    EXPECT_EQ(asked, 2) << name;
    EXPECT_LE(2 * trial.result.iterations, 3 * plain.result.iterations) << name;
    for (std::int64_t i = 0; i < n; ++i) trial.b[i] += drift[i];
    EXPECT_LE(trial.true_residual(), 1.01 * target) << name;
  }
}

/// A claim that is far from true is left to the caller, who begins anew.
TEST(Methods, EndWhereAClaimIsFarFromTrue) {
  for (const char* name : {"cg", "bicgstab"}) {
    Trial trial{.a = with_condition(40, 1e2), .b = random_vector(40, 3)};
    int asked = 0;
    trial.options.confirm = [&](Vector r) {
      ++asked;
      for (double& value : r) value *= 100 * trial.b_norm();
      return false;
    };
    trial.run(name, 1e-8);
    EXPECT_EQ(trial.result.stop, Stop::converged) << trial.describe();
    EXPECT_EQ(asked, 1) << name;
  }
}

TEST(Methods, YieldWhenAsked) {
  for (const Method& method : methods()) {
    Trial trial{.a = tests::laplacian_1d(50)};
    trial.progress = [&](int iteration, double) { return iteration < 7; };
    trial.run(method.name, 1e-12);
    EXPECT_EQ(trial.result.stop, Stop::yielded) << method.name << trial.describe();
    EXPECT_GE(trial.result.iterations, 7);
    EXPECT_LE(trial.result.iterations, 8);
    EXPECT_NEAR(trial.result.residual_norm, trial.true_residual(), 1e-10) << method.name;
  }
}

TEST(Methods, XIsTheBestOfAnErraticMethod) {
  for (const char* name : {"cg", "bicgstab", "minres", "pipelined-cg"}) {
    for (int limit = 2; limit <= 40; limit += 2) {
      double least = 0;
      Trial trial{.a = tests::laplacian_1d(60), .b = random_vector(60, 31)};
      for (std::int64_t i = 0; i < 60; ++i) trial.m.at(i, i) = 1 + static_cast<double>(i % 7);
      least = trial.b_norm();
      trial.progress = [&](int, double norm) {
        least = std::min(least, norm);
        return true;
      };
      trial.options.max_iterations = limit;
      trial.run(name, 1e-12);
      EXPECT_LE(trial.true_residual(), least * (1 + 1e-8)) << name << " " << limit;
      EXPECT_NEAR(trial.result.residual_norm, least, 1e-8 * least);
    }
  }
}

/// Reductions of an iteration: how many more it takes for ten more.
TEST(Methods, ReductionsPerIteration) {
  const auto per_iteration = [](const char* name, const char* orthogonalization, const Dense& a) {
    const auto reductions = [&](int iterations) {
      Trial trial{.a = a, .b = random_vector(a.n, 5), .orthogonalization = orthogonalization};
      trial.options.max_iterations = iterations;
      trial.run(name, 1e-12);
      EXPECT_EQ(trial.result.iterations, iterations) << name << " " << trial.describe();
      return static_cast<double>(trial.reductions);
    };
    return (reductions(14) - reductions(4)) / 10;
  };
  const Dense definite = tests::laplacian_2d(16);
  const Dense shift = tests::cyclic_shift(64);  // nothing cancels
  EXPECT_EQ(per_iteration("cg", "ircgs", definite), 1);
  EXPECT_EQ(per_iteration("minres", "ircgs", definite), 1);
  EXPECT_EQ(per_iteration("bicgstab", "ircgs", definite), 1) << "two in a step of two products";
  EXPECT_EQ(per_iteration("idr", "ircgs", definite), 2);
  EXPECT_EQ(per_iteration("gmres", "cgs", shift), 1);
  EXPECT_EQ(per_iteration("gmres", "ircgs", shift), 1);
  EXPECT_EQ(per_iteration("gmres", "mgs", shift), 10.5) << "one more than vectors";
  EXPECT_EQ(per_iteration("pipelined-cg", "ircgs", definite), 1);
  EXPECT_EQ(per_iteration("pipelined-gmres", "cgs", shift), 1);
  EXPECT_EQ(per_iteration("refined-gmres", "ircgs", shift), 1);
}

/// Two fewer than iterations: a product would be in vain after the last, and has gone before the first.
TEST(Methods, PipelinedOnesOverlapTheirReductions) {
  for (const char* name : {"pipelined-cg", "pipelined-gmres"}) {
    Trial trial{.a = tests::laplacian_2d(16), .b = random_vector(256, 5)};
    trial.options.max_iterations = 20;
    trial.run(name, 1e-12);
    EXPECT_EQ(trial.result.iterations, 20) << name << " " << trial.describe();
    EXPECT_GE(trial.overlapped, 19) << name;
    EXPECT_LE(trial.overlapped, 20) << name;
    EXPECT_LE(trial.products, 23) << name;
  }
  for (const char* name : {"cg", "gmres"}) {
    Trial trial{.a = tests::laplacian_2d(16)};
    trial.run(name, 1e-8);
    EXPECT_EQ(trial.overlapped, 0);
  }
}

/// Where a target can be met, the recurrences of pipelined methods and their repairs meet it in truth, with
/// more iterations the more ill-conditioned the system is.
TEST(Methods, PipelinedOnesSolveWhatTheirModelsSolve) {
  const auto expect_alike = [](const std::string& name, Trial plain, double rtol, double factor) {
    Trial pipelined = plain;
    plain.run(name, rtol);
    pipelined.run("pipelined-" + name, rtol);
    SCOPED_TRACE(fmt::format("{}, {}: {}; {}", name, rtol, plain.describe(), pipelined.describe()));
    EXPECT_EQ(plain.result.stop, Stop::converged);
    EXPECT_EQ(pipelined.result.stop, Stop::converged);
    EXPECT_LE(pipelined.true_residual(), 1.2 * rtol * pipelined.b_norm());
    EXPECT_LE(pipelined.result.iterations, factor * plain.result.iterations);
  };
  for (const double condition : {1e2, 1e4}) {
    Trial trial{.a = with_condition(40, condition), .b = random_vector(40, 3)};
    trial.m = positive_diagonal(trial.a);
    trial.options.max_iterations = 400;
    trial.options.restart = 40;
    expect_alike("cg", trial, 1e-12, condition < 1e3 ? 1.3 : 2);
    expect_alike("gmres", trial, 1e-9, condition < 1e3 ? 1.3 : 4);
  }
}

/// Single precision costs few iterations where it can solve at all: updates of refined-cg keep the
/// directions, and those of refined-gmres are its restarts.
TEST(Refined, TakesHardlyMoreIterationsThanInDouble) {
  for (const std::string name : {"cg", "gmres"}) {
    for (const auto& [a, factor] :
         {std::pair(tests::laplacian_2d(12), 1.5), std::pair(with_condition(60, 1e2), 1.6)}) {
      Trial plain{.a = a, .b = random_vector(a.n, 3)};
      plain.options.max_iterations = 1000;
      Trial refined = plain;
      plain.run(name, 1e-12);
      refined.run("refined-" + name, 1e-12);
      SCOPED_TRACE(name + " " + plain.describe() + ", refined " + refined.describe());
      EXPECT_EQ(refined.result.stop, Stop::converged);
      EXPECT_LE(refined.true_residual(), 1.1e-12 * refined.b_norm());
      EXPECT_LE(refined.result.iterations, factor * plain.result.iterations);
      EXPECT_LE(refined.products, 1.2 * refined.result.iterations + 16) << "few updates";
    }
  }
}

/// Where float's digits end in the midst of a cycle, cycles become shorter and the target is met all the
/// same.
TEST(Refined, GmresEndsCyclesWithTheDigitsOfFloat) {
  for (const double condition : {1e3, 1e5}) {
    Trial trial{.a = with_condition(60, condition), .b = random_vector(60, 3)};
    trial.options.restart = 60;
    trial.run("refined-gmres", 1e-10);
    EXPECT_EQ(trial.result.stop, Stop::converged) << condition << " " << trial.describe();
    EXPECT_LE(trial.true_residual(), 1.1e-10 * trial.b_norm());
    EXPECT_LE(trial.result.iterations, 600) << condition;
  }
}

/// Too ill-conditioned for single precision: they say so, and never claim what is not so.
TEST(Refined, DoesNotClaimWhatSinglePrecisionCannotGive) {
  for (const char* name : {"refined-cg", "refined-gmres"}) {
    Trial trial{.a = with_condition(60, 1e12), .b = random_vector(60, 3)};
    trial.options.max_iterations = 2000;
    trial.options.stagnation_window = 100;
    trial.run(name, 1e-15);
    EXPECT_TRUE(trial.result.stop == Stop::stagnated || trial.result.stop == Stop::breakdown)
        << name << " " << trial.describe();
    EXPECT_FALSE(trial.result.reason.empty());
    EXPECT_NEAR(trial.result.residual_norm, trial.true_residual(), 1e-6 * trial.b_norm());
  }
}

/// The residual that single precision can reach is a hundredth of the first, and a digit more is wanted: the
/// method ends in few cycles, by what it sees and not by the patience of its caller.
TEST(Refined, GmresSeesThatSinglePrecisionGainsNothing) {
  Trial trial{.a = with_condition(60, 1e10), .b = random_vector(60, 3)};
  trial.options.restart = 60;
  trial.options.stagnation_window = 100000;
  trial.run("refined-gmres", 1e-12);
  EXPECT_EQ(trial.result.stop, Stop::stagnated) << trial.describe();
  EXPECT_NE(trial.result.reason.find("single precision"), std::string::npos) << trial.result.reason;
  EXPECT_LE(trial.result.iterations, 2000);
  EXPECT_NEAR(trial.result.residual_norm, trial.true_residual(), 1e-6 * trial.b_norm());
  EXPECT_LT(trial.true_residual(), trial.b_norm());
}

TEST(Methods, NamesAreListedWhenUnknown) {
  try {
    method("gauss");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_NE(
        std::string(error.what())
            .find("cg, minres, bicgstab, idr, gmres, fgmres, pipelined-cg, pipelined-gmres, refined-cg, "
                  "refined-gmres"),
        std::string::npos);
  }
  EXPECT_THROW(orthogonalization("householder"), InputError);
}

}  // namespace
}  // namespace ayatori::solvers
