#include "ayatori/sparse/partition/row_partition.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ayatori/base/error.hpp"

namespace ayatori::sparse {

RowPartition::RowPartition(std::vector<std::int64_t> starts) : starts_(std::move(starts)) {
  AYATORI_ASSERT(starts_.size() >= 2 && starts_.front() == 0);
  AYATORI_ASSERT(std::ranges::is_sorted(starts_));
}

RowPartition RowPartition::even(std::int64_t rows, int ranks) {
  std::vector<std::int64_t> starts(ranks + 1, rows);
  for (int r = 0; r < ranks; ++r) starts[r] = split_evenly(rows, ranks, r).begin;
  return RowPartition(std::move(starts));
}

RowPartition RowPartition::on_first(std::int64_t rows, int ranks) {
  std::vector<std::int64_t> starts(ranks + 1, rows);
  starts.front() = 0;
  return RowPartition(std::move(starts));
}

RowPartition RowPartition::balanced(const comm::Comm& comm, const RowPartition& current,
                                    std::span<const std::int64_t> weights) {
  const std::int64_t parts = comm.size();
  const auto all = comm.allgather(std::reduce(weights.begin(), weights.end(), std::int64_t{0}));
  const std::int64_t before = std::reduce(all.begin(), all.begin() + comm.rank());
  const std::int64_t total = std::reduce(all.begin(), all.end());
  if (total == 0) return even(current.rows(), comm.size());

  // Boundary k is ideal where the running weight is k total / parts; the rank in whose rows that falls
  // decides.
  std::vector<std::int64_t> starts(parts + 1, 0);
  const std::int64_t first_row = current.range(comm.rank()).begin;
  std::int64_t sum = before;
  std::int64_t k = std::min(parts, before * parts / total + 1);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const std::int64_t next = sum + weights[i];
    for (; k < parts && next * parts >= k * total; ++k) {
      const std::int64_t excess_after = next * parts - k * total;
      const std::int64_t lack_before = k * total - sum * parts;
      starts[k] = first_row + static_cast<std::int64_t>(i) + (excess_after <= lack_before ? 1 : 0);
    }
    sum = next;
  }
  comm.allreduce(std::span(starts), comm::ReduceOp::max);
  starts.back() = current.rows();
  return RowPartition(std::move(starts));
}

int RowPartition::ranks_with_rows() const {
  int count = 0;
  for (int rank = 0; rank < ranks(); ++rank) count += range(rank).empty() ? 0 : 1;
  return count;
}

int RowPartition::owner(std::int64_t row) const {
  AYATORI_ASSERT(row >= 0 && row < rows());
  return static_cast<int>(std::upper_bound(starts_.begin(), starts_.end(), row) - starts_.begin()) - 1;
}

}  // namespace ayatori::sparse
