#pragma once

#include <cstdint>

// The same in all MPIs, or no less than in any.
#define MPI_SUCCESS 0
#define MPI_ERR_RANK 6
#define MPI_MAX_ERROR_STRING 512
#define MPI_MAX_LIBRARY_VERSION_STRING 8192

namespace ayatori::comm {

using MPI_Comm = struct NativeComm*;
using MPI_Datatype = struct NativeDatatype*;
using MPI_Op = struct NativeOp*;
using MPI_Request = struct NativeRequest*;
using MPI_Win = struct NativeWindow*;
using MPI_Info = struct NativeInfo*;
using MPI_Errhandler = struct NativeErrhandler*;
using MPI_Status = struct NativeStatus;
using MPI_Aint = std::intptr_t;
using MPI_Fint = int;
using CopyAttribute = int(MPI_Comm, int, void*, void*, void*, int*);
using DeleteAttribute = int(MPI_Comm, int, void*, void*);

/// The handle that an MPI has as this number.
template <class Handle>
Handle handle_of(std::uintptr_t value) {
  return reinterpret_cast<Handle>(value);  // NOLINT(performance-no-int-to-ptr)
}

/// Handles and numbers by which MPIs know what comm asks for. Handles of MPICH are integers of 32 bits, here
/// with zeros above.
struct Constants {
  MPI_Comm comm_null, comm_world, comm_self;
  MPI_Datatype byte, int32, int64, uint64, float32, float64;
  MPI_Op sum, min, max, bitwise_or;
  MPI_Request request_null;
  MPI_Win win_null;
  MPI_Info info_null;
  MPI_Errhandler errhandler_null, errors_are_fatal, errors_return;
  void* in_place;
  int* unweighted;
  MPI_Status* status_ignore;
  CopyAttribute* no_copy;
  int undefined, comm_type_shared, thread_single, thread_funneled, no_check, keyval_invalid;
};

}  // namespace ayatori::comm
