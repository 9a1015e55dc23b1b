#include "ayatori/base/parallel.hpp"

#include <gtest/gtest.h>

#include <array>
#include <new>
#include <vector>

namespace ayatori {
namespace {

const std::vector<std::int64_t> sizes{0, 1, min_elements_per_thread - 1, 2 * min_elements_per_thread, 100003};

TEST(Parallel, VisitsEveryIndexOnce) {
  for (const std::int64_t n : sizes) {
    std::vector<int> visits(n, 0);
    parallel_for(n, [&](std::int64_t i) { ++visits[i]; });
    EXPECT_EQ(visits, std::vector<int>(n, 1));
  }
}

TEST(Parallel, SharesAreContiguousAndAscendWithTheThread) {
  for (const std::int64_t n : sizes) {
    std::vector<int> owner(n, -1);
    parallel_ranges(n, [&](Range range) {
      for (std::int64_t i = range.begin; i < range.end; ++i) owner[i] = omp_get_thread_num();
    });
    for (std::int64_t i = 1; i < n; ++i) EXPECT_LE(owner[i - 1], owner[i]);
  }
}

TEST(Parallel, GivesOneThreadAtLeastItsMinimum) {
  EXPECT_EQ(threads_for(0), 1);
  EXPECT_EQ(threads_for(2 * min_elements_per_thread - 1), 1);
  EXPECT_EQ(threads_for(std::int64_t{1} << 40), max_threads());
}

TEST(Parallel, ExceptionOfAnyThreadArrives) {
  for (const std::int64_t n : sizes) {
    std::vector<int> visits(n + 1, 0);
    const auto visit_all_but_last = [&] {
      parallel_ranges_throwing(n + 1, [&](Range range) {
        for (std::int64_t i = range.begin; i < range.end; ++i) {
          if (i == n) throw std::bad_alloc();
          ++visits[i];
        }
      });
    };
    EXPECT_THROW(visit_all_but_last(), std::bad_alloc);
    EXPECT_EQ(visits.back(), 0);
    visits.pop_back();
    EXPECT_EQ(visits, std::vector<int>(n, 1));
  }
}

double count(std::int64_t n) {
  return parallel_sum(n, [](Range range) { return static_cast<double>(range.size()); });
}

TEST(Parallel, SumsOverAllShares) {
  for (const std::int64_t n : sizes) EXPECT_EQ(count(n), static_cast<double>(n));
}

TEST(Parallel, SumsSeveralQuantities) {
  for (const std::int64_t n : sizes) {
    const auto sums = parallel_sums<2>(n, [](Range range) {
      return std::array{static_cast<double>(range.size()), -2.0 * static_cast<double>(range.size())};
    });
    EXPECT_EQ(sums, (std::array{static_cast<double>(n), -2.0 * static_cast<double>(n)}));
  }
}

TEST(Parallel, SumIsReproducible) {
  const std::int64_t n = 100003;
  const auto harmonic = [n] {
    return parallel_sum(n, [](Range range) {
      double sum = 0;
      for (std::int64_t i = range.begin; i < range.end; ++i) sum += 1.0 / static_cast<double>(i + 1);
      return sum;
    });
  };
  const double first = harmonic();
  for (int repeat = 0; repeat < 20; ++repeat) EXPECT_EQ(harmonic(), first);
}

TEST(Parallel, WorksInsideAParallelRegion) {
  std::vector<double> sums(4, 0);
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < 4; ++i) sums[i] = count(5000);
  EXPECT_EQ(sums, std::vector<double>(4, 5000.0));
}

}  // namespace
}  // namespace ayatori
