#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ayatori/solvers/method.hpp"
#include "ayatori/solvers/null_space.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "dense.hpp"

namespace ayatori::solvers {
namespace {

using tests::Dense;

/// Every entry of a Laplacian becomes a block of 2 by 2.
Dense two_per_node(std::int64_t m) {
  const Dense scalar = tests::laplacian_2d(m);
  constexpr double block[2][2] = {{1, 0.3}, {0.3, 1.5}};
  Dense a(2 * scalar.n);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < a.n; ++j) a.at(i, j) = scalar.at(i / 2, j / 2) * block[i % 2][j % 2];
  return a;
}

/// Nine-point stencil: neighbours are coupled with each other.
Dense with_diagonal_neighbours(std::int64_t m) {
  Dense a(m * m);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < a.n; ++j)
      if (std::abs(i / m - j / m) <= 1 && std::abs(i % m - j % m) <= 1) a.at(i, j) = i == j ? 9 : -1;
  return a;
}

struct SplitCase {
  std::string preconditioner;
  int blocks;
  Dense a;
  bool is_symmetric = true;
};

std::vector<SplitCase> cases() {
  std::vector<SplitCase> all;
  for (const int blocks : {1, 3}) {
    all.push_back({"ssor", blocks, tests::random_definite(60, 0.2, 3)});
    all.push_back({"ssor", blocks, tests::random_dominant(500, 0.006, 1.1, 3, false), false});
    all.push_back({"ssor", blocks, two_per_node(8)});
    all.push_back({"block-ilu0", blocks, tests::laplacian_2d(20)});
  }
  return all;
}

/// A system on all ranks, with a right-hand side.
struct Problem {
  comm::Comm comm = comm::Comm::world();
  GlobalSum sum{comm};
  sparse::DistributedMatrix matrix;
  BuiltPreconditioner built;
  Array<double> b;

  explicit Problem(const SplitCase& of)
      : matrix(comm, tests::spread(comm, of.a, sparse::RowPartition::even(of.a.n, comm.size()))),
        built(preconditioner(of.preconditioner).make(matrix, sum, {.blocks = of.blocks})),
        b(matrix.local_size()) {
    const std::int64_t first = matrix.partition().range(comm.rank()).begin;
    for (std::size_t i = 0; i < b.size(); ++i)
      b[i] = 1 + std::sin(static_cast<double>(first) + 3.0 * static_cast<double>(i));
  }
  Array<double> vector() const { return Array<double>(b.size(), 0.0); }
  double distance(const Array<double>& x, const Array<double>& y) const {
    double largest = 0, scale = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      largest = std::max(largest, std::abs(x[i] - y[i]));
      scale = std::max(scale, std::abs(y[i]));
    }
    return comm.allreduce(largest, comm::ReduceOp::max) / comm.allreduce(scale, comm::ReduceOp::max);
  }
};

/// Often enough that sweeps go by slices at the end.
TEST(SplitForm, IsThePreconditionerTakenApart) {
  for (const SplitCase& one : cases()) {
    SCOPED_TRACE(one.preconditioner + " of " + std::to_string(one.a.n) + " rows");
    const Problem problem(one);
    ASSERT_NE(problem.built.split, nullptr);
    const SplitForm& split = *problem.built.split;
    for (int k = 0; k < 12; ++k) {
      Array<double> expected_z = problem.vector(), z = problem.vector(), w = problem.vector(),
                    u = problem.vector(), again = problem.vector(), az = problem.vector();
      problem.built.op->apply(problem.b, expected_z);
      Array<double> seen = problem.b;
      split.to_split(seen);
      split.apply(seen, z, w, u);
      EXPECT_LT(problem.distance(z, expected_z), 1e-13);
      split.from_split(seen, again);
      EXPECT_LT(problem.distance(again, problem.b), 1e-13);
      problem.matrix.apply(z, az);
      split.from_split(w, again);
      EXPECT_LT(problem.distance(again, az), 1e-12);
      const double product = dot(problem.sum, seen, u);
      if (one.is_symmetric) {
        EXPECT_NEAR(product, dot(problem.sum, problem.b, z), 1e-12 * product);
        EXPECT_NEAR(dot(problem.sum, u, w), dot(problem.sum, z, az), 1e-12 * product);
      }
      Array<double> without_u = problem.vector();
      split.apply(seen, z, without_u, {});
      EXPECT_EQ(problem.distance(without_u, w), 0);
    }
  }
}

TEST(SplitForm, MethodsTakeTheSameSteps) {
  for (const SplitCase& one : cases()) {
    for (const Method& method : methods()) {
      if (!method.takes_split || (method.needs_symmetric && !one.is_symmetric)) continue;
      SCOPED_TRACE(std::string(method.name) + " with " + one.preconditioner + " of " +
                   std::to_string(one.a.n) + " rows");
      const Problem problem(one);
      MethodOptions options{.target = 1e-9 * norm(problem.sum, problem.b)};
      std::vector<MethodResult> results;
      for (const SplitForm* split : {static_cast<const SplitForm*>(nullptr), problem.built.split}) {
        const System system{problem.matrix, *problem.built.op, problem.b, problem.sum, false, split};
        Array<double> x = problem.vector(), r = problem.vector();
        double told = 0;
        const auto progress = [&](int, double norm) { return told = norm, true; };
        results.push_back(method.solve(system, x, options, {}, progress));
        EXPECT_EQ(results.back().stop, Stop::converged);
        problem.matrix.apply(x, r);
        subtract(problem.b, r, r);
        const double true_norm = norm(problem.sum, r);
        if (method.name == "idr") continue;  // what its recurrence loses is more than that of the others
        EXPECT_LE(true_norm, 1.001 * options.target) << "a claim is measured";
        EXPECT_NEAR(told, true_norm, 0.01 * true_norm);
        EXPECT_NEAR(results.back().residual_norm, true_norm, 0.01 * true_norm);
      }
      // BiCGSTAB's shadow residual is another one: it takes other steps, about as many.
      const double share = method.needs_symmetric ? 0.1 : 0.7;
      EXPECT_NEAR(results[1].iterations, results[0].iterations, share * results[0].iterations + 2);
    }
  }
}

TEST(SplitForm, RefutedClaimsAreTakenUpFromTheTrueResidual) {
  const SplitCase one{"ssor", 1, two_per_node(8)};
  for (const std::string name : {"cg", "bicgstab"}) {
    SCOPED_TRACE(name);
    const Problem problem(one);
    const System system{problem.matrix, *problem.built.op,  problem.b, problem.sum,
                        false,          problem.built.split};
    Array<double> x = problem.vector();
    MethodOptions options{.target = 1e-6 * norm(problem.sum, problem.b)};
    int asked = 0;
    options.confirm = [&](Vector r) {
      if (++asked == 2) return true;
      Array<double> rounded(x.size());  // as if rounding had left that much
      for (std::size_t i = 0; i < x.size(); ++i) rounded[i] = std::sin(static_cast<double>(i));
      problem.matrix.apply(rounded, r);
      axpy(1.5 * options.target / norm(problem.sum, r), rounded, x);
      problem.matrix.apply(x, r);
      subtract(problem.b, r, r);
      return false;
    };
    const MethodResult result = method(name).solve(system, x, options, {}, {});
    EXPECT_EQ(result.stop, Stop::converged);
    EXPECT_EQ(asked, 2) << "the method goes on from what it is told";
    Array<double> r = problem.vector();
    problem.matrix.apply(x, r);
    subtract(problem.b, r, r);
    EXPECT_LE(norm(problem.sum, r), 1.001 * options.target);
  }
}

TEST(SplitForm, IsNoneWhereFactorsHaveLostTheTriangles) {
  EXPECT_EQ(Problem({"block-ilu0", 1, with_diagonal_neighbours(16)}).built.split, nullptr);
  EXPECT_NE(Problem({"ssor", 1, with_diagonal_neighbours(16)}).built.split, nullptr);
  Dense singular = two_per_node(8);
  for (std::int64_t i = 0; i < 2; ++i)
    for (std::int64_t j = 0; j < 2; ++j) singular.at(i, j) = 1;
  EXPECT_EQ(Problem({"ssor", 1, singular}).built.split, nullptr)
      << "on all ranks, where one has a singular node";
}

}  // namespace
}  // namespace ayatori::solvers
