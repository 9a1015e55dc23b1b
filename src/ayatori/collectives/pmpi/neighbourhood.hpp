#pragma once

#include <vector>

#include "ayatori/collectives/pmpi/library.hpp"

namespace ayatori::pmpi {

/// The ranks from which a neighbourhood collective receives and to which it sends, in the order of its
/// blocks; MPI_PROC_NULL may be among them. Empty for communicators without a topology.
struct Neighbourhood {
  std::vector<int> sources;
  std::vector<int> destinations;
};

Neighbourhood neighbourhood_of(MPI_Comm comm);

}  // namespace ayatori::pmpi
