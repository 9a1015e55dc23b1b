#include "ayatori/comm/collectives.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <string>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/comm.hpp"
#include "forwarding_collectives.hpp"

namespace ayatori::comm {
namespace {

struct Particle {
  std::int32_t kind;
  double position[2];
  char name;
  bool operator==(const Particle&) const = default;
};

Particle particle(int i) {
  return {i, {0.5 * i, -1.0 * i}, static_cast<char>('a' + i)};
}

/// Every test runs on the MPI's own calls, and on calls cut after two elements: the path for what MPI cannot
/// count.
class CollectivesTest : public testing::TestWithParam<std::int64_t> {
 protected:
  const Comm comm = Comm::world().with_collectives(mpi_collectives(GetParam()));
  const int rank = comm.rank();
  const int size = comm.size();
};

INSTANTIATE_TEST_SUITE_P(, CollectivesTest, testing::Values(std::numeric_limits<int>::max(), 2),
                         [](const auto& test) { return test.param == 2 ? "CutAfterTwo" : "Whole"; });

TEST_P(CollectivesTest, BroadcastFromEveryRoot) {
  for (int root = 0; root < size; ++root) {
    EXPECT_EQ(comm.broadcast(rank + 0.5, root), root + 0.5);
    EXPECT_EQ(comm.broadcast(particle(rank), root), particle(root));
    std::vector<std::int64_t> data(7, rank);
    comm.broadcast(std::span(data), root);
    EXPECT_EQ(data, std::vector<std::int64_t>(7, root));
    const std::string text = "rank " + std::to_string(rank) + std::string(rank, '!');
    EXPECT_EQ(comm.broadcast(text, root), "rank " + std::to_string(root) + std::string(root, '!'));
    EXPECT_EQ(comm.broadcast(rank == root ? std::string() : text, root), "");
  }
  comm.broadcast(std::span<double>(), 0);
}

template <class T>
void expect_reductions(const Comm& comm) {
  const int size = comm.size();
  std::vector<T> data(5);
  for (int i = 0; i < 5; ++i) data[i] = static_cast<T>(comm.rank() + i);
  std::vector<T> sum = data;
  std::vector<T> smallest = data;
  std::vector<T> largest = data;
  comm.allreduce(std::span(sum), ReduceOp::sum);
  comm.allreduce(std::span(smallest), ReduceOp::min);
  comm.allreduce(std::span(largest), ReduceOp::max);
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(sum[i], static_cast<T>(size * (size - 1) / 2 + size * i));
    EXPECT_EQ(smallest[i], static_cast<T>(i));
    EXPECT_EQ(largest[i], static_cast<T>(size - 1 + i));
  }
  comm.allreduce(std::span<T>(), ReduceOp::sum);
}

TEST_P(CollectivesTest, AllreduceOfEveryArithmeticType) {
  expect_reductions<std::int32_t>(comm);
  expect_reductions<std::int64_t>(comm);
  expect_reductions<std::uint64_t>(comm);
  expect_reductions<float>(comm);
  expect_reductions<double>(comm);
}

TEST_P(CollectivesTest, ReduceToEveryRoot) {
  for (int root = 0; root < size; ++root) {
    std::vector<std::int64_t> data{rank, 10 + rank, 20 + rank};
    const auto mine = data;
    comm.collectives().reduce(comm, data.data(), 3, DataType::int64, ReduceOp::sum, root);
    const std::int64_t ranks = size * (size - 1) / 2;
    EXPECT_EQ(data,
              rank == root ? (std::vector<std::int64_t>{ranks, 10 * size + ranks, 20 * size + ranks}) : mine);
  }
}

TEST_P(CollectivesTest, ReduceScatterOfBlocks) {
  std::vector<double> send;  // three for every rank
  for (int r = 0; r < size; ++r) send.insert(send.end(), {r + 0.5, 10.0 * r, 1.0 * rank});
  std::vector<double> mine(3, -1.0);
  comm.collectives().reduce_scatter(comm, send.data(), mine.data(), 3, DataType::float64, ReduceOp::sum);
  EXPECT_EQ(mine, (std::vector<double>{size * (rank + 0.5), 10.0 * rank * size, size * (size - 1) / 2.0}));
}

TEST_P(CollectivesTest, GatherAndScatterWithEveryRoot) {
  for (int root = 0; root < size; ++root) {
    const std::vector<std::int32_t> mine{rank, 10 * rank, 100 + rank};
    std::vector<std::int32_t> all(3 * size, -1);
    comm.collectives().gather(comm, mine.data(), 3, all.data(), DataType::int32, root);
    for (int r = 0; r < size; ++r) EXPECT_EQ(all[3 * r + 2], rank == root ? 100 + r : -1);
    std::vector<std::int32_t> back(3, -1);
    comm.collectives().scatter(comm, all.data(), back.data(), 3, DataType::int32, root);
    EXPECT_EQ(back, mine);
  }
}

TEST_P(CollectivesTest, ReduceLocally) {
  const std::vector<float> in{1, 2, 3};
  std::vector<float> inout{10, 1, 5};
  reduce_local(in.data(), inout.data(), 3, DataType::float32, ReduceOp::max);
  EXPECT_EQ(inout, (std::vector<float>{10, 2, 5}));
}

TEST_P(CollectivesTest, BitwiseOrAndAny) {
  EXPECT_EQ(comm.allreduce(std::uint64_t{1} << rank, ReduceOp::bitwise_or), (std::uint64_t{1} << size) - 1);
  EXPECT_FALSE(comm.any(false));
  for (int r = 0; r < size; ++r) EXPECT_TRUE(comm.any(r == rank));
}

TEST_P(CollectivesTest, ExclusiveSum) {
  EXPECT_EQ(comm.exclusive_sum(std::int64_t{rank + 1}), rank * (rank + 1) / 2);
  EXPECT_EQ(comm.exclusive_sum(1.5), 1.5 * rank);
}

TEST_P(CollectivesTest, ExclusiveScanOfArraysLeavesRankZeroAlone) {
  std::array<std::int32_t, 3> data{rank, rank + 1, rank + 2};
  comm.collectives().exclusive_scan(comm, data.data(), 3, DataType::int32, ReduceOp::max);
  if (rank == 0) {
    EXPECT_EQ(data, (std::array<std::int32_t, 3>{0, 1, 2}));
  } else {
    EXPECT_EQ(data, (std::array<std::int32_t, 3>{rank - 1, rank, rank + 1}));
  }
}

TEST_P(CollectivesTest, AllgatherInRankOrder) {
  const std::vector<Particle> particles = comm.allgather(particle(rank));
  const std::vector<std::int32_t> ranks = comm.allgather<std::int32_t>(rank);
  ASSERT_EQ(particles.size(), static_cast<std::size_t>(size));
  for (int r = 0; r < size; ++r) {
    EXPECT_EQ(particles[r], particle(r));
    EXPECT_EQ(ranks[r], r);
  }
}

/// `rank` pieces of rank `rank`, so that rank 0 has nothing.
std::vector<Particle> some_particles(int rank) {
  return std::vector<Particle>(rank, particle(rank));
}

void expect_all_particles(const Gathered<Particle>& gathered, int size) {
  ASSERT_EQ(gathered.offsets.size(), static_cast<std::size_t>(size + 1));
  for (int r = 0; r < size; ++r) {
    const auto part = gathered.of(r);
    EXPECT_EQ(std::vector<Particle>(part.begin(), part.end()), some_particles(r));
  }
}

TEST_P(CollectivesTest, AllgathervOfUnevenLengths) {
  const std::vector<Particle> mine = some_particles(rank);
  expect_all_particles(comm.allgatherv(std::span<const Particle>(mine)), size);
  EXPECT_TRUE(comm.allgatherv(std::span<const double>()).values.empty());
}

TEST_P(CollectivesTest, GathervOnEveryRoot) {
  const std::vector<Particle> mine = some_particles(rank);
  for (int root = 0; root < size; ++root) {
    const Gathered<Particle> gathered = comm.gatherv(std::span<const Particle>(mine), root);
    EXPECT_EQ(gathered.offsets.back(), size * (size - 1) / 2);
    if (rank == root) {
      expect_all_particles(gathered, size);
    } else {
      EXPECT_TRUE(gathered.values.empty());
    }
  }
}

TEST_P(CollectivesTest, ScattervFromEveryRoot) {
  std::vector<std::int64_t> counts(size);
  std::vector<std::int64_t> displacements(size);
  for (int r = 0; r < size; ++r) {
    counts[r] = r + 1;
    displacements[r] = 10 * r;  // with gaps
  }
  std::vector<double> all(10 * size);
  std::iota(all.begin(), all.end(), 0.0);
  for (int root = 0; root < size; ++root) {
    std::vector<double> mine(rank + 1);
    comm.collectives().scatterv(comm, rank == root ? all.data() : nullptr, counts, displacements, mine.data(),
                                rank + 1, DataType::float64, root);
    for (int i = 0; i <= rank; ++i) EXPECT_EQ(mine[i], 10 * rank + i);
  }
}

TEST_P(CollectivesTest, Alltoall) {
  std::vector<std::int32_t> send;
  for (int r = 0; r < size; ++r) send.insert(send.end(), {rank, r, rank * r});
  std::vector<std::int32_t> received(send.size());
  comm.collectives().alltoall(comm, send.data(), 3, received.data(), DataType::int32);
  for (int r = 0; r < size; ++r) {
    EXPECT_EQ(received[3 * r], r);
    EXPECT_EQ(received[3 * r + 1], rank);
    EXPECT_EQ(received[3 * r + 2], rank * r);
  }
}

TEST_P(CollectivesTest, AlltoallvOfUnevenLengths) {
  std::vector<Particle> data;  // rank i sends i + r pieces to rank r: nothing from 0 to 0
  std::vector<std::int64_t> offsets{0};
  for (int r = 0; r < size; ++r) {
    data.insert(data.end(), rank + r, particle(10 * rank + r));
    offsets.push_back(static_cast<std::int64_t>(data.size()));
  }
  const Gathered<Particle> received = comm.alltoallv(std::span<const Particle>(data), offsets);
  for (int r = 0; r < size; ++r) {
    const auto part = received.of(r);
    EXPECT_EQ(std::vector<Particle>(part.begin(), part.end()),
              std::vector<Particle>(r + rank, particle(10 * r + rank)));
  }
}

TEST_P(CollectivesTest, AlltoallvWhenOnlyOneRankHasSomething) {
  for (int source = 0; source < size; ++source) {
    std::vector<double> data;
    std::vector<std::int64_t> offsets(size + 1, 0);
    if (rank == source) {
      data.assign(5, 1.5);
      offsets.back() = 5;  // all for the last rank
    }
    const Gathered<double> received = comm.alltoallv(std::span<const double>(data), offsets);
    EXPECT_EQ(received.values, rank == size - 1 ? std::vector<double>(5, 1.5) : std::vector<double>());
  }
}

/// Counts the calls that pass through it.
class Counting final : public ForwardingCollectives {
 public:
  void allreduce(const Comm& comm, void* data, std::int64_t count, DataType type,
                 ReduceOp op) const override {
    ++calls;
    ForwardingCollectives::allreduce(comm, data, count, type, op);
  }
  mutable int calls = 0;
};

TEST(InstalledCollectives, ServeTheirCommAndItsChildren) {
  const Comm world = Comm::world();
  const auto counting = std::make_shared<const Counting>();
  const Comm counted = world.with_collectives(counting);
  EXPECT_EQ(counted.rank(), world.rank());
  EXPECT_EQ(counted.size(), world.size());
  EXPECT_EQ(counted.allreduce(1.0, ReduceOp::sum), world.size());
  EXPECT_EQ(counting->calls, 1);
  counted.any(true);
  counted.duplicate().any(true);
  counted.split(0, 0).any(true);
  counted.split_by_node().any(true);
  EXPECT_GE(counting->calls, 5);
  const int calls = counting->calls;
  world.any(true);
  EXPECT_EQ(counting->calls, calls);
}

TEST(Transferable, ExcludesWhatPointsIntoThisProcess) {
  static_assert(is_transferable<double>);
  static_assert(is_transferable<Particle>);
  static_assert(is_transferable<std::array<int, 3>>);
  static_assert(!is_transferable<std::string>);
  static_assert(!is_transferable<const char*>);
  static_assert(!is_transferable<std::span<double>>);
  static_assert(!is_transferable<std::string_view>);
  static_assert(data_type_of<long>() == DataType::int64);
  static_assert(data_type_of<std::size_t>() == DataType::uint64);
  static_assert(data_type_of<std::uint32_t>() == DataType::byte && units_of<std::uint32_t>() == 4);
  static_assert(units_of<Particle>() == sizeof(Particle));
}

}  // namespace
}  // namespace ayatori::comm
