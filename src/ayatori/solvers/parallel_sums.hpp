#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "ayatori/base/parallel.hpp"

namespace ayatori::solvers {

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

}  // namespace ayatori::solvers
