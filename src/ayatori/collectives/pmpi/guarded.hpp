#pragma once

#include <exception>
#include <new>
#include <optional>

#include "ayatori/collectives/pmpi/messages/transport.hpp"

namespace ayatori::pmpi {

/// One call of a program: does() gives whether it is done, or has begun; if not, the MPI does it. What fails
/// goes to the communicator's handler of errors.
template <class F>
std::optional<int> guarded(MPI_Comm comm, F&& does) {
  int code = MPI_SUCCESS;
  try {
    if (!does()) return std::nullopt;
    return MPI_SUCCESS;
  } catch (const MpiError& error) {
    code = error.code;
  } catch (const std::bad_alloc&) {
    code = MPI_ERR_NO_MEM;
  } catch (const std::exception&) {
    code = MPI_ERR_INTERN;
  }
  PMPI_Comm_call_errhandler(comm, code);
  return code;
}

}  // namespace ayatori::pmpi
