#include "c/runtime.hpp"

#include <optional>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/environment.hpp"
#include "ayatori/comm/mpi/application.hpp"
#include "ayatori/comm/mpi_holder.hpp"

namespace ayatori::c {

namespace {

/// Starts MPI where nobody has, until the process ends.
void start_mpi() {
  static std::optional<comm::Environment> mpi;
  if (comm::has_mpi_ended()) throw EnvironmentError("MPI has ended in this process, and cannot begin again");
  if (mpi) return;
  int argc = 0;
  char** argv = nullptr;
  mpi.emplace(argc, argv);
  comm::release_holders_before_mpi_ends();
}

}  // namespace

comm::Comm communicator(const void* address) {
  start_mpi();
  return address == nullptr ? comm::Comm::self().duplicate() : comm::from_handle_at(address);
}

comm::Comm fortran_communicator(int handle) {
  start_mpi();
  return comm::from_fortran_handle(handle);
}

}  // namespace ayatori::c
