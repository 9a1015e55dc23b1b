#pragma once

// What comm uses of MPI, in place of an MPI's own header, where the library is built without one
// (AYATORI_MPI=runtime). Names are MPI's and live in ayatori::comm. Calls go through a table that `single`
// fills at first, one process by itself, and an MPI library that is opened later (choice.hpp); constants,
// which differ between MPIs, come from a table as well.

#include "ayatori/comm/runtime/transport.hpp"

namespace ayatori::comm {

#define AYATORI_FORWARD(name, parameters, arguments) \
  inline int MPI_##name parameters {                 \
    return transport().functions.name arguments;     \
  }
AYATORI_MPI_FUNCTIONS(AYATORI_FORWARD)
#undef AYATORI_FORWARD
inline MPI_Fint MPI_Comm_c2f(MPI_Comm comm) {
  return transport().functions.Comm_c2f(comm);
}
inline MPI_Comm MPI_Comm_f2c(MPI_Fint handle) {
  return transport().functions.Comm_f2c(handle);
}

}  // namespace ayatori::comm

#define MPI_COMM_NULL (::ayatori::comm::transport().constants.comm_null)
#define MPI_COMM_WORLD (::ayatori::comm::transport().constants.comm_world)
#define MPI_COMM_SELF (::ayatori::comm::transport().constants.comm_self)
#define MPI_BYTE (::ayatori::comm::transport().constants.byte)
#define MPI_INT32_T (::ayatori::comm::transport().constants.int32)
#define MPI_INT64_T (::ayatori::comm::transport().constants.int64)
#define MPI_UINT64_T (::ayatori::comm::transport().constants.uint64)
#define MPI_FLOAT (::ayatori::comm::transport().constants.float32)
#define MPI_DOUBLE (::ayatori::comm::transport().constants.float64)
#define MPI_SUM (::ayatori::comm::transport().constants.sum)
#define MPI_MIN (::ayatori::comm::transport().constants.min)
#define MPI_MAX (::ayatori::comm::transport().constants.max)
#define MPI_BOR (::ayatori::comm::transport().constants.bitwise_or)
#define MPI_REQUEST_NULL (::ayatori::comm::transport().constants.request_null)
#define MPI_WIN_NULL (::ayatori::comm::transport().constants.win_null)
#define MPI_INFO_NULL (::ayatori::comm::transport().constants.info_null)
#define MPI_ERRHANDLER_NULL (::ayatori::comm::transport().constants.errhandler_null)
#define MPI_ERRORS_ARE_FATAL (::ayatori::comm::transport().constants.errors_are_fatal)
#define MPI_ERRORS_RETURN (::ayatori::comm::transport().constants.errors_return)
#define MPI_IN_PLACE (::ayatori::comm::transport().constants.in_place)
#define MPI_UNWEIGHTED (::ayatori::comm::transport().constants.unweighted)
#define MPI_STATUS_IGNORE (::ayatori::comm::transport().constants.status_ignore)
#define MPI_STATUSES_IGNORE (::ayatori::comm::transport().constants.status_ignore)
#define MPI_COMM_NULL_COPY_FN (::ayatori::comm::transport().constants.no_copy)
#define MPI_UNDEFINED (::ayatori::comm::transport().constants.undefined)
#define MPI_COMM_TYPE_SHARED (::ayatori::comm::transport().constants.comm_type_shared)
#define MPI_THREAD_SINGLE (::ayatori::comm::transport().constants.thread_single)
#define MPI_THREAD_FUNNELED (::ayatori::comm::transport().constants.thread_funneled)
#define MPI_MODE_NOCHECK (::ayatori::comm::transport().constants.no_check)
#define MPI_KEYVAL_INVALID (::ayatori::comm::transport().constants.keyval_invalid)
