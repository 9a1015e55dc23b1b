#include "ayatori/base/statistics.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "ayatori/base/error.hpp"

namespace ayatori {
namespace {

Spread of(const std::vector<double>& sample) {
  return spread(sample);
}

TEST(Spread, TakesTheMiddleOfAnOddCount) {
  const Spread s = of({9, 1, 5});
  EXPECT_EQ(s.min, 1);
  EXPECT_EQ(s.median, 5);
  EXPECT_EQ(s.max, 9);
}

TEST(Spread, AveragesTheMiddleTwoOfAnEvenCount) {
  EXPECT_EQ(of({4, 1, 3, 100}).median, 3.5);
}

TEST(Spread, OfOneIsThatOne) {
  const Spread s = of({2});
  EXPECT_EQ(s.min, 2);
  EXPECT_EQ(s.median, 2);
  EXPECT_EQ(s.max, 2);
}

#ifdef AYATORI_ASSERTIONS
TEST(Spread, OfNothingIsADefect) {
  EXPECT_THROW(of({}), InternalError);
}
#endif

}  // namespace
}  // namespace ayatori
