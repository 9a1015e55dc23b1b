#include "ayatori/machine/model/estimate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "ayatori/base/random.hpp"

namespace ayatori::machine {
namespace {

TEST(Estimate, OfFewIsTheRange) {
  const std::vector<double> sample{3, 1, 2};
  const Estimate e = estimate(sample);
  EXPECT_EQ(e.median, 2);
  EXPECT_EQ(e.low, 1);
  EXPECT_EQ(e.high, 3);
  EXPECT_EQ(e.samples, 3);
  EXPECT_EQ(estimate({}).samples, 0);
}

TEST(Estimate, TheIntervalHoldsTheMedianAboutNineteenTimesOfTwenty) {
  constexpr int trials = 2000;
  constexpr int size = 41;
  int held = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<double> sample;
    for (int i = 0; i < size; ++i)
      sample.push_back(std::exp(4 * random_uniform(7, trial * size + i)));  // skewed; its median is e^2
    const Estimate e = estimate(sample);
    held += e.low <= std::exp(2.0) && std::exp(2.0) <= e.high ? 1 : 0;
  }
  EXPECT_GT(held, 0.94 * trials);
  EXPECT_LT(held, 0.995 * trials) << "the interval is wider than it need be";
}

TEST(Estimate, RatesTurnTheIntervalAround) {
  const Estimate rate = rate_of({2, 1, 4, 9}, 8);
  EXPECT_EQ(rate.median, 4);
  EXPECT_EQ(rate.low, 2);
  EXPECT_EQ(rate.high, 8);
  EXPECT_EQ(rate.samples, 9);
  EXPECT_EQ(rate_of({0, 0, 0, 3}, 8).median, 0);
}

}  // namespace
}  // namespace ayatori::machine
