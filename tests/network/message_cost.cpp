#include "ayatori/network/message_cost.hpp"

#include <gtest/gtest.h>

#include "machine/sample_profile.hpp"

namespace ayatori::network {
namespace {

TEST(MessageCost, NothingThatWasTimedIsFasterThanTheBound) {
  const auto profile = machine::sample_profile();
  const auto bound = message_bound(profile);
  EXPECT_EQ(bound.latency, 0.5e-6);
  EXPECT_NEAR(bound.bandwidth, 10.5e9, 1e9);
  EXPECT_GE(bound.seconds(2, 1e9), 0.09);
  const auto fastest = fastest_messages(profile);
  EXPECT_EQ(fastest.latency, 0.5e-6);
  EXPECT_LE(fastest.bandwidth, bound.bandwidth);
  EXPECT_EQ(message_bound({}).seconds(2, 1e9), 0) << "nothing is known";
}

TEST(MessageCost, IsALine) {
  const MessageCost cost{3, 10};
  EXPECT_EQ(cost.seconds(2, 50), 2 * 3 + 5);
  const auto curve = one_way(4, 3, 0.1);
  EXPECT_EQ(curve.pairs, 4);
  EXPECT_EQ(curve.model.seconds(50), 3 + 5);
}

}  // namespace
}  // namespace ayatori::network
