#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/partition/row_partition.hpp"

namespace ayatori::sparse {

/// One nonzero of a global matrix.
struct Entry {
  std::int64_t row;
  std::int64_t column;
  double value;
};

/// The rows of a global matrix that one rank holds while the matrix is read, generated or moved: compressed
/// sparse rows with global columns. Within a row the columns ascend and are unique. A matrix is always spread
/// over ranks by its rows, in the order of some RowPartition; no rank ever holds the whole.
struct RowBlock {
  std::int64_t global_rows = 0;
  std::int64_t global_columns = 0;
  std::int64_t first_row = 0;
  Array<std::int64_t> row_start;  ///< rows + 1
  Array<std::int64_t> column;     ///< global
  Array<double> value;

  std::int64_t rows() const { return static_cast<std::int64_t>(row_start.size()) - 1; }
  std::int64_t nonzeros() const { return static_cast<std::int64_t>(value.size()); }
};

/// Collective. Sends each entry to the rank that owns its row and compresses; entries of the same place are
/// summed; throws InputError (agreed) with row and column, from 1, where a sum overflows. `batches` are this
/// rank's share of the entries in any order (any share, for instance one batch per thread). Preconditions: 0
/// <= row < partition.rows(), 0 <= column < columns.
RowBlock assemble(const comm::Comm& comm, const RowPartition& partition, std::int64_t columns,
                  std::vector<Array<Entry>> batches);

/// Collective. The same matrix with its rows where `target` wants them.
RowBlock redistribute(const comm::Comm& comm, const RowBlock& block, const RowPartition& target);

/// Collective. A vector moved from one partition to another; `local` holds current.range(rank).size()
/// elements.
Array<double> redistribute(const comm::Comm& comm, std::span<const double> local, const RowPartition& current,
                           const RowPartition& target);

/// Collective. The contiguous partition that gives every rank about the same work, counting a row as its
/// nonzeros plus the cost of its vector elements.
RowPartition balance_nonzeros(const comm::Comm& comm, const RowBlock& block);

/// Collective. The partition that the blocks of all ranks form now.
RowPartition partition_of(const comm::Comm& comm, const RowBlock& block);

/// Collective. The transposed matrix, with its rows (the columns of `block`) spread by `partition`.
RowBlock transpose(const comm::Comm& comm, const RowBlock& block, const RowPartition& partition);

}  // namespace ayatori::sparse
