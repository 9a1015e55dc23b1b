#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/partition/graph_partition.hpp"

namespace ayatori::sparse {

/// The graph of A + A^T without its diagonal, spread by rows, as partitioners want it.
struct DistributedGraph {
  RowPartition rows;
  std::vector<std::int64_t> starts;  ///< start of each of this rank's rows among `neighbours`, and the end
  std::vector<std::int64_t> neighbours;  ///< global; each edge is there from both ends
  std::vector<std::int64_t> weights;     ///< weight of each of this rank's rows: its nonzeros and one
  std::int64_t edges = 0;                ///< edges of all ranks
};

/// Deals rows into one part per rank.
struct Partitioner {
  std::string_view name;
  std::string_view what;
  std::int64_t most_edges;  ///< edges of a graph it is asked for; the next in the list takes larger ones
  /// Collective. The part of each of this rank's rows: nearly equal weights, few edges between parts, the
  /// same every time. There are two parts at least, and twice as many rows. Throws EnvironmentError (agreed).
  std::vector<std::int32_t> (*parts)(const comm::Comm& comm, const DistributedGraph& graph);
};

/// All that are built in, by the size of the graphs that they are for; the last takes all others.
std::span<const Partitioner> partitioners();

/// Collective. The graph partition by this partitioner, however large the graph.
Permutation graph_partition(const comm::Comm& comm, const RowBlock& block, const Partitioner& partitioner);

extern const Partitioner metis_partitioner;
extern const Partitioner ptscotch_partitioner;

}  // namespace ayatori::sparse
