#include "ayatori/machine/measure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/machine/collective_operations.hpp"
#include "ayatori/machine/probes/pair_rounds.hpp"
#include "ayatori/machine/probes/synchronized_clock.hpp"
#include "ayatori/machine/probes/transfer_patterns.hpp"

namespace ayatori::machine {
namespace {

constexpr double short_time = 0.3;

void expect_sensible(const Estimate& estimate) {
  EXPECT_GT(estimate.samples, 0);
  EXPECT_GT(estimate.low, 0);
  EXPECT_LE(estimate.low, estimate.median);
  EXPECT_LE(estimate.median, estimate.high);
  EXPECT_TRUE(std::isfinite(estimate.high));
}

/// Each pair once, and all of a round: on a busy machine the time may end before the last rounds.
void expect_pairs_of_first_rounds(const std::vector<PairTime>& pairs, int ranks) {
  std::set<std::pair<int, int>> met;
  for (const PairTime& pair : pairs) {
    EXPECT_GT(pair.seconds, 0);
    EXPECT_TRUE(met.emplace(std::minmax(pair.first, pair.second)).second);
  }
  const PairRounds rounds(ranks, {}, true);
  std::set<std::pair<int, int>> expected;
  for (int round = 0; round < rounds.count() && expected.size() < met.size(); ++round) {
    for (int rank = 0; rank < ranks; ++rank)
      if (const int partner = rounds.partner(round, rank); partner > rank) expected.emplace(rank, partner);
  }
  EXPECT_EQ(met, expected);
}

TEST(Measure, FillsTheProfile) {
  const auto world = comm::Comm::world();
  std::vector<std::string> probes;
  double last_share = 0;
  const auto profile = measure(world, {.quick = true, .seconds = short_time},
                               {.progress =
                                    [&](const std::string& probe, double share) {
                                      if (probes.empty() || probes.back() != probe) probes.push_back(probe);
                                      EXPECT_GE(share, last_share);
                                      EXPECT_LE(share, 1.0 + 1e-9);
                                      last_share = share;
                                    },
                                .wants_stop = {}});
  EXPECT_EQ(probes, (std::vector<std::string>{"memory", "NUMA", "barriers", "transfers", "overlap", "fans",
                                              "eager sends", "reduction", "collectives"}));
  EXPECT_TRUE(profile.complete);
  EXPECT_GT(profile.measuring_seconds, 0);
  EXPECT_EQ(profile.ranks, world.size());
  EXPECT_EQ(profile.threads, max_threads());
  EXPECT_GE(profile.node.cores, 1);
  EXPECT_GE(profile.node.processing_units, profile.node.cores);
  EXPECT_GE(profile.usable_units, 1);
  EXPECT_LE(profile.usable_units, profile.node.processing_units);
  EXPECT_GT(profile.node.memory_bytes, 0);
  EXPECT_EQ(profile.node_of_rank, std::vector<int>(world.size(), 0));

  EXPECT_EQ(profile.pairs.empty(), world.size() == 1);
  expect_pairs_of_first_rounds(profile.pairs, world.size());
  ASSERT_FALSE(profile.memory.empty());
  for (const auto& figure : profile.memory) expect_sensible(figure.bytes_per_second);
  EXPECT_EQ(profile.barriers.empty(), max_threads() == 1);
  for (const auto& figure : profile.barriers) expect_sensible(figure.seconds);
  EXPECT_EQ(profile.levels.empty(), world.size() == 1);
  EXPECT_EQ(profile.collectives.empty(), world.size() == 1);
  for (const auto& level : profile.levels) {
    EXPECT_EQ(level.name, "inside a node");
    for (const auto& curve : level.curves) {
      EXPECT_GE(curve.points.size(), 5U);
      for (const auto& point : curve.points) expect_sensible(point.seconds);
      EXPECT_FALSE(curve.model.pieces.empty());
    }
    for (const auto& figure : level.overlap) {
      expect_sensible(figure.transfer);
      expect_sensible(figure.compute);
      expect_sensible(figure.together);
      EXPECT_GE(figure.hidden(), 0);
      EXPECT_LE(figure.hidden(), 1);
    }
  }
  EXPECT_GE(profile.reduction.points.size(), 3U);
  for (const auto& point : profile.reduction.points) expect_sensible(point.seconds);
  EXPECT_TRUE(profile.ports.empty()) << "all ranks are on one node";
  if (world.size() > 1) {
    EXPECT_EQ(profile.levels.back().structure.groups, 1);
  }
  for (const auto& figure : profile.collectives) {
    expect_sensible(figure.seconds);
    EXPECT_EQ(figure.ranks, world.size());
  }
}

TEST(Measure, TheFullProbeHasEveryPatternAndTeam) {
  const auto world = comm::Comm::world();
  const auto profile = measure(world, {.quick = false, .seconds = short_time});
  EXPECT_EQ(std::ranges::count(profile.memory, true, &MemoryFigure::touched_by_one),
            max_threads() > 1 ? 1 : 0);
  for (const auto& figure : profile.numa) expect_sensible(figure.bytes_per_second);
  if (world.size() == 1) return;
  for (const auto& pattern : transfer_patterns()) {
    const auto* curve = profile.levels.front().curve(pattern.name, 1);
    ASSERT_NE(curve, nullptr) << pattern.name;
    EXPECT_GE(curve->points.size(), 5U) << pattern.name;
    EXPECT_GT(curve->model.latency(), 0) << pattern.name;
  }
  std::set<std::string> operations;
  std::set<int> sizes;
  for (const auto& figure : profile.collectives) {
    operations.insert(figure.operation);
    sizes.insert(figure.ranks);
  }
  EXPECT_EQ(operations.size(), collective_operations().size());
  EXPECT_EQ(*sizes.begin(), 2);
  EXPECT_EQ(*sizes.rbegin(), world.size());
}

TEST(SynchronizedClock, BeginsAtTheAppointedTime) {
  const auto world = comm::Comm::world();
  for (const bool same_node : {true, false}) {  // on one machine all clocks are the same, measured or not
    const SynchronizedClock clock(world, same_node ? 0 : world.rank());
    EXPECT_NEAR(clock.now(), wall_time(), 0.01);
    const double appointed = world.broadcast(clock.now() + 0.02, 0);
    EXPECT_TRUE(clock.wait_until(appointed));
    EXPECT_GE(clock.now(), appointed);
    EXPECT_FALSE(clock.wait_until(appointed - 1));
  }
}

TEST(Measure, AllRanksHoldTheSame) {
  const auto world = comm::Comm::world();
  Profile profile = measure(world, {.quick = true, .seconds = short_time});
  profile.node = {};  // its memory is the node's own
  const std::string mine = to_json(profile);
  EXPECT_EQ(mine, world.broadcast(mine, 0));
}

TEST(Measure, OneRanksWishStopsAllAndKeepsWhatIsMeasured) {
  const auto world = comm::Comm::world();
  int asked = 0;
  const Stopwatch watch;
  const auto profile = measure(
      world, {.quick = true, .seconds = 100},
      {.progress = {}, .wants_stop = [&] { return world.rank() == world.size() - 1 && ++asked > 30; }});
  EXPECT_LT(watch.seconds(), 50);
  EXPECT_FALSE(profile.complete);
  EXPECT_FALSE(profile.memory.empty());
  EXPECT_TRUE(profile.collectives.empty());
}

TEST(Measure, IsGivenUpWhereItTakesTooLong) {
  const auto world = comm::Comm::world();
  MeasureOptions by_time = quick_measuring;
  by_time.seconds = 100;
  by_time.most_seconds = 0.2;
  MeasureOptions by_work = quick_measuring;
  by_work.seconds = by_work.most_seconds = 100;
  by_work.most_processor_seconds = 0.2;
  for (const MeasureOptions& options : {by_time, by_work}) {
    const Stopwatch watch;
    EXPECT_FALSE(measure(world, options).complete);
    EXPECT_LT(watch.seconds(), 20);
  }
}

}  // namespace
}  // namespace ayatori::machine
