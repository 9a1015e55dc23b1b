#pragma once

#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::solvers::amg {

/// Collective. Unknowns per node of the mesh that a matrix seems to come from: 3, 2 or 1, whichever first
/// fills its blocks.
int unknowns_per_node(const sparse::DistributedMatrix& matrix);

}  // namespace ayatori::solvers::amg
