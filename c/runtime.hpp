#pragma once

#include "ayatori/comm/comm.hpp"

namespace ayatori::c {

/// Collective. A duplicate of the communicator whose MPI_Comm is at this address; nullptr stands for this
/// process alone. Starts MPI where nobody has. Throws EnvironmentError where it has ended, InputError for no
/// communicator of one group.
comm::Comm communicator(const void* address);

/// Collective. The same of a communicator as Fortran has it.
comm::Comm fortran_communicator(int handle);

}  // namespace ayatori::c
