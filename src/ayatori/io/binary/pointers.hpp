#pragma once

#include <cstdint>
#include <vector>

#include "ayatori/base/range.hpp"

namespace ayatori::io {

/// The rows (or columns) of a compressed matrix in which some of its entries lie.
struct PointerSpan {
  std::int64_t first = 0;            ///< the row of the first of these entries
  std::vector<std::int64_t> starts;  ///< of rows first, first + 1, ...: number of its first entry, from 0
  std::int64_t end = 0;              ///< the last pointer of all: how many entries there are

  /// The row of entry `k` of these; `row` is that of the entry before, 0 to begin with, in starts.
  std::int64_t row_of(std::int64_t k, std::size_t& row) const {
    while (row + 1 < starts.size() && starts[row + 1] <= k) ++row;
    return first + static_cast<std::int64_t>(row);
  }
};

/// Reads all rows + 1 pointers, and keeps those that the share needs. `next` gives one after the other,
/// counted from 0; `refuse(j, start)` throws about one that does not ascend from 0 to `entries`. Only with
/// `ends_early` may the last one be less: there is room for more entries.
template <class Next, class Refuse>
PointerSpan read_pointers(std::int64_t rows, std::int64_t entries, Range share, Next&& next, Refuse&& refuse,
                          bool ends_early = false) {
  PointerSpan span;
  std::int64_t previous = 0;
  for (std::int64_t j = 0; j <= rows; ++j) {
    const std::int64_t start = next();
    if (start < previous || start > entries || (j == 0 && start != 0) ||
        (j == rows && start != entries && !ends_early))
      refuse(j, start);
    previous = start;
    span.end = start;
    if (start <= share.begin) {
      span.first = j;
      span.starts.assign(1, start);
    } else if (span.starts.back() < share.end) {
      span.starts.push_back(start);
    }
  }
  return span;
}

}  // namespace ayatori::io
