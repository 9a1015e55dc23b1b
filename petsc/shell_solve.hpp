#pragma once

#include "ayatori/session/solve/linear_preconditioner.hpp"
#include "ayatori/session/solve/operator_solver.hpp"
#include "petsc/petsc.hpp"

namespace ayatori::petsc {

/// What of a request has a meaning for a matrix that is known by its products, beside the preconditioner.
session::SolveRequest products_request(const session::SolveRequest& request);

/// Collective. Solves with the products that PETSc makes of A, from x, and a preconditioner, which may be
/// nullptr. An error of a product is returned.
PetscErrorCode solve_shell(const comm::Comm& comm, Mat a, const session::LinearPreconditioner* m,
                           const session::SolveRequest& request, Vec b, Vec x,
                           const session::SolveHooks& hooks, session::OperatorRun& run);

}  // namespace ayatori::petsc
