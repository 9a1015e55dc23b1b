#include "ayatori/sparse/partition/graph_partition.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/transfers/sparse_exchange.hpp"
#include "ayatori/sparse/partition/move_parts.hpp"
#include "ayatori/sparse/partition/partitioner.hpp"

namespace ayatori::sparse {

namespace {

/// The rows of A + A^T without the diagonal; values do not matter.
RowBlock symmetrized_graph(const comm::Comm& comm, const RowBlock& block) {
  auto edges = comm::agree(comm, [&] {
    std::vector<Array<Entry>> both(1);
    for (std::int64_t i = 0; i < block.rows(); ++i) {
      for (std::int64_t k = block.row_start[i]; k < block.row_start[i + 1]; ++k) {
        const std::int64_t row = block.first_row + i;
        if (block.column[k] == row) continue;
        both[0].push_back({row, block.column[k], 1});
        both[0].push_back({block.column[k], row, 1});
      }
    }
    return both;
  });
  return assemble(comm, partition_of(comm, block), block.global_columns, std::move(edges));
}

/// Collective.
DistributedGraph graph_of(const comm::Comm& comm, const RowBlock& block) {
  const RowPartition rows = partition_of(comm, block);
  const RowBlock symmetrized = symmetrized_graph(comm, block);
  auto graph = comm::agree(comm, [&] {
    DistributedGraph local{rows,
                           {symmetrized.row_start.begin(), symmetrized.row_start.end()},
                           {symmetrized.column.begin(), symmetrized.column.end()},
                           std::vector<std::int64_t>(block.rows())};
    for (std::int64_t i = 0; i < block.rows(); ++i)
      local.weights[i] = block.row_start[i + 1] - block.row_start[i] + 1;
    return local;
  });
  graph.edges = comm.allreduce(symmetrized.nonzeros(), comm::ReduceOp::sum);
  return graph;
}

/// METIS divides by zero where there is one part, and prints where parts get no row.
bool is_too_small(const comm::Comm& comm, const RowBlock& block) {
  return comm.size() == 1 || block.global_rows < 2 * comm.size();
}

/// Collective. Rows stay where they are.
Permutation leave(const comm::Comm& comm, const RowBlock& block) {
  const RowPartition current = partition_of(comm, block);
  return comm::agree(comm, [&] { return unchanged(current, comm.rank()); });
}

/// Collective. New numbers: by part, then by rank that holds the row now, then by old number.
Permutation number_by_part(const comm::Comm& comm, const RowPartition& current,
                           std::span<const std::int32_t> part) {
  std::vector<std::int64_t> mine(comm.size(), 0);
  for (const std::int32_t p : part) ++mine[p];
  std::vector<std::int64_t> before(mine);
  comm.collectives().exclusive_scan(comm, before.data(), comm.size(), comm::DataType::int64,
                                    comm::ReduceOp::sum);
  if (comm.rank() == 0) std::ranges::fill(before, 0);
  std::vector<std::int64_t> starts(comm.size() + 1, 0);
  comm.allreduce(std::span(mine), comm::ReduceOp::sum);
  std::partial_sum(mine.begin(), mine.end(), starts.begin() + 1);

  return comm::agree(comm, [&] {
    Permutation permutation{current, RowPartition(starts), Array<std::int64_t>(part.size())};
    for (std::size_t i = 0; i < part.size(); ++i)
      permutation.new_number[i] = starts[part[i]] + before[part[i]]++;
    return permutation;
  });
}

/// Values that `partition` spreads, fetched by global number from whoever holds them.
std::vector<std::int64_t> fetch(const comm::Comm& comm, const RowPartition& partition,
                                std::span<const std::int64_t> local,
                                const std::vector<std::int64_t>& wanted) {
  std::vector<std::int64_t> offsets(comm.size() + 1);
  for (int r = 0; r <= comm.size(); ++r) {
    offsets[r] = std::ranges::lower_bound(wanted, partition.starts()[r]) - wanted.begin();
  }
  auto asked = comm::sparse_alltoallv(comm, std::span<const std::int64_t>(wanted), offsets);
  const std::int64_t first = partition.range(comm.rank()).begin;
  for (std::int64_t& number : asked.values) number = local[number - first];
  return comm::sparse_alltoallv(comm, std::span<const std::int64_t>(asked.values), asked.offsets).values;
}

/// A value on its way to a place of the other numbering.
struct Placed {
  std::int64_t number;
  double value;
};

/// Sends values[i] to the owner of numbers[i] in `target`.
Array<double> place(const comm::Comm& comm, std::span<const double> values,
                    std::span<const std::int64_t> numbers, const RowPartition& target) {
  const auto sent = comm::agree(comm, [&] {
    std::vector<Placed> sorted(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) sorted[i] = {numbers[i], values[i]};
    std::ranges::sort(sorted, {}, &Placed::number);
    return sorted;
  });
  std::vector<std::int64_t> offsets(comm.size() + 1);
  for (int r = 0; r <= comm.size(); ++r) {
    offsets[r] = std::ranges::lower_bound(sent, target.starts()[r], {}, &Placed::number) - sent.begin();
  }
  const auto received = comm::sparse_alltoallv(comm, std::span<const Placed>(sent), offsets);
  return comm::agree(comm, [&] {
    const Range mine = target.range(comm.rank());
    Array<double> result(mine.size());
    for (const Placed& placed : received.values) result[placed.number - mine.begin] = placed.value;
    return result;
  });
}

}  // namespace

Permutation graph_partition(const comm::Comm& comm, const RowBlock& block) {
  if (is_too_small(comm, block)) return leave(comm, block);
  const DistributedGraph graph = graph_of(comm, block);
  const auto takes = [&](const Partitioner& one) { return graph.edges <= one.most_edges; };
  const auto found = std::ranges::find_if(partitioners(), takes);
  return number_by_part(comm, graph.rows,
                        (found == partitioners().end() ? partitioners().back() : *found).parts(comm, graph));
}

Permutation graph_partition(const comm::Comm& comm, const RowBlock& block, const Partitioner& partitioner) {
  if (is_too_small(comm, block)) return leave(comm, block);
  const DistributedGraph graph = graph_of(comm, block);
  return number_by_part(comm, graph.rows, partitioner.parts(comm, graph));
}

RowBlock permute(const comm::Comm& comm, const RowBlock& block, const Permutation& permutation) {
  const auto columns = comm::agree(comm, [&] {
    std::vector<std::int64_t> different(block.column.begin(), block.column.end());
    std::ranges::sort(different);
    const auto repeated = std::ranges::unique(different);
    different.erase(repeated.begin(), repeated.end());
    return different;
  });
  const auto new_columns = fetch(comm, permutation.current, permutation.new_number, columns);

  auto entries = comm::agree(comm, [&] {
    std::vector<Array<Entry>> renumbered(1);
    renumbered[0].reserve(block.nonzeros());
    for (std::int64_t i = 0; i < block.rows(); ++i) {
      for (std::int64_t k = block.row_start[i]; k < block.row_start[i + 1]; ++k) {
        const auto place = std::ranges::lower_bound(columns, block.column[k]) - columns.begin();
        renumbered[0].push_back({permutation.new_number[i], new_columns[place], block.value[k]});
      }
    }
    return renumbered;
  });
  return assemble(comm, permutation.target, block.global_columns, std::move(entries));
}

Array<double> permute(const comm::Comm& comm, std::span<const double> local, const Permutation& permutation) {
  return place(comm, local, permutation.new_number, permutation.target);
}

Array<double> permute_back(const comm::Comm& comm, std::span<const double> local,
                           const Permutation& permutation) {
  // Whoever holds a new row now has to know its old number: the same journey made by the old numbers
  // themselves.
  const auto old_numbers = comm::agree(comm, [&] {
    std::vector<double> numbers(permutation.new_number.size());
    std::iota(numbers.begin(), numbers.end(),
              static_cast<double>(permutation.current.range(comm.rank()).begin));
    return numbers;
  });
  const auto moved = permute(comm, std::span<const double>(old_numbers), permutation);
  const auto numbers =
      comm::agree(comm, [&] { return std::vector<std::int64_t>(moved.begin(), moved.end()); });
  return place(comm, local, numbers, permutation.current);
}

}  // namespace ayatori::sparse
