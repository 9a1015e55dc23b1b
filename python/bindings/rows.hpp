#pragma once

#include "ayatori/sparse/row_block.hpp"
#include "python/bindings/runtime.hpp"

namespace ayatori::python {

/// Collective. This rank's rows, copied from the arrays of compressed sparse rows; ranks hold them in order.
/// Throws InputError, agreed.
sparse::RowBlock make_rows(const comm::Comm& comm, const InputIndices& start, const InputIndices& column,
                           const InputVector& value, std::int64_t columns);

}  // namespace ayatori::python
