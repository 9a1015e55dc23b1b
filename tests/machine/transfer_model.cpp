#include "ayatori/machine/model/transfer_model.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "ayatori/base/random.hpp"

namespace ayatori::machine {
namespace {

/// 8 B to 16 MiB by factors of two, each time disturbed by up to `noise` of itself.
std::vector<TransferTime> times(const std::function<double(double)>& seconds, double noise = 0) {
  std::vector<TransferTime> list;
  for (double bytes = 8; bytes <= 1 << 24; bytes *= 2)
    list.push_back({bytes, seconds(bytes) * (1 + noise * (2 * random_uniform(3, list.size()) - 1))});
  return list;
}

TEST(TransferModel, RecoversALine) {
  const auto model = fit_transfers(times([](double x) { return 2e-6 + x / 5e9; }));
  ASSERT_EQ(model.pieces.size(), 1U);
  EXPECT_NEAR(model.latency(), 2e-6, 1e-12);
  EXPECT_NEAR(model.bandwidth(), 5e9, 1e3);
  EXPECT_LT(model.error, 1e-6);
}

TEST(TransferModel, RecoversALineFromNoise) {
  const auto model = fit_transfers(times([](double x) { return 2e-6 + x / 5e9; }, 0.05));
  ASSERT_EQ(model.pieces.size(), 1U);
  EXPECT_NEAR(model.latency(), 2e-6, 0.05 * 2e-6);
  EXPECT_NEAR(model.bandwidth(), 5e9, 0.05 * 5e9);
  EXPECT_GT(model.error, 0.01);
  EXPECT_LT(model.error, 0.05);
}

TEST(TransferModel, SeesTheProtocolSwitch) {
  const auto eager_and_rendezvous = [](double x) { return x < 65536 ? 2e-6 + x / 4e9 : 20e-6 + x / 10e9; };
  const auto list = times(eager_and_rendezvous, 0.02);
  const auto model = fit_transfers(list);
  ASSERT_EQ(model.pieces.size(), 2U);
  EXPECT_EQ(model.pieces[1].from, 65536);
  EXPECT_NEAR(model.pieces[0].alpha, 2e-6, 0.1e-6);
  EXPECT_NEAR(model.bandwidth(), 10e9, 0.5e9);
  for (const auto& time : list) EXPECT_NEAR(model.seconds(time.bytes), time.seconds, 0.1 * time.seconds);
}

TEST(TransferModel, ABadPointDoesNotBendIt) {
  auto list = times([](double x) { return 2e-6 + x / 5e9; });
  list[4].seconds *= 30;
  list[15].seconds *= 5;
  const auto model = fit_transfers(list);
  EXPECT_NEAR(model.latency(), 2e-6, 0.1e-6);
  EXPECT_NEAR(model.bandwidth(), 5e9, 0.25e9);
}

TEST(TransferModel, IsNeverNegative) {
  // Times that shrink with the size, and times that grow faster than any line.
  for (const auto& odd : {times([](double x) { return 1 / x; }), times([](double x) { return x * x; })}) {
    const auto model = fit_transfers(odd);
    EXPECT_GE(model.latency(), 0);
    for (const auto& piece : model.pieces) {
      EXPECT_GE(piece.beta, 0);
      EXPECT_GE(piece.alpha + piece.beta * piece.from, 0);
    }
    EXPECT_GE(model.seconds(0), 0);
  }
}

/// A rate limiter lets a burst pass at once: long messages take less than their bytes at the limit's rate.
TEST(TransferModel, WhatABurstHasSavedDoesNotRaiseTheRate) {
  constexpr double burst = 32 << 10;
  constexpr double rate = 24e6;
  const auto model =
      fit_transfers(times([](double x) { return 10e-6 + x / 1e9 + std::max(0.0, x - burst) / rate; }));
  EXPECT_NEAR(model.bandwidth(), rate, 0.05 * rate);
  EXPECT_NEAR(model.latency(), 10e-6, 1e-6);
}

TEST(TransferModel, OfFewPoints) {
  EXPECT_TRUE(fit_transfers({}).pieces.empty());
  EXPECT_EQ(fit_transfers({}).seconds(8), 0);
  const std::vector<TransferTime> one{{8, 1e-6}};
  EXPECT_NEAR(fit_transfers(one).seconds(8), 1e-6, 1e-12);
  const std::vector<TransferTime> two{{8, 1e-6}, {1 << 20, 1e-3}};
  EXPECT_NEAR(fit_transfers(two).seconds(1 << 20), 1e-3, 1e-9);
}

}  // namespace
}  // namespace ayatori::machine
