#include "ayatori/comm/mpi/fortran_handle.hpp"

#include "ayatori/comm/mpi/native.hpp"

namespace ayatori::comm {

int fortran_handle(const Comm& comm) {
  return to_fortran(native(comm));
}

}  // namespace ayatori::comm
