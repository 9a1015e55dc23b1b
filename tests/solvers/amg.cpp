#include <gtest/gtest.h>
#include <omp.h>

#include <array>
#include <cmath>
#include <string>

#include "ayatori/base/error.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/solvers/method.hpp"
#include "ayatori/solvers/orthogonalization.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/solvers/preconditioners/multigrid/grid.hpp"
#include "ayatori/solvers/preconditioners/multigrid/half.hpp"
#include "ayatori/solvers/preconditioners/multigrid/hierarchy.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "grid_problem.hpp"

namespace ayatori::solvers {
namespace {

using sparse::DistributedMatrix;
using sparse::RowPartition;
using tests::GridProblem;
using tests::spread;

struct Solved {
  MethodResult result;
  double residual = 0;  ///< relative, true
  std::vector<std::string> notes;
};

Solved solve(const comm::Comm& comm, const GridProblem& grid, std::string_view name) {
  const DistributedMatrix matrix = spread(comm, grid);
  const GlobalSum sum(comm);
  const auto built = preconditioner("amg").make(matrix, sum, {});
  const std::int32_t n = matrix.local_size();
  const std::int64_t first = matrix.partition().range(comm.rank()).begin;
  std::vector<double> b(n);
  std::vector<double> x(n, 0.0);
  std::vector<double> r(n);
  for (std::int32_t i = 0; i < n; ++i) x[i] = random_uniform(3, first + i) - 0.5;
  matrix.apply(x, b);
  std::ranges::fill(x, 0.0);
  MethodOptions options;
  const double scale = norm(sum, b);
  options.target = 1e-8 * scale;
  options.max_iterations = 300;
  Solved run{method(name).solve({matrix, *built.op, b, sum}, x, options, orthogonalization("cgs").apply, {}),
             0, built.notes};
  matrix.apply(x, r);
  subtract(b, r, r);
  run.residual = norm(sum, r) / scale;
  return run;
}

struct Expectation {
  const char* name;
  GridProblem grid;
  const char* method;
  int iterations;  ///< on one rank, at most
};

TEST(Amg, ConvergesInFewIterationsOnAnyNumberOfRanks) {
  const Expectation list[] = {
      {"square", {.n = 48}, "cg", 16},
      {"cube", {.n = 14, .depth = 14}, "cg", 16},
      {"anisotropic", {.n = 40, .along_x = 100}, "cg", 20},
      {"skew", {.n = 48, .skew = 0.45}, "cg", 13},
      {"jumps", {.n = 40, .jump = 1e4}, "cg", 24},
      {"neumann", {.n = 40, .neumann = 1}, "cg", 20},
      {"three unknowns", {.n = 24, .unknowns = 3}, "cg", 20},
      {"two unknowns", {.n = 28, .unknowns = 2}, "cg", 20},
      {"wind", {.n = 40, .wind = 3}, "bicgstab", 40},
  };
  for (const Expectation& e : list) {
    const Solved alone = solve(comm::Comm::self(), e.grid, e.method);
    const Solved together = solve(comm::Comm::world(), e.grid, e.method);
    EXPECT_EQ(alone.result.stop, Stop::converged) << e.name;
    EXPECT_EQ(together.result.stop, Stop::converged) << e.name;
    EXPECT_LE(alone.residual, 2e-8) << e.name;
    EXPECT_LE(together.residual, 2e-8) << e.name;
    EXPECT_LE(alone.result.iterations, e.iterations) << e.name;
    // 20 %, and what one step more or less is
    EXPECT_LE(together.result.iterations, 1.2 * alone.result.iterations + 2) << e.name;
    ASSERT_FALSE(together.notes.empty());
    EXPECT_NE(together.notes.back().find("grids, operator complexity"), std::string::npos)
        << together.notes.back();
  }
}

class CycleOperator final : public sparse::LinearOperator {
 public:
  CycleOperator(std::unique_ptr<amg::Cycle> cycle, std::int32_t rows)
      : cycle_(std::move(cycle)), rows_(rows) {}
  void apply(std::span<const double> x, std::span<double> y) const override { cycle_->apply(x, y); }
  std::int32_t local_size() const override { return rows_; }
  const amg::HierarchyFacts& facts() const { return cycle_->facts(); }

 private:
  std::unique_ptr<amg::Cycle> cycle_;
  std::int32_t rows_;
};

struct HalvesRun {
  int iterations;  ///< 999: not converged
  bool in_halves;
};

HalvesRun solve_with_halves(const GridProblem& problem, bool halves) {
  const auto comm = comm::Comm::world();
  const DistributedMatrix matrix = spread(comm, problem);
  amg::HierarchyOptions hierarchy;
  hierarchy.halves = halves;
  hierarchy.symmetric = problem.wind == 0;
  const CycleOperator cycle(
      amg::make_hierarchy<1, float>(amg::make_fine_grid<1>(matrix, invert_diagonal(matrix, "test").value),
                                    hierarchy),
      matrix.local_size());
  std::vector<double> b(matrix.local_size(), 1.0);
  std::vector<double> x(b.size(), 0.0);
  const GlobalSum sum(comm);
  MethodOptions options;
  options.target = 1e-8 * norm(sum, b);
  options.max_iterations = 300;
  const auto run = method(hierarchy.symmetric ? "cg" : "bicgstab")
                       .solve({matrix, cycle, b, sum}, x, options, orthogonalization("cgs").apply, {});
  return {run.stop == Stop::converged ? run.iterations : 999, cycle.facts().in_halves};
}

TEST(Amg, HalvesCostNoIterations) {
  for (const GridProblem& problem :
       {GridProblem{.n = 48}, GridProblem{.n = 12, .depth = 12},
        GridProblem{.n = 12, .depth = 12, .jump = 1e6}, GridProblem{.n = 32, .along_x = 1e6},
        GridProblem{.n = 32, .skew = 0.45}, GridProblem{.n = 32, .wind = 3}}) {
    const HalvesRun floats = solve_with_halves(problem, false);
    const HalvesRun halves = solve_with_halves(problem, true);
    EXPECT_FALSE(floats.in_halves);
    EXPECT_EQ(halves.in_halves, amg::has_half);
    EXPECT_LT(floats.iterations, 999);
    EXPECT_LE(std::abs(halves.iterations - floats.iterations), 1);
  }
  EXPECT_FALSE(solve_with_halves({.n = 24, .skew = 10}, true).in_halves);  // elements are too large
}

TEST(Amg, FindsANearNullSpaceByRelaxationWhereConstantsAreNone) {
  const auto comm = comm::Comm::world();
  const Solved smooth = solve(comm, {.n = 32}, "cg");
  const Solved rough = solve(comm, {.n = 32, .roughened = true}, "cg");
  EXPECT_EQ(rough.result.stop, Stop::converged);
  EXPECT_LE(rough.residual, 2e-8);
  EXPECT_LE(rough.result.iterations, 3 * smooth.result.iterations);
  EXPECT_NE(rough.notes.back().find("near null space by relaxation"), std::string::npos)
      << rough.notes.back();
  EXPECT_EQ(smooth.notes.back().find("relaxation"), std::string::npos) << smooth.notes.back();
}

TEST(Amg, DoesNotClaimWhatStrongConvectionDenies) {
  const Solved run = solve(comm::Comm::world(), {.n = 24, .wind = 1e4}, "bicgstab");
  EXPECT_TRUE(std::isfinite(run.residual));
  EXPECT_TRUE(run.result.stop != Stop::converged || run.residual <= 2e-8);
}

TEST(Amg, IsSymmetricAndPositive) {
  const auto comm = comm::Comm::world();
  for (const GridProblem& grid : {GridProblem{.n = 32}, GridProblem{.n = 10, .depth = 10, .jump = 1e3},
                                  GridProblem{.n = 20, .unknowns = 3}}) {
    const DistributedMatrix matrix = spread(comm, grid);
    const GlobalSum sum(comm);
    const auto built = preconditioner("amg").make(matrix, sum, {});
    const std::int32_t n = matrix.local_size();
    const std::int64_t first = matrix.partition().range(comm.rank()).begin;
    std::vector<double> u(n);
    std::vector<double> v(n);
    std::vector<double> mu(n);
    std::vector<double> mv(n);
    for (const std::uint64_t seed : {1, 2, 3, 4}) {
      for (std::int32_t i = 0; i < n; ++i) {
        u[i] = random_uniform(seed, first + i) - 0.5;
        v[i] = random_uniform(seed + 10, first + i) - 0.5;
      }
      built.op->apply(u, mu);
      built.op->apply(v, mv);
      const double uu = dot(sum, u, mu);
      const double vv = dot(sum, v, mv);
      EXPECT_GT(uu, 0);
      EXPECT_GT(vv, 0);
      EXPECT_NEAR(dot(sum, u, mv), dot(sum, mu, v), 1e-5 * std::sqrt(uu * vv));
    }
  }
}

TEST(Amg, IsTheSameOnAnyNumberOfThreads) {
  const auto comm = comm::Comm::world();
  const int threads = max_threads();
  for (const GridProblem& grid : {GridProblem{.n = 100, .jump = 10}, GridProblem{.n = 64, .unknowns = 2}}) {
    const DistributedMatrix matrix = spread(comm, grid);
    const std::int32_t n = matrix.local_size();
    std::vector<double> b(n);
    for (std::int32_t i = 0; i < n; ++i) b[i] = random_uniform(1, i) - 0.5;
    std::vector<std::vector<double>> answers;
    for (const int number : {1, 2, 3}) {
      omp_set_num_threads(number);
      const auto built = preconditioner("amg").make(matrix, GlobalSum(comm), {});
      built.op->apply(b, answers.emplace_back(n));
    }
    omp_set_num_threads(threads);
    EXPECT_EQ(answers[0], answers[1]);
    EXPECT_EQ(answers[0], answers[2]);
  }
}

/// An elastic beam: springs of two stiffnesses between lattice points and their 26 neighbours, along the line
/// between them, clamped at x = 0. Rotations bend no spring.
struct Springs {
  std::int64_t n;
  int dimensions;  ///< 2: a sheet

  std::int64_t nodes() const { return n * n * (dimensions == 3 ? n : 1); }
  std::array<double, 3> point(std::int64_t node) const {
    return {static_cast<double>(node % n), static_cast<double>(node / n % n),
            static_cast<double>(node / n / n)};
  }
  void add_row(std::int64_t row, Array<sparse::Entry>& entries) const {
    const std::int64_t node = row / dimensions;
    const auto c = static_cast<int>(row % dimensions);
    const auto p = point(node);
    std::array<double, 3> diagonal{};
    for (std::int64_t k = 0; k < 27; ++k) {
      const std::array<double, 3> d{static_cast<double>(k % 3 - 1), static_cast<double>(k / 3 % 3 - 1),
                                    static_cast<double>(k / 9 - 1)};
      const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
      if (square == 0 || (dimensions == 2 && d[2] != 0)) continue;
      bool inside = true;
      for (int a = 0; a < dimensions; ++a)
        inside = inside && 0 <= p[a] + d[a] && p[a] + d[a] < static_cast<double>(n);
      const bool clamped = p[0] + d[0] < 0;
      if (!inside && !clamped) continue;
      const double stiffness = (square == 1 ? 1.0 : 0.5) / square * d[c];
      for (int a = 0; a < dimensions; ++a) diagonal[a] += stiffness * d[a];
      if (!inside) continue;
      const auto other = node + static_cast<std::int64_t>(d[0] + static_cast<double>(n) *
                                                                     (d[1] + static_cast<double>(n) * d[2]));
      for (int a = 0; a < dimensions; ++a)
        if (d[a] != 0 && d[c] != 0) entries.push_back({row, other * dimensions + a, -stiffness * d[a]});
    }
    for (int a = 0; a < dimensions; ++a) entries.push_back({row, node * dimensions + a, diagonal[a]});
  }
};

/// Iterations of CG with or without coordinates, to 1e-8; 999 if they do not do.
int spring_iterations(const comm::Comm& comm, const Springs& springs, bool knows_coordinates) {
  const std::int64_t rows = springs.nodes() * springs.dimensions;
  const auto partition = RowPartition::even(rows, comm.size());
  const Range mine = partition.range(comm.rank());
  Array<sparse::Entry> entries;
  std::vector<double> coordinates;
  std::vector<double> b;
  for (std::int64_t i = mine.begin; i < mine.end; ++i) {
    springs.add_row(i, entries);
    for (const double x : springs.point(i / springs.dimensions)) coordinates.push_back(x);
    b.push_back(random_uniform(2, i) - 0.5);
  }
  const DistributedMatrix matrix(comm, sparse::assemble(comm, partition, rows, {entries}));
  const GlobalSum sum(comm);
  PreconditionerOptions options;
  if (knows_coordinates) options.coordinates = coordinates;
  const auto built = preconditioner("amg").make(matrix, sum, options);
  EXPECT_EQ(built.notes.back().find("rotations") != std::string::npos, knows_coordinates);
  std::vector<double> x(b.size(), 0.0);
  MethodOptions method_options;
  method_options.target = 1e-8 * norm(sum, b);
  method_options.max_iterations = 200;
  const auto result =
      method("cg").solve({matrix, *built.op, b, sum}, x, method_options, orthogonalization("cgs").apply, {});
  std::vector<double> r(b.size());
  matrix.apply(x, r);
  subtract(b, r, r);
  EXPECT_LE(norm(sum, r), 1.1 * method_options.target);
  return result.stop == Stop::converged ? result.iterations : 999;
}

TEST(Amg, RotationsSaveIterationsInElasticity) {
  const auto comm = comm::Comm::world();
  for (const Springs& springs : {Springs{10, 3}, Springs{33, 2}}) {
    const int without = spring_iterations(comm, springs, false);
    const int with = spring_iterations(comm, springs, true);
    const int alone = spring_iterations(comm::Comm::self(), springs, true);
    EXPECT_LT(with, 0.75 * without);
    EXPECT_LE(with, 1.2 * alone + 2);  // ranks cut nodes and aggregates
  }
}

TEST(Amg, RejectsTooFewCoordinates) {
  const auto comm = comm::Comm::world();
  const DistributedMatrix matrix = spread(comm, {.n = 6, .unknowns = 3});
  PreconditionerOptions options;
  const std::vector<double> coordinates(5);
  options.coordinates = coordinates;
  EXPECT_THROW(preconditioner("amg").make(matrix, GlobalSum(comm), options), InputError);
}

TEST(Amg, TakesMatricesWithNothingToCoarsen) {
  const auto comm = comm::Comm::world();
  Array<sparse::Entry> entries;
  const auto partition = RowPartition::even(1000, comm.size());
  const Range mine = partition.range(comm.rank());
  for (std::int64_t i = mine.begin; i < mine.end; ++i)
    entries.push_back({i, i, i == 500 ? 0 : static_cast<double>(i + 1)});
  const DistributedMatrix matrix(comm, sparse::assemble(comm, partition, 1000, {entries}));
  const auto built = preconditioner("amg").make(matrix, GlobalSum(comm), {});
  std::vector<double> x(mine.size(), 1.0);
  std::vector<double> y(mine.size());
  built.op->apply(x, y);
  for (std::int64_t i = 0; i < mine.size(); ++i) {
    EXPECT_GT(y[i], 0);
    EXPECT_TRUE(std::isfinite(y[i]));
  }
}

TEST(Amg, GivesUpWhenTold) {
  const auto comm = comm::Comm::world();
  const DistributedMatrix matrix = spread(comm, {.n = 40});
  const bool last = comm.rank() == comm.size() - 1;
  EXPECT_THROW(preconditioner("amg").make(matrix, GlobalSum(comm), {.gives_up = [&] { return last; }}),
               EnvironmentError);
}

TEST(Amg, AllRanksGiveUpOrNone) {
  const auto comm = comm::Comm::world();
  const DistributedMatrix matrix = spread(comm, {.n = 90});  // with a level below the gathered one
  const bool last = comm.rank() == comm.size() - 1;
  bool was_given_up = true;
  for (int patience = 1; was_given_up; ++patience) {
    ASSERT_LT(patience, 100);
    int questions = 0;
    bool gave_up = false;
    try {
      preconditioner("amg").make(matrix, GlobalSum(comm),
                                 {.gives_up = [&] { return ++questions > patience && last; }});
    } catch (const EnvironmentError&) {
      gave_up = true;
    }
    was_given_up = comm.any(gave_up);
    EXPECT_EQ(comm.any(!gave_up), !was_given_up) << "after " << patience << " levels";
  }
}

}  // namespace
}  // namespace ayatori::solvers
