#include <gtest/gtest.h>

#include <cmath>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/solvers/preconditioners/extended_rows.hpp"
#include "ayatori/solvers/preconditioners/factorizations/dense_inverse.hpp"
#include "linear_system.hpp"

namespace ayatori::solvers {
namespace {

using sparse::DistributedMatrix;
using sparse::RowPartition;
using tests::Dense;

/// The rows that `rows` leads to in up to `layers` steps.
std::vector<bool> neighbourhood(const Dense& a, Range rows, int layers) {
  std::vector<bool> in(a.n, false);
  for (std::int64_t i = rows.begin; i < rows.end; ++i) in[i] = true;
  for (int layer = 0; layer < layers; ++layer) {
    const std::vector<bool> before = in;
    for (std::int64_t i = 0; i < a.n; ++i)
      for (std::int64_t j = 0; j < a.n; ++j)
        if (before[i] && a.at(i, j) != 0) in[j] = true;
  }
  return in;
}

/// sum_b of what one block contributes, from dense inverses.
Dense expected_schwarz(const Dense& a, const RowPartition& partition, int blocks, int layers,
                       bool restricted) {
  std::vector<Range> own;
  for (int rank = 0; rank < partition.ranks(); ++rank) {
    const Range rows = partition.range(rank);
    for (int b = 0; b < blocks; ++b) {
      const Range piece = split_evenly(rows.size(), blocks, b);
      own.push_back({rows.begin + piece.begin, rows.begin + piece.end});
    }
  }
  std::vector<double> multiplicity(a.n, 0.0);
  for (const Range& rows : own)
    if (!rows.empty())
      for (std::int64_t i = 0; const bool in : neighbourhood(a, rows, layers))
        multiplicity[i++] += in ? 1 : 0;
  Dense result(a.n);
  for (const Range& rows : own) {
    if (rows.empty()) continue;
    const auto in = neighbourhood(a, rows, layers);
    Dense block = tests::identity(a.n);
    for (std::int64_t i = 0; i < a.n; ++i)
      for (std::int64_t j = 0; j < a.n; ++j)
        if (in[i] && in[j]) block.at(i, j) = a.at(i, j);
    Dense inverse(a.n);
    EXPECT_TRUE(invert_dense(static_cast<int>(a.n), block.value, inverse.value));
    for (std::int64_t i = 0; i < a.n; ++i) {
      for (std::int64_t j = 0; j < a.n; ++j) {
        if (!in[i] || !in[j] || (restricted && !rows.contains(i))) continue;
        const double weight = restricted ? 1 : 1 / std::sqrt(multiplicity[i] * multiplicity[j]);
        result.at(i, j) += weight * inverse.at(i, j);
      }
    }
  }
  return result;
}

Dense built(const DistributedMatrix& matrix, std::string_view name, const PreconditionerOptions& options) {
  const GlobalSum sum(matrix.comm());
  return tests::dense_of(matrix.comm(), *preconditioner(name).make(matrix, sum, options).op);
}

TEST(Schwarz, EqualsItsDefinition) {
  const auto world = comm::Comm::world();
  const Dense a = tests::random_dominant(24, 0.08, 1.1, 3, true);
  std::vector<std::int64_t> uneven(world.size() + 1, 24);
  uneven[0] = 0;
  if (world.size() > 1) uneven[1] = 5;
  for (const auto& partition : {RowPartition::even(24, world.size()), RowPartition(uneven)}) {
    const DistributedMatrix matrix(world, tests::spread(world, a, partition));
    for (const int blocks : {1, 2}) {
      for (const int overlap : {0, 1, 2}) {
        const PreconditionerOptions options{.blocks = blocks, .overlap = overlap, .fill = 100};
        const Dense ic = built(matrix, "ic", options);
        EXPECT_LT(tests::max_abs(tests::add(ic, -1, expected_schwarz(a, partition, blocks, overlap, false))),
                  1e-5)
            << overlap;
        EXPECT_LT(tests::asymmetry(ic), 1e-12);
        EXPECT_LT(tests::max_abs(tests::add(built(matrix, "ilu", options), -1,
                                            expected_schwarz(a, partition, blocks, overlap, true))),
                  1e-5)
            << overlap;
      }
    }
  }
}

TEST(ExtendedRows, HoldTheRowsAroundARank) {
  const auto world = comm::Comm::world();
  const Dense a = tests::random_dominant(30, 0.05, 1.1, 8, false);
  const auto partition = RowPartition::even(30, world.size());
  const DistributedMatrix matrix(world, tests::spread(world, a, partition));
  const Range mine = partition.range(world.rank());
  for (const int layers : {0, 1, 3}) {
    const ExtendedRows extended(matrix, layers);
    const auto expected = neighbourhood(a, mine, layers);
    EXPECT_EQ(extended.size(), std::ranges::count(expected, true));
    Dense held(30);
    for (std::int32_t i = 0; i < extended.size(); ++i) {
      EXPECT_TRUE(expected[extended.global(i)]);
      const auto& rows = extended.matrix();
      for (std::int64_t k = rows.row_start[i]; k < rows.row_start[i + 1]; ++k)
        held.at(extended.global(i), extended.global(rows.column[k])) = rows.value[k];
    }
    for (std::int64_t i = 0; i < 30; ++i)
      for (std::int64_t j = 0; j < 30; ++j)
        EXPECT_EQ(held.at(i, j), expected[i] && expected[j] ? a.at(i, j) : 0);

    std::vector<double> x(mine.size());
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<double>(mine.begin + static_cast<std::int64_t>(i));
    std::vector<double> everywhere(extended.size());
    extended.fetch(x, everywhere);
    for (std::int32_t i = 0; i < extended.size(); ++i)
      EXPECT_EQ(everywhere[i], static_cast<double>(extended.global(i)));
    std::ranges::fill(everywhere, 1.0);
    extended.add_to_owners(everywhere);
    std::vector<double> holders(30, 0.0);
    for (int rank = 0; rank < world.size(); ++rank)
      for (std::size_t i = 0; const bool in : neighbourhood(a, partition.range(rank), layers))
        holders[i++] += in ? 1 : 0;
    for (std::int32_t i = 0; i < extended.owned(); ++i) EXPECT_EQ(everywhere[i], holders[extended.global(i)]);
  }
}

/// 2-D convection and diffusion along a line of convection, upwind, on an m x m grid.
Array<sparse::Entry> convection(std::int64_t m, Range rows) {
  Array<sparse::Entry> entries;
  const double wind = 20.0 / static_cast<double>(m);
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    entries.push_back({i, i, 4 + 2 * wind});
    if (i % m > 0) entries.push_back({i, i - 1, -1 - wind});
    if (i % m < m - 1) entries.push_back({i, i + 1, -1});
    if (i >= m) entries.push_back({i, i - m, -1 - wind});
    if (i < m * (m - 1)) entries.push_back({i, i + m, -1});
  }
  return entries;
}

/// 2-D diffusion, 100 times stronger along the first axis, on an m x m grid.
Array<sparse::Entry> anisotropic(std::int64_t m, Range rows) {
  Array<sparse::Entry> entries;
  for (std::int64_t i = rows.begin; i < rows.end; ++i) {
    entries.push_back({i, i, 2.02});
    if (i % m > 0) entries.push_back({i, i - 1, -0.01});
    if (i % m < m - 1) entries.push_back({i, i + 1, -0.01});
    if (i >= m) entries.push_back({i, i - m, -1});
    if (i < m * (m - 1)) entries.push_back({i, i + m, -1});
  }
  return entries;
}

int gmres_iterations(const DistributedMatrix& matrix, std::string_view name,
                     const PreconditionerOptions& options) {
  const GlobalSum sum(matrix.comm());
  const auto m = preconditioner(name).make(matrix, sum, options);
  const std::vector<double> b(matrix.local_size(), 1.0);
  std::vector<double> x(b.size(), 0.0);
  const double target = 1e-8 * norm(sum, b);
  const auto result = method("gmres").solve({matrix, *m.op, b, sum}, x, {.target = target, .restart = 200},
                                            orthogonalization("cgs").apply, {});
  EXPECT_EQ(result.stop, Stop::converged);
  return result.iterations;
}

TEST(Schwarz, OverlapKeepsIterationsFromGrowingWithBlocks) {
  const auto world = comm::Comm::world();
  const std::int64_t m = 40;
  const auto partition = RowPartition::even(m * m, world.size());
  const int blocks = 8 / world.size();  // 8 or 6 pieces, cut across threads and ranks alike
  for (const auto& make : {convection, anisotropic}) {
    const DistributedMatrix matrix(
        world, sparse::assemble(world, partition, m * m, {make(m, partition.range(world.rank()))}));
    const auto alone = comm::Comm::self();
    const DistributedMatrix whole(
        alone, sparse::assemble(alone, RowPartition::even(m * m, 1), m * m, {make(m, {0, m * m})}));
    const int one_block = gmres_iterations(whole, "ilut", {.blocks = 1});
    const int cut = gmres_iterations(matrix, "ilut", {.blocks = blocks});
    const int overlapping = gmres_iterations(matrix, "ilut", {.blocks = blocks, .overlap = 2});
    EXPECT_LT(overlapping, cut) << one_block;
  }
}

/// A small Laplacian on all ranks, and preconditioners of it.
struct Laplacian {
  comm::Comm comm = comm::Comm::world();
  Dense a = tests::laplacian_2d(7);
  sparse::DistributedMatrix matrix{comm,
                                   tests::spread(comm, a, sparse::RowPartition::even(a.n, comm.size()))};
  GlobalSum sum{comm};

  BuiltPreconditioner build(const char* name, const PreconditionerOptions& options) const {
    return preconditioner(name).make(matrix, sum, options);
  }
};

bool has_levels(const BuiltPreconditioner& built) {
  return !built.notes.empty() && built.notes.back().find("levels") != std::string::npos;
}

TEST(Schwarz, LevelsAreOneBlockOfARank) {
  const Laplacian laplacian;
  for (const char* name : {"ic", "ilu", "ilut"}) {
    for (const int overlap : {0, 1}) {
      PreconditionerOptions options{.blocks = 1, .overlap = overlap};
      const auto block = laplacian.build(name, options);
      options.triangular = "levels";
      const auto levels = laplacian.build(name, options);
      EXPECT_EQ(tests::max_abs(tests::add(tests::dense_of(laplacian.comm, *levels.op), -1,
                                          tests::dense_of(laplacian.comm, *block.op))),
                0)
          << name << overlap;
      EXPECT_TRUE(has_levels(levels));
      options.blocks = 2;
      EXPECT_THROW(laplacian.build(name, options), InputError);
      options = {.triangular = "magic"};
      EXPECT_THROW(laplacian.build(name, options), InputError);
    }
  }
}

TEST(Schwarz, ThreadsDoNotCutFactorsThatKeepWhatIsLarge) {
  const Laplacian laplacian;
  const int before = max_threads();
  for (const int threads : {1, 2}) {
    omp_set_num_threads(threads);
    EXPECT_EQ(has_levels(laplacian.build("ilut", {})), threads > 1);
    EXPECT_FALSE(has_levels(laplacian.build("ilut", {.blocks = 2}))) << "as was asked for";
    EXPECT_FALSE(has_levels(laplacian.build("ilut", {.triangular = "blocks"})));
    EXPECT_FALSE(has_levels(laplacian.build("ic", {})));
  }
  omp_set_num_threads(before);
}

}  // namespace
}  // namespace ayatori::solvers
