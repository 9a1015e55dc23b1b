#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/comm.hpp"
#include "bench/papers/key_exchange.hpp"
#include "bench/papers/phases.hpp"

namespace ayatori::bench {

/// How keys are distributed: the key number `index` of `keys`; more bits than the type has are cut off above.
struct KeyDistribution {
  std::string_view name;
  std::string_view description;
  std::uint64_t (*key)(std::uint64_t index, std::uint64_t keys, int bits);
};

std::span<const KeyDistribution> key_distributions();

struct RadixSortOptions {
  std::int64_t keys = std::int64_t{4} << 20;  ///< keys of all ranks together (Tanaka: 4 M)
  int key_bits = 32;                          ///< 32 or 64
  int digit_bits = 8;                         ///< 8 or 11: buckets of a pass through memory
  std::string distribution = "uniform";       ///< one of key_distributions()
  std::string form = "two-sided";             ///< one of radix_sort_forms()
  int repetitions = 20;
  bool compare = true;  ///< also time std::sort and its parallel sibling on every rank's keys
};

struct RadixSortResult {
  /// total, splitters (counting where ranks begin), partition (by rank), exchange (what of it is not behind
  /// sorting), local sort.
  std::vector<Phase> phases;
  double keys_per_second = 0;  ///< rate of all ranks, by the median
  double imbalance = 0;        ///< keys of the fullest rank over the mean, less 1
  /// Every rank sorts its own keys, without exchange: radix, std::sort, parallel std::sort, in turns.
  std::vector<Phase> peers;
};

/// Collective. Sorts `mine` over all ranks of the exchange: what rank r is given back is sorted and not above
/// what r + 1 is given. Ranks end with keys / ranks each, to a hundredth of that, however the keys are
/// distributed; equal keys may be on several ranks. `seconds`, of five phases as in RadixSortResult, is added
/// to.
template <class Key>
std::vector<Key> radix_sort(KeyExchange<Key>& exchange, std::span<const Key> mine, int digit_bits,
                            std::span<double> seconds);

/// Collective. Radix sort over all ranks (Tanaka et al.), timed and verified: order within and across ranks,
/// and sums of hashes before and after. Throws InputError, agreed, for options that cannot be, InternalError,
/// agreed, for keys that are not sorted.
RadixSortResult time_radix_sort(const comm::Comm& comm, const RadixSortOptions& options);

}  // namespace ayatori::bench
