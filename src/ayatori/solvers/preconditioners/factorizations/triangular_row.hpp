#pragma once

#include <cstdint>

#include "ayatori/sparse/complex_form.hpp"

namespace ayatori::solvers {

/// start - the sum over entries first, first + step, ... of value x[column], `count` of them, by two partial
/// sums, which hide the latency of an addition. Where counts are even the branch of a single last entry is
/// foretold: see even_starts().
template <int step, class Scalar, class Value>
inline Scalar subtract_row(Scalar start, const std::int32_t* column, const Value* value, std::int32_t first,
                           std::int32_t count, const Scalar* x) {
  using sparse::subtract_product;
  Scalar other = 0;
  std::int32_t k = first;
  for (; count > 1; count -= 2, k += 2 * step) {
    subtract_product(start, static_cast<Scalar>(value[k]), x[column[k]]);
    subtract_product(other, static_cast<Scalar>(value[k + step]), x[column[k + step]]);
  }
  if (count > 0) subtract_product(start, static_cast<Scalar>(value[k]), x[column[k]]);
  return start + other;
}

}  // namespace ayatori::solvers
