#include "ayatori/collectives/pmpi/neighbourhood.hpp"

#include <utility>

namespace ayatori::pmpi {

Neighbourhood neighbourhood_of(MPI_Comm comm) {
  std::vector<int> ranks;
  int topology = MPI_UNDEFINED;
  PMPI_Topo_test(comm, &topology);
  if (topology == MPI_CART) {
    int dimensions = 0;
    PMPI_Cartdim_get(comm, &dimensions);
    for (int d = 0; d < dimensions; ++d) {
      int before = MPI_PROC_NULL;
      int after = MPI_PROC_NULL;
      PMPI_Cart_shift(comm, d, 1, &before, &after);
      ranks.insert(ranks.end(), {before, after});
    }
  } else if (topology == MPI_GRAPH) {
    int rank = 0;
    int count = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors_count(comm, rank, &count);
    ranks.resize(count);
    PMPI_Graph_neighbors(comm, rank, count, ranks.data());
  } else if (topology == MPI_DIST_GRAPH) {
    int sources = 0;
    int count = 0;
    int is_weighted = 0;
    PMPI_Dist_graph_neighbors_count(comm, &sources, &count, &is_weighted);
    ranks.resize(count);
    std::vector<int> from(sources);
    std::vector<int> from_weights(sources);
    std::vector<int> weights(count);
    PMPI_Dist_graph_neighbors(comm, sources, from.data(), from_weights.data(), count, ranks.data(),
                              weights.data());
    return {std::move(from), std::move(ranks)};
  }
  return {ranks, ranks};
}

}  // namespace ayatori::pmpi
