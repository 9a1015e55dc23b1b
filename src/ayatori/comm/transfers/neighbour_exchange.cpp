#include "ayatori/comm/transfers/neighbour_exchange.hpp"

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/mpi/native.hpp"

namespace ayatori::comm {

NeighbourExchange::Side NeighbourExchange::side(std::span<const Neighbour> neighbours,
                                                std::int64_t max_count) {
  Side result;
  for (const Neighbour& n : neighbours) {
    if (n.end > max_count) {
      throw EnvironmentError(fmt::format(
          "a rank exchanges more than {} elements, further than a neighbourhood collective of MPI can count: "
          "use another way to exchange, or more ranks",
          max_count));
    }
    result.ranks.push_back(n.rank);
    result.counts.push_back(static_cast<int>(n.end - n.begin));
    result.displacements.push_back(static_cast<int>(n.begin));
  }
  return result;
}

NeighbourExchange::NeighbourExchange(const Comm& comm, std::span<const Neighbour> send_to,
                                     std::span<const Neighbour> receive_from, std::int64_t max_count)
    : graph_(comm) {
  agree(comm, [&] {
    send_ = side(send_to, max_count);
    receive_ = side(receive_from, max_count);
  });
  MPI_Comm graph = MPI_COMM_NULL;
  check_mpi(MPI_Dist_graph_create_adjacent(native(comm), static_cast<int>(receive_.ranks.size()),
                                           receive_.ranks.data(), MPI_UNWEIGHTED,
                                           static_cast<int>(send_.ranks.size()), send_.ranks.data(),
                                           MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &graph),
            "MPI_Dist_graph_create_adjacent");
  graph_ = CommHandle::wrap(graph, true, mpi_collectives());
}

Request NeighbourExchange::start(const void* data, void* received, DataType type) const {
  Request request;
  check_mpi(MPI_Ineighbor_alltoallv(data, send_.counts.data(), send_.displacements.data(), native(type),
                                    received, receive_.counts.data(), receive_.displacements.data(),
                                    native(type), native(graph_), native_request(request.first_)),
            "MPI_Ineighbor_alltoallv");
  request.active_ = true;
  return request;
}

}  // namespace ayatori::comm
