#include "bench/kernels/local_radix_sort.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "bench/kernels/cache_sizes.hpp"
#include "bench/papers/spread_keys.hpp"

namespace ayatori::bench {

namespace {

/// Keys to be sorted by their lowest `bits`. They are in `data`; `other` is as long. The result is wanted
/// there or here.
template <class Key>
struct Task {
  Key* data;
  Key* other;
  std::int64_t n;
  int bits;
  bool into_other;
};

/// What a task with nothing left to do still asks for.
template <class Key>
void deliver(const Task<Key>& task) {
  if (task.into_other) std::copy(task.data, task.data + task.n, task.other);
}

/// Least significant digit first, in the cache: 8 bits at a time, so that counters and the ends of buckets
/// stay there too. Fewer keys than a digit has values are not worth counting.
template <class Key>
void sort_in_cache(Task<Key> task) {
  constexpr int width = 8;
  constexpr int values = 1 << width;
  constexpr int most_digits = std::numeric_limits<Key>::digits / width;
  if (task.n < values) {
    std::sort(task.data, task.data + task.n);
    return deliver(task);
  }
  const int digits = (task.bits + width - 1) / width;
  std::array<std::array<std::uint32_t, values>, most_digits> ends{};
  for (std::int64_t i = 0; i < task.n; ++i) {
    for (int d = 0; d < digits; ++d) ++ends[d][(task.data[i] >> (d * width)) % values];
  }
  for (int d = 0; d < digits; ++d) {
    auto& next = ends[d];
    const int shift = d * width;
    if (next[(task.data[0] >> shift) % values] == task.n) continue;  // all are equal here
    std::uint32_t begin = 0;
    for (auto& value : next) begin += std::exchange(value, begin);
    for (std::int64_t i = 0; i < task.n; ++i) {
      const Key key = task.data[i];
      task.other[next[(key >> shift) % values]++] = key;
    }
    std::swap(task.data, task.other);
    task.into_other = !task.into_other;
  }
  deliver(task);
}

template <class Key>
class RadixSort {
 public:
  RadixSort(int digit_bits, int threads, const std::function<void()>& progress)
      : digit_bits_(digit_bits), threads_(threads), progress_(progress) {}

  void run(const Task<Key>& task) { run(task, threads_); }

 private:
  void run(const Task<Key>& task, int threads) {
    if (task.bits == 0 || task.n == 0) return deliver(task);
    // Counters of 32 bits suffice in any cache.
    if (threads == 1 && 2 * task.n * static_cast<std::int64_t>(sizeof(Key)) <= cache_)
      return sort_in_cache(task);
    const int width = std::min(task.bits, digit_bits_);
    const int shift = task.bits - width;
    const Key mask = (Key{1} << width) - 1;
    const auto bucket_of = [=](Key key) { return static_cast<std::size_t>((key >> shift) & mask); };
    const auto counts = count_keys(task.data, task.n, 1 << width, bucket_of, threads);
    const auto begins = bucket_begins(counts);
    const std::size_t first = bucket_of(task.data[0]);
    if (begins[first + 1] - begins[first] == task.n)
      return run({task.data, task.other, task.n, shift, task.into_other}, threads);
    spread_keys(task.data, task.other, task.n, bucket_of, counts, begins);
    run_buckets(task, begins, shift, threads);
  }

  /// What was spread is now in task.other.
  void run_buckets(const Task<Key>& task, const std::vector<std::int64_t>& begins, int bits, int threads) {
    const auto bucket = [&](std::int64_t b) {
      return Task<Key>{task.other + begins[b], task.data + begins[b], begins[b + 1] - begins[b], bits,
                       !task.into_other};
    };
    const auto buckets = static_cast<std::int64_t>(begins.size()) - 1;
    if (threads == 1) {
      for (std::int64_t b = 0; b < buckets; ++b) {
        run(bucket(b), 1);
        make_progress();
      }
      return;
    }
    // One that alone would keep a thread busy for half of the time is for all threads together.
    const auto for_all = [&](const Task<Key>& part) { return part.n > task.n / (2 * threads); };
    for (std::int64_t b = 0; b < buckets; ++b) {
      if (for_all(bucket(b))) run(bucket(b), threads);
    }
    FirstException exception;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (std::int64_t b = 0; b < buckets; ++b) {
      if (!for_all(bucket(b))) exception.guard([&] { run(bucket(b), 1); });
      make_progress();
    }
    exception.rethrow();
  }

  /// Messages are the calling thread's.
  void make_progress() const {
    if (progress_ && omp_get_thread_num() == 0) progress_();
  }

  int digit_bits_;
  int threads_;
  const std::function<void()>& progress_;
  std::int64_t cache_ = cache_sizes().second;
};

}  // namespace

template <class Key>
void local_radix_sort(std::span<Key> keys, std::span<Key> scratch, int digit_bits,
                      const std::function<void()>& progress) {
  AYATORI_ASSERT(keys.size() == scratch.size());
  const auto n = static_cast<std::int64_t>(keys.size());
  RadixSort<Key>(digit_bits, threads_for(n), progress)
      .run({keys.data(), scratch.data(), n, std::numeric_limits<Key>::digits, false});
  if (progress) progress();
}

template void local_radix_sort(std::span<std::uint32_t>, std::span<std::uint32_t>, int,
                               const std::function<void()>&);
template void local_radix_sort(std::span<std::uint64_t>, std::span<std::uint64_t>, int,
                               const std::function<void()>&);

}  // namespace ayatori::bench
