#include "ayatori/collectives/execution/executor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "ayatori/base/error.hpp"
#include "ayatori/collectives/words/word_schedule.hpp"
#include "collectives/factorizations.hpp"

namespace ayatori::collectives {
namespace {

std::int64_t contribution(int rank, std::int64_t element) {
  return 1000 * (rank + 1) + element;
}

/// Where messages inside the node go: through the MPI, or through memory.
void expect_right(const comm::Comm& comm, const WordPlan& plan, std::int64_t count,
                  comm::NodeChannel* channel) {
  const auto& type = type_of(plan.operation);
  const int ranks = plan.ranks;
  const int me = comm.rank();
  const std::int64_t length = type.is_by_rank ? ranks * count : count;
  const bool from_root = plan.operation == Operation::broadcast || plan.operation == Operation::scatter;
  const bool collects = plan.operation == Operation::gather || plan.operation == Operation::allgather;
  const bool transposes = plan.operation == Operation::alltoall;
  std::vector<std::int64_t> data(length);
  for (std::int64_t i = 0; i < length; ++i) {
    const bool mine = from_root ? me == plan.root : !collects || i / std::max<std::int64_t>(count, 1) == me;
    data[i] = mine ? contribution(me, i) : -1;
  }
  Executor executor(plan, me);
  executor.run(comm, data.data(), count, comm::DataType::int64, comm::ReduceOp::sum, channel);
  for (std::int64_t i = 0; i < length; ++i) {
    const auto block = type.is_by_rank ? static_cast<int>(i / count) : 0;
    const bool own_block_only =
        plan.operation == Operation::scatter || plan.operation == Operation::reduce_scatter;
    const bool root_only = plan.operation == Operation::reduce || plan.operation == Operation::gather;
    if ((own_block_only && block != me) || (root_only && me != plan.root)) continue;
    std::int64_t expected = contribution(from_root ? plan.root : block, i);
    if (transposes) expected = contribution(block, i - block * count + me * count);
    if (type.reduces) expected = 1000 * ranks * (ranks + 1) / 2 + ranks * i;
    ASSERT_EQ(data[i], expected) << type.name << " " << to_string(plan.word) << ", " << count
                                 << " elements, element " << i;
  }
}

TEST(Executor, EveryWordMovesEveryElement) {
  const auto comm = comm::Comm::world();
  const auto channel = comm::make_node_channel(comm, comm.split_by_node());
  for (const auto& radices : ordered_factorizations(comm.size(), comm.size())) {
    for (const auto& type : operations()) {
      const auto words =
          type.has_words ? hybrid2_words(static_cast<int>(radices.size())) : std::vector<Word>(1);
      for (const Word& word : words) {
        for (const DigitOrder order : {DigitOrder::near_first, DigitOrder::far_first}) {
          for (int root = 0; root < (type.has_root ? comm.size() : 1); ++root) {
            for (const std::int64_t count : {0, 1, 3, 1000})  // also fewer elements than chunks
              for (comm::NodeChannel* by : {static_cast<comm::NodeChannel*>(nullptr), channel.get()})
                expect_right(comm, make_plan(type.operation, comm.size(), word, order, radices, root), count,
                             by);
          }
        }
      }
    }
  }
}

/// Rings, circulant graphs, segments, leaders of groups, any order of ranks; not every one is a plan.
class AnyPlan {
 public:
  explicit AnyPlan(int ranks) : ranks_(ranks) {}

  int pick(int least, int most) { return std::uniform_int_distribution(least, most)(random_); }
  /// One for every operation.
  std::vector<WordPlan> plans() {
    WordPlan plan;
    plan.ranks = ranks_;
    for (int position = 0; position < ranks_; ++position) {
      if (position == 0 || pick(0, 2) > 0) plan.groups.push_back(position);
      plan.order.push_back(position);
    }
    std::ranges::shuffle(plan.order, random_);
    const int leaders = static_cast<int>(plan.groups.size());
    if (leaders == ranks_) plan.groups.clear();
    const auto all_radices = ordered_factorizations(leaders, leaders);
    const auto& radices = all_radices[pick(0, static_cast<int>(all_radices.size()) - 1)];
    for (int stride = 1; const int radix : radices) {
      plan.digits.push_back({stride, radix, all_exchanges[pick(0, 3)]});
      stride *= radix;
    }
    plan.fold = all_exchanges[pick(0, 3)];
    const auto words = hybrid2_words(static_cast<int>(radices.size()));
    std::vector<WordPlan> found;
    for (const auto& type : operations()) {
      plan.operation = type.schedule;
      plan.root = type.has_root ? pick(0, ranks_ - 1) : 0;
      plan.word = type.has_words ? words[pick(0, static_cast<int>(words.size()) - 1)] : Word();
      plan.segmentation.segments = type.has_words ? pick(1, 20) : 1;
      plan.segmentation.under_way = pick(1, 9);
      plan.stripes = type.has_words ? pick(1, 4) : 1;
      plan.rails = pick(1, plan.stripes);
      plan.single_copy = SingleCopy{pick(0, 2)};
      try {
        check_plan(plan);
      } catch (const InputError&) {
        continue;
      }
      found.push_back(plan);
    }
    return found;
  }

 private:
  int ranks_;
  std::mt19937 random_{11};  // the same on all ranks
};

TEST(Executor, AnyPlan) {
  const auto comm = comm::Comm::world();
  const auto channel = comm::make_node_channel(comm, comm.split_by_node());
  AnyPlan any(comm.size());
  for (int trial = 0; trial < 200; ++trial) {
    for (const WordPlan& plan : any.plans())
      expect_right(comm, plan, std::int64_t{1} << any.pick(0, 17),
                   any.pick(0, 1) == 0 ? nullptr : channel.get());
  }
}

TEST(Executor, BlocksOfDifferentLengths) {
  const auto comm = comm::Comm::world();
  const int ranks = comm.size();
  const int me = comm.rank();
  const auto channel = comm::make_node_channel(comm, comm.split_by_node());
  AnyPlan any(ranks);
  for (int trial = 0; trial < 100; ++trial) {
    for (const WordPlan& plan : any.plans()) {
      const auto& type = type_of(plan.operation);
      if (!type.is_by_rank || plan.operation == Operation::alltoall) continue;
      std::vector<std::int64_t> begins = {0};
      for (int rank = 0; rank < ranks; ++rank)
        begins.push_back(begins.back() + (any.pick(0, 2) > 0 ? any.pick(1, 300) : 0));
      const bool is_given_all = type.reduces || (plan.operation == Operation::scatter && me == plan.root);
      const bool is_promised_all =
          plan.operation == Operation::allgather || (plan.operation == Operation::gather && me == plan.root);
      std::vector<std::int64_t> data(begins.back(), -1);
      for (std::int64_t i = 0; i < begins.back(); ++i) {
        if (is_given_all || (i >= begins[me] && i < begins[me + 1])) data[i] = i;
      }
      Executor(plan, me).run(comm, data.data(), 0, comm::DataType::int64, comm::ReduceOp::sum,
                             any.pick(0, 1) == 0 ? nullptr : channel.get(), begins);
      for (std::int64_t i = 0; i < begins.back(); ++i) {
        if (!is_promised_all && (i < begins[me] || i >= begins[me + 1])) continue;
        ASSERT_EQ(data[i], type.reduces ? i * ranks : i) << type.name << ", element " << i;
      }
    }
  }
}

/// Ranks of two nodes: messages between them go by the MPI, in the same stages.
TEST(Executor, BetweenNodesByMessages) {
  const auto comm = comm::Comm::world();
  const int ranks = comm.size();
  const auto channel = comm::make_node_channel(comm, comm.split(comm.rank() / 2, comm.rank()));
  for (int r = 0; channel && r < ranks; ++r) EXPECT_EQ(channel->reaches(r), r / 2 == comm.rank() / 2);
  for (const Word& word : hybrid2_words(ranks > 1 ? 1 : 0)) {
    for (const std::int64_t count : {1, 1000, 200000}) {
      const auto plan = make_plan(Operation::allreduce, ranks, word, DigitOrder::near_first,
                                  ranks > 1 ? std::vector{Radix{ranks}} : std::vector<Radix>());
      Executor executor(plan, comm.rank());
      std::vector<double> data(count);
      std::iota(data.begin(), data.end(), comm.rank());
      executor.run(comm, data.data(), count, comm::DataType::float64, comm::ReduceOp::sum, channel.get());
      for (std::int64_t i = 0; i < count; ++i)
        ASSERT_EQ(data[i], static_cast<double>(ranks * i) + 0.5 * ranks * (ranks - 1));
    }
  }
}

/// Floating-point sums are the same on all ranks to the last bit, whatever the plan.
TEST(Executor, TheSameBitsEverywhere) {
  const auto comm = comm::Comm::world();
  const auto channel = comm::make_node_channel(comm, comm.split_by_node());
  const int ranks = comm.size();
  for (const Exchange exchange : {Exchange::direct, Exchange::doubling}) {
    const auto radices = ranks > 1 ? std::vector{Radix{ranks, exchange}} : std::vector<Radix>();
    auto plan = make_plan(Operation::allreduce, ranks, hybrid1(ranks > 1 ? 1 : 0, 0), DigitOrder::near_first,
                          radices);
    Executor executor(plan, comm.rank());
    std::vector<double> data(30000);
    for (std::size_t i = 0; i < data.size(); ++i)
      data[i] = std::pow(10.0, static_cast<double>((i * 7 + comm.rank() * 5) % 17)) / (1.0 + comm.rank());
    const auto mine = data;
    executor.run(comm, data.data(), std::ssize(data), comm::DataType::float64, comm::ReduceOp::sum);
    auto of_root = data;
    comm.broadcast(std::span(of_root), 0);
    EXPECT_EQ(data, of_root);
    for (const auto single_copy : {SingleCopy::none, SingleCopy::moved, SingleCopy::all}) {
      plan.single_copy = single_copy;
      auto through_memory = mine;
      Executor(plan, comm.rank())
          .run(comm, through_memory.data(), std::ssize(data), comm::DataType::float64, comm::ReduceOp::sum,
               channel.get());
      EXPECT_EQ(through_memory, of_root) << name_of(single_copy);
    }
  }
}

TEST(Executor, LongMessagesAndOtherTypes) {
  const auto comm = comm::Comm::world();
  const auto radices = ordered_factorizations(comm.size(), comm.size()).front();
  const int digits = static_cast<int>(radices.size());
  const auto plan =
      make_plan(Operation::allreduce, comm.size(), hybrid1(digits, digits), DigitOrder::near_first, radices);
  Executor executor(plan, comm.rank());
  std::vector<float> data(300001);
  for (int again = 0; again < 3; ++again) {
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>((i + comm.rank()) % 17);
    executor.run(comm, data.data(), std::ssize(data), comm::DataType::float32, comm::ReduceOp::max);
    for (std::size_t i = 0; i < data.size(); ++i) {
      std::size_t largest = 0;
      for (int rank = 0; rank < comm.size(); ++rank) largest = std::max(largest, (i + rank) % 17);
      ASSERT_EQ(data[i], static_cast<float>(largest));
    }
  }
}

}  // namespace
}  // namespace ayatori::collectives
