#pragma once

#include <cstdint>

namespace ayatori::sparse {

/// sum_k value_k x[column_k] over the entries [k, end) of a row, in `Unroll` independent sums: with one, the
/// latency of the addition bounds rows of many entries.
template <int Unroll, class Real>
[[gnu::always_inline]] inline Real row_product(const Real* value, const std::int32_t* column, std::int64_t k,
                                               std::int64_t end, const Real* x) {
  Real sum = 0;
  if constexpr (Unroll > 1) {
    Real sums[Unroll] = {};
    for (; k + Unroll <= end; k += Unroll) {
      for (int u = 0; u < Unroll; ++u) sums[u] += value[k + u] * x[column[k + u]];
    }
    for (int u = 0; u < Unroll; ++u) sum += sums[u];
  }
  for (; k < end; ++k) sum += value[k] * x[column[k]];
  return sum;
}

}  // namespace ayatori::sparse
