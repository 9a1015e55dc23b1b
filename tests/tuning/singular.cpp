#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "ayatori/solvers/method.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "solved.hpp"

namespace ayatori::tuning {
namespace {

/// -Laplace(u) on a square of n x n points without a Dirichlet boundary.
TestMatrix neumann_matrix(std::int64_t n) {
  TestMatrix matrix{"neumann", n * n, {}};
  for (std::int64_t i = 0; i < n * n; ++i) {
    double sum = 0;
    const auto add = [&](bool inside, std::int64_t j) {
      if (!inside) return;
      const double weight = (i + j) % 3 == 0 ? 0.3 : 1;
      matrix.entries.push_back({i, j, -weight});
      sum += weight;
    };
    add(i % n > 0, i - 1);
    add(i % n < n - 1, i + 1);
    add(i >= n, i - n);
    add(i < n * n - n, i + n);
    matrix.entries.push_back({i, i, sum});
  }
  return matrix;
}

/// A solve with a right-hand side of this mean.
struct SingularSolve {
  std::shared_ptr<const sparse::SplitMatrix> parts;
  std::vector<double> b;  ///< global
  Array<double> x;
  SolveReport report;

  SingularSolve(const TestMatrix& matrix, double mean, const SolveOptions& options = {})
      : parts(
            std::make_shared<const sparse::SplitMatrix>(sparse::split(world(), matrix.distribute(world())))) {
    const auto values = sparse::test_vector(matrix.n, 77);
    double sum = 0;
    for (const double v : values) sum += v;
    for (const double v : values) b.push_back(v - sum / static_cast<double>(matrix.n) + mean);
    const auto own = sparse::piece(b, parts->partition.range(world().rank()));
    x.assign(own.size(), 0.0);
    report = solve(world(), parts, own, x, options);
  }

  std::vector<double> residual(const TestMatrix& matrix) const {
    auto r = matrix.multiply(world().allgatherv(std::span<const double>(x)).values);
    for (std::size_t i = 0; i < b.size(); ++i) r[i] = b[i] - r[i];
    return r;
  }
};

double norm_of(const std::vector<double>& v) {
  double sum = 0;
  for (const double value : v) sum += value * value;
  return std::sqrt(sum);
}

bool says(const SolveReport& report, const std::string& words) {
  for (const Event& event : report.events)
    if (event.text.find(words) != std::string::npos) return true;
  return false;
}

TEST(Singular, ConsistentSystemsAreSolvedByEveryMethodAndPreconditioner) {
  const auto matrix = neumann_matrix(9);
  const auto check = [&](const std::string& method, const std::string& preconditioner) {
    SCOPED_TRACE(method + " + " + preconditioner);
    SolveOptions options;
    options.forced.method = method;
    options.forced.preconditioner = preconditioner;
    const SingularSolve solved(matrix, 0, options);
    EXPECT_EQ(solved.report.status, Status::converged);
    EXPECT_LE(norm_of(solved.residual(matrix)), 1.01e-8 * norm_of(solved.b));
    EXPECT_TRUE(says(solved.report, "singular: row sums vanish on 81 of 81 rows, 1 connected component"));
    double sum = 0;
    for (const double value : world().allgatherv(std::span<const double>(solved.x)).values) sum += value;
    EXPECT_NEAR(sum, 0, 1e-9);
  };
  for (const auto& method : solvers::methods()) check(std::string(method.name), "jacobi");
  for (const auto& preconditioner : solvers::preconditioners())
    if (!preconditioner.obeys.complement)  // those are of saddle points
      check("cg", std::string(preconditioner.name));
}

TEST(Singular, InconsistentSystemsEndAtTheLeastSquares) {
  const auto matrix = neumann_matrix(9);
  for (const std::string method : {"cg", "minres", "gmres", "bicgstab"}) {
    SCOPED_TRACE(method);
    SolveOptions options;
    options.forced.method = method;
    const SingularSolve solved(matrix, 0.4, options);
    const auto r = solved.residual(matrix);
    EXPECT_EQ(solved.report.status, Status::least_squares);
    EXPECT_FALSE(solved.report.converged());
    EXPECT_NEAR(solved.report.relative_residual, norm_of(r) / norm_of(solved.b), 1e-12);
    EXPECT_NEAR(norm_of(r), 0.4 * 9, 1e-6);  // norm of the constant that no x reaches
    for (const double value : r) EXPECT_NEAR(value, 0.4, 1e-7);
    EXPECT_TRUE(says(solved.report, "inconsistent"));
  }
}

TEST(Singular, ARightHandSideOfNullVectorsHasTheZeroSolution) {
  const auto matrix = neumann_matrix(6);
  auto parts =
      std::make_shared<const sparse::SplitMatrix>(sparse::split(world(), matrix.distribute(world())));
  const Array<double> b(parts->plan.local_size, 1.0);
  Array<double> x(b.size(), 3.0);
  const auto report = solve(world(), parts, b, x, {});
  EXPECT_EQ(report.status, Status::least_squares);
  EXPECT_EQ(report.iterations, 0);
  EXPECT_NEAR(report.relative_residual, 1, 1e-14);
  for (const double value : x) EXPECT_NEAR(value, 0, 1e-14);
}

TEST(Singular, AlmostConsistentIsConvergedByTheTrueResidual) {
  const auto matrix = neumann_matrix(9);
  const SingularSolve solved(matrix, 1e-9);
  EXPECT_EQ(solved.report.status, Status::converged);
  EXPECT_LE(norm_of(solved.residual(matrix)), 1.01e-8 * norm_of(solved.b));
  EXPECT_NEAR(solved.report.relative_residual, norm_of(solved.residual(matrix)) / norm_of(solved.b), 1e-12);
}

TEST(Singular, ConservativeFlowIsJudgedByItsColumns) {
  // Upwind flow around a ring with rates that differ: columns sum up to 0, rows do not.
  const std::int64_t n = 60;
  TestMatrix matrix{"ring", n, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    const double rate = 1 + 0.5 * std::sin(static_cast<double>(i));
    matrix.entries.push_back({i, i, rate});
    matrix.entries.push_back({(i + 1) % n, i, -rate});
  }
  SolveOptions options;
  options.forced.method = "gmres";
  options.forced.restart = 100;
  const SingularSolve consistent(matrix, 0, options);
  EXPECT_EQ(consistent.report.status, Status::converged);
  const SingularSolve inconsistent(matrix, 0.2, options);
  EXPECT_EQ(inconsistent.report.status, Status::least_squares);
  for (const double value : inconsistent.residual(matrix)) EXPECT_NEAR(value, 0.2, 1e-6);
}

}  // namespace
}  // namespace ayatori::tuning
