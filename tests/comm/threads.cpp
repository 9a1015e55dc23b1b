#include "ayatori/comm/threads.hpp"

#include <gtest/gtest.h>
#include <omp.h>
#include <sched.h>

#include "ayatori/comm/comm.hpp"
#include "ayatori/comm/cpu_quota.hpp"

namespace ayatori::comm {
namespace {

/// Lets this process run on its first few processing units alone, for as long as it lives.
class Affinity {
 public:
  explicit Affinity(int units) {
    sched_getaffinity(0, sizeof(before_), &before_);
    cpu_set_t mask;
    CPU_ZERO(&mask);
    for (int unit = 0; unit < CPU_SETSIZE && CPU_COUNT(&mask) < units; ++unit) {
      if (CPU_ISSET(unit, &before_)) CPU_SET(unit, &mask);
    }
    sched_setaffinity(0, sizeof(mask), &mask);
  }
  ~Affinity() { sched_setaffinity(0, sizeof(before_), &before_); }
  Affinity(const Affinity&) = delete;
  Affinity& operator=(const Affinity&) = delete;

  int units_before() const { return CPU_COUNT(&before_); }

 private:
  cpu_set_t before_{};
};

// Simulated ranks share a process, and each has a node of its own.
#ifndef AYATORI_SMPI
TEST(Threads, WhatARankMayNotRunOnIsNotThere) {
  const auto world = Comm::world();
  int before = 0;
  {
    const Affinity affinity(1);
    before = affinity.units_before();
    EXPECT_EQ(usable_processing_units(world), 1);
    EXPECT_EQ(threads_per_rank(world), 1);
    const auto load = busiest_node(world);
    EXPECT_EQ(load.processing_units, 1);
    EXPECT_EQ(load.ranks, world.size());
    EXPECT_EQ(load.threads, world.allreduce(std::int64_t{omp_get_max_threads()}, ReduceOp::sum));
    EXPECT_EQ(load.is_oversubscribed(), load.threads > 1);
  }
  const double quota = find_cpu_quota().processors;
  if (quota == 0) {
    EXPECT_EQ(usable_processing_units(world), before);
  }
}

TEST(Threads, TheRanksOfANodeHaveTogetherWhatAnyOfThemHas) {
  const auto world = Comm::world();
  const int first = Affinity(1).units_before();
  if (first < 2 || find_cpu_quota().processors != 0) GTEST_SKIP() << "one processing unit";
  const Affinity affinity(world.rank() == world.size() - 1 ? 2 : 1);
  EXPECT_EQ(usable_processing_units(world), 2);
}

#endif

TEST(Threads, ALoadInWords) {
  EXPECT_EQ((NodeLoad{2, 4, 1}).words(), "2 ranks with 4 threads on 1 processing unit");
  EXPECT_EQ((NodeLoad{1, 1, 2}).words(), "1 rank with 1 thread on 2 processing units");
  EXPECT_TRUE((NodeLoad{2, 4, 3}).is_oversubscribed());
  EXPECT_FALSE((NodeLoad{2, 4, 4}).is_oversubscribed());
}

}  // namespace
}  // namespace ayatori::comm
