#include "bench/papers/radix_sort.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <parallel/algorithm>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/find_named.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/random.hpp"
#include "ayatori/base/timing.hpp"
#include "ayatori/comm/agree.hpp"
#include "bench/kernels/local_radix_sort.hpp"
#include "bench/papers/splitters.hpp"
#include "bench/papers/spread_keys.hpp"

namespace ayatori::bench {

namespace {

constexpr std::uint64_t key_seed = 4;
constexpr std::uint64_t hash_seed = 5;

std::uint64_t uniform_key(std::uint64_t index, std::uint64_t, int bits) {
  return random_bits(key_seed, index) >> (64 - bits);
}

/// Most keys are small: the product of two uniform numbers, squared.
std::uint64_t skewed_key(std::uint64_t index, std::uint64_t, int bits) {
  const double product = random_uniform(key_seed, 2 * index) * random_uniform(key_seed, 2 * index + 1);
  return static_cast<std::uint64_t>(product * product * 0x1p32) << (bits - 32);
}

std::uint64_t equal_key(std::uint64_t, std::uint64_t, int) {
  return 42;
}

std::uint64_t sorted_key(std::uint64_t index, std::uint64_t, int) {
  return index;
}

std::uint64_t reversed_key(std::uint64_t index, std::uint64_t keys, int) {
  return keys - 1 - index;
}

constexpr std::array distributions{
    KeyDistribution{"uniform", "all bits random", uniform_key},
    KeyDistribution{"skewed",
                    "squared product of two random numbers: half are in the least 4 percent of the range",
                    skewed_key},
    KeyDistribution{"equal", "one key", equal_key},
    KeyDistribution{"sorted", "0, 1, 2, ...", sorted_key},
    KeyDistribution{"reversed", "..., 2, 1, 0", reversed_key},
};

constexpr std::array forms{
    RadixSortForm{"two-sided", "one alltoallv", false, false},
    RadixSortForm{"one-sided", "every rank puts its keys where they belong in the others' memory", true,
                  false},
    RadixSortForm{"overlap", "in parts by messages: while one is sorted the next travels", false, true},
    RadixSortForm{"one-sided-overlap", "in parts that are put into the others' memory", true, true}};

/// Keys grouped by the rank, and part of its keys, that they are for.
template <class Key>
struct Partition {
  Array<Key> keys;
  std::vector<std::int64_t> offsets;  ///< one more than parts of all ranks
};

/// Buckets are the keys between splitters, and those that are equal to one: of these, which go to which rank
/// does not matter, only how many.
template <class Key>
Partition<Key> partition_keys(std::span<const Key> mine, const std::vector<Splitter<Key>>& splitters) {
  std::vector<Key> bounds;
  for (const auto& splitter : splitters) bounds.push_back(splitter.key);
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  const auto bucket_of = [&](Key key) {
    const std::size_t place = count_less(bounds, key);
    return 2 * place + (place < bounds.size() && bounds[place] == key ? 1 : 0);
  };
  const auto n = static_cast<std::int64_t>(mine.size());
  const int buckets = 2 * static_cast<int>(bounds.size()) + 1;
  const auto counts = count_keys(mine.data(), n, buckets, bucket_of, threads_for(n));
  const auto begins = bucket_begins(counts);
  Partition<Key> result{Array<Key>(n), {0}};
  spread_keys(mine.data(), result.keys.data(), n, bucket_of, counts, begins);
  for (const auto& splitter : splitters)
    result.offsets.push_back(begins[bucket_of(splitter.key)] + splitter.equal);
  result.offsets.push_back(n);
  return result;
}

template <class Key>
std::uint64_t sum_of_hashes(std::span<const Key> keys) {
  std::uint64_t sum = 0;
  for (const Key key : keys) sum += random_bits(hash_seed, key);
  return sum;
}

template <class Key>
struct Ends {
  std::int64_t count;
  Key first;
  Key last;
};

/// Collective. Throws InternalError, agreed.
template <class Key>
void check_sorted(const comm::Comm& comm, std::span<const Key> before, std::span<const Key> after) {
  Ends<Key> mine{static_cast<std::int64_t>(after.size()), 0, 0};
  if (!after.empty()) mine = {mine.count, after.front(), after.back()};
  const auto ends = comm.allgather(mine);
  const std::uint64_t lost =
      comm.allreduce(sum_of_hashes(before) - sum_of_hashes(after), comm::ReduceOp::sum);
  comm::agree(comm, [&] {
    if (!std::is_sorted(after.begin(), after.end()))
      throw InternalError("radix sort: keys of a rank out of order");
    if (lost != 0) throw InternalError("radix sort: other keys came out than went in");
    const Ends<Key>* lower = nullptr;
    for (const auto& rank : ends) {
      if (rank.count == 0) continue;
      if (lower != nullptr && rank.first < lower->last)
        throw InternalError("radix sort: keys of ranks out of order");
      lower = &rank;
    }
  });
}

template <class Key>
double imbalance_of(const comm::Comm& comm, std::span<const Key> sorted, std::int64_t keys) {
  const auto most = comm.allreduce(static_cast<std::int64_t>(sorted.size()), comm::ReduceOp::max);
  const double mean = static_cast<double>(keys) / comm.size();
  return keys == 0 ? 0 : static_cast<double>(most) / mean - 1;
}

/// Collective. One repetition of the sorts of a rank's own keys.
template <class Key>
void time_peers(const comm::Comm& comm, std::span<const Key> mine, Array<Key>& keys, Array<Key>& scratch,
                int digit_bits, PhaseTimes& times) {
  const auto seconds = [&](auto&& sort) {
    std::copy(mine.begin(), mine.end(), keys.begin());
    comm.barrier();
    const Stopwatch watch;
    sort();
    return watch.seconds();
  };
  times.add(comm, {seconds([&] { local_radix_sort<Key>(keys, scratch, digit_bits); }),
                   seconds([&] { std::sort(keys.begin(), keys.end()); }),
                   seconds([&] { __gnu_parallel::sort(keys.begin(), keys.end()); })});
}

template <class Key>
RadixSortResult time_sort_of(const comm::Comm& comm, const RadixSortOptions& options,
                             const KeyDistribution& distribution, const RadixSortForm& form) {
  const Range range = split_evenly(options.keys, comm.size(), comm.rank());
  auto mine = comm::agree(comm, [&] { return Array<Key>(range.size()); });
  parallel_for(range.size(), [&](std::int64_t i) {
    mine[i] = static_cast<Key>(distribution.key(range.begin + i, options.keys, options.key_bits));
  });
  PhaseTimes times({"total", "splitters", "partition", "exchange", "local sort"});
  PhaseTimes peer_times({"radix sort", "std::sort", "parallel std::sort"});
  auto keys = comm::agree(comm, [&] { return Array<Key>(options.compare ? range.size() : 0); });
  auto scratch = comm::agree(comm, [&] { return Array<Key>(keys.size()); });
  KeyExchange<Key> exchange(comm, form);
  RadixSortResult result;
  for (int repetition = -1; repetition < options.repetitions; ++repetition) {  // the first warms up
    std::array<double, 5> seconds{};
    comm.barrier();
    const auto sorted = radix_sort<Key>(exchange, mine, options.digit_bits, seconds);
    if (repetition >= 0) times.add(comm, {seconds.begin(), seconds.end()});
    check_sorted<Key>(comm, mine, sorted);
    result.imbalance = imbalance_of<Key>(comm, sorted, options.keys);
    if (options.compare && repetition >= 0)
      time_peers<Key>(comm, mine, keys, scratch, options.digit_bits, peer_times);
  }
  result.phases = times.phases();
  result.keys_per_second = static_cast<double>(options.keys) / result.phases.front().seconds.median;
  if (options.compare) result.peers = peer_times.phases();
  return result;
}

}  // namespace

std::span<const RadixSortForm> radix_sort_forms() {
  return forms;
}

std::span<const KeyDistribution> key_distributions() {
  return distributions;
}

template <class Key>
std::vector<Key> radix_sort(KeyExchange<Key>& exchange, std::span<const Key> mine, int digit_bits,
                            std::span<double> seconds) {
  const comm::Comm& comm = exchange.comm();
  const ScopedTimer total(seconds[0]);
  Stopwatch watch;
  const auto lap = [&](int phase) {
    seconds[phase] += watch.seconds();
    watch.restart();
  };
  FirstException exception;  // an exception of this rank: the others still wait for its messages
  const auto sort = [&](std::span<Key> part) {
    lap(3);
    exception.guard([&] {
      Array<Key> scratch(part.size());
      local_radix_sort<Key>(part, scratch, digit_bits, [&] { exchange.progress(); });
    });
    lap(4);
  };
  std::vector<Key> sorted;
  if (comm.size() == 1) {
    sorted.assign(mine.begin(), mine.end());
    sort(sorted);
  } else {
    const auto splitters = find_splitters(comm, mine, exchange.parts(), digit_bits);
    lap(1);
    const auto partition = comm::agree(comm, [&] { return partition_keys(mine, splitters); });
    lap(2);
    sorted = exchange(partition.keys, partition.offsets, sort);
    lap(3);
  }
  comm::agree(comm, [&] { exception.rethrow(); });
  return sorted;
}

template std::vector<std::uint32_t> radix_sort(KeyExchange<std::uint32_t>&, std::span<const std::uint32_t>,
                                               int, std::span<double>);
template std::vector<std::uint64_t> radix_sort(KeyExchange<std::uint64_t>&, std::span<const std::uint64_t>,
                                               int, std::span<double>);

RadixSortResult time_radix_sort(const comm::Comm& comm, const RadixSortOptions& options) {
  const auto [distribution, form] = comm::agree(comm, [&] {
    if (options.keys < 0)
      throw InputError(fmt::format("{} keys: there cannot be fewer than none", options.keys));
    if (options.key_bits != 32 && options.key_bits != 64)
      throw InputError(fmt::format("keys of {} bits: choose 32 or 64", options.key_bits));
    if (options.digit_bits != 8 && options.digit_bits != 11)
      throw InputError(fmt::format("digits of {} bits: choose 8 or 11", options.digit_bits));
    if (options.repetitions < 1) throw InputError("radix sort: at least one repetition");
    return std::pair(&find_named(key_distributions(), options.distribution, "distribution of keys"),
                     &find_named(radix_sort_forms(), options.form, "form"));
  });
  return options.key_bits == 32 ? time_sort_of<std::uint32_t>(comm, options, *distribution, *form)
                                : time_sort_of<std::uint64_t>(comm, options, *distribution, *form);
}

}  // namespace ayatori::bench
