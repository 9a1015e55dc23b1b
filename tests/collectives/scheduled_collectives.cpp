#include "ayatori/collectives/scheduled_collectives.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>

#include "ayatori/collectives/words/plan_json.hpp"
#include "ayatori/comm/comm.hpp"
#include "factorizations.hpp"

namespace ayatori::collectives {
namespace {

using comm::Comm;
using comm::DataType;
using comm::ReduceOp;

constexpr std::int64_t shortest = 64;
constexpr std::int64_t longest = 8192;

WordPlan plan_for(Operation operation, int ranks, bool is_long) {
  const auto radices = ordered_factorizations(ranks, ranks).front();
  const auto digits = static_cast<int>(radices.size());
  const Word word = type_of(operation).has_words ? hybrid1(digits, is_long ? digits : 0) : Word();
  auto plan = make_plan(operation, ranks, word, DigitOrder::near_first, radices);
  if (is_long && type_of(operation).has_words) plan.segmentation = {3, 2};
  return plan;
}

/// For 2 to `most` ranks: schedules for `shortest` bytes and, of another shape, for `longest`.
ScheduleTable table_for(int most) {
  auto searches = nlohmann::json::array();
  for (int ranks = 2; ranks <= most; ++ranks) {
    for (const auto& type : operations()) {
      auto best = nlohmann::json::array();
      for (const std::int64_t bytes : {shortest, longest})
        best.push_back(
            {{"bytes", bytes}, {"plan", json_of(plan_for(type.operation, ranks, bytes == longest))}});
      searches.push_back({{"schema", schedules_schema},
                          {"operation", type.name},
                          {"ranks", ranks},
                          {"best", std::move(best)}});
    }
  }
  return ScheduleTable(searches);
}

std::int64_t scheduled(const ScheduledCollectives& collectives) {
  std::int64_t calls = 0;
  for (const ScheduleUse& use : collectives.uses()) calls += use.calls;
  return calls;
}

using Values = std::vector<std::int64_t>;

Values values(int rank, std::int64_t count) {
  Values data(count);
  for (std::int64_t i = 0; i < count; ++i) data[i] = std::int64_t{1000} * (rank + 1) + (rank + 3) * i;
  return data;
}

/// What a rank has after a call of one operation with `count` elements (of a block), results and what it
/// handed in.
Values after(const Comm& comm, const comm::Collectives& by, Operation operation, std::int64_t count,
             int root) {
  const int me = comm.rank();
  const std::int64_t all = count * comm.size();
  constexpr auto type = DataType::int64;
  constexpr auto op = ReduceOp::sum;
  const bool sends_all = operation == Operation::scatter || operation == Operation::alltoall ||
                         operation == Operation::reduce_scatter;
  Values mine = values(me, sends_all ? all : count);
  Values got(all, -1);
  switch (operation) {
    case Operation::broadcast:
      by.broadcast(comm, mine.data(), count, type, root);
      break;
    case Operation::reduce:
      by.reduce(comm, mine.data(), count, type, op, root);
      break;
    case Operation::allreduce:
      by.allreduce(comm, mine.data(), count, type, op);
      break;
    case Operation::gather:
      by.gather(comm, mine.data(), count, me == root ? got.data() : nullptr, type, root);
      break;
    case Operation::scatter:
      by.scatter(comm, me == root ? mine.data() : nullptr, got.data(), count, type, root);
      break;
    case Operation::allgather:
      by.allgather(comm, mine.data(), count, got.data(), type);
      break;
    case Operation::reduce_scatter:
      by.reduce_scatter(comm, mine.data(), got.data(), count, type, op);
      break;
    case Operation::alltoall:
      by.alltoall(comm, mine.data(), count, got.data(), type);
      break;
    case Operation::barrier:
      by.barrier(comm);
      break;
  }
  got.insert(got.end(), mine.begin(), mine.end());
  return got;
}

TEST(ScheduledCollectives, DoWhatTheMpiDoes) {
  const auto comm = Comm::world();
  ScheduledCollectives ours(table_for(comm.size()));
  const auto mpi = comm::mpi_collectives();
  std::int64_t expected = 0;
  for (const bool shares_memory : {false, true}) {
    if (shares_memory) ours.share_memory(comm);
    for (const auto& type : operations()) {
      for (int root = 0; root < (type.has_root ? comm.size() : 1); ++root) {
        for (const std::int64_t count : {0, 1, 3, 8, 100, 511, 1024, 5000}) {
          EXPECT_EQ(after(comm, ours, type.operation, count, root),
                    after(comm, *mpi, type.operation, count, root))
              << type.name << " of " << count << " from " << root;
          const bool is_barrier = type.operation == Operation::barrier;
          const std::int64_t bytes =
              is_barrier ? barrier_bytes : 8 * count * (type.is_by_rank ? comm.size() : 1);
          if (comm.size() > 1 && bytes > 0 && bytes / table_reach <= longest) ++expected;
        }
      }
    }
  }
  EXPECT_EQ(scheduled(ours), expected);
}

TEST(ScheduledCollectives, TellWhatWasDoneBySchedules) {
  const auto comm = Comm::world();
  const ScheduledCollectives ours(table_for(comm.size()));
  for (const std::int64_t count : {1, 4, 2000, 100000}) after(comm, ours, Operation::allreduce, count, 0);
  after(comm, ours, Operation::broadcast, 1, 0);
  const auto uses = ours.uses();
  if (comm.size() == 1) {
    EXPECT_TRUE(uses.empty());
    EXPECT_TRUE(ours.calls().empty());
    return;
  }
  EXPECT_EQ(ours.calls().at(Operation::allreduce), 4);
  EXPECT_EQ(ours.calls().at(Operation::broadcast), 1);
  ASSERT_EQ(uses.size(), 3);
  EXPECT_EQ(uses[0].entry->plan->operation, Operation::broadcast);
  EXPECT_EQ(uses[1].entry->bytes, shortest);
  EXPECT_EQ(uses[1].calls, 2);
  EXPECT_EQ(uses[2].entry->bytes, longest);
  EXPECT_EQ(uses[2].calls, 1) << "800000 bytes are beyond the table";
}

/// Tables of other numbers of ranks, and entries that leave it to the MPI.
TEST(ScheduledCollectives, LeaveTheRestToTheMpi) {
  const auto comm = Comm::world();
  auto own = nlohmann::json::array();
  own.push_back({{"schema", schedules_schema},
                 {"operation", "allreduce"},
                 {"ranks", comm.size()},
                 {"best", {{{"bytes", 8}, {"plan", nullptr}}}}});
  for (const auto& table : {ScheduleTable(), ScheduleTable(own), table_for(comm.size() - 1)}) {
    const ScheduledCollectives ours(table);
    Values expected(5, 0);
    for (int rank = 0; rank < comm.size(); ++rank) {
      const auto part = values(rank, 5);
      std::ranges::transform(expected, part, expected.begin(), std::plus());
    }
    const auto got = after(comm, ours, Operation::allreduce, 5, 0);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), got.end() - 5));
    EXPECT_TRUE(ours.uses().empty());
  }
}

TEST(ScheduledCollectives, EqualBlocksAreGatheredBySchedules) {
  const auto world = Comm::world();
  const auto ours = std::make_shared<const ScheduledCollectives>(table_for(world.size()));
  const auto comm = world.with_collectives(ours);
  const auto gather = [&](std::int64_t mine) {
    const std::int64_t before = scheduled(*ours);
    const auto gathered = comm.allgatherv(std::span<const std::int64_t>(values(comm.rank(), mine)));
    const auto reference = world.allgatherv(std::span<const std::int64_t>(values(comm.rank(), mine)));
    EXPECT_EQ(gathered.values, reference.values);
    return scheduled(*ours) - before;
  };
  const bool is_alone = comm.size() == 1;
  EXPECT_EQ(gather(7), is_alone ? 0 : 2) << "lengths, then blocks";
  EXPECT_EQ(gather(comm.rank() + 1 == comm.size() ? 8 : 7), is_alone ? 0 : 1) << "lengths";
}

/// Communicators that split a job share the object with it, and those of one size its executors.
TEST(ScheduledCollectives, ServeSeveralCommunicators) {
  const auto ours = std::make_shared<ScheduledCollectives>(table_for(Comm::world().size()));
  const auto world = Comm::world().with_collectives(ours);
  ours->share_memory(world);
  const auto twin = world.duplicate();
  const auto half = world.split(world.rank() % 2, 0);
  for (int again = 0; again < 3; ++again) {
    for (const Comm& comm : {world, half, twin}) {
      for (const int count : {1, 1000}) {
        Values sums(count, comm.rank() + 1);
        comm.allreduce(std::span(sums), ReduceOp::sum);
        EXPECT_EQ(sums, Values(count, comm.size() * (comm.size() + 1) / 2));
      }
    }
  }
  const int sharing = (world.size() > 1 ? 2 : 0) + (half.size() > 1 ? 1 : 0);
  EXPECT_EQ(scheduled(*ours), 3 * 2 * sharing);
}

/// Solvers decide by sums that they take for the same everywhere.
TEST(ScheduledCollectives, SumsAreTheSameToTheLastBit) {
  const auto world = Comm::world();
  const auto comm =
      world.with_collectives(std::make_shared<const ScheduledCollectives>(table_for(world.size())));
  for (const int count : {1, 3, 37, 1000}) {
    std::vector<double> data(count);
    for (int i = 0; i < count; ++i)
      data[i] = std::pow(10.0, (i * 7 + comm.rank() * 5) % 17) / (3.0 + comm.rank());
    comm.allreduce(std::span(data), ReduceOp::sum);
    auto of_first = data;
    world.broadcast(std::span(of_first), 0);
    EXPECT_EQ(data, of_first);
  }
}

}  // namespace
}  // namespace ayatori::collectives
