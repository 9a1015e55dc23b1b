#pragma once

#include "petsc/petsc.hpp"

namespace ayatori::petsc {

/// Has coordinates kept that the program gives to this preconditioner by PCSetCoordinates(), whatever its
/// type makes of them. To be called again when the type may have changed.
PetscErrorCode listen_for_coordinates(PC pc);

/// Before KSPSetUp() sets up a preconditioner that nobody applies. One whose parts programs ask for
/// afterwards (block Jacobi, Schwarz, fieldsplit) stays, to be set up once, without its blocks; another
/// becomes none.
PetscErrorCode set_aside(PC pc);

/// Undoes what set_aside() did to one that stayed.
PetscErrorCode take_back(PC pc);

}  // namespace ayatori::petsc
