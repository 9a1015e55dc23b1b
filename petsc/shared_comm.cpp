#include "petsc/shared_comm.hpp"

#include "ayatori/comm/mpi/application.hpp"

namespace ayatori::petsc {

PetscErrorCode SharedComm::take_that_of(Mat matrix, bool& changes) {
  const MPI_Comm theirs = PetscObjectComm(reinterpret_cast<PetscObject>(matrix));
  changes = false;
  if (theirs == theirs_) return success;
  changes = comm_.has_value();
  comm_ = comm::from_handle_at(&theirs);
  PetscCall(PetscCommDestroy(&theirs_));
  return PetscCommDuplicate(theirs, &theirs_, nullptr);
}

}  // namespace ayatori::petsc
