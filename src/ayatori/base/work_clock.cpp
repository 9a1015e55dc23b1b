#include "ayatori/base/work_clock.hpp"

#include <pthread.h>

#include <algorithm>
#include <ctime>

namespace ayatori {

namespace {

constexpr double between_looks = 1e-3;

clockid_t clock_of_this_thread() {
  clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
  pthread_getcpuclockid(pthread_self(), &clock);
  return clock;
}

/// x = max(x, value); gives x.
double raise(std::atomic<double>& x, double value) {
  double now = x.load(std::memory_order_relaxed);
  while (now < value && !x.compare_exchange_weak(now, value, std::memory_order_relaxed)) {
  }
  return std::max(now, value);
}

}  // namespace

WorkClock::WorkClock() : thread_(clock_of_this_thread()), begun_(processor_seconds()) {}

double WorkClock::processor_seconds() const {
  timespec now{};
  if (clock_gettime(thread_, &now) != 0) return begun_ + watch_.seconds();
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double WorkClock::seconds() const {
  const double wall = watch_.seconds();
#ifndef AYATORI_SMPI  // simulated time is not the processor's
  if (wall - looked_.load(std::memory_order_relaxed) >= between_looks) {
    looked_.store(wall, std::memory_order_relaxed);
    raise(taken_, wall - (processor_seconds() - begun_));
  }
#endif
  return raise(last_, wall - taken_.load(std::memory_order_relaxed));
}

}  // namespace ayatori
