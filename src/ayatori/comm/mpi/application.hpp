#pragma once

#include "ayatori/comm/comm.hpp"

namespace ayatori::comm {

/// Collective. A Comm over a duplicate of the communicator whose MPI_Comm is at `handle`: for applications in
/// other languages, which know addresses and no types of MPI (mpi4py's _addressof). Precondition: a
/// communicator of the MPI that this library is linked with.
Comm from_handle_at(const void* handle);

}  // namespace ayatori::comm
