#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/base/range.hpp"

// The step that all radix sorts are made of: keys are spread over buckets, stable, in one pass.

namespace ayatori::bench {

/// Collects keys of a bucket in a line of the cache and writes whole lines: one thread's keys go to as many
/// places as there are buckets, of which a core can follow only few (address translations, lines under way).
template <class Key>
class WriteCombiner {
 public:
  /// Keys of bucket b go to to[next[b]] and what follows. `to` is on a line of the cache, if lines are to be
  /// written whole.
  WriteCombiner(Key* to, std::vector<std::int64_t> next)
      : to_(to), first_(next), next_(std::move(next)), lines_(next_.size() * keys_of_line) {}

  void put(Key key, std::size_t bucket) {
    const std::int64_t position = next_[bucket]++;
    Key* line = lines_.data() + static_cast<std::int64_t>(bucket) * keys_of_line;
    const std::int64_t place = position % keys_of_line;
    line[place] = key;
    if (place == keys_of_line - 1) write_line(line, position - place, first_[bucket]);
  }

  /// Writes what is still here.
  void finish() {
    for (std::size_t bucket = 0; bucket < next_.size(); ++bucket) {
      const std::int64_t end = next_[bucket];
      const std::int64_t begin = std::max(end - end % keys_of_line, first_[bucket]);
      const Key* line = lines_.data() + static_cast<std::int64_t>(bucket) * keys_of_line;
      std::copy(line + begin % keys_of_line, line + begin % keys_of_line + (end - begin), to_ + begin);
    }
  }

 private:
  static constexpr std::int64_t keys_of_line = 64 / sizeof(Key);

  void write_line(const Key* line, std::int64_t begin, std::int64_t first) {
    if (begin >= first) {
      std::memcpy(to_ + begin, line, keys_of_line * sizeof(Key));
    } else {
      std::copy(line + first % keys_of_line, line + keys_of_line, to_ + first);
    }
  }

  Key* to_;
  std::vector<std::int64_t> first_;
  std::vector<std::int64_t> next_;
  Array<Key> lines_;
};

/// How many of some ascending values are less than `key`: a binary search without branches, which keys in
/// random order would make mispredicted ones.
template <class Key>
std::size_t count_less(const std::vector<Key>& ascending, Key key) {
  const Key* base = ascending.data();
  std::size_t left = ascending.size();
  while (left > 1) {
    const std::size_t half = left / 2;
    base += base[half - 1] < key ? half : 0;
    left -= half;
  }
  return static_cast<std::size_t>(base - ascending.data()) + (left == 1 && *base < key ? 1 : 0);
}

/// Counts, by thread, of the keys of every bucket.
template <class Key, class BucketOf>
std::vector<std::vector<std::int64_t>> count_keys(const Key* from, std::int64_t n, int buckets,
                                                  const BucketOf& bucket_of, int threads) {
  std::vector<std::vector<std::int64_t>> counts(threads, std::vector<std::int64_t>(buckets));
  const auto count = [&](int thread) {
    auto& mine = counts[thread];
    const Range range = split_evenly(n, threads, thread);
    for (std::int64_t i = range.begin; i < range.end; ++i) ++mine[bucket_of(from[i])];
  };
  if (threads == 1) {
    count(0);
  } else {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int thread = 0; thread < threads; ++thread) count(thread);
  }
  return counts;
}

/// Where the keys of every bucket begin, and behind them the end of all.
inline std::vector<std::int64_t> bucket_begins(const std::vector<std::vector<std::int64_t>>& counts) {
  const std::size_t buckets = counts.front().size();
  std::vector<std::int64_t> begins(buckets + 1);
  for (std::size_t b = 0; b < buckets; ++b) {
    begins[b + 1] = begins[b];
    for (const auto& of_thread : counts) begins[b + 1] += of_thread[b];
  }
  return begins;
}

/// Moves [from, from + n) to `to`, bucket by bucket; `counts` are those of count_keys with the same
/// arguments, `begins` their bucket_begins(). Moves 2 n keys through memory, a line of `to` at a time.
template <class Key, class BucketOf>
void spread_keys(const Key* from, Key* to, std::int64_t n, const BucketOf& bucket_of,
                 const std::vector<std::vector<std::int64_t>>& counts,
                 const std::vector<std::int64_t>& begins) {
  const int threads = static_cast<int>(counts.size());
  std::vector<std::int64_t> next(begins.begin(), begins.end() - 1);
  std::vector<WriteCombiner<Key>> combiners;
  combiners.reserve(threads);
  for (const auto& of_thread : counts) {
    combiners.emplace_back(to, next);
    for (std::size_t b = 0; b < next.size(); ++b) next[b] += of_thread[b];
  }
  const auto move = [&](int thread) {
    auto& combiner = combiners[thread];
    const Range range = split_evenly(n, threads, thread);
    for (std::int64_t i = range.begin; i < range.end; ++i) combiner.put(from[i], bucket_of(from[i]));
    combiner.finish();
  };
  if (threads == 1) {
    move(0);
  } else {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (int thread = 0; thread < threads; ++thread) move(thread);
  }
}

}  // namespace ayatori::bench
