#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "ayatori/base/parallel.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/transfers/sparse_exchange.hpp"
#include "ayatori/sparse/row_block.hpp"

namespace ayatori::sparse {

namespace {

using Batches = std::vector<Array<Entry>>;

/// Calls body(entry) for all entries, batches shared among threads. The body must not throw.
template <class Body>
void for_each_entry(const Batches& batches, Body&& body) {
  const auto count = static_cast<std::int64_t>(batches.size());
#pragma omp parallel for schedule(dynamic) if (count > 1)
  for (std::int64_t b = 0; b < count; ++b) {
    for (const Entry& entry : batches[b]) body(entry);
  }
}

/// Counters that several threads may advance at once; plain ones where there is only one thread to do it.
class Counters {
 public:
  Counters(std::int64_t size, std::size_t batches)
      : values_(size, 0), shared_(batches > 1 && max_threads() > 1) {}

  /// The value before.
  std::int64_t advance(std::int64_t i) {
    if (!shared_) return values_[i]++;
    std::int64_t before = 0;
#pragma omp atomic capture relaxed
    before = values_[i]++;
    return before;
  }
  Array<std::int64_t>& values() {
    return values_;
  }

 private:
  Array<std::int64_t> values_;
  bool shared_;
};

/// counts[k] becomes the sum of the counts before k; gives the same with the total behind.
Array<std::int64_t> counts_to_starts(Array<std::int64_t>& counts) {
  Array<std::int64_t> starts(counts.size() + 1);
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < counts.size(); ++k) {
    starts[k] = sum;
    sum += std::exchange(counts[k], sum);
  }
  starts.back() = sum;
  return starts;
}

/// Collective. The entries whose rows this rank owns.
Batches exchange(const comm::Comm& comm, const RowPartition& partition, Batches batches) {
  struct Outgoing {
    Array<Entry> entries;
    Array<std::int64_t> offsets;
  };
  const auto outgoing = comm::agree(comm, [&] {
    Counters position(comm.size(), batches.size());
    for_each_entry(batches, [&](const Entry& entry) { position.advance(partition.owner(entry.row)); });
    Outgoing result{{}, counts_to_starts(position.values())};
    result.entries.resize(result.offsets.back());
    for_each_entry(batches, [&](const Entry& entry) {
      result.entries[position.advance(partition.owner(entry.row))] = entry;
    });
    Batches().swap(batches);
    return result;
  });
  const auto received =
      comm::sparse_alltoallv(comm, std::span<const Entry>(outgoing.entries), outgoing.offsets);
  return comm::agree(comm, [&] {
    // One batch per thread, so that compressing them is shared again.
    const int parts = threads_for(static_cast<std::int64_t>(received.values.size()));
    Batches result;
    for (int t = 0; t < parts; ++t) {
      const Range part = split_evenly(static_cast<std::int64_t>(received.values.size()), parts, t);
      result.emplace_back(received.values.begin() + part.begin, received.values.begin() + part.end);
    }
    return result;
  });
}

/// The entries in their rows, rows in no order and nothing summed.
RowBlock place_in_rows(const RowPartition& partition, Range mine, std::int64_t columns,
                       const Batches& batches) {
  Counters position(mine.size(), batches.size());
  for_each_entry(batches, [&](const Entry& entry) { position.advance(entry.row - mine.begin); });
  RowBlock block{partition.rows(), columns, mine.begin, counts_to_starts(position.values()), {}, {}};
  block.column.resize(block.row_start.back());
  block.value.resize(block.row_start.back());
  for_each_entry(batches, [&](const Entry& entry) {
    const std::int64_t place = position.advance(entry.row - mine.begin);
    block.column[place] = entry.column;
    block.value[place] = entry.value;
  });
  return block;
}

struct ColumnValue {
  std::int64_t column;
  double value;

  /// By column; equal ones by value, so that their sum does not depend on the order in which they came.
  bool operator<(const ColumnValue& other) const {
    return std::tie(column, value) < std::tie(other.column, other.value);
  }
};

/// Sorts row i; true if it holds a column twice.
bool sort_row(RowBlock& block, std::int64_t i, Array<ColumnValue>& buffer) {
  const std::int64_t begin = block.row_start[i];
  const std::int64_t length = block.row_start[i + 1] - begin;
  std::int64_t* column = block.column.data() + begin;
  double* value = block.value.data() + begin;
  if (std::adjacent_find(column, column + length, std::greater_equal<>()) == column + length) return false;
  for (std::int64_t k = 0; k < length; ++k) buffer[k] = {column[k], value[k]};
  std::sort(buffer.begin(), buffer.begin() + length);
  for (std::int64_t k = 0; k < length; ++k) {
    column[k] = buffer[k].column;
    value[k] = buffer[k].value;
  }
  return std::adjacent_find(column, column + length) != column + length;
}

/// Sorts all rows; true if some hold a column twice.
bool sort_rows(RowBlock& block) {
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < block.rows(); ++i) {
    longest = std::max(longest, block.row_start[i + 1] - block.row_start[i]);
  }
  const int threads = threads_for(block.rows());
  std::vector<Array<ColumnValue>> buffers(threads);
  for (auto& buffer : buffers) buffer.resize(longest);
  int repeated = 0;
#pragma omp parallel for schedule(static, 1) num_threads(threads) reduction(max : repeated)
  for (int t = 0; t < threads; ++t) {
    const Range rows = split_evenly(block.rows(), threads, t);
    for (std::int64_t i = rows.begin; i < rows.end; ++i) {
      if (sort_row(block, i, buffers[t])) repeated = 1;
    }
  }
  return repeated != 0;
}

[[noreturn]] void refuse_sum(const RowBlock& block, std::int64_t i, std::int64_t column) {
  throw InputError(
      fmt::format("row {}, column {}: the sum of the entries given for this place is too large for a double",
                  block.first_row + i + 1, column + 1));
}

/// Sums equal columns of sorted rows and closes the gaps, in place. Throws InputError where a sum overflows.
void sum_repeated(RowBlock& block) {
  std::int64_t kept = 0;
  std::int64_t begin = 0;
  for (std::int64_t i = 0; i < block.rows(); ++i) {
    const std::int64_t end = block.row_start[i + 1];
    const std::int64_t row = kept;
    for (std::int64_t k = begin; k < end; ++k) {
      if (kept > row && block.column[kept - 1] == block.column[k]) {
        block.value[kept - 1] += block.value[k];
        if (!std::isfinite(block.value[kept - 1])) refuse_sum(block, i, block.column[k]);
      } else {
        block.column[kept] = block.column[k];
        block.value[kept++] = block.value[k];
      }
    }
    begin = end;
    block.row_start[i + 1] = kept;
  }
  block.column.resize(kept);
  block.value.resize(kept);
}

}  // namespace

RowBlock assemble(const comm::Comm& comm, const RowPartition& partition, std::int64_t columns,
                  Batches batches) {
  if (comm.size() > 1) batches = exchange(comm, partition, std::move(batches));
  return comm::agree(comm, [&] {
    RowBlock block = place_in_rows(partition, partition.range(comm.rank()), columns, batches);
    Batches().swap(batches);
    if (sort_rows(block)) sum_repeated(block);
    return block;
  });
}

}  // namespace ayatori::sparse
