#include "ayatori/io/complex_parts.hpp"

#include <array>
#include <utility>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/sparse/complex_form.hpp"

namespace ayatori::io {

namespace {

using sparse::Complex;
using sparse::RowBlock;

/// Calls use(column, value) for the complex entries of a row.
template <class Use>
void for_each_value(const RowBlock& complex_rows, std::int64_t row, Use&& use) {
  const std::int64_t end = complex_rows.row_start[row + 1];
  for (std::int64_t k = complex_rows.row_start[row]; k < end;) {
    const std::int64_t column = complex_rows.column[k] / 2;
    std::array<double, 2> parts{};
    for (; k < end && complex_rows.column[k] / 2 == column; ++k)
      parts[complex_rows.column[k] % 2] = complex_rows.value[k];
    use(column, Complex(parts[0], parts[1]));
  }
}

/// The rows of the complex matrix. Throws InternalError for a block that is not in the real form.
RowBlock to_complex_rows(const RowBlock& real_form) {
  const auto refuse = [] { throw InternalError("a matrix to be written is not in the real form"); };
  if (real_form.rows() % 2 != 0 || real_form.first_row % 2 != 0) refuse();
  const std::int64_t rows = real_form.rows() / 2;
  RowBlock block{real_form.global_rows / 2, real_form.global_columns, real_form.first_row / 2, {}, {}, {}};
  block.row_start.resize(rows + 1);
  block.column.resize(real_form.nonzeros() / 2);
  block.value.resize(real_form.nonzeros() / 2);
  for (std::int64_t i = 0; i <= rows; ++i) block.row_start[i] = real_form.row_start[2 * i] / 2;
  parallel_ranges_throwing(rows, [&](Range range) {
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      if (!sparse::is_pair_of_rows(real_form, i)) refuse();
      std::int64_t k = real_form.row_start[2 * i];
      for (std::int64_t at = block.row_start[i]; at < block.row_start[i + 1]; at += 2, k += 2) {
        block.column[at] = real_form.column[k];
        block.column[at + 1] = real_form.column[k + 1];
        block.value[at] = real_form.value[k];
        block.value[at + 1] = -real_form.value[k + 1];
      }
    }
  });
  return block;
}

}  // namespace

void split_into_parts(Array<sparse::Entry>& entries) {
  const std::size_t count = entries.size();
  entries.resize(2 * count);
  for (std::size_t k = count; k-- > 0;) {
    const auto [row, column, value] = entries[k];
    entries[2 * k] = {row, 2 * column, value};
    entries[2 * k + 1] = {row, 2 * column + 1, 0.0};
  }
}

RowBlock to_real_form(const RowBlock& complex_rows) {
  const std::int64_t rows = complex_rows.rows();
  RowBlock block{
      2 * complex_rows.global_rows, complex_rows.global_columns, 2 * complex_rows.first_row, {}, {}, {}};
  block.row_start.resize(2 * rows + 1);
  block.row_start[0] = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int64_t values = 0;
    for_each_value(complex_rows, i, [&](std::int64_t /*column*/, Complex /*value*/) { ++values; });
    block.row_start[2 * i + 1] = block.row_start[2 * i] + 2 * values;
    block.row_start[2 * i + 2] = block.row_start[2 * i] + 4 * values;
  }
  block.column.resize(block.row_start.back());
  block.value.resize(block.row_start.back());
  parallel_for(rows, [&](std::int64_t i) {
    std::array<std::int64_t, 2> next{block.row_start[2 * i], block.row_start[2 * i + 1]};
    for_each_value(complex_rows, i, [&](std::int64_t column, Complex value) {
      sparse::add_real_form(i, column, value, [&](std::int64_t row, std::int64_t at, double number) {
        const std::int64_t k = next[row % 2]++;
        block.column[k] = at;
        block.value[k] = number;
      });
    });
  });
  return block;
}

StoredRows::StoredRows(const comm::Comm& comm, const RowBlock& block, bool is_complex)
    : real_(is_complex ? nullptr : &block) {
  if (is_complex) complex_ = comm::agree(comm, [&] { return to_complex_rows(block); });
}

ValueCounts count_values(const comm::Comm& comm, const RowBlock& rows, std::int64_t parts) {
  const std::int64_t mine = rows.nonzeros() / parts;
  return {mine, comm.exclusive_sum(mine), comm.allreduce(mine, comm::ReduceOp::sum)};
}

RowBlock assemble_evenly(const comm::Comm& comm, std::int64_t rows, std::int64_t columns, bool is_complex,
                         std::vector<Array<sparse::Entry>> batches) {
  const auto partition = sparse::RowPartition::even(rows, comm.size());
  RowBlock block = sparse::assemble(comm, partition, parts_of(is_complex) * columns, std::move(batches));
  if (!is_complex) return block;
  return comm::agree(comm, [&] { return to_real_form(block); });
}

}  // namespace ayatori::io
