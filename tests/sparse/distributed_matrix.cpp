#include "ayatori/sparse/distributed_matrix.hpp"

#include <gtest/gtest.h>

#include "ayatori/base/error.hpp"
#include "test_matrices.hpp"

namespace ayatori::sparse {
namespace {

const comm::Comm& world() {
  static const comm::Comm comm = comm::Comm::world();
  return comm;
}

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
