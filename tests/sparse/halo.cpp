#include "ayatori/sparse/halo.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "ayatori/base/random.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/halo/node_aware.hpp"
#include "world.hpp"

namespace ayatori::sparse {
namespace {

/// Who needs which elements of a vector that is spread over the ranks.
struct Pattern {
  std::string name;
  RowPartition partition;
  std::function<bool(int rank, std::int64_t element)> needs;

  /// Ghosts of any rank, ascending.
  std::vector<std::int64_t> ghosts(int rank) const {
    std::vector<std::int64_t> result;
    const Range own = partition.range(rank);
    for (std::int64_t i = 0; i < partition.rows(); ++i) {
      if ((i < own.begin || i >= own.end) && needs(rank, i)) result.push_back(i);
    }
    return result;
  }
  HaloPlan plan() const { return make_halo_plan(world(), partition, ghosts(world().rank())); }
};

/// `each` rows per rank; far more than any MPI sends eagerly for `each` = 20000.
std::vector<Pattern> patterns(std::int64_t each) {
  const int size = world().size();
  const auto even = RowPartition::even(each * size, size);
  std::vector<std::int64_t> starts(size + 1, 2 * each);
  starts.front() = 0;
  for (int r = 1; r < size; ++r) starts[r] = r == 1 ? 0 : 2 * each - 1;  // nothing, nearly all, ..., one row
  const RowPartition uneven(starts);
  const auto owner = [each](std::int64_t i) { return static_cast<int>(i / each); };
  return {
      {"nothing", even, [](int, std::int64_t) { return false; }},
      {"everything", even, [](int, std::int64_t) { return true; }},
      {"everything, uneven", uneven, [](int, std::int64_t) { return true; }},
      {"ring one way", even, [=](int rank, std::int64_t i) { return owner(i) == (rank + 1) % size; }},
      {"ring the other way", even,
       [=](int rank, std::int64_t i) { return owner(i) == (rank + size - 1) % size; }},
      {"chain", even, [=](int rank, std::int64_t i) { return std::abs(owner(i) - rank) == 1; }},
      {"all from the last", even, [=](int, std::int64_t i) { return owner(i) == size - 1; }},
      {"the first from all", even, [](int rank, std::int64_t) { return rank == 0; }},
      {"lower from higher", even, [=](int rank, std::int64_t i) { return owner(i) > rank; }},
      {"at random", even,
       [](int rank, std::int64_t i) { return random_uniform(rank, static_cast<std::uint64_t>(i)) < 0.3; }},
  };
}

double element(int round, std::int64_t i) {
  return 1e6 * round + static_cast<double>(i);
}

/// Collective. Exchanges vectors of different values; a rank is late now and then, so that the others run
/// ahead of it.
void expect_ghosts(HaloExchange& exchange, const Pattern& pattern, const HaloPlan& plan) {
  const Range own = pattern.partition.range(world().rank());
  std::vector<double> x(own.size());
  for (int round = 0; round < 3; ++round) {
    for (std::int64_t i = own.begin; i < own.end; ++i) x[i - own.begin] = element(round, i);
    exchange.begin(x);
    const auto ghosts = exchange.finish();
    if (round % world().size() == world().rank()) std::this_thread::sleep_for(std::chrono::microseconds(500));
    ASSERT_EQ(ghosts.size(), plan.ghosts.size());
    std::int64_t wrong = 0;
    for (std::size_t g = 0; g < ghosts.size(); ++g)
      wrong += ghosts[g] != element(round, plan.ghosts[g]) ? 1 : 0;
    EXPECT_EQ(wrong, 0) << "round " << round;
  }
}

void expect_every_strategy_to_work(std::int64_t each) {
  for (const auto& pattern : patterns(each)) {
    const HaloPlan plan = pattern.plan();
    for (const auto& type : halo_strategies()) {
      SCOPED_TRACE(pattern.name + ", " + std::string(type.name));
      const auto exchange = type.make(world(), pattern.partition, plan);
      expect_ghosts(*exchange, pattern, plan);
    }
  }
}

TEST(Halo, EveryStrategyBringsFewGhosts) {
  for (const std::int64_t each : {1, 4}) expect_every_strategy_to_work(each);
}

TEST(Halo, EveryStrategyBringsManyGhosts) {
  expect_every_strategy_to_work(20000);
}

TEST(Halo, ExchangesOfAllStrategiesLiveTogether) {
  const auto pattern = patterns(100).back();
  const HaloPlan plan = pattern.plan();
  std::vector<std::unique_ptr<HaloExchange>> exchanges;
  for (int twice = 0; twice < 2; ++twice) {
    for (const auto& type : halo_strategies())
      exchanges.push_back(type.make(world(), pattern.partition, plan));
  }
  for (const auto& exchange : exchanges) expect_ghosts(*exchange, pattern, plan);
}

TEST(Halo, MessagesBetweenNeighboursAreThePlans) {
  for (const auto& pattern : patterns(7)) {
    const HaloPlan plan = pattern.plan();
    for (const auto& type : halo_strategies()) {
      if (type.name == "allgather" || type.name == "bcast" || type.name.starts_with("node-aware")) continue;
      SCOPED_TRACE(pattern.name + ", " + std::string(type.name));
      const auto traffic = type.traffic(plan, pattern.partition);
      std::int64_t received = 0;
      for (const auto& from : plan.receive_from) received += 8 * (from.end - from.begin);
      EXPECT_EQ(traffic.bytes, std::max(plan.bytes_sent(), received));
      EXPECT_EQ(traffic.messages,
                std::max(plan.messages(), static_cast<std::int64_t>(plan.receive_from.size())));
    }
  }
}

TEST(Halo, CollectivesMoveTheWholeVector) {
  const int size = world().size();
  const auto pattern = patterns(7)[1];
  const HaloPlan plan = pattern.plan();
  const double others = 8.0 * 7 * (size - 1);
  const auto allgather = halo_strategy("allgather").type->traffic(plan, pattern.partition);
  EXPECT_EQ(allgather.bytes, others);
  EXPECT_EQ(allgather.messages, std::ceil(std::log2(size)));
  const auto bcast = halo_strategy("bcast").type->traffic(plan, pattern.partition);
  EXPECT_EQ(bcast.bytes, others);
  EXPECT_EQ(bcast.messages, size == 1 ? 0 : size);
}

TEST(Halo, BroadcastsOfNothingAreNotCounted) {
  if (world().size() == 1) GTEST_SKIP() << "no rank can be empty";
  const auto pattern = patterns(7)[2];
  const auto traffic = halo_strategy("bcast").type->traffic(pattern.plan(), pattern.partition);
  EXPECT_EQ(traffic.messages,
            std::min(world().size() - 1, 2));  // the first rank is empty, and the third of four
  const std::int64_t own = pattern.partition.range(world().rank()).size();
  EXPECT_EQ(traffic.bytes, static_cast<double>(8 * std::max(14 - own, own)));
}

TEST(Halo, NodesAreNeverPromisedLessThanTheirGhosts) {
  for (const auto& pattern : patterns(7)) {
    SCOPED_TRACE(pattern.name);
    const HaloPlan plan = pattern.plan();
    const auto traffic = halo_strategy("node-aware").type->traffic(plan, pattern.partition);
    EXPECT_EQ(traffic.bytes, 8.0 * static_cast<double>(plan.ghosts.size()));
    EXPECT_EQ(traffic.messages, plan.send_to.empty() && plan.receive_from.empty() ? 0 : 1);
  }
}

/// The node of every rank, as a machine might have it; of as many ranks as there are.
std::vector<std::vector<int>> groupings() {
  std::vector<std::vector<int>> list{{0, 0, 1, 1}, {0, 0, 0, 1}, {0, 1, 1, 1}, {0, 1, 2, 2},
                                     {0, 1, 0, 1}, {9, 4, 4, 9}, {3, 3, 3, 3}, {3, 2, 1, 0}};
  for (auto& nodes : list) {
    nodes.resize(std::max(4, world().size()), 5);
    nodes.resize(world().size());
  }
  return list;
}

TEST(NodeAware, BringsTheGhostsWhereverTheRanksAre) {
  for (const std::int64_t each : {5, 20000}) {
    for (const auto& pattern : patterns(each)) {
      const HaloPlan plan = pattern.plan();
      for (const auto& nodes : groupings()) {
        for (const Crossing crossing : {Crossing::by_agents, Crossing::by_owners}) {
          SCOPED_TRACE(pattern.name + " on nodes " + testing::PrintToString(nodes) +
                       (crossing == Crossing::by_agents ? ", by agents" : ", by owners"));
          const auto exchange =
              make_node_aware(world(), pattern.partition, plan, nodes[world().rank()], crossing);
          expect_ghosts(*exchange, pattern, plan);
        }
        if (each > 5) break;  // long messages take the same ways
      }
    }
  }
}

/// Totals of all ranks together.
struct Abroad {
  std::int64_t messages = 0;
  std::int64_t elements = 0;
};

/// Collective. What leaves the nodes.
Abroad sent_abroad(const HaloExchange& exchange, const std::vector<int>& nodes) {
  Abroad abroad;
  const auto messages = exchange.messages().value();
  for (const HaloMessage& message : messages) {
    if (!message.is_sent || nodes[message.peer] == nodes[world().rank()]) continue;
    ++abroad.messages;
    abroad.elements += std::ssize(message.elements);
  }
  return {world().allreduce(abroad.messages, comm::ReduceOp::sum),
          world().allreduce(abroad.elements, comm::ReduceOp::sum)};
}

TEST(NodeAware, EveryElementCrossesOncePerNodeInTheFewestMessages) {
  for (const auto& pattern : patterns(20)) {
    const HaloPlan plan = pattern.plan();
    for (const auto& nodes : groupings()) {
      SCOPED_TRACE(pattern.name + " on nodes " + testing::PrintToString(nodes));
      std::set<std::pair<int, int>> pairs;               // from node, to node
      std::set<std::pair<int, int>> senders;             // from rank, to node
      std::set<std::pair<int, std::int64_t>> crossings;  // to node, element
      for (int r = 0; r < world().size(); ++r) {
        for (const std::int64_t g : pattern.ghosts(r)) {
          const int owner = pattern.partition.owner(g);
          if (nodes[owner] == nodes[r]) continue;
          pairs.insert({nodes[owner], nodes[r]});
          senders.insert({owner, nodes[r]});
          crossings.insert({nodes[r], g});
        }
      }
      const int node = nodes[world().rank()];
      for (const Crossing crossing : {Crossing::by_agents, Crossing::by_owners}) {
        const auto exchange = make_node_aware(world(), pattern.partition, plan, node, crossing);
        const Abroad abroad = sent_abroad(*exchange, nodes);
        EXPECT_EQ(abroad.messages, std::ssize(crossing == Crossing::by_agents ? pairs : senders));
        EXPECT_EQ(abroad.elements, std::ssize(crossings));
      }
    }
  }
}

TEST(NodeAware, RanksOfANodeShareTheNodesTheySpeakWith) {
  if (world().size() != 4) GTEST_SKIP() << "for three nodes, one with two ranks";
  const std::vector<int> nodes{0, 0, 1, 2};
  const int me = world().rank();
  const auto pattern = patterns(20)[1];
  const HaloPlan plan = pattern.plan();
  const auto exchange = make_node_aware(world(), pattern.partition, plan, nodes[me], Crossing::by_agents);
  std::int64_t abroad = 0;
  const auto messages = exchange->messages().value();
  for (const HaloMessage& message : messages)
    abroad += message.is_sent && nodes[message.peer] != nodes[me] ? 1 : 0;
  EXPECT_EQ(abroad, me < 2 ? 1 : 2);
}

TEST(NodeAware, RanksOfANodeShareWhatTheyTake) {
  if (world().size() != 4) GTEST_SKIP() << "for two nodes of two ranks";
  const std::vector<int> nodes{0, 0, 1, 1};
  const int me = world().rank();
  for (const auto& pattern : {patterns(20)[1], patterns(20).back()}) {  // all want from all
    const HaloPlan plan = pattern.plan();
    const auto exchange = make_node_aware(world(), pattern.partition, plan, nodes[me], Crossing::by_owners);
    std::int64_t taken = 0;
    const auto messages = exchange->messages().value();
    for (const HaloMessage& message : messages)
      taken += !message.is_sent && nodes[message.peer] != nodes[me] ? 1 : 0;
    EXPECT_EQ(taken, 1) << pattern.name;
  }
}

TEST(NodeAware, WhoOnlyWantsWhatIsHisOwnNodesSendsAsWithoutNodes) {
  for (const auto& pattern : patterns(7)) {
    SCOPED_TRACE(pattern.name);
    const HaloPlan plan = pattern.plan();
    const auto exchange = make_node_aware(world(), pattern.partition, plan, 0, Crossing::by_agents);
    const auto messages = exchange->messages().value();
    EXPECT_EQ(std::ssize(messages), std::ssize(plan.send_to) + std::ssize(plan.receive_from));
  }
}

}  // namespace
}  // namespace ayatori::sparse
