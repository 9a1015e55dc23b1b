#include "ayatori/base/work_clock.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace ayatori {
namespace {

TEST(WorkClock, LeavesOutWhatItsThreadDidNotWork) {
  const WorkClock clock;
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // as good as another program on the core
  EXPECT_LT(clock.seconds(), 0.1);
}

TEST(WorkClock, CountsWork) {
  const WorkClock clock;
  const Stopwatch watch;
  while (clock.seconds() < 0.05) {
  }
  EXPECT_GE(watch.seconds(), 0.05 - 1e-6);
}

TEST(WorkClock, NeverGoesBack) {
  const WorkClock clock;
  double before = 0;
  for (int k = 0; k < 200000; ++k) {
    const double now = clock.seconds();
    ASSERT_GE(now, before);
    before = now;
  }
}

TEST(WorkClock, IsReadByOtherThreadsToo) {
  const WorkClock clock;
  double other = 0;
  std::thread([&] { other = clock.seconds(); }).join();
  EXPECT_GE(other, 0);
  EXPECT_GE(clock.seconds(), 0);
}

}  // namespace
}  // namespace ayatori
