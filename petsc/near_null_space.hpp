#pragma once

#include <string>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "petsc/petsc.hpp"

namespace ayatori::petsc {

/// Collective. Where the nodes of an elastic body are, as far as the near-null space that was set for a
/// matrix of two or three rows per node tells: see recover_coordinates(). [3 * row + axis], as MatrixSolver
/// wants it. Empty where there is none, or it holds other vectors; `note` says what became of one that is
/// there.
PetscErrorCode find_coordinates(const comm::Comm& comm, Mat matrix, std::vector<double>& coordinates,
                                std::string& note);

}  // namespace ayatori::petsc
