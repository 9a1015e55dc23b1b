#include "ayatori/base/random.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <set>

namespace ayatori {
namespace {

TEST(Random, IsUniformInTheUnitInterval) {
  const int n = 100000;
  double sum = 0;
  double square = 0;
  for (int i = 0; i < n; ++i) {
    const double u = random_uniform(1, i);
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
    square += u * u;
  }
  EXPECT_NEAR(sum / n, 1.0 / 2, 5 / std::sqrt(12.0 * n));  // five standard deviations of the mean
  EXPECT_NEAR(square / n, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / n));
}

TEST(Random, DependsOnSeedAndIndexOnly) {
  EXPECT_EQ(random_bits(3, 17), random_bits(3, 17));
  std::set<std::uint64_t> seen;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    for (std::uint64_t index = 0; index < 1000; ++index) seen.insert(random_bits(seed, index));
  }
  EXPECT_EQ(seen.size(), 30000U);
}

TEST(Random, NeighbouringIndicesShareHalfTheirBits) {
  int differing = 0;
  for (std::uint64_t i = 0; i < 1000; ++i)
    differing += std::popcount(random_bits(0, i) ^ random_bits(0, i + 1));
  EXPECT_NEAR(differing / 1000.0, 32.0, 1.0);
}

}  // namespace
}  // namespace ayatori
