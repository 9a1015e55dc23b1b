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
#include "ayatori/solvers/preconditioners/amg/aggregate.hpp"
#include "ayatori/solvers/preconditioners/amg/dense_solve.hpp"
#include "ayatori/solvers/preconditioners/amg/grid.hpp"
#include "ayatori/solvers/preconditioners/amg/half.hpp"
#include "ayatori/solvers/preconditioners/amg/hierarchy.hpp"
#include "ayatori/solvers/preconditioners/amg/sliced.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "dense.hpp"

namespace ayatori::solvers {
namespace {

using sparse::DistributedMatrix;
using sparse::RowPartition;
using tests::Dense;

/// Couplings of cell (x, y, z) of an n x n x depth grid with its neighbours; depth 1: a square.
struct GridProblem {
  std::int64_t n;
  std::int64_t depth = 1;
  double along_x = 1;
  double wind = 0;         ///< upwind, along x
  double skew = 0;         ///< of a square: with u_xy besides, strong along a diagonal
  double neumann = 0;      ///< 1: no Dirichlet boundary
  double jump = 1;         ///< coefficient of every other quarter
  bool roughened = false;  ///< scaled from both sides by rough()
  int unknowns = 1;        ///< per cell: L x K with K = 1 on the diagonal and 0.3 beside it

  std::int64_t cells() const { return n * n * depth; }
  std::int64_t rows() const { return cells() * unknowns; }

  double coefficient(std::int64_t x, std::int64_t y) const {
    return (4 * x / n + 4 * y / n) % 2 == 0 ? 1 : jump;
  }

  void add_row(std::int64_t row, Array<sparse::Entry>& entries) const {
    const std::int64_t cell = row / unknowns;
    const std::int64_t at[3] = {cell % n, cell / n % n, cell / n / n};
    const std::int64_t size[3] = {n, n, depth};
    const std::int64_t stride[3] = {1, n, n * n};
    double diagonal = 1e-12;
    for (int d = 0; d < 3; ++d) {
      for (const int side : {-1, 1}) {
        if (size[d] == 1) continue;
        const std::int64_t other = at[d] + side;
        const bool inside = 0 <= other && other < size[d];
        const double k = coefficient(at[0], at[1]);
        const double k_other = inside ? coefficient(d == 0 ? other : at[0], d == 1 ? other : at[1]) : k;
        double face = 2 * k * k_other / (k + k_other) * (d == 0 ? along_x : 1);
        if (d == 0 && side < 0) face += wind;
        if (inside || neumann == 0) diagonal += face;
        if (inside)
          for (int u = 0; u < unknowns; ++u) {
            const bool same = u == row % unknowns;
            entries.push_back({row, (cell + side * stride[d]) * unknowns + u, same ? -face : -0.3 * face});
          }
      }
    }
    for (const int dx : {-1, 1})
      for (const int dy : {-1, 1})
        if (skew != 0 && 0 <= at[0] + dx && at[0] + dx < n && 0 <= at[1] + dy && at[1] + dy < n)
          entries.push_back({row, cell + dy * n + dx, -skew * dx * dy});
    for (int u = 0; u < unknowns; ++u)
      entries.push_back({row, cell * unknowns + u, u == row % unknowns ? diagonal : 0.3 * diagonal});
  }
};

/// A factor between -100 and 100, of either sign, at random.
double rough(std::int64_t row) {
  return std::pow(100.0, 2 * random_uniform(5, row) - 1) * (random_uniform(6, row) < 0.5 ? -1 : 1);
}

DistributedMatrix spread(const comm::Comm& comm, const GridProblem& grid) {
  const auto partition = RowPartition::even(grid.rows(), comm.size());
  Array<sparse::Entry> entries;
  const Range mine = partition.range(comm.rank());
  for (std::int64_t i = mine.begin; i < mine.end; ++i) grid.add_row(i, entries);
  if (grid.roughened)
    for (auto& entry : entries) entry.value *= rough(entry.row) * rough(entry.column);
  return {comm, sparse::assemble(comm, partition, grid.rows(), {entries})};
}

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

/// A distributed matrix of blocks, dense on every rank.
template <int B, class V>
Dense dense_of(const amg::Layout& rows, const amg::Layout& columns, const amg::BlockCsr<B, V>& a) {
  const std::int64_t n = std::max(rows.partition.rows(), columns.partition.rows()) * B;
  Dense dense(n);
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
      for (int r = 0; r < B; ++r)
        for (int c = 0; c < B; ++c)
          dense.at((rows.first() + i) * B + r, columns.global(a.column[k]) * B + c) = a.block(k)[r * B + c];
  rows.comm.allreduce(std::span<double>(dense.value), comm::ReduceOp::sum);
  return dense;
}

Dense transposed(const Dense& a) {
  Dense t(a.n);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < a.n; ++j) t.at(j, i) = a.at(i, j);
  return t;
}

template <int B>
void check_coarsening(const GridProblem& problem) {
  const auto comm = comm::Comm::world();
  const DistributedMatrix matrix = spread(comm, problem);
  const auto fine = amg::make_fine_grid<B>(matrix, invert_diagonal(matrix, "test").value);
  const auto next = amg::coarsen<B, float>(fine.grid, {.threshold = 0.25, .largest = 2});
  ASSERT_TRUE(next.has_value());
  const amg::Layout& layout = fine.grid.layout;
  const amg::Layout& coarse = next->coarse.layout;
  EXPECT_LT(coarse.partition.rows(), layout.partition.rows() / 2);
  const Dense a = dense_of(layout, layout, fine.grid.matrix);
  const Dense p = dense_of(layout, coarse, next->prolongator);
  const Dense expected = tests::multiply(transposed(p), tests::multiply(a, p));
  Dense found = dense_of(coarse, coarse, next->coarse.matrix);
  found.value.resize(expected.value.size(), 0.0);
  Dense padded(expected.n);
  const std::int64_t size = coarse.partition.rows() * B;
  for (std::int64_t i = 0; i < size; ++i)
    for (std::int64_t j = 0; j < size; ++j) padded.at(i, j) = found.at(i, j);
  EXPECT_LT(tests::max_abs(tests::add(expected, -1, padded)), 1e-6);
  for (std::int64_t i = 0; i < size; ++i) EXPECT_NEAR(padded.at(i, i), 1, 1e-6);
}

TEST(Amg, CoarsensByTheGalerkinProduct) {
  check_coarsening<1>({.n = 11});
  check_coarsening<1>({.n = 10, .wind = 2});
  check_coarsening<1>({.n = 12, .skew = 0.45});
  check_coarsening<2>({.n = 8, .unknowns = 2});
  check_coarsening<3>({.n = 7, .unknowns = 3});  // ranks are cut within nodes
}

TEST(Amg, AggregatesCoverCoupledNodesOnce) {
  // A 6 x 6 grid whose node 0 has no strong coupling.
  amg::BlockCsr<1> a{36, 36, {0}, {}, {}};
  Array<std::uint8_t> strength;
  for (std::int32_t i = 0; i < 36; ++i) {
    for (std::int32_t j = 0; j < 36; ++j) {
      const int dx = std::abs(i % 6 - j % 6);
      const int dy = std::abs(i / 6 - j / 6);
      if (dx + dy != 1 || i == 0 || j == 0) continue;
      a.column.push_back(j);
      strength.push_back(255);
    }
    a.row_start.push_back(a.blocks());
  }
  const auto aggregates = amg::aggregate({36, a.row_start, a.column, strength});
  EXPECT_EQ(aggregates.of[0], amg::Aggregates::none);
  std::vector<int> size(aggregates.count, 0);
  for (int i = 1; i < 36; ++i) {
    ASSERT_GE(aggregates.of[i], 0);
    ASSERT_LT(aggregates.of[i], aggregates.count);
    ++size[aggregates.of[i]];
  }
  for (const int s : size) EXPECT_GT(s, 0);
  EXPECT_LE(aggregates.count, 8);
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

TEST(Amg, SlicedProductIsThatOfTheBlocks) {
  constexpr int b = 2;
  const std::int32_t rows = 37;
  const std::int32_t ghosts = 5;
  amg::BlockCsr<b> a{rows, rows + ghosts, {0}, {}, {}};
  for (std::int32_t i = 0; i < rows; ++i) {
    for (std::int32_t j = 0; j < rows + ghosts; ++j) {
      const bool diagonal = j == i || j == i + 3;
      if (!diagonal && random_uniform(5, i * 100 + j) > 0.1) continue;
      a.column.push_back(j);
      for (int v = 0; v < b * b; ++v) a.value.push_back(random_uniform(6, a.blocks() * 4 + v) - 0.5);
    }
    a.row_start.push_back(a.blocks());
  }
  const amg::Shape shape(rows, ghosts);
  const amg::Sliced<b, double> sliced(a, shape);
  std::vector<double> x(shape.stride * b, 0.0);
  for (std::int32_t j = 0; j < rows + ghosts; ++j)
    for (int c = 0; c < b; ++c) x[c * shape.stride + shape.place(j)] = random_uniform(7, j * b + c);
  std::vector<double> y(shape.stride * b, 0.0);
  sliced.multiply(x.data(), [&](std::int64_t s, const amg::Slice<double>* sums) {
    for (int c = 0; c < b; ++c) amg::store_slice(&y[c * shape.stride + s * amg::slice_rows], sums[c]);
  });
  for (std::int32_t i = 0; i < rows; ++i) {
    for (int r = 0; r < b; ++r) {
      double sum = 0;
      for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
        for (int c = 0; c < b; ++c)
          sum += a.block(k)[r * b + c] * x[c * shape.stride + shape.place(a.column[k])];
      EXPECT_NEAR(y[r * shape.stride + i], sum, 1e-13);
    }
  }
}

#ifdef __F16C__
TEST(Amg, HalvesKeepTheProductWithOneVector) {
  // Unit diagonals; 37 rows with elements on diagonals, others here and there, and a few ghosts.
  const std::int32_t rows = 37;
  const std::int32_t ghosts = 5;
  amg::BlockCsr<1> a{rows, rows + ghosts, {0}, {}, {}};
  for (std::int32_t i = 0; i < rows; ++i) {
    for (std::int32_t j = 0; j < rows + ghosts; ++j) {
      if (std::abs(i - j) > 2 && random_uniform(5, i * 100 + j) > 0.1) continue;
      a.column.push_back(j);
      a.value.push_back(i == j ? 1 : 0.001 + random_uniform(6, a.blocks()) / 5);
    }
    a.row_start.push_back(a.blocks());
  }
  const amg::Shape shape(rows, ghosts);
  std::vector<double> kept(shape.stride, 0.0);
  for (std::int32_t j = 0; j < rows + ghosts; ++j) kept[shape.place(j)] = 1 + random_uniform(8, j);
  const amg::Sliced<1, float, amg::Half> sliced(a, shape, kept);
  EXPECT_TRUE(sliced.fits());
  const auto product = [&](const std::vector<double>& x) {
    const std::vector<float> from(x.begin(), x.end());
    std::vector<float> y(shape.stride, 0.0F);
    sliced.multiply(from.data(), [&](std::int64_t s, const amg::Slice<float>* sums) {
      amg::store_slice(&y[s * amg::slice_rows], sums[0]);
    });
    return y;
  };
  std::vector<double> unit(shape.stride);
  for (std::int32_t j = 0; j < rows + ghosts; ++j) {
    std::ranges::fill(unit, 0.0);
    unit[shape.place(j)] = 1;
    const auto column = product(unit);
    double most = 0;
    for (std::int32_t i = 0; i < rows; ++i) {
      double exact = 0;
      for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
        if (a.column[k] == j) exact = a.value[k];
      EXPECT_NEAR(column[i], exact, i == j ? 0x1p-9 : 0x1.01p-11 * exact);
      most = std::max(most, std::abs(column[i] - exact));
    }
    EXPECT_GT(most, 1e-6);  // it is rounded
  }
  const auto y = product(kept);
  for (std::int32_t i = 0; i < rows; ++i) {
    double exact = 0;
    for (std::int64_t k = a.row_start[i]; k < a.row_start[i + 1]; ++k)
      exact += a.value[k] * kept[shape.place(a.column[k])];
    EXPECT_NEAR(y[i], exact, 2e-6);
  }
  const auto fits = [&](const amg::BlockCsr<1>& matrix) {
    return amg::Sliced<1, float, amg::Half>(matrix, shape, kept).fits();
  };
  amg::BlockCsr<1> other = a;
  other.value[1] = 2.5;
  EXPECT_FALSE(fits(other));
  other = a;
  for (double& v : other.value) v *= 1.1;  // no unit diagonal
  EXPECT_FALSE(fits(other));
}
#endif

TEST(Amg, InvertsDenseMatrices) {
  for (const bool symmetric : {true, false}) {
    const Dense a = tests::random_dominant(17, 0.4, 1.1, 3, symmetric);
    const amg::DenseInverse inverse(a.n, a.value, symmetric);
    EXPECT_FALSE(inverse.is_singular());
    std::vector<double> x(a.n);
    std::vector<double> y(a.n);
    std::vector<double> back(a.n, 0.0);
    for (std::int64_t i = 0; i < a.n; ++i) x[i] = random_uniform(1, i);
    inverse.apply(x, y);
    for (std::int64_t i = 0; i < a.n; ++i)
      for (std::int64_t j = 0; j < a.n; ++j) back[i] += a.at(i, j) * y[j];
    for (std::int64_t i = 0; i < a.n; ++i) EXPECT_NEAR(back[i], x[i], 1e-12);
  }
  Dense indefinite = tests::laplacian_1d(6);
  for (int i = 0; i < 6; ++i) indefinite.at(i, i) -= 1.5;
  const amg::DenseInverse by_eigenvalues(6, indefinite.value, true);
  EXPECT_FALSE(by_eigenvalues.is_singular());
  std::vector<double> column(6);
  std::vector<double> unit(6);
  for (int i = 0; i < 6; ++i) column[i] = indefinite.at(i, 2);
  by_eigenvalues.apply(column, unit);
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(unit[i], i == 2 ? 1 : 0, 1e-12);
  EXPECT_THROW(amg::DenseInverse(1, {std::nan("")}, true), InputError);
  Dense singular = tests::laplacian_1d(6);  // of a ring: constants are its null space
  singular.at(0, 5) = singular.at(5, 0) = -1;
  const amg::DenseInverse inverse(6, singular.value, true);
  EXPECT_TRUE(inverse.is_singular());
  std::vector<double> y(6);
  inverse.apply(std::vector<double>(6, 1.0), y);
  for (const double v : y) EXPECT_NEAR(v, 0, 1e-12);
  inverse.apply(std::vector<double>{2, -1, 0, 0, 0, -1}, y);  // the ring's first column
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(y[i], i == 0 ? 5.0 / 6 : -1.0 / 6, 1e-12);
  // With a hint the same, also where rounding in float has left an eigenvalue of about 1e-7.
  for (int i = 0; i < 6; ++i) singular.at(i, i) += 1e-7 * (i - 2.5);
  const auto null_vectors = amg::find_null_vectors(singular.value, std::vector<double>(6, 2.0), 1);
  ASSERT_EQ(null_vectors.size(), 1);
  const amg::DenseInverse deflated(6, singular.value, true, null_vectors);
  EXPECT_TRUE(deflated.is_singular());
  deflated.apply(std::vector<double>(6, 1.0), y);
  for (const double v : y) EXPECT_NEAR(v, 0, 1e-12);
  deflated.apply(std::vector<double>{2, -1, 0, 0, 0, -1}, y);
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(y[i], i == 0 ? 5.0 / 6 : -1.0 / 6, 1e-6);
  EXPECT_TRUE(amg::find_null_vectors(tests::laplacian_1d(6).value, std::vector<double>(6, 2.0), 1).empty());
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
