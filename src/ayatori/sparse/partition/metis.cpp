#include <metis.h>

#include <limits>
#include <numeric>

#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/transfers/sparse_exchange.hpp"
#include "ayatori/sparse/partition/partitioner.hpp"

namespace ayatori::sparse {

namespace {

/// The whole graph, on rank 0.
struct Graph {
  std::vector<idx_t> starts;
  std::vector<idx_t> neighbours;
  std::vector<idx_t> weights;
};

Graph gather(const comm::Comm& comm, const DistributedGraph& graph) {
  const auto mine = comm::agree(comm, [&] {
    // METIS adds weights up, too.
    if (graph.edges + 2 * graph.rows.rows() > std::numeric_limits<idx_t>::max()) {
      throw EnvironmentError(fmt::format(
          "a graph of {} edges exceeds METIS's index type: use the contiguous partition", graph.edges));
    }
    std::vector<idx_t> degrees(graph.weights.size());
    for (std::size_t i = 0; i < degrees.size(); ++i)
      degrees[i] = static_cast<idx_t>(graph.starts[i + 1] - graph.starts[i]);
    return Graph{degrees,
                 {graph.neighbours.begin(), graph.neighbours.end()},
                 {graph.weights.begin(), graph.weights.end()}};
  });
  const auto degrees = comm.gatherv(std::span<const idx_t>(mine.starts), 0).values;
  Graph whole;
  whole.weights = comm.gatherv(std::span<const idx_t>(mine.weights), 0).values;
  whole.neighbours = comm.gatherv(std::span<const idx_t>(mine.neighbours), 0).values;
  comm::agree(comm, [&] { whole.starts.assign(degrees.size() + 1, 0); });
  std::partial_sum(degrees.begin(), degrees.end(), whole.starts.begin() + 1);
  return whole;
}

/// Called on rank 0.
std::vector<std::int32_t> cut(Graph& graph, int parts) {
  auto rows = static_cast<idx_t>(graph.weights.size());
  idx_t constraints = 1;
  idx_t part_count = parts;
  idx_t cut_edges = 0;
  std::vector<idx_t> part(rows, 0);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;  // the same partition every time
  const int code = METIS_PartGraphKway(&rows, &constraints, graph.starts.data(), graph.neighbours.data(),
                                       graph.weights.data(), nullptr, nullptr, &part_count, nullptr, nullptr,
                                       options, &cut_edges, part.data());
  if (code != METIS_OK)
    throw EnvironmentError(fmt::format("METIS could not partition the graph (code {})", code));
  return {part.begin(), part.end()};
}

std::vector<std::int32_t> parts(const comm::Comm& comm, const DistributedGraph& graph) {
  Graph whole = gather(comm, graph);
  const auto all = comm::agree(
      comm, [&] { return comm.rank() == 0 ? cut(whole, comm.size()) : std::vector<std::int32_t>(); });
  const std::vector<std::int64_t> nothing(comm.size() + 1, 0);
  return comm::sparse_alltoallv(comm, std::span<const std::int32_t>(all),
                                comm.rank() == 0 ? graph.rows.starts() : nothing)
      .values;
}

}  // namespace

/// What rank 0 holds takes about 16 bytes of an edge, METIS's own memory included: 256 MiB at most.
const Partitioner metis_partitioner{"metis", "k-way, of a graph that rank 0 gathers", std::int64_t{1} << 24,
                                    parts};

}  // namespace ayatori::sparse
