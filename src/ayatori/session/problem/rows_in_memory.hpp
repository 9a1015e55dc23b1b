#pragma once

#include <cstdint>
#include <span>

#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/row_block.hpp"

namespace ayatori::session {

/// Collective. This rank's rows, copied from the arrays of compressed sparse rows; ranks hold them in order.
/// `row_start` has rows + 1 elements; `column` is global, and need not ascend; entries of the same place are
/// added, as assemble() does. `base` is the number of the first column, and what `row_start` begins with.
/// `Index` is std::int32_t or std::int64_t, on each rank as it likes. Throws InputError, agreed.
template <class Index>
sparse::RowBlock rows_in_memory(const comm::Comm& comm, std::span<const Index> row_start,
                                std::span<const Index> column, std::span<const double> value,
                                std::int64_t columns, int base = 0);

}  // namespace ayatori::session
