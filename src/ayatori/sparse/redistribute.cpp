#include <algorithm>

#include "ayatori/base/parallel.hpp"
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

}  // namespace

RowPartition partition_of(const comm::Comm& comm, const RowBlock& block) {
  auto starts = comm.allgather(block.first_row);
  starts.push_back(block.global_rows);
  return RowPartition(std::move(starts));
}

RowBlock redistribute(const comm::Comm& comm, const RowBlock& block, const RowPartition& target) {
  const Range mine{block.first_row, block.first_row + block.rows()};
  const auto row_cuts = cuts(mine, target);
  std::vector<std::int64_t> entry_cuts(row_cuts.size());
  for (std::size_t r = 0; r < row_cuts.size(); ++r) entry_cuts[r] = block.row_start[row_cuts[r]];

  Array<std::int64_t> lengths(block.rows());
  for (std::int64_t i = 0; i < block.rows(); ++i) lengths[i] = block.row_start[i + 1] - block.row_start[i];

  // Pieces arrive in rank order, which is row order.
  const auto new_lengths = comm.alltoallv(std::span<const std::int64_t>(lengths), row_cuts);
  const auto columns = comm.alltoallv(std::span<const std::int64_t>(block.column), entry_cuts);
  const auto values = comm.alltoallv(std::span<const double>(block.value), entry_cuts);

  RowBlock result{block.global_rows, block.global_columns, target.range(comm.rank()).begin, {}, {}, {}};
  result.row_start.assign(new_lengths.values.size() + 1, 0);
  std::partial_sum(new_lengths.values.begin(), new_lengths.values.end(), result.row_start.begin() + 1);
  result.column.assign(columns.values.begin(), columns.values.end());
  result.value.assign(values.values.begin(), values.values.end());
  return result;
}

Array<double> redistribute(const comm::Comm& comm, std::span<const double> local, const RowPartition& current,
                           const RowPartition& target) {
  const auto moved = comm.alltoallv(local, cuts(current.range(comm.rank()), target));
  return {moved.values.begin(), moved.values.end()};
}

RowPartition balance_nonzeros(const comm::Comm& comm, const RowBlock& block) {
  // An iteration of CG moves 12 bytes per nonzero and, counting its vector operations, about 96 per row.
  constexpr std::int64_t nonzeros_per_row_cost = 8;
  std::vector<std::int64_t> weights(block.rows());
  for (std::int64_t i = 0; i < block.rows(); ++i) {
    weights[i] = block.row_start[i + 1] - block.row_start[i] + nonzeros_per_row_cost;
  }
  return RowPartition::balanced(comm, partition_of(comm, block), weights);
}

RowBlock transpose(const comm::Comm& comm, const RowBlock& block, const RowPartition& partition) {
  // One batch per thread; the rows of a batch ascend, so each transposed row comes out sorted.
  const int threads = threads_for(block.rows());
  std::vector<Array<Entry>> batches(threads);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int t = 0; t < threads; ++t) {
    const Range rows = split_evenly(block.rows(), threads, t);
    batches[t].reserve(block.row_start[rows.end] - block.row_start[rows.begin]);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      for (std::int64_t k = block.row_start[i]; k < block.row_start[i + 1]; ++k) {
        batches[t].push_back({block.column[k], block.first_row + i, block.value[k]});
      }
    }
  }
  return assemble(comm, partition, block.global_rows, std::move(batches));
}

}  // namespace ayatori::sparse
