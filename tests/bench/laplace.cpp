#include "bench/papers/laplace.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"

namespace ayatori::bench {
namespace {

std::vector<double> random_grid(std::int64_t n) {
  std::vector<double> values(n * n);
  for (std::int64_t e = 0; e < n * n; ++e) values[e] = random_uniform(1, e) - 0.5;
  return values;
}

/// Copies this rank's points in, or says how many differ.
std::int64_t visit(GridBlock& block, const std::vector<double>& values, bool set) {
  std::int64_t different = 0;
  for (std::int64_t i = block.own().rows.begin; i < block.own().rows.end; ++i) {
    for (std::int64_t j = block.own().columns.begin; j < block.own().columns.end; ++j) {
      double& here = *block.at(i, j);
      if (set) here = values[i * block.n() + j];
      different += here != values[i * block.n() + j] ? 1 : 0;
    }
  }
  return different;
}

void expect_plain_sweeps(const LaplaceForm& form, std::int64_t n, int depth) {
  const auto comm = comm::Comm::world();
  const auto grid = most_square_grid(comm.size(), n);
  if (!grid || depth > n / grid->rows) return;
  SCOPED_TRACE(testing::Message() << form.name << ", n " << n << ", depth " << depth);
  Laplace laplace(comm, *grid, n, depth, form);
  auto expected = random_grid(n);
  visit(laplace.values(), expected, true);
  for (const int sweeps : {1, depth, 2 * depth + 1, 7}) {
    double compute = 0;
    double exchange = 0;
    laplace.run(sweeps, compute, exchange);
    for (int s = 0; s < sweeps; ++s) expected = plain_sweep(expected, n);
    EXPECT_EQ(visit(laplace.values(), expected, false), 0) << sweeps;
  }
}

TEST(Laplace, EveryFormIsBitwiseThePlainSweep) {
  for (const auto& form : laplace_forms()) {
    for (const std::int64_t n : {1, 2, 7, 33}) {
      for (const int depth : {1, 3, 8}) expect_plain_sweeps(form, n, depth);
    }
  }
}

TEST(Laplace, SeveralTilesOnOneAndTwoThreads) {
  const int most = max_threads();
  for (const int threads : {1, 2}) {
    omp_set_num_threads(threads);
    for (const auto& form : laplace_forms()) expect_plain_sweeps(form, 150, 5);
  }
  omp_set_num_threads(most);
}

/// Tiles beside each other: wide enough for several strips whatever the cache.
TEST(Laplace, TilesOfAWideGrid) {
  const std::int64_t n = 500;
  const int sweeps = 128;
  GridBlock from({{0, n}, {0, n}}, n, sweeps);
  GridBlock to = from;
  auto expected = random_grid(n);
  visit(from, expected, true);
  int calls = 0;
  sweep(from, to, from.own(), sweeps, [&] { ++calls; });
  for (int s = 0; s < sweeps; ++s) expected = plain_sweep(expected, n);
  EXPECT_EQ(visit(to, expected, false), 0);
  EXPECT_GT(calls, 0);
}

TEST(Laplace, NeighboursAgreeOnWhatTheySend) {
  const RankGrid grid{3, 2};
  for (int rank = 0; rank < 6; ++rank) {
    for (const auto& link : links_of(grid, 20, 4, rank)) {
      const auto theirs = links_of(grid, 20, 4, link.rank);
      const auto back = std::find_if(theirs.begin(), theirs.end(), [&](const BlockLink& other) {
        return other.direction == 7 - link.direction;
      });
      ASSERT_NE(back, theirs.end());
      EXPECT_EQ(back->rank, rank);
      EXPECT_EQ(back->sent.rows, link.received.rows);
      EXPECT_EQ(back->sent.columns, link.received.columns);
    }
  }
}

TEST(Laplace, IsTimedAndVerified) {
  for (const auto& form : laplace_forms()) {
    LaplaceOptions options;
    options.n = 20;
    options.sweeps = 4;
    options.repetitions = 2;
    options.form = form.name;
    options.stream_elements = 1000;
    const auto result = time_laplace(comm::Comm::world(), options);
    EXPECT_GE(result.depth, 1);
    EXPECT_GT(result.updates_per_second, 0);
    EXPECT_GT(result.stream_updates_per_second, 0);
    EXPECT_LT(result.error, 1e-13);
  }
}

TEST(Laplace, RejectsWhatCannotBe) {
  const auto comm = comm::Comm::world();
  const auto rejected = [&](auto change) {
    LaplaceOptions options;
    change(options);
    EXPECT_THROW(time_laplace(comm, options), InputError);
  };
  rejected([](LaplaceOptions& options) { options.n = 0; });
  rejected([](LaplaceOptions& options) { options.depth = 641; });
  rejected([](LaplaceOptions& options) { options.sweeps = 0; });
  rejected([](LaplaceOptions& options) { options.form = "no-such"; });
  rejected([](LaplaceOptions& options) { options.repetitions = 0; });
  rejected([](LaplaceOptions& options) { options.stream_elements = -1; });
  if (comm.size() > 1) rejected([](LaplaceOptions& options) { options.n = 1; });
}

}  // namespace
}  // namespace ayatori::bench
