#pragma once

#include <cstdint>
#include <span>

#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::tuning {

/// Rows that are multiples of a row with a smaller number, up to rounding.
struct DuplicateRows {
  std::int64_t count = 0;
  std::int64_t first = -1;  ///< the smallest number of one ...
  std::int64_t of = -1;     ///< ... and the row that it is a multiple of
};

/// Collective. Looks at the first and the last entry of every row; at whole rows only where these are the
/// same as another's, and at those that refer to ghosts; `at_all`: at all of them, which zeros on the
/// diagonal make necessary. Rows of the same hash are held against each other entry by entry. `row_number`:
/// of own rows. Rows of zeros are left out.
DuplicateRows find_duplicate_rows(const comm::Comm& comm, const sparse::SplitMatrix& parts, bool at_all,
                                  std::span<const std::int64_t> row_number);

}  // namespace ayatori::tuning
