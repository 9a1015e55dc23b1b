#include "ayatori/comm/mpi/fortran_handle.hpp"

#include "ayatori/comm/mpi/native.hpp"

namespace ayatori::comm {

int fortran_handle(const Comm& comm) {
  return static_cast<int>(MPI_Comm_c2f(native(comm)));
}

}  // namespace ayatori::comm
