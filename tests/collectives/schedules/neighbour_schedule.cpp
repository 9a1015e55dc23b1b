#include "ayatori/collectives/schedules/neighbour_schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ayatori/base/random.hpp"
#include "ayatori/collectives/schedules/cost.hpp"
#include "ayatori/collectives/schedules/replay.hpp"
#include "ayatori/collectives/schedules/validate.hpp"
#include "ayatori/sparse/halo/node_aware.hpp"
#include "world.hpp"

namespace ayatori::collectives {
namespace {

/// Elements at random: mostly of ranks nearby, and of few others, as a share of the elements.
sparse::HaloPlan random_plan(const sparse::RowPartition& partition, std::uint64_t seed, double share) {
  const int me = world().rank();
  std::vector<std::int64_t> ghosts;
  for (std::int64_t i = 0; i < partition.rows(); ++i) {
    const int owner = partition.owner(i);
    const double wanted = std::abs(owner - me) < 3 ? share : share / 10;
    if (owner != me && random_uniform(100 * seed + me, static_cast<std::uint64_t>(i)) < wanted)
      ghosts.push_back(i);
  }
  return sparse::make_halo_plan(world(), partition, std::move(ghosts));
}

/// Collective.
std::optional<Schedule> schedule_of(const sparse::RowPartition& partition,
                                    const sparse::HaloExchange& exchange) {
  return neighbour_schedule(world(), partition.rows(), [&] { return exchange.messages(); });
}

/// Collective. The first violation, agreed.
std::string violation_of(const sparse::RowPartition& partition, const sparse::HaloPlan& plan,
                         const sparse::HaloExchange& exchange) {
  Neighbourhood neighbourhood{{partition.starts().begin(), partition.starts().end()}, {}};
  const auto ghosts = world().allgatherv(std::span<const std::int64_t>(plan.ghosts));
  for (int rank = 0; rank < world().size(); ++rank)
    neighbourhood.wanted.push_back(chunks_of(ghosts.of(rank)));
  const auto schedule = schedule_of(partition, exchange);
  EXPECT_EQ(schedule.has_value(), world().rank() == 0);
  std::string violation;
  if (schedule) violation = find_violation(*schedule, neighbourhood).value_or("");
  return world().broadcast(violation, 0);
}

TEST(NeighbourSchedule, WhatTheStrategiesSendIsWhatIsWanted) {
  const auto partition = sparse::RowPartition::even(53 * world().size() + 1, world().size());
  for (const double share : {0.0, 0.02, 0.3, 1.0}) {
    const auto plan = random_plan(partition, 1, share);
    for (const auto& type : sparse::halo_strategies()) {
      SCOPED_TRACE(std::string(type.name) + ", " + std::to_string(share));
      const auto exchange = type.make(world(), partition, plan);
      if (exchange->messages()) {
        EXPECT_EQ(violation_of(partition, plan, *exchange), "");
      } else {
        EXPECT_FALSE(schedule_of(partition, *exchange).has_value());
      }
    }
  }
}

/// Nodes of k ranks in their order, dealt round, and at random.
std::vector<std::vector<int>> groupings() {
  std::vector<std::vector<int>> list;
  const int size = world().size();
  for (const int k : {1, 2, 3, 8}) {
    const int nodes = (size + k - 1) / k;
    std::vector<int> rows;
    std::vector<int> round;
    std::vector<int> random;
    for (int rank = 0; rank < size; ++rank) {
      rows.push_back(rank / k);
      round.push_back(rank % nodes);
      random.push_back(static_cast<int>(random_uniform(k, static_cast<std::uint64_t>(rank)) * nodes));
    }
    list.insert(list.end(), {rows, round, random});
  }
  return list;
}

TEST(NeighbourSchedule, RoutesOverNodesAreRight) {
  const auto partition = sparse::RowPartition::even(17 * world().size() + 1, world().size());
  for (const double share : {0.03, 0.3, 1.0}) {
    const auto plan = random_plan(partition, 2, share);
    for (const auto& nodes : groupings()) {
      for (const auto crossing : {sparse::Crossing::by_agents, sparse::Crossing::by_owners}) {
        SCOPED_TRACE("nodes " + testing::PrintToString(nodes) + ", share " + std::to_string(share));
        const auto exchange =
            sparse::make_node_aware(world(), partition, plan, nodes[world().rank()], crossing);
        EXPECT_EQ(violation_of(partition, plan, *exchange), "");
      }
    }
  }
}

TEST(NeighbourSchedule, IsPricedAndReplayed) {
  if (world().size() == 1) GTEST_SKIP() << "one rank sends nothing";
  const auto partition = sparse::RowPartition::even(std::int64_t{1000} * world().size(), world().size());
  const auto plan = random_plan(partition, 3, 1);
  const auto exchange = sparse::halo_strategy("p2p-irecv-first").type->make(world(), partition, plan);
  const auto schedule = schedule_of(partition, *exchange);
  if (world().rank() != 0) return;
  const auto profile = machine::load_profile("altix3700bx2");
  const network::Hierarchy network(profile, world().size());
  const double bytes = 8.0 * static_cast<double>(partition.rows());
  const double model = predict_seconds(load_of(*schedule, network), network, bytes);
  const double replay = Replay(*schedule, network).seconds(bytes);
  EXPECT_GT(model, 2.77e-6);  // the latency between neighbours
  EXPECT_GT(replay, 0.5 * model);
  EXPECT_LT(replay, 2 * model);
}

}  // namespace
}  // namespace ayatori::collectives
