#include "ayatori/tuning/product/thread_race.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <map>

#include "ayatori/base/parallel.hpp"
#include "test_matrices.hpp"
#include "world.hpp"

namespace ayatori::tuning {
namespace {

/// A machine on which an iteration takes `work` on one thread, and four regions of `region` each.
struct Machine {
  double work;
  double region;
  std::map<int, int> iterations;  ///< made, by threads

  ThreadRace race(int offered) {
    return race_threads(world(), offered,
                        {[this](int threads) {
                           ++iterations[threads];
                           return work / threads + (threads > 1 ? 4 * region : 0);
                         },
                         [this](int) { return region; }});
  }
};

TEST(ThreadRace, ShortIterationsTakeFewerThreads) {
  Machine machine{.work = 4e-6, .region = 2e-6, .iterations = {}};
  const ThreadRace race = machine.race(8);
  EXPECT_EQ(race.threads, 1);
  EXPECT_EQ(race.offered, 8);
  ASSERT_EQ(race.entries.size(), 3U);
  EXPECT_EQ(race.entries[1].threads, 4);
  EXPECT_DOUBLE_EQ(race.entries[2].seconds, 4e-6);
}

TEST(ThreadRace, LongOnesTakeAllWithoutARace) {
  Machine machine{.work = 1e-2, .region = 2e-6, .iterations = {}};
  const ThreadRace race = machine.race(8);
  EXPECT_EQ(race.threads, 8);
  EXPECT_TRUE(race.entries.empty());
  EXPECT_EQ(machine.iterations.size(), 1U) << "no other number was tried";
  EXPECT_LE(machine.iterations[8], 3);
}

TEST(ThreadRace, TheFewestOfThoseThatAreAsFast) {
  // Memory feeds four threads and no more.
  const ThreadRace race = race_threads(
      world(), 8, {[](int threads) { return 1e-5 / std::min(threads, 4); }, [](int) { return 1e-6; }});
  EXPECT_EQ(race.threads, 4);
}

TEST(ThreadRace, OneThreadRacesNobody) {
  Machine machine{.work = 4e-6, .region = 2e-6, .iterations = {}};
  EXPECT_EQ(machine.race(1).threads, 1);
  EXPECT_TRUE(machine.iterations.empty());
}

TEST(ThreadRace, TheSlowestRankCountsAndAllTakeTheSameShare) {
  const int rank = world().rank();
  const int offered = rank == 0 ? 2 : 4;
  // Only rank 0 is faster with one thread.
  const ThreadRace race = race_threads(
      world(), offered,
      {[&](int threads) { return rank == 0 ? 1e-3 * threads : 1e-6 / threads; }, [](int) { return 1e-3; }});
  EXPECT_EQ(race.threads, 1);
}

TEST(ThreadRace, OfAMatrixItIsObeyed) {
  const int before = max_threads();
  omp_set_num_threads(3);
  const auto matrix = sparse::tridiagonal_matrix(50);
  const auto race = race_threads(world(), sparse::split(world(), matrix.distribute(world())));
  EXPECT_EQ(race.offered, 3);
  EXPECT_EQ(max_threads(), race.threads);
  EXPECT_GE(race.threads, 1);
  EXPECT_LE(race.threads, 3);
  omp_set_num_threads(before);
}

}  // namespace
}  // namespace ayatori::tuning
