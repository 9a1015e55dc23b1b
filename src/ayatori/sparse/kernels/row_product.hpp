#pragma once

#include <cstdint>

#include "ayatori/sparse/kernels/simd.hpp"

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

/// The same with vectors of four values, whose elements of x are fetched one by one: fewer instructions for
/// an entry, and fewer jumps that may be mispredicted.
template <class Real>
[[gnu::always_inline]] inline Real row_product_in_vectors(const Real* value, const std::int32_t* column,
                                                          std::int64_t k, std::int64_t end, const Real* x) {
  Real sum = 0;
  if (k + 4 <= end) {
    Vector<4, Real> sums{};
    for (; k + 4 <= end; k += 4) {
      const Vector<4, Real> of_x{x[column[k]], x[column[k + 1]], x[column[k + 2]], x[column[k + 3]]};
      sums += load<4>(value + k) * of_x;
    }
    sum = (sums[0] + sums[2]) + (sums[1] + sums[3]);
  }
  for (; k < end; ++k) sum += value[k] * x[column[k]];
  return sum;
}

}  // namespace ayatori::sparse
