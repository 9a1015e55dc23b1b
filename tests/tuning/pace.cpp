#include "ayatori/tuning/run/pace.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "ayatori/tuning/product/budget.hpp"

namespace ayatori::tuning {
namespace {

TEST(Pace, ForecastsASteadyDecay) {
  Pace pace(1);
  for (int i = 1; i <= 50; ++i) pace.add(0.1 * i, std::exp(-0.2 * i));  // e^2 a second
  EXPECT_NEAR(pace.decay(), 2, 1e-9);
  EXPECT_NEAR(pace.remaining(std::exp(-20.0)), 5, 0.15);
  EXPECT_EQ(pace.remaining(1), 0);
}

TEST(Pace, TheLaterHalfCounts) {
  Pace pace(1);
  for (int i = 1; i <= 100; ++i) pace.add(i, i <= 20 ? std::exp(-i) : std::exp(-20 - 0.01 * (i - 20)));
  EXPECT_NEAR(pace.decay(), 0.01, 1e-4);
}

TEST(Pace, TheMeanPaceCountsFromTheBeginning) {
  Pace pace(1);
  for (int i = 1; i <= 100; ++i) pace.add(i, i <= 50 ? 1 : std::exp(-0.2 * (i - 50)));  // e^10 in 100 s
  EXPECT_NEAR(pace.mean_remaining(std::exp(-15.0)), 50, 1e-9);
  EXPECT_LT(pace.remaining(std::exp(-15.0)), 30);
  EXPECT_EQ(pace.mean_remaining(1), 0);
}

TEST(Pace, WithoutProgressThereIsNoEnd) {
  Pace pace(1);
  EXPECT_EQ(pace.remaining(0.5), INFINITY);
  EXPECT_EQ(pace.mean_remaining(0.5), INFINITY);
  for (int i = 1; i <= 30; ++i) pace.add(i, 1 + i);
  EXPECT_EQ(pace.decay(), 0);
  EXPECT_EQ(pace.remaining(0.5), INFINITY);
  pace.add(31, NAN);
  EXPECT_EQ(pace.norm(), 1);
}

TEST(Pace, LeapsDoNotCount) {
  Pace pace(1);
  for (int i = 1; i <= 200; ++i) pace.add(i, std::exp(-0.1 * i) * (i % 2 == 0 ? 1 : 100));
  EXPECT_NEAR(pace.decay(), 0.1, 0.01);
  const double before = pace.remaining(1e-12);
  pace.add(201, 1e-11);
  EXPECT_NEAR(pace.remaining(1e-12), before, 0.05 * before) << "a dip is no progress yet";
}

TEST(Pace, LongHistoriesAreThinned) {
  Pace pace(1);
  const int steps = 100000;
  for (int i = 1; i <= steps; ++i) pace.add(i, std::exp(-1e-3 * i));
  EXPECT_NEAR(pace.decay(), 1e-3, 1e-5);
  EXPECT_EQ(pace.seconds(), steps);
  EXPECT_EQ(pace.norm(), std::exp(-1e-3 * steps));
}

TEST(Budget, AllowsAShare) {
  Budget budget(0.1);
  EXPECT_TRUE(budget.allows(1, 10));
  EXPECT_FALSE(budget.allows(1, 9));
  budget.spend(1);
  EXPECT_FALSE(budget.allows(1, 10));
  EXPECT_TRUE(budget.allows(1, 20));
  EXPECT_EQ(budget.spent(), 1);
}

}  // namespace
}  // namespace ayatori::tuning
