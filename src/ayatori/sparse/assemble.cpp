#include <algorithm>
#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/sparse/row_block.hpp"

namespace ayatori::sparse {

namespace {

struct ColumnValue {
  std::int64_t column;
  double value;
};

/// Entries grouped by bucket: bucket k is [offsets[k], offsets[k + 1]).
struct Buckets {
  Array<Entry> entries;
  std::vector<std::int64_t> offsets;
};

/// A stable counting sort by `bucket_of(entry)`, a pass to count and a pass to move; batches are shared among
/// threads.
template <class BucketOf>
Buckets sort_into_buckets(std::vector<Array<Entry>> batches, int buckets, BucketOf&& bucket_of) {
  const auto batch_count = static_cast<std::int64_t>(batches.size());
  std::vector<std::vector<std::int64_t>> position(batches.size(), std::vector<std::int64_t>(buckets, 0));
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t b = 0; b < batch_count; ++b) {
    for (const Entry& entry : batches[b]) ++position[b][bucket_of(entry)];
  }
  Buckets result{{}, std::vector<std::int64_t>(buckets + 1, 0)};
  std::int64_t total = 0;
  for (int k = 0; k < buckets; ++k) {
    for (auto& counts : position) total += std::exchange(counts[k], total);
    result.offsets[k + 1] = total;
  }
  result.entries.resize(total);
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t b = 0; b < batch_count; ++b) {
    for (const Entry& entry : batches[b]) result.entries[position[b][bucket_of(entry)]++] = entry;
    Array<Entry>().swap(batches[b]);
  }
  return result;
}

/// Sorts a row by column, keeping the order of equal columns so that their sum does not depend on chance, and
/// sums them. Returns the length that remains.
std::int64_t sort_and_sum(std::span<ColumnValue> row) {
  const auto by_column = [](const ColumnValue& a, const ColumnValue& b) { return a.column < b.column; };
  if (!std::is_sorted(row.begin(), row.end(), by_column)) std::stable_sort(row.begin(), row.end(), by_column);
  std::int64_t kept = 0;
  for (const ColumnValue& entry : row) {
    if (kept > 0 && row[kept - 1].column == entry.column) {
      row[kept - 1].value += entry.value;
    } else {
      row[kept++] = entry;
    }
  }
  return kept;
}

/// The rows of one thread while they are compressed.
struct RowGroup {
  Range rows;                  // relative to the rank's first row
  Array<std::int64_t> start;   // rows.size() + 1, of the unsummed rows
  Array<std::int64_t> length;  // rows.size(), after summing
  Array<ColumnValue> entries;
  std::int64_t nonzeros = 0;

  void compress(std::span<const Entry> source, std::int64_t first_row) {
    start.assign(rows.size() + 1, 0);
    for (const Entry& entry : source) ++start[entry.row - first_row - rows.begin + 1];
    std::partial_sum(start.begin(), start.end(), start.begin());
    entries.resize(source.size());
    Array<std::int64_t> next(start.begin(), start.end() - 1);
    for (const Entry& entry : source) {
      entries[next[entry.row - first_row - rows.begin]++] = {entry.column, entry.value};
    }
    length.resize(rows.size());
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      length[i] = sort_and_sum(std::span(entries).subspan(start[i], start[i + 1] - start[i]));
      nonzeros += length[i];
    }
  }

  void copy_to(RowBlock& block, std::int64_t position) const {
    for (std::int64_t i = 0; i < rows.size(); ++i) {
      for (std::int64_t k = start[i]; k < start[i] + length[i]; ++k, ++position) {
        block.column[position] = entries[k].column;
        block.value[position] = entries[k].value;
      }
      block.row_start[rows.begin + i + 1] = position;
    }
  }
};

}  // namespace

RowBlock assemble(const comm::Comm& comm, const RowPartition& partition, std::int64_t columns,
                  std::vector<Array<Entry>> batches) {
  if (comm.size() > 1) {
    const Buckets by_rank = sort_into_buckets(std::move(batches), comm.size(),
                                              [&](const Entry& entry) { return partition.owner(entry.row); });
    const auto received = comm.alltoallv(std::span<const Entry>(by_rank.entries), by_rank.offsets);
    batches.assign(1, Array<Entry>(received.values.begin(), received.values.end()));
  }
  const Range mine = partition.range(comm.rank());
  const int threads = threads_for(mine.size());
  const auto group_of = [&](const Entry& entry) {
    return static_cast<int>((entry.row - mine.begin) * threads / std::max<std::int64_t>(mine.size(), 1));
  };
  const Buckets by_thread = sort_into_buckets(std::move(batches), threads, group_of);

  std::vector<RowGroup> groups(threads);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int t = 0; t < threads; ++t) {
    // Rows r with r * threads / rows == t: the inverse of group_of.
    const auto first = [&](std::int64_t k) { return (k * mine.size() + threads - 1) / threads; };
    groups[t].rows = {first(t), first(t + 1)};
    groups[t].compress(std::span(by_thread.entries)
                           .subspan(by_thread.offsets[t], by_thread.offsets[t + 1] - by_thread.offsets[t]),
                       mine.begin);
  }
  std::vector<std::int64_t> position(threads + 1, 0);
  for (int t = 0; t < threads; ++t) position[t + 1] = position[t] + groups[t].nonzeros;

  RowBlock block{partition.rows(),
                 columns,
                 mine.begin,
                 Array<std::int64_t>(mine.size() + 1),
                 Array<std::int64_t>(position.back()),
                 Array<double>(position.back())};
  block.row_start[0] = 0;
#pragma omp parallel for schedule(static, 1) num_threads(threads)
  for (int t = 0; t < threads; ++t) groups[t].copy_to(block, position[t]);
  return block;
}

}  // namespace ayatori::sparse
