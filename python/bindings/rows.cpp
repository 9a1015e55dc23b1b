#include "python/bindings/rows.hpp"

#include <fmt/format.h>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::python {

namespace {

template <class Index>
void copy_rows(const Index* start, const Index* column, std::int64_t rows, std::int64_t nonzeros,
               sparse::RowBlock& block) {
  if (start[0] != 0 || start[rows] != nonzeros)
    throw InputError(fmt::format("row pointers go from {} to {}, but there are {} entries",
                                 std::int64_t{start[0]}, std::int64_t{start[rows]}, nonzeros));
  parallel_ranges_throwing(rows, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const std::int64_t begin = start[i];
      const std::int64_t end = start[i + 1];
      if (begin < 0 || end < begin || end > nonzeros)
        throw InputError(fmt::format("row pointer {} is {} after {}", i + 1, end, begin));
      block.row_start[i + 1] = end;
      std::int64_t last = -1;
      for (std::int64_t k = begin; k < end; ++k) {
        const std::int64_t j = column[k];
        if (j <= last || j >= block.global_columns)
          throw InputError(fmt::format("row {} has column {} after {}: columns ascend below {}", i, j, last,
                                       block.global_columns));
        block.column[k] = last = j;
      }
    }
  });
}

}  // namespace

sparse::RowBlock make_rows(const comm::Comm& comm, const InputIndices& start, const InputIndices& column,
                           const InputVector& value, std::int64_t columns) {
  const std::int64_t rows = static_cast<std::int64_t>(start.size()) - 1;
  sparse::RowBlock block;
  block.first_row = comm.exclusive_sum(rows);
  block.global_rows = comm.allreduce(rows, comm::ReduceOp::sum);
  block.global_columns = comm.allreduce(columns, comm::ReduceOp::max);
  comm::agree(comm, [&] {
    if (columns != block.global_columns)
      throw InputError(
          fmt::format("one rank's rows have {} columns, another's {}", columns, block.global_columns));
    const auto nonzeros = static_cast<std::int64_t>(value.size());
    if (rows < 0 || column.size() != value.size() || start.dtype() != column.dtype())
      throw InputError("these are not the arrays of compressed sparse rows");
    block.row_start.resize(rows + 1);
    block.row_start[0] = 0;
    block.column.resize(nonzeros);
    block.value.resize(nonzeros);
    if (start.dtype() == nb::dtype<std::int64_t>())
      copy_rows(static_cast<const std::int64_t*>(start.data()),
                static_cast<const std::int64_t*>(column.data()), rows, nonzeros, block);
    else if (start.dtype() == nb::dtype<std::int32_t>())
      copy_rows(static_cast<const std::int32_t*>(start.data()),
                static_cast<const std::int32_t*>(column.data()), rows, nonzeros, block);
    else
      throw InputError("indices are int32 or int64");
    parallel_for(nonzeros, [&](std::int64_t k) { block.value[k] = value.data()[k]; });
  });
  return block;
}

}  // namespace ayatori::python
