#pragma once

#include <cstdint>

namespace ayatori::solvers {

/// start - the sum over entries first, first + step, ... of value x[column], `count` of them. Long rows have
/// two partial sums, to hide the latency of an addition; the last entries, which depend on the newest of x,
/// are added last.
template <int step, class Value>
inline double subtract_row(double start, const std::int32_t* column, const Value* value, std::int32_t first,
                           std::int32_t count, const double* x) {
  double other = 0;
  std::int32_t k = first;
  for (; count > 4; count -= 2, k += 2 * step) {
    start -= static_cast<double>(value[k]) * x[column[k]];
    other -= static_cast<double>(value[k + step]) * x[column[k + step]];
  }
  start += other;
  for (; count > 0; --count, k += step) start -= static_cast<double>(value[k]) * x[column[k]];
  return start;
}

}  // namespace ayatori::solvers
