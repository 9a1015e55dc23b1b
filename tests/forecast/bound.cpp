#include "ayatori/forecast/bound.hpp"

#include <gtest/gtest.h>

#include "machines.hpp"

namespace ayatori::forecast {
namespace {

/// 100 iterations on 4 ranks, each product 1 ms at the triad's rate of 1 GB/s.
MeasuredRun at_the_limits() {
  return {.ranks = 4,
          .iterations = 100,
          .products = 0.1,
          .halo = 100 * (1e-6 + 4000 / 1e9),
          .reductions = 200 * 2 * 1e-6,
          .vectors = 100 * 5e5 / 1e9,
          .product_limit = 1e-3,
          .product_bytes = 1e6,
          .vector_bytes = 5e5,
          .sums = 200,
          .halo_bytes = 16000};
}

TEST(Bound, ARunAtItsLimits) {
  const auto profile = two_rank_nodes();
  const auto phases = find_limits(at_the_limits(), &profile);
  ASSERT_EQ(phases.size(), 4U);
  for (const auto& phase : phases) {
    ASSERT_TRUE(phase.limit) << phase.name;
    EXPECT_NEAR(phase.distance(), 1, 1e-9) << phase.name;
  }
  EXPECT_NE(bound_sentence(phases).find("What bounds it: the bandwidth of memory, by the products"),
            std::string::npos);
}

TEST(Bound, WhatLiesAboveALimitIsNotTheMachine) {
  const auto profile = two_rank_nodes();
  auto run = at_the_limits();
  run.reductions *= 1000;
  const auto sentence = bound_sentence(find_limits(run, &profile));
  EXPECT_NE(sentence.find("the reductions (7"), std::string::npos) << sentence;
  EXPECT_NE(sentence.find("1000.0 times above the limit by latency: waiting for ranks that are late"),
            std::string::npos)
      << sentence;
}

TEST(Bound, SaysWhichSideOfTheNetwork) {
  const auto profile = two_rank_nodes();  // 1 us and 1 GB/s, its faster level
  auto run = at_the_limits();
  run.halo *= 1000;
  const auto long_messages = bound_sentence(find_limits(run, &profile));
  EXPECT_NE(long_messages.find("limit by the bandwidth of the network, not its latency"), std::string::npos)
      << long_messages;
  run.halo_bytes = 1600;
  const auto short_messages = bound_sentence(find_limits(run, &profile));
  EXPECT_NE(short_messages.find("limit by the latency of the network, not its bandwidth"), std::string::npos)
      << short_messages;
}

TEST(Bound, OneRankHasNoMessages) {
  auto run = at_the_limits();
  run.ranks = 1;
  EXPECT_EQ(find_limits(run, nullptr).size(), 2U);
}

TEST(Bound, CachesHaveAnotherLimit) {
  const auto profile = two_rank_nodes();
  auto run = at_the_limits();
  run.products /= 17;
  run.vectors /= 2;
  const auto phases = find_limits(run, &profile);
  EXPECT_FALSE(phases[0].limit);
  EXPECT_FALSE(phases[1].limit);
  EXPECT_EQ(bound_sentence(phases).find("bandwidth of memory"), std::string::npos) << bound_sentence(phases);
}

TEST(Bound, WithoutAProfileAndWithoutTime) {
  auto run = at_the_limits();
  run.product_limit = 0;
  run.preconditioner = 1;
  const auto phases = find_limits(run, nullptr);
  for (const auto& phase : phases) EXPECT_FALSE(phase.limit);
  EXPECT_NE(bound_sentence(phases).find("the preconditioner (8"), std::string::npos);
  EXPECT_EQ(bound_sentence(find_limits({}, nullptr)), "");
}

}  // namespace
}  // namespace ayatori::forecast
