#include "ayatori/base/number_in.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace ayatori {
namespace {

TEST(NumberIn, IsAllOfTheText) {
  EXPECT_EQ(number_in<int>("-12"), -12);
  EXPECT_EQ(number_in<double>("2.5e3"), 2500.0);
  EXPECT_EQ(number_in<std::uint64_t>("18446744073709551615"), UINT64_MAX);
  for (const char* text : {"", " 1", "1 ", "1x", "+1", "x", "1.5"})
    EXPECT_FALSE(number_in<int>(text)) << '"' << text << '"';
}

TEST(NumberIn, IsNoneThatTheTypeDoesNotHold) {
  EXPECT_FALSE(number_in<int>("3000000000"));
  EXPECT_FALSE(number_in<std::uint64_t>("-1"));
  EXPECT_FALSE(number_in<double>("1e999"));
}

}  // namespace
}  // namespace ayatori
