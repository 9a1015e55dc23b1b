#pragma once

namespace ayatori::pmpi {

/// Whether the program's MPI has the handles with which this library was compiled, as far as can be told:
/// where that was for the ABI of MPI 5. Says if it has not. Calls can be handed on even then, but none be
/// made. Precondition: MPI has begun.
bool fits_the_mpi();

}  // namespace ayatori::pmpi
