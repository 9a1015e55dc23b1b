#pragma once

#include <algorithm>

#include "ayatori/base/range.hpp"

namespace ayatori::sparse {

/// Multiplies with a format that holds explicit zeros, block by block of its units. The zeros cost nothing
/// but bytes while x is finite, but 0 x Inf and 0 x NaN are NaN, in rows that do not refer to that element of
/// x. So fast(units) returns the sum of 0 y_i over its rows, and where that is not 0, careful(units)
/// multiplies once more, leaving zeros out: the usual case pays neither for masks nor for branches. Then
/// finish(units).
template <class Fast, class Careful, class Finish = void (*)(Range)>
[[gnu::always_inline]] inline void multiply_padded(
    Range units, std::int64_t block_size, const Fast& fast, const Careful& careful,
    const Finish& finish = [](Range) {}) {
  for (std::int64_t begin = units.begin; begin < units.end; begin += block_size) {
    const Range block{begin, std::min(begin + block_size, units.end)};
    if (!(fast(block) == 0)) careful(block);
    finish(block);
  }
}

/// value * x, or 0 where the value is an explicit zero.
template <class Real>
inline Real product_unless_zero(Real value, Real x) {
  return value == 0 ? 0 : value * x;
}

}  // namespace ayatori::sparse
