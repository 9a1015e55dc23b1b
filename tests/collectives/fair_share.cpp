#include "ayatori/collectives/fair_share.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace ayatori::collectives {
namespace {

TEST(FairShare, FillsLinkByLink) {
  const std::vector<double> capacities{10, 6};
  const std::vector<int> first{0};
  const std::vector<int> second{1};
  const std::vector<int> both{0, 1};
  std::vector<Flow> flows{{first, 100}, {both, 100}, {second, 1}};
  FairShare share(capacities);
  for (const Flow& flow : flows) share.add(flow);
  share.estimate(flows[1]);
  EXPECT_EQ(flows[1].rate, 3) << "an equal share of the fuller link";
  share.assign(flows);
  EXPECT_EQ(flows[2].rate, 1);
  EXPECT_EQ(flows[1].rate, 5);
  EXPECT_EQ(flows[0].rate, 5);
  share.remove(flows[0]);
  share.assign(std::span(flows).subspan(1));
  EXPECT_EQ(flows[1].rate, 5) << "what the slow one leaves of the second link";
  share.remove(flows[2]);
  share.assign(std::span(flows).subspan(1, 1));
  EXPECT_EQ(flows[1].rate, 6);
}

/// No link carries more than it can, and every flow is at its limit or passes a full link in which none is
/// faster: no other rates are max-min fair.
TEST(FairShare, EveryFlowHasItsBottleneck) {
  std::mt19937 random(17);
  const auto pick = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> capacities(pick(1, 12));
    for (double& capacity : capacities) capacity = pick(1, trial % 2 == 0 ? 3 : 1000);
    std::vector<std::vector<int>> passed(pick(1, 40));
    std::vector<Flow> flows;
    for (auto& links : passed) {
      std::vector<int> all(capacities.size());
      std::iota(all.begin(), all.end(), 0);
      std::ranges::sample(all, std::back_inserter(links), pick(0, 4), random);
      flows.push_back({links, pick(1, 100) / 10.0});
    }
    FairShare share(capacities);
    for (const Flow& flow : flows) share.add(flow);
    while (!flows.empty()) {
      share.assign(flows);
      std::vector<double> carried(capacities.size(), 0);
      std::vector<double> fastest(capacities.size(), 0);
      for (const Flow& flow : flows) {
        for (const int l : flow.passed) {
          carried[l] += flow.rate;
          fastest[l] = std::max(fastest[l], flow.rate);
        }
      }
      for (std::size_t l = 0; l < capacities.size(); ++l) EXPECT_LE(carried[l], capacities[l] * (1 + 1e-8));
      for (const Flow& flow : flows) {
        EXPECT_LE(flow.rate, flow.limit);
        const bool is_held_up = std::ranges::any_of(flow.passed, [&](int l) {
          return carried[l] >= capacities[l] * (1 - 1e-8) && flow.rate >= fastest[l] * (1 - 1e-8);
        });
        EXPECT_TRUE(is_held_up || flow.rate >= flow.limit * (1 - 1e-8)) << "trial " << trial;
      }
      share.remove(flows.back());
      flows.pop_back();
    }
  }
}

}  // namespace
}  // namespace ayatori::collectives
