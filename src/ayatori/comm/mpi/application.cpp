#include "ayatori/comm/mpi/application.hpp"

#include "ayatori/base/error.hpp"
#include "ayatori/comm/mpi/native.hpp"
#ifdef AYATORI_RUNTIME_MPI
#include <cstring>

#include "ayatori/comm/runtime/choice.hpp"
#endif

namespace ayatori::comm {

namespace {

Comm from_application(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) throw InputError("the communicator is MPI_COMM_NULL");
  int has_two_groups = 0;
  check_mpi(MPI_Comm_test_inter(comm, &has_two_groups), "MPI_Comm_test_inter");
  if (has_two_groups != 0) throw InputError("the communicator joins two groups: give one of a single group");
  return from_native(comm);
}

}  // namespace

#ifdef AYATORI_RUNTIME_MPI
void check_application_mpi() {
  check_is_the_only_mpi();
}

Comm from_handle_at(const void* handle) {
  check_application_mpi();
  MPI_Comm comm = nullptr;
  std::memcpy(static_cast<void*>(&comm), handle, transport().handle_bytes);
  return from_application(comm);
}
#else
void check_application_mpi() {}

Comm from_handle_at(const void* handle) {
  return from_application(*static_cast<const MPI_Comm*>(handle));
}
#endif

Comm from_fortran_handle(int handle) {
  return from_application(from_fortran(handle));
}

}  // namespace ayatori::comm
