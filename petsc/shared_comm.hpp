#pragma once

#include <optional>

#include "ayatori/comm/comm.hpp"
#include "petsc/petsc.hpp"

namespace ayatori::petsc {

/// A duplicate of the communicator of a matrix, which may be another one than its solver's: programs for one
/// process make their solver on all ranks and their matrix on each.
class SharedComm {
 public:
  SharedComm() = default;
  SharedComm(const SharedComm&) = delete;
  SharedComm& operator=(const SharedComm&) = delete;
  ~SharedComm() { static_cast<void>(PetscCommDestroy(&theirs_)); }

  /// Collective. `changes`: another one was held before.
  PetscErrorCode take_that_of(Mat matrix, bool& changes);

  const comm::Comm& operator*() const { return *comm_; }
  const comm::Comm* operator->() const { return &*comm_; }

 private:
  MPI_Comm theirs_ = MPI_COMM_NULL;  ///< counted by PETSc, so that no other one gets the same handle
  std::optional<comm::Comm> comm_;
};

}  // namespace ayatori::petsc
