#include "ayatori/sparse/partition/graph_partition.hpp"

#include <metis.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/transfers/sparse_exchange.hpp"

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

/// The whole graph as METIS wants it, on rank 0.
struct Graph {
  std::vector<idx_t> starts;
  std::vector<idx_t> neighbours;
  std::vector<idx_t> weights;
};

/// The rows of the graph that one rank has.
struct LocalGraph {
  std::vector<idx_t> degrees;
  std::vector<idx_t> neighbours;
  std::vector<idx_t> weights;
};

LocalGraph local_graph(const RowBlock& symmetrized, const RowBlock& block, std::int64_t edges) {
  // METIS adds weights up, too: of a row its entries, the diagonal among them, and one.
  if (edges + 2 * block.global_rows > std::numeric_limits<idx_t>::max()) {
    throw EnvironmentError(
        fmt::format("a graph of {} edges exceeds METIS's index type: use the contiguous partition", edges));
  }
  LocalGraph local;
  for (std::int64_t i = 0; i < block.rows(); ++i) {
    local.degrees.push_back(static_cast<idx_t>(symmetrized.row_start[i + 1] - symmetrized.row_start[i]));
    local.weights.push_back(static_cast<idx_t>(block.row_start[i + 1] - block.row_start[i] + 1));
  }
  local.neighbours.assign(symmetrized.column.begin(), symmetrized.column.end());
  return local;
}

Graph gather_graph(const comm::Comm& comm, const RowBlock& block) {
  const RowBlock symmetrized = symmetrized_graph(comm, block);
  const auto edges = comm.allreduce(symmetrized.nonzeros(), comm::ReduceOp::sum);
  const LocalGraph local = comm::agree(comm, [&] { return local_graph(symmetrized, block, edges); });
  const auto degrees = comm.gatherv(std::span<const idx_t>(local.degrees), 0).values;
  Graph graph;
  graph.weights = comm.gatherv(std::span<const idx_t>(local.weights), 0).values;
  graph.neighbours = comm.gatherv(std::span<const idx_t>(local.neighbours), 0).values;
  comm::agree(comm, [&] { graph.starts.assign(degrees.size() + 1, 0); });
  std::partial_sum(degrees.begin(), degrees.end(), graph.starts.begin() + 1);
  return graph;
}

/// The part of every row, by METIS; called on rank 0. A graph too small to be worth it stays as it is: METIS
/// divides by zero where there is one part, and prints where parts get no row.
std::vector<std::int32_t> partition_graph(Graph& graph, const RowPartition& current) {
  auto rows = static_cast<idx_t>(graph.weights.size());
  const int parts = current.ranks();
  if (parts == 1 || rows < 2 * parts) {
    std::vector<std::int32_t> owners;
    for (idx_t row = 0; row < rows; ++row) owners.push_back(current.owner(row));
    return owners;
  }
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
  return comm::sparse_alltoallv(comm, std::span<const std::int32_t>(all), offsets).values;
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
  Graph graph = gather_graph(comm, block);
  const RowPartition current = partition_of(comm, block);
  const auto all_parts = comm::agree(
      comm, [&] { return comm.rank() == 0 ? partition_graph(graph, current) : std::vector<std::int32_t>(); });
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

  return comm::agree(comm, [&] {
    Permutation permutation{current, RowPartition(starts), Array<std::int64_t>(part.size())};
    for (std::size_t i = 0; i < part.size(); ++i)
      permutation.new_number[i] = starts[part[i]] + before[part[i]]++;
    return permutation;
  });
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
