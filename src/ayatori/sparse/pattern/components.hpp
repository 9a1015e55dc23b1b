#pragma once

#include <cstdint>

#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

// Connected components of the graph of A + A^T, stored zeros left out: systems that have nothing to do with
// each other.

namespace ayatori::sparse {

/// Collective. Whether the graph is seen to be connected: the rows of every thread are, and are with some
/// before them. Reads about an entry per row.
bool is_connected(const comm::Comm& comm, const SplitMatrix& parts);

/// How many there are, and of what sizes.
struct ComponentCounts {
  std::int64_t all = 0;
  std::int64_t of_one_row = 0;
  std::int64_t rows_of_largest = 0;
};

/// Collective. By union and find over all entries of each rank; the edges between components of several ranks
/// go to every rank.
ComponentCounts count_components(const comm::Comm& comm, const SplitMatrix& parts);

}  // namespace ayatori::sparse
