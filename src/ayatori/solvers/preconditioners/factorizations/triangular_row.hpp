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

/// The same of a row in a triangular solve, its last entry subtracted last of all. Where that is in column
/// `near`, of the unknown found just before, its value is `newest`: a row that waits until this is stored and
/// read again takes up to twice as long.
template <int step, class Scalar, class Value>
inline Scalar solve_row(Scalar start, const std::int32_t* column, const Value* value, std::int32_t first,
                        std::int32_t count, const Scalar* x, std::int32_t near, Scalar newest) {
  if (count == 0) return start;
  const std::int32_t last = first + step * (count - 1);
  Scalar sum = subtract_row<step>(start, column, value, first, count - 1, x);
  if (column[last] == near) {
    sparse::subtract_product(sum, static_cast<Scalar>(value[last]), newest);
  } else {
    sparse::subtract_product(sum, static_cast<Scalar>(value[last]), x[column[last]]);
  }
  return sum;
}

}  // namespace ayatori::solvers
