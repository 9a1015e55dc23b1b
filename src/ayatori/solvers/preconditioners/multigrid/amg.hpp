#pragma once

#include "ayatori/solvers/preconditioner.hpp"
#include "ayatori/solvers/preconditioners/multigrid/hierarchy.hpp"

namespace ayatori::solvers {

/// Collective. The preconditioner amg. `parts`, where given, on one rank, gets what it consists of. Throws
/// Error (agreed).
BuiltPreconditioner make_amg(const sparse::DistributedMatrix& matrix, const PreconditionerOptions& options,
                             amg::HierarchyParts* parts);

}  // namespace ayatori::solvers
