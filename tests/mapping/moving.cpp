#include "ayatori/mapping/moving.hpp"

#include <gtest/gtest.h>

namespace ayatori::mapping {
namespace {

std::unique_ptr<network::Network> one_switch(int nodes) {
  return network::make_network("flat", nodes);
}

/// Parts of the first two ranks change places, which are on nodes of their own.
PartOrder exchange_of_two(int ranks, double before, double after) {
  PartOrder order;
  for (int rank = 0; rank < ranks; ++rank) order.rank_of_part.push_back(rank);
  std::swap(order.rank_of_part[0], order.rank_of_part[1]);
  order.is_kept = false;
  order.nodes = ranks;
  order.before.seconds = order.before.link_seconds = before;
  order.after.seconds = order.after.link_seconds = after;
  return order;
}

class JudgeMoving : public testing::Test {
 protected:
  void SetUp() override {
    if (world_.size() < 2) GTEST_SKIP() << "nothing can move";
    for (int rank = 0; rank < world_.size(); ++rank) node_of_rank_.push_back(rank);
    model_.port_bandwidth = 1e6;
  }

  /// Parts of a million bytes, which take a second.
  Moving judge(const PartOrder& order, double expected) const {
    return judge_moving(world_, order, 1'000'000, expected, node_of_rank_, one_switch, model_);
  }

  comm::Comm world_ = comm::Comm::world();
  std::vector<int> node_of_rank_;
  network::CostModel model_;
};

TEST_F(JudgeMoving, PaysAfterAsManyExchangesAsItTakes) {
  const auto order = exchange_of_two(world_.size(), 0.03, 0.02);
  const auto often = judge(order, 200);
  EXPECT_TRUE(often.is_worth_it) << often.why;
  EXPECT_NEAR(often.seconds, 1, 1e-3);
  EXPECT_NEAR(often.pays_after, 100, 0.1);
  EXPECT_FALSE(judge(order, 50).is_worth_it) << "too few exchanges";
}

TEST_F(JudgeMoving, WhatMeasuredCostsAreWrongByIsNoSaving) {
  model_.error = 0.1;
  EXPECT_FALSE(judge(exchange_of_two(world_.size(), 0.0300, 0.0275), 1e6).is_worth_it) << "8 % less";
  EXPECT_TRUE(judge(exchange_of_two(world_.size(), 0.0300, 0.0265), 1e6).is_worth_it) << "12 % less";
}

TEST_F(JudgeMoving, OfGuessedCostsNothingMayGrow) {
  auto order = exchange_of_two(world_.size(), 0.03, 0.02);
  order.after.rank_seconds = 0.001;
  EXPECT_FALSE(judge(order, 1e6).is_worth_it);
  model_.error = 0.1;
  EXPECT_TRUE(judge(order, 1e6).is_worth_it) << "known better";
}

TEST_F(JudgeMoving, NothingIsDecidedWhereNothingIsBetter) {
  auto order = exchange_of_two(world_.size(), 0.03, 0.03);
  order.is_kept = true;
  const auto moving = judge(order, 1e6);
  EXPECT_FALSE(moving.is_worth_it);
  EXPECT_TRUE(moving.why.empty());
}

TEST(ExpectedExchanges, TheRootOfTheUnknownsOrWhatIsAllowed) {
  EXPECT_EQ(expected_exchanges(10'000, 0), 100);
  EXPECT_EQ(expected_exchanges(10'000, 40), 40);
  EXPECT_EQ(expected_exchanges(10'000, 4000), 100);
}

}  // namespace
}  // namespace ayatori::mapping
