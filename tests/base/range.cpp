#include "ayatori/base/range.hpp"

#include <gtest/gtest.h>

namespace ayatori {
namespace {

TEST(Range, IsHalfOpen) {
  const Range range{2, 5};
  EXPECT_EQ(range.size(), 3);
  EXPECT_FALSE(range.contains(1));
  EXPECT_TRUE(range.contains(2));
  EXPECT_TRUE(range.contains(4));
  EXPECT_FALSE(range.contains(5));
  EXPECT_FALSE(range.empty());
  EXPECT_TRUE((Range{5, 5}).empty());
}

TEST(Range, SplitsIntoContiguousPartsOfNearlyEqualSize) {
  for (const std::int64_t n : {0, 1, 2, 7, 64, 1000001}) {
    for (const std::int64_t parts : {1, 2, 3, 7, 64}) {
      std::int64_t next = 0;
      std::int64_t last_size = n;
      for (std::int64_t part = 0; part < parts; ++part) {
        const Range range = split_evenly(n, parts, part);
        EXPECT_EQ(range.begin, next);
        EXPECT_LE(range.size(), last_size);  // the longer come first
        EXPECT_TRUE(range.size() == n / parts || range.size() == n / parts + 1);
        next = range.end;
        last_size = range.size();
      }
      EXPECT_EQ(next, n) << n << " in " << parts;
    }
  }
}

TEST(Range, SplitsMoreThanAnInt) {
  const std::int64_t n = std::int64_t{1} << 40;
  EXPECT_EQ(split_evenly(n, 3, 2).end, n);
}

}  // namespace
}  // namespace ayatori
