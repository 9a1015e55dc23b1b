#include <algorithm>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/transfers/sparse_exchange.hpp"
#include "ayatori/sparse/row_block.hpp"

namespace ayatori::sparse {

namespace {

/// Where in [0, mine.size()] the rows that rank r of `target` wants begin, for r = 0 .. ranks.
std::vector<std::int64_t> cuts(Range mine, const RowPartition& target) {
  std::vector<std::int64_t> offsets(target.ranks() + 1);
  for (int r = 0; r <= target.ranks(); ++r) {
    offsets[r] = std::clamp(target.starts()[r], mine.begin, mine.end) - mine.begin;
  }
  return offsets;
}

/// What a rank tells the others about its rows.
struct Outgoing {
  std::vector<std::int64_t> row_cuts;
  std::vector<std::int64_t> entry_cuts;
  Array<std::int64_t> lengths;  ///< lengths of the rows
};

Outgoing cut(const RowBlock& block, const RowPartition& target) {
  Outgoing out{cuts({block.first_row, block.first_row + block.rows()}, target), {}, {}};
  for (const std::int64_t row : out.row_cuts) out.entry_cuts.push_back(block.row_start[row]);
  out.lengths.resize(block.rows());
  for (std::int64_t i = 0; i < block.rows(); ++i) {
    out.lengths[i] = block.row_start[i + 1] - block.row_start[i];
  }
  return out;
}

/// The entries with row and column swapped, one batch per thread; the rows of a batch ascend, so each
/// transposed row comes out sorted.
std::vector<Array<Entry>> transposed_entries(const RowBlock& block) {
  const int threads = threads_for(block.rows());
  std::vector<Array<Entry>> batches(threads);
  FirstException exception;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int t = 0; t < threads; ++t) {
    exception.guard([&] {
      const Range rows = split_evenly(block.rows(), threads, t);
      batches[t].reserve(block.row_start[rows.end] - block.row_start[rows.begin]);
      for (std::int64_t i = rows.begin; i < rows.end; ++i) {
        for (std::int64_t k = block.row_start[i]; k < block.row_start[i + 1]; ++k) {
          batches[t].push_back({block.column[k], block.first_row + i, block.value[k]});
        }
      }
    });
  }
  exception.rethrow();
  return batches;
}

}  // namespace

RowPartition partition_of(const comm::Comm& comm, const RowBlock& block) {
  auto starts = comm.allgather(block.first_row);
  starts.push_back(block.global_rows);
  return RowPartition(std::move(starts));
}

RowBlock redistribute(const comm::Comm& comm, const RowBlock& block, const RowPartition& target) {
  const Outgoing out = comm::agree(comm, [&] { return cut(block, target); });

  // Pieces arrive in rank order, which is row order.
  const auto lengths = comm::sparse_alltoallv(comm, std::span<const std::int64_t>(out.lengths), out.row_cuts);
  const auto columns =
      comm::sparse_alltoallv(comm, std::span<const std::int64_t>(block.column), out.entry_cuts);
  const auto values = comm::sparse_alltoallv(comm, std::span<const double>(block.value), out.entry_cuts);

  return comm::agree(comm, [&] {
    RowBlock result{block.global_rows, block.global_columns, target.range(comm.rank()).begin, {}, {}, {}};
    result.row_start.assign(lengths.values.size() + 1, 0);
    std::partial_sum(lengths.values.begin(), lengths.values.end(), result.row_start.begin() + 1);
    result.column.assign(columns.values.begin(), columns.values.end());
    result.value.assign(values.values.begin(), values.values.end());
    return result;
  });
}

Array<double> redistribute(const comm::Comm& comm, std::span<const double> local, const RowPartition& current,
                           const RowPartition& target) {
  const auto moved = comm::sparse_alltoallv(comm, local, cuts(current.range(comm.rank()), target));
  return comm::agree(comm, [&] { return Array<double>(moved.values.begin(), moved.values.end()); });
}

RowPartition balance_nonzeros(const comm::Comm& comm, const RowBlock& block) {
  // An iteration of CG moves 12 bytes per nonzero and, counting its vector operations, about 96 per row.
  constexpr std::int64_t nonzeros_per_row_cost = 8;
  const auto weights = comm::agree(comm, [&] {
    std::vector<std::int64_t> costs(block.rows());
    for (std::int64_t i = 0; i < block.rows(); ++i) {
      costs[i] = block.row_start[i + 1] - block.row_start[i] + nonzeros_per_row_cost;
    }
    return costs;
  });
  return RowPartition::balanced(comm, partition_of(comm, block), weights);
}

RowBlock transpose(const comm::Comm& comm, const RowBlock& block, const RowPartition& partition) {
  auto batches = comm::agree(comm, [&] { return transposed_entries(block); });
  return assemble(comm, partition, block.global_rows, std::move(batches));
}

}  // namespace ayatori::sparse
