#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <iterator>
#include <numeric>
#include <string>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/solvers/preconditioners/complete/complete_factors.hpp"
#include "ayatori/solvers/preconditioners/diagonal.hpp"
#include "ayatori/solvers/preconditioners/factorizations/dense_inverse.hpp"
#include "ayatori/solvers/preconditioners/polynomials/harmonic_ritz.hpp"
#include "ayatori/solvers/preconditioners/polynomials/spectrum.hpp"
#include "ayatori/solvers/vector_ops.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"
#include "dense.hpp"

namespace ayatori::solvers {
namespace {

using sparse::DistributedMatrix;
using sparse::RowPartition;
using tests::Dense;

/// A matrix on all ranks, the sum over them, and what a preconditioner of it is.
struct Problem {
  comm::Comm comm = comm::Comm::world();
  DistributedMatrix matrix;
  GlobalSum sum{comm};

  explicit Problem(const Dense& a) : Problem(a, RowPartition::even(a.n, comm::Comm::world().size())) {}
  Problem(const Dense& a, const RowPartition& partition) : matrix(comm, tests::spread(comm, a, partition)) {}

  BuiltPreconditioner build(std::string_view name, const PreconditionerOptions& options = {}) const {
    return preconditioner(name).make(matrix, sum, options);
  }
  Dense dense(std::string_view name, const PreconditionerOptions& options = {}) const {
    return tests::dense_of(comm, *build(name, options).op);
  }
};

double difference(const Dense& a, const Dense& b) {
  return tests::max_abs(tests::add(a, -1, b));
}

/// All rows on one rank: the last but one, if there are several.
RowPartition lopsided(std::int64_t n) {
  const int ranks = comm::Comm::world().size();
  std::vector<std::int64_t> starts(ranks + 1, 0);
  starts[ranks] = n;
  if (ranks > 1) starts[ranks - 1] = n;
  return RowPartition(starts);
}

/// All but complete factors, whose library needs much longer than these small matrices are worth, and those
/// that only saddle points admit.
std::vector<Preconditioner> iterative_preconditioners() {
  std::vector<Preconditioner> list;
  std::ranges::copy_if(preconditioners(), std::back_inserter(list), [](const auto& type) {
    return type.name != "direct" && !type.name.starts_with("schur");
  });
  return list;
}

void expect_definite(const Dense& m, const std::string& what) {
  EXPECT_LT(tests::asymmetry(m), 1e-11 * tests::max_abs(m)) << what;
  Dense symmetric = m;
  for (std::int64_t i = 0; i < m.n; ++i)
    for (std::int64_t j = 0; j < m.n; ++j) symmetric.at(i, j) = m.at(i, j) / 2 + m.at(j, i) / 2;
  const double scale = tests::max_abs(symmetric);
  for (double& v : symmetric.value) v /= scale;
  EXPECT_GT(tests::eigenvalues(symmetric).front(), 0) << what;
}

TEST(Preconditioners, AreFoundByName) {
  for (const char* name :
       {"none", "jacobi", "ssor", "block-jacobi", "block-ilu0", "ic", "ilu", "ilut", "fsai", "neumann",
        "chebyshev", "gmres-polynomial", "amg", "schur", "schur-definite"})
    EXPECT_EQ(preconditioner(name).name, name);
  EXPECT_THROW(preconditioner("multigrid"), InputError);
}

TEST(Preconditioners, FlaggedSymmetricAreDefiniteForDefiniteMatrices) {
  std::vector<Dense> matrices{tests::laplacian_1d(23), tests::laplacian_2d(6)};
  for (const std::uint64_t seed : {1, 2, 3}) {
    matrices.push_back(tests::random_dominant(30, 0.2, 1.0, seed, true));
    matrices.push_back(tests::random_definite(36, 0.08, seed));
  }
  Dense cycle = tests::identity(9);  // D^-1 A has the eigenvalue 2, where odd polynomials may vanish
  for (std::int64_t i = 0; i < 9; ++i) cycle.at(i, (i + 1) % 9) = cycle.at((i + 1) % 9, i) = 0.5;
  matrices.push_back(cycle);
  for (std::size_t m = 0; m < matrices.size(); ++m) {
    const Problem problem(matrices[m]);
    for (const Preconditioner& type : iterative_preconditioners()) {
      if (!type.symmetric) continue;
      for (const int degree : {0, 1, 2, 3, 4, 7}) {
        const Dense inverse =
            problem.dense(type.name, {.blocks = degree, .block_size = degree, .degree = degree});
        expect_definite(inverse, fmt::format("{} {} on matrix {}", type.name, degree, m));
      }
    }
  }
}

TEST(Preconditioners, ScaleWithTheMatrix) {
  const Dense a = tests::laplacian_2d(5);
  const Problem problem(a);
  for (const double scale : {1e-78, 1e28}) {
    Dense scaled = a;
    for (double& v : scaled.value) v *= scale;
    const Problem scaled_problem(scaled);
    for (const Preconditioner& type : iterative_preconditioners()) {
      Dense m = scaled_problem.dense(type.name);
      if (type.name != "none")
        for (double& v : m.value) v *= scale;
      EXPECT_LT(difference(m, problem.dense(type.name)), 1e-12) << type.name << ' ' << scale;
    }
  }
}

TEST(Preconditioners, TakeEmptyAndTinyRanks) {
  for (const std::int64_t n : {1, 2, 4}) {
    const Dense a = tests::laplacian_1d(n);
    for (const auto& partition : {RowPartition::even(n, comm::Comm::world().size()), lopsided(n)}) {
      const Problem problem(a, partition);
      for (const Preconditioner& type : iterative_preconditioners())
        expect_definite(problem.dense(type.name), std::string(type.name));
    }
  }
}

TEST(Preconditioners, SurviveZeroDiagonalsAndZeroRows) {
  Dense a = tests::laplacian_1d(12);
  a.at(3, 3) = 0;
  a.at(7, 6) = a.at(7, 7) = a.at(7, 8) = 0;
  const Problem problem(a);
  for (const Preconditioner& type : iterative_preconditioners()) {
    const auto built = problem.build(type.name);
    EXPECT_LT(tests::max_abs(tests::dense_of(problem.comm, *built.op)), 1e6) << type.name;
    EXPECT_EQ(built.notes.empty(), type.name == "none") << type.name;
  }
}

TEST(Preconditioners, RejectEntriesThatAreNotFinite) {
  Dense a = tests::laplacian_1d(8);
  a.at(5, 6) = std::nan("");
  const RowPartition partition = RowPartition::even(8, comm::Comm::world().size());
  const Problem problem(a, partition);
  const bool is_ghost = partition.owner(5) != partition.owner(6);
  for (const Preconditioner& type : iterative_preconditioners()) {
    const bool is_of_blocks =
        type.name == "block-ilu0" || type.name == "ic" || type.name == "ilu" || type.name == "ilut";
    if (type.name == "none" || (is_of_blocks && is_ghost)) continue;
    try {
      problem.build(type.name);
      ADD_FAILURE() << type.name;
    } catch (const InputError& error) {
      EXPECT_TRUE(error.agreed());
      EXPECT_NE(std::string(error.what()).find(std::string(type.name) + ": row 6: "), std::string::npos)
          << error.what();
    }
  }
}

TEST(Preconditioners, RejectOptionsOutOfRange) {
  const Problem problem(tests::laplacian_1d(8));
  EXPECT_THROW(problem.build("block-jacobi", {.block_size = -1}), InputError);
  EXPECT_THROW(problem.build("block-jacobi", {.block_size = 1000}), InputError);
  EXPECT_THROW(problem.build("block-ilu0", {.blocks = -1}), InputError);
  for (const char* name : {"ic", "ilu", "ilut"}) {
    EXPECT_THROW(problem.build(name, {.blocks = -1}), InputError);
    EXPECT_THROW(problem.build(name, {.overlap = -1}), InputError);
    EXPECT_THROW(problem.build(name, {.overlap = 11}), InputError);
    EXPECT_THROW(problem.build(name, {.drop_tolerance = std::nan("")}), InputError);
    EXPECT_THROW(problem.build(name, {.ordering = "random"}), InputError);
  }
  EXPECT_THROW(problem.build("neumann", {.degree = -1}), InputError);
  EXPECT_THROW(problem.build("chebyshev", {.degree = 1000}), InputError);
}

TEST(Preconditioners, DoNotDependOnTheThreadsWhereTheBlocksDoNot) {
  const std::int64_t n = 4 * min_elements_per_thread * comm::Comm::world().size();
  Array<sparse::Entry> entries;
  const auto world = comm::Comm::world();
  const RowPartition partition = RowPartition::even(n, world.size());
  for (std::int64_t i = partition.range(world.rank()).begin; i < partition.range(world.rank()).end; ++i) {
    entries.push_back({i, i, 3});
    if (i > 0) entries.push_back({i, i - 1, -1});
    if (i + 1 < n) entries.push_back({i, i + 1, -1.5});
  }
  const DistributedMatrix matrix(world, sparse::assemble(world, partition, n, {entries}));
  const GlobalSum sum(world);
  Array<double> x(matrix.local_size(), 1.0);
  std::vector<Array<double>> y(2, Array<double>(x.size()));
  for (const Preconditioner& type : iterative_preconditioners()) {
    if (type.name == "amg") continue;  // its aggregates end where a thread's rows do
    for (const int threads : {1, 2}) {
      omp_set_num_threads(threads);
      type.make(matrix, sum, {.blocks = 2}).op->apply(x, y[threads - 1]);
    }
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(y[0][i] - y[1][i]));
    EXPECT_LT(largest, 1e-12) << type.name;
  }
}

TEST(Jacobi, InvertsTheDiagonal) {
  const Dense a = tests::random_dominant(17, 0.3, 1.1, 1, false);
  Dense expected(a.n);
  for (std::int64_t i = 0; i < a.n; ++i) expected.at(i, i) = 1 / a.at(i, i);
  EXPECT_EQ(difference(Problem(a).dense("jacobi"), expected), 0);
}

TEST(Ssor, IsTheProductOfTwoSweepsThroughEachBlock) {
  const Dense a = tests::random_dominant(26, 0.4, 1.1, 7, false);
  const int ranks = comm::Comm::world().size();
  const auto partition = RowPartition::even(a.n, ranks);
  for (const int blocks : {1, 3}) {
    std::vector<int> block_of(static_cast<std::size_t>(a.n));
    for (int b = 0; b < ranks * blocks; ++b) {
      const Range of_rank = partition.range(b / blocks);
      const Range rows = split_evenly(of_rank.size(), blocks, b % blocks);
      for (std::int64_t i = rows.begin; i < rows.end; ++i) block_of[of_rank.begin + i] = b;
    }
    Dense lower(a.n);  // D + L
    Dense upper(a.n);  // D^-1 (D + U)
    for (std::int64_t i = 0; i < a.n; ++i)
      for (std::int64_t j = 0; j < a.n; ++j) {
        if (block_of[i] != block_of[j]) continue;
        if (j <= i) lower.at(i, j) = a.at(i, j);
        if (j >= i) upper.at(i, j) = a.at(i, j) / a.at(i, i);
      }
    const Dense inverse = Problem(a, partition).dense("ssor", {.blocks = blocks});
    EXPECT_LT(difference(tests::multiply(inverse, tests::multiply(lower, upper)), tests::identity(a.n)),
              1e-12)
        << blocks;
  }
}

/// Nodes of this many unknowns, with little on the diagonal: relaxed one by one they would not work at all.
/// M^-1
/// M
/// - 1 for M = (D + L) (1 + D^-1 U) of blocks of nodes.
double error_of_node_sweeps(const std::vector<int>& sizes, int blocks) {
  const auto nodes = static_cast<std::int64_t>(sizes.size());
  std::vector<std::int64_t> first(nodes + 1);
  std::partial_sum(sizes.begin(), sizes.end(), first.begin() + 1);
  const int ranks = comm::Comm::world().size();
  std::vector<std::int64_t> starts(ranks + 1);
  std::vector<int> block_of(nodes);
  for (int r = 0; r < ranks; ++r) {
    const Range own = split_evenly(nodes, ranks, r);
    starts[r + 1] = first[own.end];
    for (int b = 0; b < blocks; ++b) {
      const Range part = split_evenly(own.size(), blocks, b);
      std::fill(block_of.begin() + own.begin + part.begin, block_of.begin() + own.begin + part.end,
                r * blocks + b);
    }
  }
  Dense a(first.back()), lower(a.n), strict(a.n), inverse_diagonal(a.n);  // D + L, U and D^-1
  for (std::int64_t n = 0; n < nodes; ++n) {
    std::vector<double> diagonal, inverse(sizes[n] * sizes[n]);
    for (std::int64_t m = std::max<std::int64_t>(n - 1, 0); m <= std::min(n + 1, nodes - 1); ++m)
      for (std::int64_t i = first[n]; i < first[n + 1]; ++i)
        for (std::int64_t j = first[m]; j < first[m + 1]; ++j) {
          const bool is_main = n == m && i + j == first[n] + first[n + 1] - 1;
          const double value = is_main ? 20 : (i == j ? 0.01 : 0.3 + 0.1 * random_uniform(9, 100 * i + j));
          a.at(i, j) = value;
          if (n == m) diagonal.push_back(value);
          if (block_of[n] == block_of[m]) (m <= n ? lower : strict).at(i, j) = value;
        }
    EXPECT_TRUE(invert_dense(sizes[n], diagonal, inverse));
    for (int i = 0; i < sizes[n]; ++i)
      for (int j = 0; j < sizes[n]; ++j)
        inverse_diagonal.at(first[n] + i, first[n] + j) = inverse[i * sizes[n] + j];
  }
  const Dense inverse = Problem(a, RowPartition(starts)).dense("ssor", {.blocks = blocks});
  const Dense upper = tests::add(tests::identity(a.n), 1, tests::multiply(inverse_diagonal, strict));
  return difference(tests::multiply(inverse, tests::multiply(lower, upper)), tests::identity(a.n));
}

TEST(Ssor, RelaxesTheUnknownsOfANodeTogether) {
  for (const int blocks : {1, 2}) {
    EXPECT_LT(error_of_node_sweeps(std::vector<int>(28, 2), blocks), 1e-12) << blocks;
    EXPECT_LT(error_of_node_sweeps(std::vector<int>(60, 3), blocks), 1e-12) << blocks;
    EXPECT_LT(error_of_node_sweeps({2, 3, 4, 5, 6, 7, 8, 2, 3, 4, 1, 5, 6, 7, 8, 2, 8, 3, 3, 2, 5}, blocks),
              1e-12)
        << blocks;
  }
}

/// Sweeps go by slices after some solves, in each of several blocks as well, and give the same numbers.
TEST(Ssor, StaysTheSameOverManySolves) {
  const Dense a = tests::random_dominant(900, 0.004, 1.1, 3, false);
  for (const int blocks : {1, 3}) {
    const Problem problem(a, lopsided(a.n));
    const auto built = problem.build("ssor", {.blocks = blocks});
    const auto rows = static_cast<std::size_t>(built.op->local_size());
    std::vector<double> x(rows), first(rows), y(rows);
    for (std::size_t i = 0; i < rows; ++i) x[i] = std::sin(static_cast<double>(i));
    built.op->apply(x, first);
    for (int k = 0; k < 12; ++k) {
      built.op->apply(x, y);
      EXPECT_EQ(y, first) << blocks << " blocks, solve " << k;
    }
  }
}

TEST(Ssor, PutsStandInsWhereTheDiagonalIsMissing) {
  Dense a(6);
  for (std::int64_t i = 0; i < 6; ++i) a.at(i, i) = i == 2 ? 0 : 4;
  a.at(2, 3) = a.at(3, 2) = -2;
  const Problem problem(a, lopsided(6));
  const auto built = problem.build("ssor");
  EXPECT_EQ(built.notes.size(), 1U);
  const Dense inverse = tests::dense_of(problem.comm, *built.op);
  EXPECT_EQ(inverse.at(0, 0), 0.25);
  EXPECT_EQ(inverse.at(2, 3), 0.25) << "(D + L) D^-1 (D + U) with d = 2 in row 2 is [2 -2; -2 6] there";
  EXPECT_THROW(problem.build("ssor", {.blocks = -1}), InputError);
}

TEST(BlockJacobi, IsExactForBlockDiagonalMatrices) {
  Dense a(24);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 3 * (i / 3); j < 3 * (i / 3) + 3; ++j)
      a.at(i, j) = i == j ? 0.1 : 2 * random_uniform(1, i * a.n + j) - 1;  // needs pivoting
  const int ranks = comm::Comm::world().size();
  std::vector<std::int64_t> starts;
  for (int r = 0; r <= ranks; ++r) starts.push_back(3 * (8 * r / ranks));
  const Problem problem(a, RowPartition(starts));
  for (const int size : {0, 3, 6})
    EXPECT_LT(difference(tests::multiply(problem.dense("block-jacobi", {.block_size = size}), a),
                         tests::identity(24)),
              1e-12)
        << size;
}

TEST(BlockJacobi, CutsFixedBlocksInGlobalNumbering) {
  const Dense a = tests::random_dominant(20, 1, 1.1, 5, false);
  std::vector<std::int64_t> starts(comm::Comm::world().size() + 1, 20);
  starts.front() = 0;
  if (starts.size() > 2) starts[1] = 10;  // in the middle of rows 8 to 11
  const Dense m = Problem(a, RowPartition(starts)).dense("block-jacobi", {.block_size = 4});
  for (std::int64_t i = 0; i < 20; ++i)
    for (std::int64_t j = 0; j < 20; ++j) {
      const bool cut = starts.size() > 2 && (i < 10) != (j < 10);
      EXPECT_EQ(m.at(i, j) != 0, i / 4 == j / 4 && !cut) << i << ' ' << j;
    }
}

TEST(BlockJacobi, FindsTheNodesOfTheMesh) {
  Dense a(18);  // nodes of 1, 2 and 3 unknowns, each coupled with the next
  const auto node_of = [](std::int64_t i) { return 3 * (i / 6) + (i % 6 == 0 ? 0 : i % 6 < 3 ? 1 : 2); };
  for (std::int64_t i = 0; i < 18; ++i)
    for (std::int64_t j = 0; j < 18; ++j)
      if (std::abs(node_of(i) - node_of(j)) <= 1) a.at(i, j) = i == j ? 20 : 1;
  const Dense m = Problem(a, lopsided(18)).dense("block-jacobi");
  for (std::int64_t i = 0; i < 18; ++i)
    for (std::int64_t j = 0; j < 18; ++j)
      EXPECT_EQ(m.at(i, j) != 0, node_of(i) == node_of(j)) << i << ' ' << j;
}

TEST(BlockJacobi, ReplacesSingularBlocks) {
  Dense a(8);
  for (std::int64_t i = 0; i < 8; ++i)
    for (std::int64_t j = 2 * (i / 2); j < 2 * (i / 2) + 2; ++j) a.at(i, j) = 2;
  const Problem problem(a, lopsided(8));
  const auto built = problem.build("block-jacobi", {.block_size = 2});
  EXPECT_EQ(built.notes.size(), 1U);
  Dense half = tests::identity(8);
  for (double& v : half.value) v /= 2;
  EXPECT_EQ(difference(tests::dense_of(problem.comm, *built.op), half), 0);
}

TEST(BlockIlu0, IsBlockDiagonalByRanksAndBlocks) {
  const Dense a = tests::random_dominant(24, 1, 1.1, 3, false);
  const Problem problem(a);
  const int parts = 2 * problem.comm.size();
  const Dense m = problem.dense("block-ilu0", {.blocks = 2});
  Dense diagonal_blocks(24);
  const auto part_of = [&](std::int64_t i) {
    const int rank = problem.matrix.partition().owner(i);
    const Range rows = problem.matrix.partition().range(rank);
    return 2 * rank + (i - rows.begin >= split_evenly(rows.size(), 2, 0).end ? 1 : 0);
  };
  for (std::int64_t i = 0; i < 24; ++i)
    for (std::int64_t j = 0; j < 24; ++j)
      if (part_of(i) == part_of(j)) diagonal_blocks.at(i, j) = a.at(i, j);
  EXPECT_EQ(part_of(23), parts - 1);
  // Dense blocks have no fill to drop: each is inverted exactly.
  EXPECT_LT(difference(tests::multiply(m, diagonal_blocks), tests::identity(24)), 1e-12);
}

TEST(BlockIlu0, GivesUpOnAllRanksWhenOneDoes) {
  const Problem problem(tests::laplacian_1d(24));
  const int last = problem.comm.size() - 1;
  std::atomic<int> asked = 0;
  try {
    problem.build("block-ilu0", {.blocks = 2, .gives_up = [&] {
                                   ++asked;
                                   return problem.comm.rank() == last;
                                 }});
    ADD_FAILURE() << "not given up";
  } catch (const EnvironmentError& error) {
    EXPECT_TRUE(error.agreed());
    EXPECT_NE(std::string(error.what()).find("given up"), std::string::npos);
  }
  EXPECT_GT(asked, 0);
}

TEST(BlockIlu0, ReportsItsShifts) {
  const Problem definite(tests::random_definite(40, 0.08, 1));
  Dense singular = tests::laplacian_1d(12);
  singular.at(0, 0) = singular.at(11, 11) = 1;
  const auto notes = Problem(singular, lopsided(12)).build("block-ilu0").notes;
  ASSERT_EQ(notes.size(), 1U);
  const auto expected =
      fmt::format("1 of {} blocks shifted by up to 0.001 of the diagonal", definite.comm.size());
  EXPECT_EQ(notes[0].substr(0, expected.size()), expected);
  EXPECT_NE(notes[0].find("row 12"), std::string::npos);
}

bool has_direct() {
  return std::ranges::any_of(preconditioners(), [](const auto& type) { return type.name == "direct"; });
}

TEST(Direct, Solves) {
  if (!has_direct()) GTEST_SKIP() << "built without complete factors";
  for (const bool symmetric : {false, true}) {
    Dense a = tests::random_dominant(20, 0.2, 0.3, 3, symmetric);
    a.at(4, 4) = 0;
    const Problem problem(a, lopsided(20));
    const auto built = problem.build("direct", {.matrix_is_symmetric = symmetric});
    EXPECT_EQ(built.notes.size(), 1U);
    Dense expected(20);
    ASSERT_TRUE(invert_dense(20, a.value, expected.value));
    EXPECT_LT(difference(tests::dense_of(problem.comm, *built.op), expected),
              1e-11 * tests::max_abs(expected));
  }
}

TEST(Direct, ReportsZeroPivots) {
  if (!has_direct() || factor_libraries().back().name != "MUMPS") GTEST_SKIP() << "built without MUMPS";
  Dense singular = tests::identity(6);
  singular.at(2, 2) = 0;
  const auto notes = Problem(singular).build("direct").notes;
  ASSERT_EQ(notes.size(), 2U);
  EXPECT_NE(notes[1].find("1 pivots are zero"), std::string::npos) << notes[1];
}

/// Pivots of a ten-thousandth, which MUMPS' own threshold would delay, lose little.
TEST(Direct, SmallPivotsStillSolve) {
  if (!has_direct()) GTEST_SKIP() << "built without complete factors";
  Dense a(40);
  for (std::int64_t i = 0; i < 40; ++i) {
    a.at(i, i) = 1e-4 * (i % 2 == 0 ? 1 : -1);
    if (i > 0) a.at(i, i - 1) = a.at(i - 1, i) = 1;
    if (i >= 7) a.at(i, i - 7) = a.at(i - 7, i) = 0.3;
  }
  const Problem problem(a);
  Dense expected(40);
  ASSERT_TRUE(invert_dense(40, a.value, expected.value));
  for (const bool symmetric : {false, true}) {
    const auto built = problem.build("direct", {.matrix_is_symmetric = symmetric});
    EXPECT_LT(difference(tests::dense_of(problem.comm, *built.op), expected),
              1e-6 * tests::max_abs(expected));
  }
}

TEST(Direct, GivesTheSameBitsEveryTime) {
  if (!has_direct()) GTEST_SKIP() << "built without complete factors";
  const Dense a = tests::random_dominant(600, 0.01, 0.3, 5, false);
  const Problem problem(a);
  const std::vector<double> x(problem.matrix.local_size(), 1);
  std::vector<double> first;
  int differing = 0;
  for (int k = 0; k < 4; ++k) {
    const auto built = problem.build("direct");
    EXPECT_TRUE(built.reproducible);
    for (int solve = 0; solve < 40; ++solve) {
      std::vector<double> y(x.size());
      built.op->apply(x, y);
      if (first.empty()) first = y;
      if (y != first) ++differing;
    }
  }
  EXPECT_EQ(differing, 0);
}

TEST(Direct, GivesUpWhatIsDearerThanItMayBe) {
  if (!has_direct()) GTEST_SKIP() << "built without complete factors";
  const Problem problem(tests::laplacian_2d(6));
  double told = 0;
  const auto allows = [&told](double most) {
    return [&told, most](double products) {
      told = products;
      return products <= most;
    };
  };
  EXPECT_THROW(problem.build("direct", {.may_take = allows(1e-3)}), EnvironmentError);
  EXPECT_GT(told, 1e-3);
  EXPECT_NO_THROW(problem.build("direct", {.may_take = allows(1e3)}));
}

TEST(Fsai, BeatsTheDiagonalOnAnyRanks) {
  const Dense a = tests::laplacian_2d(5);
  const Dense m = Problem(a).dense("fsai");
  Dense none(25);
  for (std::int64_t i = 0; i < 25; ++i) none.at(i, i) = 1.0 / 4;
  const auto condition = [&](const Dense& inverse) {
    Dense both = tests::multiply(inverse, a);
    return tests::max_abs(tests::add(both, -1, tests::identity(25)));
  };
  EXPECT_LT(condition(m), condition(none));
  const Dense alone = [&] {
    const auto self = comm::Comm::self();
    const DistributedMatrix matrix(self, tests::spread(self, a, RowPartition::even(25, 1)));
    return tests::dense_of(self, *preconditioner("fsai").make(matrix, GlobalSum(self), {}).op);
  }();
  EXPECT_LT(difference(m, alone), 1e-14) << "depends on the ranks";
}

TEST(Neumann, EqualsTheSeries) {
  const Dense a = tests::random_dominant(18, 0.3, 1.3, 2, false);
  const Problem problem(a);
  Dense jacobi(18);
  for (std::int64_t i = 0; i < 18; ++i) jacobi.at(i, i) = 1 / a.at(i, i);
  const Dense iteration = tests::add(tests::identity(18), -1, tests::multiply(jacobi, a));
  Dense power = jacobi;
  Dense series = jacobi;
  for (int degree = 0; degree < 6; ++degree) {
    EXPECT_LT(difference(problem.dense("neumann", {.degree = degree}), series), 1e-14) << degree;
    power = tests::multiply(iteration, power);
    series = tests::add(series, 1, power);
  }
}

TEST(GmresPolynomial, OfFullDegreeIsTheInverse) {
  Dense rotating = tests::random_dominant(7, 0.9, 0.8, 4, false);  // pairs of complex roots
  for (std::int64_t i = 0; i + 1 < 7; i += 2) {
    rotating.at(i, i + 1) = 3;
    rotating.at(i + 1, i) = -2;
  }
  for (const Dense& a : {rotating, tests::random_definite(8, 0.5, 3), tests::identity(3)}) {
    const Problem problem(a);
    const Dense m = problem.dense("gmres-polynomial", {.degree = static_cast<int>(a.n) - 1});
    EXPECT_LT(difference(tests::multiply(m, a), tests::identity(a.n)), 1e-8) << a.n;
  }
}

TEST(GmresPolynomial, DependsOnRanksByRoundingOnly) {
  const Dense a = tests::random_dominant(30, 0.3, 1.1, 6, false);
  const comm::Comm self = comm::Comm::self();
  const DistributedMatrix alone(self, tests::spread(self, a, RowPartition::even(a.n, 1)));
  const auto& type = preconditioner("gmres-polynomial");
  for (const int degree : {0, 1, 4, 9}) {
    const PreconditionerOptions options{.degree = degree};
    const Dense expected = tests::dense_of(self, *type.make(alone, GlobalSum(self), options).op);
    EXPECT_LT(difference(Problem(a).dense(type.name, options), expected), 1e-9) << degree;
  }
}

TEST(GmresPolynomial, RefusesASingularMatrix) {
  Dense zero(4);
  EXPECT_THROW(Problem(zero).build("gmres-polynomial"), InputError);
}

TEST(Leja, BeginsWithTheLargestAndKeepsPairsTogether) {
  using Complex = std::complex<double>;
  const auto ordered = leja_ordered({1.0, Complex(2, 1), Complex(2, -1), 10.0, 9.9, 0.1});
  ASSERT_EQ(ordered.size(), 6U);
  EXPECT_EQ(ordered[0], Complex(10.0));
  EXPECT_EQ(ordered[1], Complex(0.1)) << "the farthest from it";
  EXPECT_EQ(ordered[5], Complex(1.0)) << "of the largest product of distances comes 9.9 before it";
  const auto pair = std::ranges::find(ordered, Complex(2, 1));
  ASSERT_NE(pair, ordered.end() - 1);
  EXPECT_EQ(pair[1], Complex(2, -1));
}

TEST(Chebyshev, EqualsThePolynomial) {
  const Dense a = tests::laplacian_2d(4);
  const Problem problem(a);
  Dense inverse_diagonal(16);
  for (std::int64_t i = 0; i < 16; ++i) inverse_diagonal.at(i, i) = 0.25;
  const auto inverse = invert_diagonal(problem.matrix, "test");
  for (int degree = 0; degree < 6; ++degree) {
    const double b = spectrum_bound(problem.matrix, inverse.value, problem.sum, degree);
    const double lowest = b / ((degree + 1) * (degree + 1) + 1);
    const double centre = (b + lowest) / 2;
    const double radius = (b - lowest) / 2;
    // T_{k+1} of (centre - D^-1 A) / radius by its recurrence, beside its value at the argument of a zero
    // eigenvalue.
    Dense argument = tests::identity(16);
    for (double& v : argument.value) v *= centre;
    argument = tests::add(argument, -1, tests::multiply(inverse_diagonal, a));
    for (double& v : argument.value) v /= radius;
    Dense before = tests::identity(16);
    Dense t = argument;
    for (int j = 0; j < degree; ++j) {
      Dense next = tests::multiply(argument, t);
      for (double& v : next.value) v *= 2;
      next = tests::add(next, -1, before);
      before = std::exchange(t, next);
    }
    const double at_zero = std::cosh((degree + 1) * std::acosh(centre / radius));
    const Dense m = problem.dense("chebyshev", {.degree = degree});
    const Dense residual = tests::add(tests::identity(16), -1, tests::multiply(m, a));
    EXPECT_LT(difference(residual, tests::add(Dense(16), 1 / at_zero, t)), 1e-13) << degree;
  }
}

TEST(Spectrum, BracketsTheLargestEigenvalue) {
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const Dense a = seed == 4 ? tests::laplacian_2d(7) : tests::random_definite(40, 0.1, seed);
    const Problem problem(a);
    const auto inverse = invert_diagonal(problem.matrix, "test");
    Dense scaled = a;
    for (std::int64_t i = 0; i < a.n; ++i)
      for (std::int64_t j = 0; j < a.n; ++j) scaled.at(i, j) /= std::sqrt(a.at(i, i) * a.at(j, j));
    const double exact = tests::eigenvalues(scaled).back();
    const double estimate = lanczos_estimate(problem.matrix, inverse.value, problem.sum, 10);
    const double bound = gershgorin_bound(problem.matrix, inverse.value);
    EXPECT_GE(bound, exact * (1 - 1e-12));
    EXPECT_EQ(spectrum_bound(problem.matrix, inverse.value, problem.sum, 3), bound);
    EXPECT_GT(spectrum_bound(problem.matrix, inverse.value, problem.sum, 4), exact);
    EXPECT_LE(spectrum_bound(problem.matrix, inverse.value, problem.sum, 4), bound);
    EXPECT_LT(estimate, exact * (1 + 1e-5));
    EXPECT_GT(estimate, 0.95 * exact);
    EXPECT_NEAR(lanczos_estimate(problem.matrix, inverse.value, problem.sum, 40), exact, 1e-5 * exact);
  }
}

/// Steps of x <- x + M (b - A x) / damping until the residual is 1e-6 of b; damping is the largest eigenvalue
/// of M A.
int richardson_steps(const Problem& problem, const sparse::LinearOperator& m) {
  const auto n = static_cast<std::size_t>(problem.matrix.local_size());
  std::vector<double> b(n, 1.0), x(n, 0.0), r(n), z(n, 1.0);
  double largest = 1;
  for (int j = 0; j < 60; ++j) {
    problem.matrix.apply(z, r);
    m.apply(r, z);
    largest = norm(problem.sum, z);
    scale(1 / largest, z);
  }
  for (int step = 0; step < 5000; ++step) {
    problem.matrix.apply(x, r);
    subtract(b, r, r);
    if (norm(problem.sum, r) < 1e-6 * norm(problem.sum, b)) return step;
    m.apply(r, z);
    axpy(1 / largest, z, x);
  }
  return 5000;
}

TEST(Preconditioners, SpeedUpRichardson) {
  Dense a = tests::laplacian_2d(12);
  for (std::int64_t i = 0; i < a.n; ++i)
    for (std::int64_t j = 0; j < a.n; ++j) a.at(i, j) *= std::pow(2.0, static_cast<double>(i % 3 + j % 3));
  const Problem problem(a);
  const auto steps = [&](std::string_view name) {
    return richardson_steps(problem, *problem.build(name).op);
  };
  const int none = steps("none");
  const int jacobi = steps("jacobi");
  EXPECT_LT(jacobi, none);
  for (const char* name :
       {"ssor", "block-jacobi", "block-ilu0", "ic", "ilu", "ilut", "fsai", "neumann", "chebyshev", "amg"})
    EXPECT_LT(steps(name), jacobi) << name;
}

}  // namespace
}  // namespace ayatori::solvers
