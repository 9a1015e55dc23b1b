#include <array>
#include <stdexcept>

#include "systems.hpp"

// What an application's functions see and say while solves run, and operators by such functions.

namespace ayatori::c {
namespace {

/// A long solve: many iterations.
struct Slow {
  Rows<std::int32_t> rows = tridiagonal<std::int32_t>(everyone(), 400, 2.0001);
  Handle solver = make_solver();
  std::vector<double> b = rows.b();
  std::vector<double> x = std::vector<double>(b.size(), 0.0);
  ayatori_result result = new_result();

  Slow() {
    ayatori_set_option(solver.get(), "method", "cg");
    ayatori_set_option(solver.get(), "preconditioner", "none");
    EXPECT_EQ(set_matrix(solver.get(), rows), AYATORI_OK) << ayatori_error_text(solver.get());
  }
  int solve() { return ayatori_solve(solver.get(), b.data(), x.data(), &result); }
};

struct Seen {
  int calls = 0;
  std::int64_t iteration = 0;
  double residual = 1;
  std::string choice;
};

void see(const char* choice, std::int64_t iteration, double relative_residual, void* data) {
  auto& seen = *static_cast<Seen*>(data);
  ++seen.calls;
  seen.iteration = iteration;
  seen.residual = relative_residual;
  seen.choice = choice;
}

TEST(Callbacks, ProgressIsToldOfIterations) {
  Slow slow;
  Seen seen;
  ASSERT_EQ(ayatori_set_progress(slow.solver.get(), see, &seen), AYATORI_OK);
  ASSERT_EQ(slow.solve(), AYATORI_OK);
  EXPECT_GT(seen.calls, 20);
  EXPECT_EQ(seen.iteration, slow.result.iterations);
  EXPECT_LT(seen.residual, 1e-7);
  EXPECT_EQ(seen.choice, "cg + none");
  const int calls = seen.calls;
  ASSERT_EQ(ayatori_set_progress(slow.solver.get(), nullptr, nullptr), AYATORI_OK);
  ASSERT_EQ(slow.solve(), AYATORI_OK);
  EXPECT_EQ(seen.calls, calls);
}

int stop_at_fifth_question(void* data) {
  return ++*static_cast<int*>(data) >= 5 ? 1 : 0;
}

TEST(Callbacks, OneRanksWishStopsAll) {
  Slow slow;
  int questions = 0;
  if (is_last(everyone())) ayatori_set_stop(slow.solver.get(), stop_at_fifth_question, &questions);
  ASSERT_EQ(slow.solve(), AYATORI_OK);
  EXPECT_EQ(slow.result.status, AYATORI_INTERRUPTED);
  EXPECT_EQ(slow.result.converged, 0);
  ayatori_set_stop(slow.solver.get(), nullptr, nullptr);
  ASSERT_EQ(slow.solve(), AYATORI_OK);
  EXPECT_EQ(slow.result.status, AYATORI_CONVERGED);
}

TEST(Callbacks, AStopLeavesTheOtherRightHandSidesUnbegun) {
  Slow slow;
  int questions = 0;
  ayatori_set_stop(slow.solver.get(), stop_at_fifth_question, &questions);
  constexpr int count = 3;
  std::array<std::vector<double>, count> x{slow.x, slow.x, slow.x};
  const std::array<const double*, count> all_b{slow.b.data(), slow.b.data(), slow.b.data()};
  const std::array<double*, count> all_x{x[0].data(), x[1].data(), x[2].data()};
  std::array<ayatori_result, count> results{};
  results[0] = new_result();
  ASSERT_EQ(ayatori_solve_many(slow.solver.get(), count, all_b.data(), all_x.data(), results.data()),
            AYATORI_OK);
  for (const auto& result : results) EXPECT_EQ(result.status, AYATORI_INTERRUPTED);
  EXPECT_TRUE(std::isnan(results[2].relative_residual));
}

TEST(Callbacks, TheLimitOfTimeEndsASolve) {
  Slow slow;
  ayatori_set_option(slow.solver.get(), "rtol", "1e-300");
  ayatori_set_option(slow.solver.get(), "time-limit", "1e-4");
  ASSERT_EQ(slow.solve(), AYATORI_OK) << ayatori_error_text(slow.solver.get());
  EXPECT_EQ(slow.result.status, AYATORI_TIME_LIMIT);
}

void throw_at_third(const char*, std::int64_t iteration, double, void* data) {
  ++*static_cast<int*>(data);
  if (iteration >= 3) throw std::runtime_error("not for C");
}

TEST(Callbacks, WhatOneThrowsOnOneRankEndsTheSolveOnAll) {
  Slow slow;
  int calls = 0;
  if (is_last(everyone())) ayatori_set_progress(slow.solver.get(), throw_at_third, &calls);
  EXPECT_EQ(slow.solve(), AYATORI_BAD_INPUT);
  EXPECT_TRUE(contains(ayatori_error_text(slow.solver.get()), "the progress function threw an exception"));
  EXPECT_LE(calls, 5);
  ayatori_set_progress(slow.solver.get(), nullptr, nullptr);
  EXPECT_EQ(slow.solve(), AYATORI_OK);
  EXPECT_EQ(slow.result.converged, 1);
}

struct Inner {
  ayatori_solver* solver;
  int code = AYATORI_OK;
};

void call_back(const char*, std::int64_t, double, void* data) {
  auto& inner = *static_cast<Inner*>(data);
  inner.code = ayatori_set_option(inner.solver, "rtol", "1");
  ayatori_destroy(inner.solver);
}

TEST(Callbacks, ThatCallTheirOwnSolverAreRefused) {
  Slow slow;
  Inner inner{slow.solver.get()};
  ayatori_set_progress(slow.solver.get(), call_back, &inner);
  ASSERT_EQ(slow.solve(), AYATORI_OK) << ayatori_error_text(slow.solver.get());
  EXPECT_EQ(inner.code, AYATORI_BAD_INPUT);
  EXPECT_EQ(slow.result.converged, 1);
}

/// The tridiagonal matrix as an operator, which fetches its neighbours' elements.
struct Operator {
  MPI_Comm comm = everyone();
  std::int64_t rows = 0;
  double diagonal = 4;
  int calls = 0;
  int fails_at = 0;  ///< the call that returns 5
  bool throws = false;
  double factor = 1;  ///< factor of all elements

  static int apply(const double* x, double* y, void* data) {
    auto& self = *static_cast<Operator*>(data);
    const int rank = rank_in(self.comm);
    const int below = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    const int above = rank + 1 < size_of(self.comm) ? rank + 1 : MPI_PROC_NULL;
    double from_below = 0;
    double from_above = 0;
    const auto n = self.rows;
    MPI_Sendrecv(x + n - 1, 1, MPI_DOUBLE, above, 0, &from_below, 1, MPI_DOUBLE, below, 0, self.comm,
                 MPI_STATUS_IGNORE);
    MPI_Sendrecv(x, 1, MPI_DOUBLE, below, 1, &from_above, 1, MPI_DOUBLE, above, 1, self.comm,
                 MPI_STATUS_IGNORE);
    for (std::int64_t i = 0; i < n; ++i)
      y[i] = self.factor *
             (self.diagonal * x[i] - (i > 0 ? x[i - 1] : from_below) - (i + 1 < n ? x[i + 1] : from_above));
    if (++self.calls != self.fails_at) return 0;
    if (self.throws) throw std::runtime_error("not for C");
    return 5;
  }
};

struct MatrixFree {
  Rows<std::int32_t> rows = tridiagonal<std::int32_t>(everyone(), usual_rows(), 2.1);
  Operator a{.rows = usual_rows(), .diagonal = 2.1};
  Handle solver = make_solver();
  std::vector<double> b = rows.b();
  std::vector<double> x = std::vector<double>(b.size(), 0.0);
  ayatori_result result = new_result();

  MatrixFree() { EXPECT_EQ(ayatori_set_operator(solver.get(), a.rows, Operator::apply, &a), AYATORI_OK); }
  void set(const char* name, const char* value) {
    EXPECT_EQ(ayatori_set_option(solver.get(), name, value), AYATORI_OK);
  }
  int solve() {
    std::fill(x.begin(), x.end(), 0.0);
    return ayatori_solve(solver.get(), b.data(), x.data(), &result);
  }
  const char* error() const { return ayatori_error_text(solver.get()); }
};

TEST(Operators, AreSolvedWithoutAMatrix) {
  for (const char* method : {"auto", "cg", "gmres", "bicgstab", "minres"}) {
    MatrixFree system;
    system.set("method", method);
    system.set("rtol", "1e-10");
    expect_solves(system.solver.get(), system.rows);
    ASSERT_EQ(system.solve(), AYATORI_OK) << system.error();
    EXPECT_EQ(system.result.converged, 1) << method;
    EXPECT_LE(system.result.relative_residual + system.result.residual_error_bound, 1e-10);
    EXPECT_GT(system.a.calls, system.result.iterations);
    EXPECT_TRUE(contains(ayatori_report_json(system.solver.get()), "\"ayatori.operator-solve/1\""));
    EXPECT_TRUE(contains(ayatori_explanation(system.solver.get()), "with none"));
  }
}

TEST(Operators, HaveThePreconditionerOfAMatrixThatIsNear) {
  MatrixFree system;
  ASSERT_EQ(system.solve(), AYATORI_OK);
  const auto without = system.result.iterations;
  const auto near = tridiagonal<std::int32_t>(everyone(), usual_rows(), 2.11);
  ASSERT_EQ(set_matrix(system.solver.get(), near), AYATORI_OK);
  for (const auto& [method, preconditioner] :
       {std::pair("auto", "ilu"), std::pair("cg", "ic"), std::pair("bicgstab", "ilu")}) {
    system.set("method", method);
    ASSERT_EQ(system.solve(), AYATORI_OK) << system.error();
    EXPECT_EQ(system.result.converged, 1);
    EXPECT_LT(system.result.iterations, without / 2) << method;
    EXPECT_TRUE(contains(ayatori_summary(system.solver.get()), std::string("with ") + preconditioner));
    const auto wanted = system.rows.x();
    for (std::size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(system.x[i], wanted[i], 1e-5);
  }
  ASSERT_EQ(system.solve(), AYATORI_OK);
  EXPECT_EQ(system.result.converged, 1);
}

TEST(Operators, CanBeTakenAwayAgain) {
  MatrixFree system;
  const auto rows = tridiagonal<std::int32_t>(everyone(), usual_rows(), 7);
  ASSERT_EQ(set_matrix(system.solver.get(), rows), AYATORI_OK);
  expect_solves(system.solver.get(), system.rows, 1e-5);
  ASSERT_EQ(ayatori_set_operator(system.solver.get(), 0, nullptr, nullptr), AYATORI_OK);
  expect_solves(system.solver.get(), rows);
}

TEST(Operators, ThatFailOnOneRankEndTheSolveOnAll) {
  for (const bool throws : {false, true}) {
    MatrixFree system;
    system.a.throws = throws;
    if (is_last(everyone())) system.a.fails_at = 4;
    EXPECT_EQ(system.solve(), AYATORI_BAD_INPUT);
    EXPECT_TRUE(contains(system.error(), throws ? "threw an exception" : "returned 5")) << system.error();
    ASSERT_EQ(system.solve(), AYATORI_OK) << system.error();
    EXPECT_EQ(system.result.converged, 1);
  }
}

TEST(Operators, WithoutFiniteProductsConvergeNever) {
  MatrixFree system;
  system.a.factor = std::nan("");
  ASSERT_EQ(system.solve(), AYATORI_OK) << system.error();
  EXPECT_EQ(system.result.status, AYATORI_NOT_CONVERGED);
  EXPECT_EQ(system.result.converged, 0);
}

TEST(Operators, ObeyLimitsAndStops) {
  MatrixFree system;
  system.set("max-iterations", "3");
  ASSERT_EQ(system.solve(), AYATORI_OK);
  EXPECT_EQ(system.result.status, AYATORI_NOT_CONVERGED);
  EXPECT_LE(system.result.iterations, 4);
  EXPECT_TRUE(contains(ayatori_summary(system.solver.get()), "max"));
  system.set("max-iterations", "0");
  system.set("time-limit", "1e-9");
  ASSERT_EQ(system.solve(), AYATORI_OK);
  EXPECT_EQ(system.result.status, AYATORI_TIME_LIMIT);
  system.set("time-limit", "0");
  int questions = 0;
  if (is_last(everyone())) ayatori_set_stop(system.solver.get(), stop_at_fifth_question, &questions);
  ASSERT_EQ(system.solve(), AYATORI_OK);
  EXPECT_EQ(system.result.status, AYATORI_INTERRUPTED);
}

TEST(Operators, WithoutARightHandSideHaveNoSolutionButZero) {
  MatrixFree system;
  std::vector<double> b(system.b.size(), 0.0);
  std::vector<double> x(system.b.size(), 1.0);
  ASSERT_EQ(ayatori_solve(system.solver.get(), b.data(), x.data(), &system.result), AYATORI_OK);
  EXPECT_EQ(system.result.converged, 1);
  EXPECT_EQ(x, b);
}

TEST(Operators, AreSolvedForSeveralRightHandSidesAndToldOf) {
  MatrixFree system;
  Seen seen;
  ayatori_set_progress(system.solver.get(), see, &seen);
  auto twice = system.b;
  for (double& element : twice) element *= 2;
  auto y = system.x;
  const std::array<const double*, 2> all_b{system.b.data(), twice.data()};
  const std::array<double*, 2> all_x{system.x.data(), y.data()};
  std::array<ayatori_result, 2> results{new_result(), new_result()};
  ASSERT_EQ(ayatori_solve_many(system.solver.get(), 2, all_b.data(), all_x.data(), results.data()),
            AYATORI_OK);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], 2 * system.x[i], 1e-5);
  EXPECT_EQ(results[1].converged, 1);
  EXPECT_EQ(seen.calls, results[0].iterations + results[1].iterations);
  EXPECT_TRUE(contains(seen.choice, "gmres(30) + none")) << seen.choice;
}

TEST(Operators, RefuseWhatHasNoMeaningWithThem) {
  using Setting = std::pair<const char*, const char*>;
  for (const auto& [name, value] :
       {Setting{"preconditioner", "ilu"}, Setting{"exclude", "cg"}, Setting{"kernel", "csr"},
        Setting{"resume", "nowhere"}, Setting{"method", "magic"}}) {
    MatrixFree system;
    system.set(name, value);
    EXPECT_EQ(system.solve(), AYATORI_BAD_INPUT) << name;
    EXPECT_FALSE(contains(system.error(), "--")) << system.error();
  }
  MatrixFree system;
  ASSERT_EQ(set_matrix(system.solver.get(), system.rows), AYATORI_OK);
  system.set("method", "cg");
  system.set("preconditioner", "ilut");
  EXPECT_EQ(system.solve(), AYATORI_BAD_INPUT);
  EXPECT_TRUE(contains(system.error(), "symmetric")) << system.error();
}

TEST(Operators, HaveTheRowsOfTheMatrix) {
  MatrixFree system;
  const auto other = tridiagonal<std::int32_t>(everyone(), usual_rows() + (is_last(everyone()) ? 1 : 0));
  ASSERT_EQ(set_matrix(system.solver.get(), other), AYATORI_OK);
  EXPECT_EQ(system.solve(), AYATORI_BAD_INPUT);
  EXPECT_TRUE(contains(system.error(), "the operator has")) << system.error();
  EXPECT_EQ(
      ayatori_set_operator(system.solver.get(), is_last(everyone()) ? -1 : 1, Operator::apply, &system.a),
      AYATORI_BAD_INPUT);
  if (size_of(everyone()) == 1) return;
  EXPECT_EQ(ayatori_set_operator(system.solver.get(), system.a.rows,
                                 is_last(everyone()) ? nullptr : Operator::apply, &system.a),
            AYATORI_BAD_INPUT);
}

}  // namespace
}  // namespace ayatori::c
