#include <gtest/gtest.h>

#include <algorithm>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "bench/papers/grid.hpp"

namespace ayatori::bench {
namespace {

constexpr double megabyte = 1e6;

GridPoint point(int ranks, int threads, double seconds, double communication, double triad) {
  return {ranks,
          threads,
          1,
          {seconds,
           1 / seconds,
           40 * megabyte,
           {{"product", seconds - communication, false}, {"exchange", communication, true}},
           ""},
          triad};
}

const Finding& named(const std::vector<Finding>& findings, const std::string& name) {
  const auto found = std::ranges::find(findings, name, &Finding::name);
  if (found == findings.end()) throw InternalError("no finding " + name);
  return *found;
}

TEST(Grid, RunsEveryCombinationOnItsRanks) {
  const auto world = comm::Comm::world();
  GridOptions options;
  options.threads = {1, 2};
  options.stream_elements = 1000;
  const auto points = run_grid(world, options, [](const comm::Comm& comm) {
    const int sum = comm.allreduce(1, comm::ReduceOp::sum);
    EXPECT_EQ(sum, comm.size());
    return GridSample{1.0 / sum, static_cast<double>(max_threads()), 0, {{"work", 1, false}}, ""};
  });
  if (world.rank() != 0) return;
  std::vector<std::pair<int, int>> expected;
  for (const int ranks : {1, 2, 3, 4}) {
    if (ranks > world.size() || (ranks == 3 && world.size() != 3)) continue;
    for (const int threads : {1, 2}) expected.emplace_back(ranks, threads);
  }
  ASSERT_EQ(points.size(), expected.size());
  for (std::size_t k = 0; k < points.size(); ++k) {
    EXPECT_EQ(std::pair(points[k].ranks, points[k].threads), expected[k]);
    EXPECT_EQ(points[k].sample.rate, points[k].threads);
    EXPECT_EQ(points[k].sample.seconds, 1.0 / points[k].ranks);
    EXPECT_EQ(points[k].nodes, 1);
    EXPECT_GT(points[k].triad, 0);
  }
}

TEST(Grid, AllLearnOfAFailure) {
  const auto world = comm::Comm::world();
  const GridOptions options{{1}, {1}, 1000};
  const auto fail = [](const comm::Comm&) -> GridSample {
    EnvironmentError error("no memory");
    error.set_agreed();
    throw error;
  };
  EXPECT_THROW(run_grid(world, options, fail), EnvironmentError);
}

TEST(Grid, RefusesWhatTheJobDoesNotHave) {
  const auto world = comm::Comm::world();
  const auto kernel = [](const comm::Comm&) { return GridSample{}; };
  EXPECT_THROW(run_grid(world, {{world.size() + 1}, {1}, 1000}, kernel), InputError);
  EXPECT_THROW(run_grid(world, {{0}, {1}, 1000}, kernel), InputError);
  EXPECT_THROW(run_grid(world, {{1}, {0}, 1000}, kernel), InputError);
}

TEST(Grid, ScalingIsRelativeToTheFewestCores) {
  const std::vector points{point(2, 1, 4, 0, 1), point(2, 4, 2, 0, 1)};
  EXPECT_EQ(scaling(points, points[0]).efficiency, 1);
  EXPECT_EQ(scaling(points, points[1]).speed_up, 2);
  EXPECT_EQ(scaling(points, points[1]).efficiency, 0.5);
}

TEST(Findings, AMemoryBoundKernelGainsWhatTheMemoryGains) {
  const std::vector bound{point(1, 1, 1, 0, 1e10), point(1, 4, 0.6, 0, 1.7e10)};
  EXPECT_TRUE(named(check_findings(bound, 10 * megabyte), "threads").agrees);
  const std::vector faster{point(1, 1, 1, 0, 1e10), point(1, 4, 0.25, 0, 1.7e10)};
  EXPECT_FALSE(named(check_findings(faster, 10 * megabyte), "threads").agrees);
  EXPECT_TRUE(named(check_findings(faster, 50 * megabyte), "threads").agrees);  // fits
}

TEST(Findings, SpeedUpsAboveTheIdealComeFromTheCache) {
  std::vector points{point(1, 1, 1, 0, 1e10), point(4, 1, 0.1, 0, 1.7e10)};
  EXPECT_FALSE(named(check_findings(points, 20 * megabyte), "cache").agrees);
  points[1].nodes = 4;  // 10 MB on each
  EXPECT_TRUE(named(check_findings(points, 20 * megabyte), "cache").agrees);
}

TEST(Findings, HybridIsHeldAgainstAllMpi) {
  std::vector points{point(1, 1, 4, 0, 1), point(4, 1, 1.5, 0.5, 1), point(2, 2, 1.2, 0.1, 1),
                     point(1, 4, 1.3, 0, 1)};
  const auto hybrid = named(check_findings(points, 0), "hybrid");
  EXPECT_TRUE(hybrid.agrees);
  EXPECT_NE(hybrid.sentence.find("2 x 2"), std::string::npos) << hybrid.sentence;
  EXPECT_NE(hybrid.sentence.find("1.25 times"), std::string::npos) << hybrid.sentence;
  points[1].sample.seconds = 1;
  EXPECT_FALSE(named(check_findings(points, 0), "hybrid").agrees);
}

TEST(Findings, CommunicationTakesAGrowingShare) {
  const std::vector points{point(2, 1, 1, 0.046, 1), point(2, 4, 0.3, 0.0471, 1)};
  const auto share = named(check_findings(points, 0), "share");
  EXPECT_TRUE(share.agrees);
  EXPECT_NE(share.sentence.find("4.6 %"), std::string::npos) << share.sentence;
  EXPECT_NE(share.sentence.find("15.7 %"), std::string::npos) << share.sentence;
}

/// Nodes of `alpha` seconds and 100 MB/s between them; ranks of a node share the port.
machine::Profile cluster(double alpha) {
  machine::Profile profile;
  profile.ranks = 2;
  profile.node_of_rank = {0, 1};
  machine::Level between{"between nodes", {{0, 0}, 1, alpha, alpha, alpha}, 1, {}, {}};
  between.curves = {{"one-way", 1, {}, {{{0, alpha, 1e-8}}, 0}},
                    {"burst", 1, {}, {{{0, alpha, 0}}, 0}}};  // messages of a rank start one after the other
  profile.levels = {between};
  return profile;
}

TEST(Findings, HybridGainsWhereAllToAllTrafficMeetsManyRanks) {
  constexpr int cores = 4;
  const auto slow = forecast_all_to_all(cluster(1e-5), cores, megabyte);
  ASSERT_EQ(slow.size(), 6U);
  EXPECT_EQ(slow.back().nodes, 64);
  for (std::size_t k = 1; k < slow.size(); ++k) EXPECT_GE(slow[k].gain(), 0.99 * slow[k - 1].gain());
  const auto found = all_to_all_finding(slow, cores, megabyte);
  EXPECT_TRUE(found.agrees) << found.sentence;
  EXPECT_EQ(found.name, "all-to-all");
  EXPECT_NE(found.sentence.find("on 64 nodes"), std::string::npos) << found.sentence;
  // Where only bytes count, the same ones pass through the same ports.
  const auto long_messages = forecast_all_to_all(cluster(1e-9), cores, 1e5 * megabyte);
  EXPECT_NEAR(long_messages.back().gain(), 1, 0.05);
  EXPECT_FALSE(all_to_all_finding(long_messages, cores, 1e5 * megabyte).agrees);
}

TEST(Findings, AreNotMadeUp) {
  EXPECT_TRUE(check_findings({}, 0).empty());
  const std::vector points{point(1, 1, 1, 0, 1)};
  EXPECT_TRUE(check_findings(points, 0).empty());
}

TEST(GridDrawing, ShowsEveryPoint) {
  const std::vector points{point(1, 1, 1, 0, 1), point(2, 1, 0.6, 0.1, 1), point(1, 2, 0.5, 0, 1)};
  const std::string svg = draw_grid(points, "title");
  std::size_t circles = 0;
  for (auto at = svg.find("<circle"); at != std::string::npos; at = svg.find("<circle", at + 1)) ++circles;
  EXPECT_EQ(circles, points.size());
  EXPECT_NE(svg.find("2 threads per rank"), std::string::npos);
  EXPECT_EQ(svg.find("nan"), std::string::npos);
}

}  // namespace
}  // namespace ayatori::bench
