#pragma once

#include <vector>

#include "ayatori/collectives/pmpi/neighbourhood.hpp"
#include "ayatori/collectives/pmpi/trace.hpp"

namespace ayatori::pmpi {

/// A neighbourhood collective that sends bytes_to(i) to the i-th destination.
template <class F>
void record_neighbours(CallCount& call, MPI_Comm comm, F&& bytes_to) {
  if (!is_tracing() || comm == MPI_COMM_NULL) return;
  std::int64_t bytes = 0;
  const std::vector<int> neighbours = neighbourhood_of(comm).destinations;
  for (int i = 0; i < std::ssize(neighbours); ++i) {
    record_message(bytes_to(i), neighbours[i], comm);
    bytes += bytes_to(i);
  }
  call.add(bytes);
}

/// Likewise a persistent one.
template <class F>
PersistentCall persistent_neighbours(MPI_Comm comm, F&& bytes_to) {
  PersistentCall started;
  if (!is_tracing() || comm == MPI_COMM_NULL) return started;
  const std::vector<int> neighbours = neighbourhood_of(comm).destinations;
  for (int i = 0; i < std::ssize(neighbours); ++i) {
    started.messages.push_back({world_rank_of(neighbours[i], comm), bytes_to(i)});
    started.bytes += bytes_to(i);
  }
  return started;
}

}  // namespace ayatori::pmpi
