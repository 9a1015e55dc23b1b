#include "ayatori/sparse/graph_partition.hpp"

#include <metis.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "ayatori/comm/agree.hpp"

namespace ayatori::sparse {

namespace {

/// The rows of A + A^T without the diagonal; values do not matter.
RowBlock symmetrized_graph(const comm::Comm& comm, const RowBlock& block) {
  std::vector<Array<Entry>> edges(1);
  for (std::int64_t i = 0; i < block.rows(); ++i) {
    for (std::int64_t k = block.row_start[i]; k < block.row_start[i + 1]; ++k) {
      const std::int64_t row = block.first_row + i;
      if (block.column[k] == row) continue;
      edges[0].push_back({row, block.column[k], 1});
      edges[0].push_back({block.column[k], row, 1});
    }
  }
  return assemble(comm, partition_of(comm, block), block.global_columns, std::move(edges));
}

/// The whole graph as METIS wants it, on rank 0.
struct Graph {
  std::vector<idx_t> starts;
  std::vector<idx_t> neighbours;
  std::vector<idx_t> weights;
};

Graph gather_graph(const comm::Comm& comm, const RowBlock& block) {
  const RowBlock local = symmetrized_graph(comm, block);
  const auto edges = comm.allreduce(local.nonzeros(), comm::ReduceOp::sum);
  comm::agree(comm, [&] {
    if (edges > std::numeric_limits<idx_t>::max()) {
      throw EnvironmentError(
          fmt::format("a graph of {} edges exceeds METIS's index type: use the contiguous partition", edges));
    }
  });
  std::vector<idx_t> degrees(local.rows());
  std::vector<idx_t> weights(local.rows());
  for (std::int64_t i = 0; i < local.rows(); ++i) {
    degrees[i] = static_cast<idx_t>(local.row_start[i + 1] - local.row_start[i]);
    weights[i] = static_cast<idx_t>(block.row_start[i + 1] - block.row_start[i] + 1);
  }
  const std::vector<idx_t> neighbours(local.column.begin(), local.column.end());
  const auto all_degrees = comm.gatherv(std::span<const idx_t>(degrees), 0);
  Graph graph;
  graph.weights = comm.gatherv(std::span<const idx_t>(weights), 0).values;
  graph.neighbours = comm.gatherv(std::span<const idx_t>(neighbours), 0).values;
  graph.starts.assign(all_degrees.values.size() + 1, 0);
  std::partial_sum(all_degrees.values.begin(), all_degrees.values.end(), graph.starts.begin() + 1);
  return graph;
}

/// The part of every row, by METIS; called on rank 0.
std::vector<std::int32_t> partition_graph(Graph& graph, int parts) {
  auto rows = static_cast<idx_t>(graph.weights.size());
  if (rows == 0 || parts == 1) return std::vector<std::int32_t>(graph.weights.size(), 0);  // METIS divides by zero
  idx_t constraints = 1;
  idx_t part_count = parts;
  idx_t cut = 0;
  std::vector<idx_t> part(rows, 0);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;  // the same partition every time
  const int code = METIS_PartGraphKway(&rows, &constraints, graph.starts.data(), graph.neighbours.data(),
                                       graph.weights.data(), nullptr, nullptr, &part_count, nullptr, nullptr,
                                       options, &cut, part.data());
  if (code != METIS_OK)
    throw EnvironmentError(fmt::format("METIS could not partition the graph (code {})", code));
  return {part.begin(), part.end()};
}

/// Sends rank 0's numbers to the ranks that hold the rows.
std::vector<std::int32_t> scatter(const comm::Comm& comm, const std::vector<std::int32_t>& all,
                                  const RowPartition& rows) {
  std::vector<std::int64_t> offsets =
      comm.rank() == 0 ? rows.starts() : std::vector<std::int64_t>(comm.size() + 1, 0);
  return comm.alltoallv(std::span<const std::int32_t>(all), offsets).values;
}

/// Values that `partition` spreads, fetched by global number from whoever holds them.
std::vector<std::int64_t> fetch(const comm::Comm& comm, const RowPartition& partition,
                                std::span<const std::int64_t> local,
                                const std::vector<std::int64_t>& wanted) {
  std::vector<std::int64_t> offsets(comm.size() + 1);
  for (int r = 0; r <= comm.size(); ++r) {
    offsets[r] = std::ranges::lower_bound(wanted, partition.starts()[r]) - wanted.begin();
  }
  auto asked = comm.alltoallv(std::span<const std::int64_t>(wanted), offsets);
  const std::int64_t first = partition.range(comm.rank()).begin;
  for (std::int64_t& number : asked.values) number = local[number - first];
  return comm.alltoallv(std::span<const std::int64_t>(asked.values), asked.offsets).values;
}

/// A value on its way to a place of the other numbering.
struct Placed {
  std::int64_t number;
  double value;
};

/// Sends values[i] to the owner of numbers[i] in `target`.
Array<double> place(const comm::Comm& comm, std::span<const double> values,
                    std::span<const std::int64_t> numbers, const RowPartition& target) {
  std::vector<Placed> sent(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) sent[i] = {numbers[i], values[i]};
  std::ranges::sort(sent, {}, &Placed::number);
  std::vector<std::int64_t> offsets(comm.size() + 1);
  for (int r = 0; r <= comm.size(); ++r) {
    offsets[r] = std::ranges::lower_bound(sent, target.starts()[r], {}, &Placed::number) - sent.begin();
  }
  const auto received = comm.alltoallv(std::span<const Placed>(sent), offsets);
  const Range mine = target.range(comm.rank());
  Array<double> result(mine.size());
  for (const Placed& placed : received.values) result[placed.number - mine.begin] = placed.value;
  return result;
}

}  // namespace

Permutation graph_partition(const comm::Comm& comm, const RowBlock& block) {
  Graph graph = gather_graph(comm, block);
  const auto all_parts = comm::agree(comm, [&] {
    return comm.rank() == 0 ? partition_graph(graph, comm.size()) : std::vector<std::int32_t>();
  });
  const RowPartition current = partition_of(comm, block);
  const auto part = scatter(comm, all_parts, current);

  // New numbers: by part, then by rank that holds the row now, then by old number.
  std::vector<std::int64_t> mine(comm.size(), 0);
  for (const std::int32_t p : part) ++mine[p];
  std::vector<std::int64_t> before(mine);
  comm.collectives().exclusive_scan(comm, before.data(), comm.size(), comm::DataType::int64,
                                    comm::ReduceOp::sum);
  if (comm.rank() == 0) std::ranges::fill(before, 0);
  std::vector<std::int64_t> starts(comm.size() + 1, 0);
  comm.allreduce(std::span(mine), comm::ReduceOp::sum);
  std::partial_sum(mine.begin(), mine.end(), starts.begin() + 1);

  Permutation permutation{current, RowPartition(starts), Array<std::int64_t>(part.size())};
  for (std::size_t i = 0; i < part.size(); ++i)
    permutation.new_number[i] = starts[part[i]] + before[part[i]]++;
  return permutation;
}

RowBlock permute(const comm::Comm& comm, const RowBlock& block, const Permutation& permutation) {
  std::vector<std::int64_t> columns(block.column.begin(), block.column.end());
  std::ranges::sort(columns);
  const auto repeated = std::ranges::unique(columns);
  columns.erase(repeated.begin(), repeated.end());
  const auto new_columns = fetch(comm, permutation.current, permutation.new_number, columns);

  std::vector<Array<Entry>> entries(1);
  entries[0].reserve(block.nonzeros());
  for (std::int64_t i = 0; i < block.rows(); ++i) {
    for (std::int64_t k = block.row_start[i]; k < block.row_start[i + 1]; ++k) {
      const auto place = std::ranges::lower_bound(columns, block.column[k]) - columns.begin();
      entries[0].push_back({permutation.new_number[i], new_columns[place], block.value[k]});
    }
  }
  return assemble(comm, permutation.target, block.global_columns, std::move(entries));
}

Array<double> permute(const comm::Comm& comm, std::span<const double> local, const Permutation& permutation) {
  return place(comm, local, permutation.new_number, permutation.target);
}

Array<double> permute_back(const comm::Comm& comm, std::span<const double> local,
                           const Permutation& permutation) {
  // Whoever holds a new row now has to know its old number: the same journey made by the old numbers
  // themselves.
  std::vector<double> old_numbers(permutation.new_number.size());
  const std::int64_t first = permutation.current.range(comm.rank()).begin;
  for (std::size_t i = 0; i < old_numbers.size(); ++i)
    old_numbers[i] = static_cast<double>(first + static_cast<std::int64_t>(i));
  const auto moved = permute(comm, std::span<const double>(old_numbers), permutation);
  const std::vector<std::int64_t> numbers(moved.begin(), moved.end());
  return place(comm, local, numbers, permutation.current);
}

}  // namespace ayatori::sparse
