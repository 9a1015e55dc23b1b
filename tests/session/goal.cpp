#include <gtest/gtest.h>

#include "ayatori/io/matrix_source.hpp"
#include "ayatori/session/solve/matrix_solver.hpp"
#include "world.hpp"

namespace ayatori::session {
namespace {

TEST(Goal, is_set_between_solves_that_go_on_with_what_was_set_up) {
  SolveRequest request{.profile = "none", .knowledge = "none", .threads = 1};
  request.method = "cg";
  request.preconditioner = "ic";
  MatrixSolver solver(world(), io::load_matrix(world(), "poisson2d-5:n=20").block, request);
  const auto rows = static_cast<std::size_t>(solver.local_rows());
  const Array<double> b(rows, 1.0);
  Array<double> x(rows, 0.0);
  solver.set_goal(1e-3, 0);
  const auto coarse = solver.solve(b, x).report;
  EXPECT_TRUE(coarse.converged());
  EXPECT_GT(coarse.relative_residual, 1e-6);

  solver.set_goal(1e-11, 0);
  const auto fine = solver.solve(b, x).report;
  EXPECT_TRUE(fine.converged());
  EXPECT_LE(fine.relative_residual, 1e-11);
  EXPECT_EQ(solver.reuse()->set_ups, 1);

  x.assign(rows, 0.0);
  solver.set_goal(1e-11, 2);
  const auto stopped = solver.solve(b, x).report;
  EXPECT_EQ(stopped.status, tuning::Status::not_converged);
  EXPECT_LE(stopped.iterations, 2);
}

}  // namespace
}  // namespace ayatori::session
