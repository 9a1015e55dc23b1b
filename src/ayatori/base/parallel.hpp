#pragma once

#include <omp.h>

#include <algorithm>
#include <cstdint>

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

/// Calls body(i) for every i of [0, n), in contiguous shares per thread. The body must not throw.
template <class Body>
void parallel_for(std::int64_t n, Body&& body) {
  parallel_ranges(n, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) body(i);
  });
}

/// Sum of body(Range) over the shares of [0, n), added in thread order: bitwise the same for the same thread
/// count.
template <class Body>
double parallel_sum(std::int64_t n, Body&& body) {
  const int threads = threads_for(n);
  if (threads == 1) return body(Range{0, n});
  constexpr int most = 256;  // partial sums kept on the stack
  struct alignas(64) Padded {
    double value;
  };
  Padded partial[most];
  const int used = std::min(threads, most);
#pragma omp parallel num_threads(used)
  for (int t = omp_get_thread_num(); t < used; t += omp_get_num_threads()) {
    partial[t].value = body(split_evenly(n, used, t));
  }
  double sum = 0;
  for (int t = 0; t < used; ++t) sum += partial[t].value;
  return sum;
}

}  // namespace ayatori
