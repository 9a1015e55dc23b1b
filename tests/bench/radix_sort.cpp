#include "bench/papers/radix_sort.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "bench/kernels/local_radix_sort.hpp"
#include "bench/papers/splitters.hpp"

namespace ayatori::bench {
namespace {

/// Sorts `all` over the ranks, given out in blocks of uneven size, and compares with std::sort.
template <class Key>
void expect_sorted(const std::vector<Key>& all, int digit_bits, KeyExchange<Key>& exchange) {
  const comm::Comm& comm = exchange.comm();
  const auto n = static_cast<std::int64_t>(all.size());
  const auto begin = [&](int rank) { return n * rank * rank / (comm.size() * comm.size()); };
  const std::span<const Key> mine(all.data() + begin(comm.rank()), all.data() + begin(comm.rank() + 1));
  std::array<double, 5> seconds{};
  const auto sorted = radix_sort<Key>(exchange, mine, digit_bits, seconds);
  auto expected = all;
  std::sort(expected.begin(), expected.end());
  const auto gathered = comm.allgatherv(std::span<const Key>(sorted));
  EXPECT_EQ(gathered.values, expected);
  const double share = static_cast<double>(n) / comm.size();
  EXPECT_LE(static_cast<double>(sorted.size()), share + 2 * (share / 100) + 1);
}

template <class Key>
std::vector<Key> keys_of(const KeyDistribution& distribution, std::int64_t n) {
  std::vector<Key> keys(n);
  for (std::int64_t i = 0; i < n; ++i)
    keys[i] = static_cast<Key>(distribution.key(i, n, std::numeric_limits<Key>::digits));
  return keys;
}

TEST(RadixSort, EveryDistributionAndSize) {
  for (const auto& form : radix_sort_forms()) {
    KeyExchange<std::uint32_t> narrow(comm::Comm::world(), form);
    KeyExchange<std::uint64_t> wide(comm::Comm::world(), form);
    for (const auto& distribution : key_distributions()) {
      for (const std::int64_t n : {0, 1, 3, 33, 30011}) {
        SCOPED_TRACE(testing::Message() << form.name << " " << distribution.name << " " << n);
        expect_sorted(keys_of<std::uint32_t>(distribution, n), 8, narrow);
        expect_sorted(keys_of<std::uint64_t>(distribution, n), 11, wide);
      }
    }
  }
}

TEST(RadixSort, LargestAndSmallestKeys) {
  std::vector<std::uint64_t> keys;
  for (int i = 0; i < 999; ++i) {
    keys.push_back(~std::uint64_t{0} - (i % 3 == 0 ? 1 : 0));
    keys.push_back(i % 2);
    keys.push_back(std::uint64_t{1} << (i % 64));
  }
  KeyExchange<std::uint64_t> exchange(comm::Comm::world(), radix_sort_forms().front());
  expect_sorted(keys, 8, exchange);
}

TEST(RadixSort, OfOneRankOnOneAndTwoThreads) {
  const int most = max_threads();
  for (const int threads : {1, 2}) {
    omp_set_num_threads(threads);
    for (const int digit_bits : {8, 11}) {
      for (const int spread : {0, 12, 31}) {  // most keys in one bucket: it is spread by all threads
        std::vector<std::uint32_t> keys(300007);
        for (std::size_t i = 0; i < keys.size(); ++i)
          keys[i] = static_cast<std::uint32_t>(random_bits(1, i)) >> (i % 10 == 0 ? 0 : spread);
        auto expected = keys;
        std::sort(expected.begin(), expected.end());
        std::vector<std::uint32_t> scratch(keys.size());
        int calls = 0;
        local_radix_sort<std::uint32_t>(keys, scratch, digit_bits, [&] { ++calls; });
        EXPECT_EQ(keys, expected);
        EXPECT_GT(calls, 0);
      }
    }
  }
  omp_set_num_threads(most);
}

TEST(RadixSort, SplittersCutTheKeysOfARankIntoParts) {
  const auto comm = comm::Comm::world();
  constexpr int parts = 4;
  constexpr std::int64_t of_rank = 1000;
  std::vector<std::uint32_t> mine(of_rank);
  for (std::int64_t i = 0; i < of_rank; ++i)  // dealt by turns, far apart
    mine[i] = static_cast<std::uint32_t>((i * comm.size() + comm.rank()) << 12);
  const auto splitters = find_splitters<std::uint32_t>(comm, mine, parts, 8);
  ASSERT_EQ(static_cast<int>(splitters.size()), parts * comm.size() - 1);
  for (std::size_t p = 0; p < splitters.size(); ++p) {
    const auto share = static_cast<std::int64_t>(splitters[p].key >> 12);
    EXPECT_NEAR(static_cast<double>(share), static_cast<double>((p + 1) * of_rank) / parts,
                of_rank / 100.0 + 1);
  }
}

TEST(RadixSort, KeysComeInPartsWhereSortingOverlaps) {
  const auto comm = comm::Comm::world();
  for (const auto& form : radix_sort_forms()) {
    KeyExchange<std::uint32_t> exchange(comm, form);
    EXPECT_EQ(exchange.parts(), form.overlap && comm.size() > 1 ? 4 : 1);
    // Part k for rank r from rank f is the keys 1000 k + 100 r + f, r + k + 1 times.
    std::vector<std::uint32_t> keys;
    std::vector<std::int64_t> offsets{0};
    for (int r = 0; r < comm.size(); ++r) {
      for (int k = 0; k < exchange.parts(); ++k) {
        keys.insert(keys.end(), r + k + 1, static_cast<std::uint32_t>(1000 * k + 100 * r + comm.rank()));
        offsets.push_back(static_cast<std::int64_t>(keys.size()));
      }
    }
    std::vector<std::uint32_t> expected;
    for (int k = 0; k < exchange.parts(); ++k) {
      for (int from = 0; from < comm.size(); ++from)
        expected.insert(expected.end(), comm.rank() + k + 1,
                        static_cast<std::uint32_t>(1000 * k + 100 * comm.rank() + from));
    }
    for (int turn = 0; turn < 2; ++turn) {
      int part = 0;
      std::size_t seen = 0;
      const auto came = exchange(keys, offsets, [&](std::span<std::uint32_t> some) {
        EXPECT_EQ(some.size(), static_cast<std::size_t>(comm.size() * (comm.rank() + part++ + 1)));
        seen += some.size();
      });
      EXPECT_EQ(came, expected) << form.name;
      EXPECT_EQ(seen, came.size());
      EXPECT_EQ(part, exchange.parts());
    }
  }
}

TEST(RadixSort, SplittersShareEqualKeysOut) {
  const auto comm = comm::Comm::world();
  const std::vector<std::uint32_t> mine(comm.rank() == 0 ? 1000 : 10, 7);
  const std::int64_t keys = 1000 + 10 * (comm.size() - 1);
  const auto splitters = find_splitters<std::uint32_t>(comm, mine, 1, 8);
  ASSERT_EQ(static_cast<int>(splitters.size()), comm.size() - 1);
  for (int r = 1; r < comm.size(); ++r) {
    EXPECT_EQ(splitters[r - 1].key, 7U);
    EXPECT_EQ(comm.allreduce(splitters[r - 1].equal, comm::ReduceOp::sum),
              split_evenly(keys, comm.size(), r).begin);
  }
}

TEST(RadixSort, IsTimedAndVerified) {
  RadixSortOptions options;
  options.keys = 5003;
  options.repetitions = 3;
  const auto result = time_radix_sort(comm::Comm::world(), options);
  ASSERT_EQ(result.phases.size(), 5U);
  EXPECT_GT(result.keys_per_second, 0);
  EXPECT_LT(result.imbalance, 0.03);
  EXPECT_EQ(result.peers.size(), 3U);
}

TEST(RadixSort, RejectsWhatCannotBe) {
  const auto rejected = [](auto change) {
    RadixSortOptions options;
    change(options);
    EXPECT_THROW(time_radix_sort(comm::Comm::world(), options), InputError);
  };
  rejected([](RadixSortOptions& options) { options.keys = -1; });
  rejected([](RadixSortOptions& options) { options.key_bits = 16; });
  rejected([](RadixSortOptions& options) { options.digit_bits = 9; });
  rejected([](RadixSortOptions& options) { options.repetitions = 0; });
  rejected([](RadixSortOptions& options) { options.distribution = "no-such"; });
  rejected([](RadixSortOptions& options) { options.form = "no-such"; });
}

}  // namespace
}  // namespace ayatori::bench
