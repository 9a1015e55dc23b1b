#pragma once

#include "ayatori/comm/comm.hpp"

namespace ayatori::c {

/// Collective. A duplicate of the communicator whose MPI_Comm is at this address; nullptr stands for this
/// process alone. Starts MPI where nobody has. Throws EnvironmentError where it has ended, InputError for no
/// communicator of one group.
comm::Comm communicator(const void* address);

/// Collective. The same of a communicator as Fortran has it.
comm::Comm fortran_communicator(int handle);

/// What holds communicators, windows or objects of libraries over MPI, and belongs to an application that may
/// keep it for longer than MPI lasts: it lets go of them at the latest when MPI ends, whoever ends it.
class MpiHolder {
 public:
  MpiHolder();
  virtual ~MpiHolder();
  MpiHolder(const MpiHolder&) = delete;
  MpiHolder& operator=(const MpiHolder&) = delete;

  /// Lets go of all that needs MPI.
  virtual void release() = 0;
};

}  // namespace ayatori::c
