#include "ayatori/sparse/distributed_matrix.hpp"

#include <gtest/gtest.h>

#include "ayatori/base/error.hpp"
#include "test_matrices.hpp"
#include "world.hpp"

namespace ayatori::sparse {
namespace {

void expect_near(std::span<const double> actual, std::span<const double> expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-12);
}

/// Collective. Every kernel that can hold the interior on every rank, with every halo strategy, with and
/// without overlap.
std::vector<ProductOptions> all_products(const SplitMatrix& parts) {
  std::vector<ProductOptions> list;
  const PatternFacts facts = pattern_facts(parts.interior);
  for (const auto& kernel : kernels()) {
    const int holds = kernel.predicted_bytes(facts).has_value() ? 1 : 0;
    if (world().allreduce(holds, comm::ReduceOp::min) == 0) continue;
    for (const auto& halo : halo_strategies()) {
      for (const char* suffix : {"", "+overlap"})
        list.push_back({std::string(kernel.name), std::string(halo.name) + suffix});
    }
  }
  return list;
}

TEST(DistributedMatrix, EveryProductIsTheDefinition) {
  for (const auto& matrix : awkward_matrices(world().size())) {
    const auto parts = std::make_shared<const SplitMatrix>(split(world(), matrix.distribute(world())));
    const Range mine = parts->partition.range(world().rank());
    for (const auto& options : all_products(*parts)) {
      SCOPED_TRACE(matrix.name + ", " + options.kernel + ", " + options.halo);
      const DistributedMatrix a(world(), parts, options);
      for (const std::uint64_t seed : {1, 2}) {  // twice: buffers are used again
        const auto x = test_vector(matrix.n, seed);
        Array<double> y(mine.size(), -1.0);
        a.apply(piece(x, mine), y);
        expect_near(y, piece(matrix.multiply(x), mine));
      }
    }
  }
}

/// Symmetric, this many places of every row.
TestMatrix long_rows_matrix(std::int64_t n, int per_row) {
  TestMatrix m{"long rows", n, {}};
  for (std::int64_t i = 0; i < n; ++i) {
    m.entries.push_back({i, i, 9});
    for (int k = 1; k <= per_row / 2; ++k) {
      const std::int64_t j = (i + k * k * 7 + k) % n;
      if (i == j) continue;
      m.entries.push_back({i, j, 0.125 * k});
      m.entries.push_back({j, i, 0.125 * k});
    }
  }
  return m;
}

TEST(DistributedMatrix, StoresTheHaloAsTheInteriorWhereThatTakesFewerBytes) {
  const auto matrix = long_rows_matrix(900, 60);
  const auto parts = std::make_shared<const SplitMatrix>(split(world(), matrix.distribute(world())));
  const Range mine = parts->partition.range(world().rank());
  const auto x = test_vector(matrix.n, 3);
  DistributedMatrix a(world(), parts, {"csr", "p2p-irecv-first"});
  const auto interior_bytes = [&](const char* name) {
    return kernel(name).make(parts->interior)->matrix_bytes();
  };
  const std::int64_t halo_bytes = a.matrix_bytes() - interior_bytes("csr");
  EXPECT_EQ(halo_bytes, 12 * parts->halo.nonzeros() + std::int64_t{12} * parts->halo.rows);
  for (const char* name : {"csr-delta16", "sell-tiles", "symmetric-tiles", "csr"}) {
    SCOPED_TRACE(name);
    a.use({name, "p2p-irecv-first+overlap"});
    a.forget_unused();
    Array<double> y(mine.size(), -1.0);
    a.apply(piece(x, mine), y);
    expect_near(y, piece(matrix.multiply(x), mine));
    const std::int64_t bytes = a.matrix_bytes() - interior_bytes(name);
    if (world().size() == 1 || name == std::string_view("csr"))
      EXPECT_EQ(bytes, halo_bytes);
    else
      EXPECT_LT(static_cast<double>(bytes), 0.93 * static_cast<double>(halo_bytes));
  }
}

TEST(DistributedMatrix, LeavesAHaloOfFewEntriesAsItIs) {
  const auto parts = split(world(), tridiagonal_matrix(400).distribute(world()));
  std::optional<PatternFacts> facts;
  for (const auto& type : kernels()) {
    EXPECT_EQ(make_halo_kernel(type, parts.halo, facts), nullptr) << type.name;
    if (type.compressed_rows) {
      EXPECT_FALSE(facts) << type.name << ", which comes before those that need them";
    }
  }
}

TEST(DistributedMatrix, ReferenceProductIsTheDefinition) {
  for (const auto& matrix : awkward_matrices(world().size())) {
    SCOPED_TRACE(matrix.name);
    const auto parts = split(world(), matrix.distribute(world()));
    const Range mine = parts.partition.range(world().rank());
    const auto x = test_vector(matrix.n, 5);
    Array<double> y(mine.size(), -1.0);
    multiply_reference(world(), parts, piece(x, mine), y);
    expect_near(y, piece(matrix.multiply(x), mine));
  }
}

TEST(DistributedMatrix, UnevenPartitionsWork) {
  const auto matrix = random_matrix(60, 5, 11);
  std::vector<std::int64_t> starts(world().size() + 1, 60);
  starts[0] = 0;
  for (int r = 1; r < world().size(); ++r)
    starts[r] = r == 1 ? 0 : 59;  // an empty rank, a full one, one with one row
  const auto parts =
      std::make_shared<const SplitMatrix>(split(world(), matrix.distribute(world(), RowPartition(starts))));
  const Range mine = parts->partition.range(world().rank());
  const auto x = test_vector(60, 6);
  for (const auto& options : all_products(*parts)) {
    SCOPED_TRACE(options.kernel + ", " + options.halo);
    Array<double> y(mine.size());
    DistributedMatrix(world(), parts, options).apply(piece(x, mine), y);
    expect_near(y, piece(matrix.multiply(x), mine));
  }
}

TEST(DistributedMatrix, GatheredRowsAreThoseOfASplitOnOneRank) {
  for (const auto& matrix : awkward_matrices(world().size())) {
    SCOPED_TRACE(matrix.name);
    const auto target = RowPartition::on_first(matrix.n, world().size());
    const SplitMatrix gathered = gather(world(), split(world(), matrix.distribute(world())));
    const SplitMatrix expected = split(world(), matrix.distribute(world(), target));
    EXPECT_EQ(gathered.partition, target);
    EXPECT_EQ(gathered.plan.local_size, expected.plan.local_size);
    EXPECT_TRUE(gathered.plan.ghosts.empty());
    EXPECT_EQ(gathered.interior.rows, expected.interior.rows);
    EXPECT_EQ(gathered.interior.columns, expected.interior.columns);
    EXPECT_EQ(gathered.interior.row_start, expected.interior.row_start);
    EXPECT_EQ(gathered.interior.column, expected.interior.column);
    EXPECT_EQ(gathered.interior.value, expected.interior.value);
    EXPECT_EQ(gathered.halo.row_start, expected.halo.row_start);
  }
}

TEST(DistributedMatrix, PlanSendsWhatIsReceived) {
  const auto matrix = random_matrix(200, 4, 12);
  const auto parts = split(world(), matrix.distribute(world()));
  const auto& plan = parts.plan;
  const auto sent = world().allreduce(static_cast<std::int64_t>(plan.send_index.size()), comm::ReduceOp::sum);
  const auto received = world().allreduce(static_cast<std::int64_t>(plan.ghosts.size()), comm::ReduceOp::sum);
  EXPECT_EQ(sent, received);
  for (const auto& from : plan.receive_from) {
    EXPECT_NE(from.rank, world().rank());
    for (auto g = from.begin; g < from.end; ++g) EXPECT_EQ(parts.partition.owner(plan.ghosts[g]), from.rank);
  }
}

TEST(DistributedMatrix, TridiagonalTalksToNeighboursOnly) {
  const auto parts = split(world(), tridiagonal_matrix(40).distribute(world()));
  const bool at_end = world().rank() == 0 || world().rank() == world().size() - 1;
  EXPECT_EQ(parts.plan.messages(), world().size() == 1 ? 0 : at_end ? 1 : 2);
  EXPECT_EQ(parts.plan.bytes_sent(), 8 * parts.plan.messages());
}

TEST(DistributedMatrix, RejectsWhatIsNotSquare) {
  RowBlock block{3, 4, world().rank() == 0 ? 0 : 3, {}, {}, {}};
  block.row_start.assign(world().rank() == 0 ? 4 : 1, 0);
  try {
    split(world(), block);
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_TRUE(error.agreed());
    EXPECT_NE(std::string(error.what()).find("3 x 4"), std::string::npos);
  }
}

TEST(DistributedMatrix, UnknownNamesListTheKnown) {
  EXPECT_THROW(kernel("no-such"), InputError);
  try {
    halo_strategy("no-such+overlap");
    FAIL() << "accepted";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("p2p-irecv-first, allgather"), std::string::npos);
  }
}

}  // namespace
}  // namespace ayatori::sparse
