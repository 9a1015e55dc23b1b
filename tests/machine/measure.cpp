#include "ayatori/machine/measure.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "ayatori/base/parallel.hpp"
#include "ayatori/base/timing.hpp"

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

TEST(Measure, FillsTheProfile) {
  const auto world = comm::Comm::world();
  std::vector<std::string> probes;
  const auto profile = measure(
      world, {.quick = true, .seconds = short_time},
      {.progress = [&](const std::string& probe, double) { probes.push_back(probe); }, .wants_stop = {}});
  EXPECT_EQ(probes, (std::vector<std::string>{"memory", "barriers", "transfers", "collectives"}));
  EXPECT_TRUE(profile.complete);
  EXPECT_GT(profile.measuring_seconds, 0);
  EXPECT_EQ(profile.ranks, world.size());
  EXPECT_EQ(profile.threads, max_threads());
  EXPECT_GE(profile.node.cores, 1);
  EXPECT_GE(profile.node.processing_units, profile.node.cores);
  EXPECT_GT(profile.node.memory_bytes, 0);
  EXPECT_EQ(profile.node_of_rank, std::vector<int>(world.size(), 0));

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
  }
  if (world.size() > 1) {
    EXPECT_EQ(profile.levels.back().structure.groups, 1);
  }
  for (const auto& figure : profile.collectives) expect_sensible(figure.seconds);
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

}  // namespace
}  // namespace ayatori::machine
