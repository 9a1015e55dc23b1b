#pragma once

#include <omp.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>

#include "ayatori/base/range.hpp"

namespace ayatori {

/// Threads that a parallel region of this process gets.
inline int max_threads() {
  return omp_get_max_threads();
}

/// Below this many elements a thread's share is not worth waking it: about the cost of one barrier in vector
/// operations.
inline constexpr std::int64_t min_elements_per_thread = 1024;

/// Threads used for a loop over n elements; the same for the same n, so that data stays with the thread that
/// touched it.
inline int threads_for(std::int64_t n) {
  return static_cast<int>(std::clamp<std::int64_t>(n / min_elements_per_thread, 1, max_threads()));
}

/// Calls body(Range) once for every thread's contiguous share of [0, n). The body must not throw.
template <class Body>
void parallel_ranges(std::int64_t n, Body&& body) {
  const int threads = threads_for(n);
  if (threads == 1) {
    body(Range{0, n});
    return;
  }
#pragma omp parallel num_threads(threads)
  body(split_evenly(n, omp_get_num_threads(), omp_get_thread_num()));
}

/// Keeps the first exception of several threads: none may leave a parallel region.
class FirstException {
 public:
  /// Runs body(); false if it threw.
  template <class Body>
  bool guard(Body&& body) noexcept {
    try {
      body();
      return true;
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!exception_) exception_ = std::current_exception();
      return false;
    }
  }
  /// When the threads are done.
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr exception_;
};

/// parallel_ranges for a body that may throw: the first exception of any thread is thrown once all are done.
template <class Body>
void parallel_ranges_throwing(std::int64_t n, Body&& body) {
  FirstException exception;
  parallel_ranges(n, [&](Range range) { exception.guard([&] { body(range); }); });
  exception.rethrow();
}

/// Calls body(i) for every i of [0, n), in contiguous shares per thread. The body must not throw.
template <class Body>
void parallel_for(std::int64_t n, Body&& body) {
  parallel_ranges(n, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) body(i);
  });
}

/// Sums of K quantities over the shares of [0, n): body(Range) returns a share's std::array<double, K>.
/// Shares are those of parallel_ranges and are added in thread order: bitwise the same for the same thread
/// count.
template <std::size_t K, class Body>
std::array<double, K> parallel_sums(std::int64_t n, Body&& body) {
  const int threads = threads_for(n);
  if (threads == 1) return body(Range{0, n});
  constexpr int most = 256;  // partial sums kept on the stack
  struct alignas(64) Padded {
    std::array<double, K> values;
  };
  Padded partial[most];
  const int used = std::min(threads, most);
#pragma omp parallel num_threads(used)
  for (int t = omp_get_thread_num(); t < used; t += omp_get_num_threads()) {
    partial[t].values = body(split_evenly(n, used, t));
  }
  std::array<double, K> sums{};
  for (int t = 0; t < used; ++t) {
    for (std::size_t k = 0; k < K; ++k) sums[k] += partial[t].values[k];
  }
  return sums;
}

/// The same for one quantity: body(Range) returns a double.
template <class Body>
double parallel_sum(std::int64_t n, Body&& body) {
  return parallel_sums<1>(n, [&](Range range) { return std::array<double, 1>{body(range)}; })[0];
}

}  // namespace ayatori
