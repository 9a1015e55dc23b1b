#include "ayatori/network/fair_share.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace ayatori::network {
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

/// Filling one link after the other: that which has least for each of its flows gives them that.
std::vector<double> fill_one_by_one(std::vector<double> free, const std::vector<std::vector<int>>& passed) {
  std::vector<double> rates(passed.size(), 0);
  while (std::ranges::find(rates, 0) != rates.end()) {
    std::vector<int> users(free.size(), 0);
    for (std::size_t f = 0; f < passed.size(); ++f) {
      for (const int l : passed[f]) users[l] += rates[f] == 0 ? 1 : 0;
    }
    int least = -1;
    const auto share = [&](int l) { return free[l] / users[l]; };
    for (int l = 0; l < static_cast<int>(free.size()); ++l) {
      if (users[l] > 0 && (least < 0 || share(l) < share(least))) least = l;
    }
    const double rate = share(least);
    for (std::size_t f = 0; f < passed.size(); ++f) {
      if (rates[f] > 0 || std::ranges::find(passed[f], least) == passed[f].end()) continue;
      rates[f] = rate;
      for (const int l : passed[f]) free[l] -= rate;
    }
  }
  return rates;
}

/// Many links fill up at once, in whatever order that is; flows have no limits of their own.
TEST(FairShare, IsThatOfFillingOneLinkAfterTheOther) {
  std::mt19937 random(5);
  const auto pick = [&](int least, int most) { return std::uniform_int_distribution(least, most)(random); };
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> capacities(pick(1, 12));
    for (double& capacity : capacities) capacity = pick(1, trial % 2 == 0 ? 2 : 1000);
    std::vector<int> all(capacities.size());
    std::iota(all.begin(), all.end(), 0);
    std::vector<std::vector<int>> passed(pick(1, 40));
    std::vector<Flow> flows;
    FairShare share(capacities);
    for (auto& links : passed) {
      std::ranges::sample(all, std::back_inserter(links), pick(1, 4), random);
      share.add(flows.emplace_back(Flow{links, std::numeric_limits<double>::infinity()}));
    }
    share.assign(flows);
    const auto rates = fill_one_by_one(capacities, passed);
    for (std::size_t f = 0; f < flows.size(); ++f)
      EXPECT_NEAR(flows[f].rate, rates[f], 1e-8 * rates[f]) << "trial " << trial;
  }
}

}  // namespace
}  // namespace ayatori::network
