#include "ayatori/comm/mpi/application.hpp"

#include "ayatori/comm/mpi/native.hpp"

namespace ayatori::comm {

Comm from_handle_at(const void* handle) {
  return from_native(*static_cast<const MPI_Comm*>(handle));
}

}  // namespace ayatori::comm
