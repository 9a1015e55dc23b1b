#pragma once

#include <cstdint>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/range.hpp"
#include "ayatori/io/binary/numbers.hpp"

namespace ayatori::io {

/// The rows (or columns) of a compressed matrix in which some of its entries lie.
struct PointerSpan {
  std::int64_t first = 0;            ///< the row of the first of these entries
  std::vector<std::int64_t> starts;  ///< number of the first entry of rows first, first + 1, ..., from 0
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

/// The error about pointer `j`, which is `start`, of the array that messages call `name`.
inline InputError pointer_error(const std::string& name, std::int64_t j, std::int64_t start,
                                std::int64_t entries) {
  return InputError(fmt::format("{}: number {} is {}: pointers ascend from 0 to {}, the entries", name, j + 1,
                                start, entries));
}

/// Calls use(index) for each index of a share. InputError about one that is not from 0 to `size` - 1.
template <class Use>
void read_indices(NumberStream& numbers, std::int64_t size, Range share, Use&& use) {
  std::int64_t k = share.begin;
  numbers.for_each_in<std::int64_t>(share, [&](std::int64_t index) {
    ++k;
    if (index < 0 || index >= size)
      throw InputError(fmt::format("{}: number {} is {}, but there are {} (counted from 0)", numbers.name(),
                                   k, index, size));
    use(index);
  });
}

}  // namespace ayatori::io
