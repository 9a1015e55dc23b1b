#pragma once

#include "ayatori/comm/comm.hpp"

namespace ayatori::comm {

/// Collective. A Comm over a duplicate of the communicator whose MPI_Comm is at `handle`: for applications in
/// other languages, which know addresses and no types of MPI (mpi4py's _addressof). Precondition: a
/// communicator of the MPI that this library is linked with. Throws InputError for a null communicator and
/// for one between two groups, EnvironmentError where MPI is opened at run time and is another.
Comm from_handle_at(const void* handle);

/// Throws EnvironmentError where the application has begun another MPI than the one in use, as far as it can
/// be told: where MPI is opened at run time.
void check_application_mpi();

/// Collective. The same of a communicator as Fortran programs name it.
Comm from_fortran_handle(int handle);

}  // namespace ayatori::comm
