#include "ayatori/base/timing.hpp"

#include <gtest/gtest.h>

namespace ayatori {
namespace {

/// Waits until the clock has moved.
void pass_time() {
  const double start = wall_time();
  while (wall_time() == start) {
  }
}

TEST(Timing, ClockDoesNotGoBack) {
  double last = wall_time();
  for (int i = 0; i < 1000; ++i) {
    const double now = wall_time();
    EXPECT_LE(last, now);
    last = now;
  }
}

TEST(Timing, ScopedTimerAddsItsLife) {
  double sum = 1;
  {
    const ScopedTimer timer(sum);
    pass_time();
    EXPECT_EQ(sum, 1);
  }
  EXPECT_GT(sum, 1);
}

TEST(Timing, StopwatchRestarts) {
  Stopwatch watch;
  pass_time();
  EXPECT_GT(watch.seconds(), 0);
  const Stopwatch older = watch;
  pass_time();
  watch.restart();
  EXPECT_LT(watch.seconds(), older.seconds());
}

}  // namespace
}  // namespace ayatori
