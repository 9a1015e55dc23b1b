#pragma once

#include <cstdint>
#include <limits>

#include "ayatori/base/array.hpp"

// Rows of a triangle with an even number of entries: those of an odd number have one more, of value zero, in
// the column of the entry beside it. On unstructured meshes, whose rows have now two and now three entries in
// a triangle, processors foretell the end of a row badly; of even rows they miss half as often, and
// triangular solves take less time.

namespace ayatori::solvers {

/// Where rows begin that are made even, from where they begin; the same where they have many entries, for
/// there it makes no difference.
inline Array<std::int32_t> even_starts(const Array<std::int32_t>& start) {
  constexpr std::int64_t many = 16;
  const std::int64_t rows = static_cast<std::int64_t>(start.size()) - 1;
  if (start.back() > many * rows || start.back() + rows > std::numeric_limits<std::int32_t>::max())
    return start;
  Array<std::int32_t> even(start.size());
  even[0] = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int32_t length = start[i + 1] - start[i];
    even[i + 1] = even[i] + length + length % 2;
  }
  return even;
}

}  // namespace ayatori::solvers
