#include "ayatori/machine/model/diagnosis.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "sample_profile.hpp"

namespace ayatori::machine {
namespace {

std::vector<std::string> kinds(const Profile& profile) {
  std::vector<std::string> list;
  for (const Finding& finding : diagnose(profile)) list.push_back(finding.kind);
  return list;
}

using Kinds = std::vector<std::string>;

TEST(Diagnosis, AHealthyMachineHasNone) {
  EXPECT_EQ(kinds(sample_profile()), Kinds{});
  Profile empty;
  empty.ranks = 1;
  empty.threads = 1;
  empty.node.processing_units = 1;
  empty.node_of_rank = {0};
  EXPECT_EQ(kinds(empty), Kinds{});
}

TEST(Diagnosis, MoreThreadsThanProcessingUnits) {
  auto profile = sample_profile();
  profile.threads = 5;
  EXPECT_EQ(kinds(profile), Kinds{"oversubscribed"});
}

TEST(Diagnosis, MoreThreadsThanTheJobMayUse) {
  auto profile = sample_profile();
  ASSERT_GT(profile.node.processing_units, 1);
  profile.usable_units = 1;
  EXPECT_EQ(kinds(profile), Kinds{"oversubscribed"});
  EXPECT_NE(diagnose(profile)[0].text.find("share 1 processing unit:"), std::string::npos);
  profile.usable_units = profile.node.processing_units;
  EXPECT_EQ(kinds(profile), Kinds{});
}

TEST(Diagnosis, ThreadsThatGainNothing) {
  auto profile = sample_profile();
  profile.memory[1].bytes_per_second = exactly(22e9);
  EXPECT_EQ(kinds(profile), Kinds{"memory"});
  EXPECT_NE(diagnose(profile)[0].text.find("22.0 GB/s"), std::string::npos);
}

TEST(Diagnosis, ASlowBarrier) {
  auto profile = sample_profile();
  profile.barriers[0].seconds = exactly(5e-6);
  EXPECT_EQ(kinds(profile), Kinds{"threads"});
}

TEST(Diagnosis, ACliff) {
  auto profile = sample_profile();
  auto& points = profile.levels[0].curves[0].points;
  points.push_back({1 << 21, exactly(400e-6)});  // half the bandwidth
  EXPECT_EQ(kinds(profile), Kinds{"cliff"});
  points.back().seconds.low = 200e-6;  // it may be noise
  EXPECT_EQ(kinds(profile), Kinds{});
}

TEST(Diagnosis, SlowInsideANode) {
  auto profile = sample_profile();
  std::swap(profile.levels[0].name, profile.levels[1].name);
  EXPECT_EQ(kinds(profile), (Kinds{"levels", "levels"})) << "in latency and in bandwidth";
}

TEST(Diagnosis, SlowLongMessagesInsideANode) {
  auto profile = sample_profile();
  profile.levels[0].curves[0].model.pieces[0].beta = 2e-9;  // half of what there is between nodes
  EXPECT_EQ(kinds(profile), Kinds{"levels"});
}

TEST(Diagnosis, MemoryThatLiesElsewhere) {
  auto profile = sample_profile();
  profile.memory[2].bytes_per_second = exactly(30e9);
  EXPECT_EQ(kinds(profile), Kinds{"placement"});
}

TEST(Diagnosis, ThreadsThatMayMove) {
  auto profile = sample_profile();
  profile.threads_bound = false;
  EXPECT_EQ(kinds(profile), Kinds{"threads"});
  profile.threads = 1;
  EXPECT_EQ(kinds(profile), Kinds{});
}

TEST(Diagnosis, AnIdlePort) {
  auto profile = sample_profile();
  profile.ports[1].moved_bytes = 1 << 20;
  EXPECT_EQ(kinds(profile), Kinds{"port"});
  EXPECT_NE(diagnose(profile)[0].text.find("eth1"), std::string::npos);
  profile.ports[1].bytes_per_second = 1.25e8;  // one for administration
  EXPECT_EQ(kinds(profile), Kinds{});
}

TEST(Diagnosis, NoOverlap) {
  auto profile = sample_profile();
  profile.levels[1].overlap[0].together = exactly(2e-3);
  EXPECT_EQ(kinds(profile), Kinds{"overlap"});
}

TEST(Diagnosis, GuidelineViolations) {
  auto profile = sample_profile();
  for (auto& figure : profile.collectives) {
    if (figure.operation == "broadcast" && figure.bytes == 8) figure.seconds = exactly(50e-6);
    if (figure.operation == "allgather") figure.seconds = exactly(35e-6);
  }
  // an allgather could be an alltoall; gather and broadcast of 4 x 8 bytes are slower
  EXPECT_EQ(kinds(profile), (Kinds{"guideline", "guideline"}));
  for (auto& figure : profile.collectives) {
    if (figure.operation == "allgather") figure.seconds = exactly(50e-6);
  }
  EXPECT_EQ(kinds(profile), (Kinds{"guideline", "guideline", "guideline"}));
  for (auto& figure : profile.collectives) figure.seconds.low = 1e-6;  // not certain
  for (auto& figure : profile.collectives) figure.seconds.high = 1e-3;
  const auto found = kinds(profile);
  EXPECT_EQ(std::ranges::count(found, "guideline"), 0);
  EXPECT_EQ(std::ranges::count(found, "noise"), 1);
}

}  // namespace
}  // namespace ayatori::machine
