#pragma once

#include <string>
#include <vector>

#include "ayatori/comm/comm.hpp"
#include "ayatori/session/problem/row_facts.hpp"
#include "petsc/petsc.hpp"

namespace ayatori::petsc {

/// PCSetCoordinates() for a preconditioner of any type: of `count` nodes of this rank, `dimension` numbers
/// each. They stay with it whatever its type becomes.
PetscErrorCode keep_coordinates(PC pc, PetscInt dimension, PetscInt count, const PetscReal* values);

/// What was given last by keep_coordinates(); 0 for nothing.
PetscErrorCode version_of_coordinates(PC pc, PetscObjectId& version);

/// Collective. What the program tells of the rows of a matrix, for amg: the coordinates that `pc` keeps, if
/// its nodes have two or three rows each, else the near-null space of the matrix. That becomes coordinates
/// where it holds rigid body modes (see recover_coordinates()), and stays vectors where it does not. `note`
/// says what became of a near-null space.
PetscErrorCode find_row_facts(const comm::Comm& comm, PC pc, Mat matrix, session::RowFacts& known,
                              std::string& note);

}  // namespace ayatori::petsc
