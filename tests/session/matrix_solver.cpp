#include "ayatori/session/solve/matrix_solver.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "ayatori/base/error.hpp"
#include "ayatori/io/matrix_source.hpp"
#include "ayatori/session/solve/operator_solver.hpp"
#include "ayatori/solvers/identity.hpp"
#include "world.hpp"

namespace ayatori::session {
namespace {

SolveRequest request_of(std::string method, std::string preconditioner) {
  SolveRequest request{.method = std::move(method), .preconditioner = std::move(preconditioner)};
  request.profile = request.knowledge = "none";
  return request;
}

/// A matrix with its solver, b = 1 and x = 0.
struct System {
  explicit System(const SolveRequest& request)
      : solver(world(), io::load_matrix(world(), "poisson2d-5:n=30").block, request),
        b(solver.local_rows(), 1.0),
        x(solver.local_rows(), 0.0) {}

  MatrixSolver solver;
  Array<double> b;
  Array<double> x;
};

TEST(MatrixSolver, OtherOptionsHoldFromTheNextSolveOn) {
  System system(request_of("cg", "none"));
  EXPECT_EQ(system.solver.solve(system.b, system.x).report.choice.method, "cg");
  auto other = request_of("minres", "none");
  other.rtol = 1e-11;
  system.solver.change(other);
  const auto run = system.solver.solve(system.b, system.x);
  EXPECT_EQ(run.report.choice.method, "minres");
  EXPECT_TRUE(run.report.converged());
  EXPECT_LE(run.report.relative_residual, 1e-11);
}

TEST(MatrixSolver, AnotherToleranceAloneLeavesWhatWasSetUp) {
  auto request = request_of("cg", "ic");
  System system(request);
  EXPECT_TRUE(system.solver.solve(system.b, system.x).report.converged());
  std::ranges::fill(system.x, 0.0);
  request.rtol = 1e-11;
  system.solver.change(request);
  const auto run = system.solver.solve(system.b, system.x);
  EXPECT_LE(run.report.relative_residual, 1e-11);
  EXPECT_EQ(system.solver.reuse()->solves, 2);
  EXPECT_EQ(system.solver.reuse()->set_ups, 1);
}

TEST(MatrixSolver, OptionsThatAreRefusedChangeNothing) {
  System system(request_of("cg", "none"));
  auto graph = request_of("cg", "none");
  graph.partition = "graph";
  EXPECT_THROW(system.solver.change(graph), InputError);
  EXPECT_THROW(system.solver.change(request_of("magic", "none")), InputError);
  EXPECT_TRUE(system.solver.solve(system.b, system.x).report.converged());
}

TEST(MatrixSolver, TakesRowsThatAreSplit) {
  const auto block = io::load_matrix(world(), "poisson2d-5:n=30").block;
  auto rows = sparse::redistribute(world(), block, sparse::RowPartition::even(900, world().size()));
  auto request = request_of("cg", "jacobi");
  MatrixSolver as_rows(world(), rows, request);
  MatrixSolver as_parts(world(), sparse::split(world(), rows), request);
  const Array<double> b(as_parts.local_rows(), 1.0);
  Array<double> x(b.size(), 0.0);
  const auto run = as_parts.solve(b, x);
  EXPECT_TRUE(run.report.converged());
  EXPECT_EQ(run.system.matrix, sparse::Fingerprint{});  // nobody asks for it
  for (double& value : rows.value) value *= 2;
  as_parts.update(sparse::split(world(), rows));
  EXPECT_TRUE(as_parts.solve(b, x).report.converged());
  EXPECT_EQ(as_parts.reuse()->solves, 2);
  request.partition = "graph";
  EXPECT_THROW(MatrixSolver(world(), sparse::split(world(), rows), request), InputError);
}

TEST(MatrixSolver, RanksWithoutRowsTellNothingOfThem) {
  const bool has_rows = world().rank() == 0;
  auto all = io::load_matrix(comm::Comm::self(), "elasticity3d:n=4").block;
  if (!has_rows) {
    all.first_row = all.rows();
    all.row_start = {0};
    all.column.clear();
    all.value.clear();
  }
  const auto rows = static_cast<int>(all.rows());
  RowFacts nodes;
  RowFacts translations;
  for (int row = 0; row < rows; ++row)
    for (int axis = 0; axis < 3; ++axis) {
      nodes.coordinates.push_back(row / 3 % (2 + axis));
      translations.near_null_space.push_back(row % 3 == axis ? 1 : 0);
    }
  for (const auto& known : {nodes, translations}) {
    MatrixSolver solver(world(), all, request_of("auto", "auto"), {}, known);
    const Array<double> b(rows, 1.0);
    Array<double> x(rows, 0.0);
    EXPECT_TRUE(solver.solve(b, x).report.converged());
  }
}

TEST(OperatorSolver, SolvesByProductsWithThePreconditionerOfAMatrix) {
  System system(request_of("cg", "none"));
  const auto parts = system.solver.problem().parts;
  const sparse::DistributedMatrix a(world(), parts);
  std::int64_t without = 0;
  for (const char* preconditioner : {"none", "ssor", "auto"}) {
    OperatorSolver solver(world(), a, parts, request_of("cg", preconditioner));
    std::ranges::fill(system.x, 0.0);
    const auto run = solver.solve(system.b, system.x);
    EXPECT_TRUE(run.converged());
    EXPECT_LE(run.relative_residual + run.residual_error_bound, 1e-8);
    EXPECT_EQ(to_json(run)["iterations"], run.iterations);
    if (without == 0)
      without = run.iterations;
    else
      EXPECT_LT(run.iterations, without) << preconditioner;
    Array<double> r(system.x.size());
    a.apply(system.x, r);
    solvers::subtract(system.b, r, r);
    const double squares = world().allreduce(solvers::local_dot(r, r), comm::ReduceOp::sum);
    EXPECT_LE(std::sqrt(squares), 1.01e-8 * std::sqrt(900.0));
  }
}

TEST(OperatorSolver, TakesThePreconditionerOfTheApplication) {
  System system(request_of("cg", "none"));
  const sparse::DistributedMatrix a(world(), system.solver.problem().parts);
  const solvers::Identity m(a.local_size());
  OperatorSolver solver(world(), a, nullptr, request_of("auto", "auto"), &m);
  const auto run = solver.solve(system.b, system.x);
  EXPECT_TRUE(run.converged());
  EXPECT_EQ(run.method, "fgmres");
  EXPECT_EQ(run.preconditioner, "given");
  EXPECT_GT(run.residual_error_bound, 0);  // error of the entries, which are known
  EXPECT_THROW(OperatorSolver(world(), a, nullptr, request_of("auto", "jacobi"), &m), InputError);
  auto excluded = request_of("auto", "auto");
  excluded.tuning_share = 0.5;
  EXPECT_THROW(OperatorSolver(world(), a, nullptr, excluded, &m), InputError);
}

TEST(OperatorSolver, AndMatrixSolverVerifyWhatOthersHaveFound) {
  System system(request_of("cg", "none"));
  const sparse::DistributedMatrix a(world(), system.solver.problem().parts);
  const OperatorSolver products(world(), a, nullptr, request_of("cg", "none"));
  const auto report = system.solver.solve(system.b, system.x).report;
  for (const auto& proof : {system.solver.verify(system.b, system.x), products.verify(system.b, system.x)}) {
    EXPECT_TRUE(proof.meets_tolerance);
    EXPECT_NEAR(proof.relative_residual, report.relative_residual, 1e-12);
    EXPECT_GT(proof.residual_error_bound, 0);
  }
  if (world().rank() == 0) system.x[0] += 1;
  EXPECT_FALSE(system.solver.verify(system.b, system.x).meets_tolerance);
  EXPECT_FALSE(products.verify(system.b, system.x).meets_tolerance);
}

TEST(MatrixSolver, RefusesOnAllRanksOptionsThatDiffer) {
  System system(request_of("cg", "none"));
  const sparse::DistributedMatrix a(world(), system.solver.problem().parts);
  const bool is_last = world().rank() + 1 == world().size();
  const auto of_this_rank = request_of(is_last ? "gmres" : "cg", "none");
  if (world().size() == 1) {
    EXPECT_NO_THROW(system.solver.change(of_this_rank));
    return;
  }
  const auto says_which = [](const auto& call) {
    try {
      call();
    } catch (const InputError& error) {
      return std::string(error.what()).starts_with("--method is not the same on all ranks");
    }
    return false;
  };
  EXPECT_TRUE(says_which([&] { system.solver.change(of_this_rank); }));
  EXPECT_TRUE(says_which([&] { OperatorSolver(world(), a, nullptr, of_this_rank); }));
  auto own = request_of("cg", "none");
  own.threads = is_last ? 1 : 2;
  own.knowledge = is_last ? "none" : "/nowhere";
  EXPECT_NO_THROW(OperatorSolver(world(), a, nullptr, own));
}

TEST(OperatorSolver, RefusesOnAllRanksWhatOneRankIsWrongIn) {
  System system(request_of("cg", "none"));
  const sparse::DistributedMatrix a(world(), system.solver.problem().parts);
  OperatorSolver solver(world(), a, nullptr, request_of("auto", "auto"));
  const bool is_last = world().rank() + 1 == world().size();
  auto wrong = system.b;
  if (is_last) wrong[0] = std::nan("");
  EXPECT_THROW(solver.solve(wrong, system.x), InputError);
  EXPECT_THROW(solver.solve(solvers::ConstVector(system.b).first(is_last ? 1 : system.b.size()), system.x),
               InputError);
  EXPECT_TRUE(solver.solve(system.b, system.x).converged());
  EXPECT_THROW(OperatorSolver(world(), a, nullptr, request_of("cg", "ssor")), InputError);
}

}  // namespace
}  // namespace ayatori::session
