#include "ayatori/session/problem/rows_in_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"

namespace ayatori::session {

namespace {

/// A row of a rank in messages, which reach all ranks.
std::string name_of_row(const sparse::RowBlock& block, std::int64_t i, int rank) {
  return fmt::format("row {} of the matrix (row {} of rank {}, both counted from 1)", block.first_row + i + 1,
                     i + 1, rank);
}

/// Copies the rows and says whether the columns of each ascend. Throws InputError.
template <class Index>
bool copy_rows(std::span<const Index> row_start, std::span<const Index> column, std::span<const double> value,
               std::int64_t base, int rank, sparse::RowBlock& block) {
  if (row_start.empty() || column.size() != value.size())
    throw InputError("these are not the arrays of compressed sparse rows");
  const auto rows = static_cast<std::int64_t>(row_start.size()) - 1;
  const auto entries = static_cast<std::int64_t>(value.size());
  if (row_start[0] != base || row_start[rows] - base != entries)
    throw InputError(fmt::format(
        "the row pointers of rank {} go from {} to {}, but there are {} entries, and the first is number {}",
        rank, std::int64_t{row_start[0]}, std::int64_t{row_start[rows]}, entries, base));
  block.row_start.resize(rows + 1);
  block.row_start[0] = 0;
  block.column.resize(entries);
  block.value.resize(entries);
  std::atomic<bool> ascend = true;
  parallel_ranges_throwing(rows, [&](Range range) {
    bool mine_ascend = true;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const std::int64_t begin = row_start[i] - base;
      const std::int64_t end = row_start[i + 1] - base;
      if (begin < 0 || end < begin || end > entries)
        throw InputError(fmt::format("{} begins at row pointer {} and ends at {}: want {} to {}, ascending",
                                     name_of_row(block, i, rank), begin + base, end + base, base,
                                     entries + base));
      block.row_start[i + 1] = end;
      std::int64_t last = -1;
      for (std::int64_t k = begin; k < end; ++k) {
        const std::int64_t j = column[k] - base;
        if (j < 0 || j >= block.global_columns)
          throw InputError(fmt::format("{} has column {}: the columns that were given count from {} to {}",
                                       name_of_row(block, i, rank), j + base, base,
                                       block.global_columns - 1 + base));
        mine_ascend = mine_ascend && j > last;
        block.column[k] = last = j;
        block.value[k] = value[k];
      }
    }
    if (!mine_ascend) ascend = false;
  });
  return ascend;
}

/// Sorts each row, and adds the entries of the same place. Throws InputError where a sum overflows.
void make_ascending(int rank, sparse::RowBlock& block) {
  std::vector<std::pair<std::int64_t, double>> row;
  std::int64_t kept = 0;
  for (std::int64_t i = 0, begin = 0; i < block.rows(); ++i) {
    const std::int64_t end = block.row_start[i + 1];
    row.clear();
    for (std::int64_t k = begin; k < end; ++k) row.emplace_back(block.column[k], block.value[k]);
    std::ranges::stable_sort(row, {}, &std::pair<std::int64_t, double>::first);
    const std::int64_t first = kept;
    for (const auto& [j, entry] : row) {
      if (kept == first || block.column[kept - 1] != j) {
        block.column[kept] = j;
        block.value[kept++] = entry;
        continue;
      }
      const double before = block.value[kept - 1];
      block.value[kept - 1] += entry;
      if (!std::isfinite(block.value[kept - 1]) && std::isfinite(before) && std::isfinite(entry))
        throw InputError(fmt::format("the entries of {} in column {} have no finite sum",
                                     name_of_row(block, i, rank), j + 1));
    }
    begin = end;
    block.row_start[i + 1] = kept;
  }
  block.column.resize(kept);
  block.value.resize(kept);
}

}  // namespace

template <class Index>
sparse::RowBlock rows_in_memory(const comm::Comm& comm, std::span<const Index> row_start,
                                std::span<const Index> column, std::span<const double> value,
                                std::int64_t columns, int base) {
  const std::int64_t rows = std::max<std::int64_t>(static_cast<std::int64_t>(row_start.size()) - 1, 0);
  sparse::RowBlock block;
  block.first_row = comm.exclusive_sum(rows);
  block.global_rows = comm.allreduce(rows, comm::ReduceOp::sum);
  block.global_columns = comm.allreduce(columns, comm::ReduceOp::max);
  comm::agree(comm, [&] {
    if (columns != block.global_columns)
      throw InputError(
          fmt::format("one rank's rows have {} columns, another's {}", columns, block.global_columns));
    if (!copy_rows(row_start, column, value, base, comm.rank(), block)) make_ascending(comm.rank(), block);
  });
  return block;
}

template sparse::RowBlock rows_in_memory(const comm::Comm&, std::span<const std::int32_t>,
                                         std::span<const std::int32_t>, std::span<const double>, std::int64_t,
                                         int);
template sparse::RowBlock rows_in_memory(const comm::Comm&, std::span<const std::int64_t>,
                                         std::span<const std::int64_t>, std::span<const double>, std::int64_t,
                                         int);

}  // namespace ayatori::session
