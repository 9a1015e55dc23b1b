#include "ayatori/forecast/job_machine.hpp"

#include <gtest/gtest.h>

#include "ayatori/base/error.hpp"
#include "machines.hpp"

namespace ayatori::forecast {
namespace {

using mapping::PairVolume;

TEST(JobMachine, MessagesOfAMeasuredJob) {
  const JobMachine machine(two_rank_nodes(), "profile", {2, 2, 1});
  EXPECT_TRUE(machine.assumptions().empty());
  const auto inside = machine.exchange(std::vector<PairVolume>{{0, 1, 1, 8000}});
  EXPECT_NEAR(inside.latency, 1e-6, 1e-12);
  EXPECT_NEAR(inside.bandwidth, 8e-6, 1e-12);
  const auto shared = machine.exchange(std::vector<PairVolume>{{0, 2, 1, 8000}, {1, 3, 1, 8000}});
  EXPECT_NEAR(shared.latency, 10e-6, 1e-12);
  EXPECT_NEAR(shared.bandwidth, 2 * 8000 * 1e-8, 1e-12) << "two messages through one port";
}

TEST(JobMachine, ALargerJobHasTheSameLevels) {
  const JobMachine machine(two_rank_nodes(), "profile", {512, 2, 1});
  EXPECT_TRUE(machine.assumptions().empty());
  const auto shared = machine.exchange(std::vector<PairVolume>{{0, 700, 1, 8000}, {1, 900, 1, 8000}});
  EXPECT_NEAR(shared.latency, 10e-6, 1e-12);
  EXPECT_NEAR(shared.bandwidth, 2 * 8000 * 1e-8, 1e-12);
  EXPECT_NEAR(machine.exchange(std::vector<PairVolume>{{4, 5, 1, 8000}}).bandwidth, 8e-6, 1e-12);
}

TEST(JobMachine, ReductionsAreLogarithmic) {
  const auto seconds = [](int nodes, int per_node) {
    return JobMachine(two_rank_nodes(), "profile", {nodes, per_node, 1}).allreduce_seconds(0);
  };
  EXPECT_EQ(seconds(1, 1), 0);
  EXPECT_NEAR(seconds(1, 2), 1e-6, 1e-12);
  EXPECT_NEAR(seconds(2, 2), 11e-6, 1e-12);
  EXPECT_NEAR(seconds(64, 1), 60e-6, 1e-12);
  EXPECT_NEAR(seconds(64, 2), 61e-6, 1e-12);
  EXPECT_NEAR(seconds(3, 1), 30e-6, 1e-12) << "rank 2 hands its part over, and gets the result";
}

TEST(JobMachine, LinksOfANetworkAreShared) {
  const JobMachine machine(two_rank_nodes(), "profile", {8, 1, 1});
  const auto row = network::make_network("mesh:8", 8);
  const std::vector<PairVolume> messages{{0, 7, 1, 8000}, {1, 6, 1, 8000}, {2, 5, 1, 8000}};
  const auto alone = machine.exchange(messages);
  const auto crossing = machine.exchange(messages, row.get());
  EXPECT_NEAR(alone.bandwidth, 8e-5, 1e-12);
  EXPECT_NEAR(crossing.bandwidth, 3 * 8e-5, 1e-12);
  EXPECT_GT(crossing.latency, alone.latency);
}

TEST(JobMachine, MemoryIsSharedByTheRanksOfANode) {
  const auto rate = [](int per_node, int threads) {
    return JobMachine(two_rank_nodes(), "profile", {4, per_node, threads}).memory_rate(1 << 20);
  };
  EXPECT_NEAR(rate(1, 1), 1e9, 1);
  EXPECT_NEAR(rate(1, 2), 1.6e9, 1);
  EXPECT_NEAR(rate(2, 1), 0.8e9, 1);
  EXPECT_NEAR(rate(4, 1), 0.4e9, 1) << "no more than was measured";
}

TEST(JobMachine, CachesByTheWorkingSet) {
  auto profile = two_rank_nodes();
  profile.memory = {{"triad", 1, 1 << 16, false, {16e9, 16e9, 16e9, 9}},
                    {"triad", 1, 1 << 20, false, {1e9, 1e9, 1e9, 9}}};
  const JobMachine machine(profile, "profile", {4, 1, 1});
  const auto rate = [&](double per_rank) { return machine.memory_rate(per_rank * 2); };  // two were measured
  EXPECT_NEAR(rate(1 << 10), 16e9, 1);
  EXPECT_NEAR(rate(1 << 16), 16e9, 1);
  EXPECT_NEAR(rate(1 << 18), 4e9, 10) << "half way between, by logarithms";
  EXPECT_NEAR(rate(1 << 24), 1e9, 1);
}

TEST(JobMachine, WhatAProfileDoesNotTellIsSaid) {
  const auto words = [](const machine::Profile& profile, const JobShape& shape) {
    std::string text;
    const JobMachine machine(profile, "profile", shape);
    for (const auto& assumption : machine.assumptions()) text += assumption + "; ";
    return text;
  };
  const auto ib = machine::load_profile("infiniband-2005");
  EXPECT_NE(words(ib, {8, 2, 1}).find("messages inside a node take what those between nodes take"),
            std::string::npos);
  EXPECT_NE(words(ib, {8, 2, 1}).find("share one port"), std::string::npos);
  EXPECT_NE(words(ib, {8, 1, 1}).find("caches are as slow as memory"), std::string::npos);
  auto single = two_rank_nodes();
  single.node_of_rank = {0, 0, 0, 0};
  single.levels.pop_back();
  single.levels.front().structure.group_of = {0, 0, 0, 0};
  EXPECT_NE(words(single, {8, 1, 1}).find("a single node"), std::string::npos);
  auto none = two_rank_nodes();
  none.memory.clear();
  EXPECT_THROW(JobMachine(none, "profile", {1, 1, 1}), InputError);
  EXPECT_NEAR(JobMachine(none, "profile", {1, 2, 1}, 3e9).memory_rate(1), 1.5e9, 1);
}

TEST(JobMachine, ProcessorsOfASharedMemoryMachineCountAsNodes) {
  const auto altix = machine::load_profile("altix3700bx2");
  const JobMachine machine(altix, "altix", {16, 1, 1}, 3.2e9);
  EXPECT_NEAR(machine.exchange(std::vector<PairVolume>{{0, 1, 1, 0}}).latency, 2.77e-6, 1e-9);
  EXPECT_NEAR(machine.exchange(std::vector<PairVolume>{{0, 15, 1, 0}}).latency, 4.46e-6, 1e-9);
}

}  // namespace
}  // namespace ayatori::forecast
