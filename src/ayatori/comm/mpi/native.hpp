#pragma once

// The C++ bindings that MPI-3 removed stay out, with the library that they would need.
#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <exception>

#include "ayatori/comm/comm.hpp"

// For code that must speak MPI itself: implementations of Collectives, and applications that bring their own
// MPI_Comm. The only header of the library that includes mpi.h.

namespace ayatori::comm {

struct CommHandle {
  MPI_Comm comm = MPI_COMM_NULL;
  bool owned = false;  ///< freed with the last Comm that shares it

  CommHandle(MPI_Comm native_comm, bool is_owned) : comm(native_comm), owned(is_owned) {}
  ~CommHandle();
  CommHandle(const CommHandle&) = delete;
  CommHandle& operator=(const CommHandle&) = delete;

  static Comm wrap(MPI_Comm comm, bool owned, std::shared_ptr<const Collectives> collectives);
};

/// A window in a passive epoch, which ends with this: collective. But while an exception unwinds this rank,
/// the others may never come here: then the window is left to MPI.
struct OwnedWindow {
  int exceptions = std::uncaught_exceptions();  ///< under way when this was made
  MPI_Win window = MPI_WIN_NULL;

  OwnedWindow() = default;
  ~OwnedWindow();
  OwnedWindow(const OwnedWindow&) = delete;
  OwnedWindow& operator=(const OwnedWindow&) = delete;
};

inline MPI_Comm native(const Comm& comm) {
  return comm.handle().comm;
}

/// A communicator as Fortran programs name it, and back. The ABI of MPI 5 has these numbers for all
/// languages.
#ifdef MPI_ABI_VERSION
inline int to_fortran(MPI_Comm comm) {
  return MPI_Comm_toint(comm);
}
inline MPI_Comm from_fortran(int number) {
  return MPI_Comm_fromint(number);
}
#else
inline int to_fortran(MPI_Comm comm) {
  return static_cast<int>(MPI_Comm_c2f(comm));
}
inline MPI_Comm from_fortran(int number) {
  return MPI_Comm_f2c(static_cast<MPI_Fint>(number));
}
#endif

/// Collective. A Comm over a duplicate of an application's communicator.
Comm from_native(MPI_Comm comm);

MPI_Datatype native(DataType type);
MPI_Op native(ReduceOp op);

/// The MPI_Request kept in the bytes of a Request's part.
inline MPI_Request* native_request(Request::Part& part) {
  static_assert(sizeof(MPI_Request) <= sizeof(part) && alignof(MPI_Request) <= alignof(Request::Part));
  return reinterpret_cast<MPI_Request*>(part.bytes);
}

/// Calls f(offset in bytes, count) for the pieces of a transfer that MPI can count; once for an empty one.
template <class F>
void in_messages(std::int64_t count, DataType type, std::int64_t longest, F&& f) {
  std::int64_t done = 0;
  do {
    const auto length = static_cast<int>(std::min(count - done, longest));
    f(done * static_cast<std::int64_t>(size_of(type)), length);
    done += length;
  } while (done < count);
}

/// Throws EnvironmentError with the MPI's own text unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

}  // namespace ayatori::comm
