// Fortran. Open MPI's functions call PMPI_ names, so that what the C bindings see is nothing of Fortran
// programs; these are put before them instead. MPICH's call the names of C, but those of its module mpi_f08
// that have no buffer.

#include "ayatori/collectives/pmpi/bindings/handed_in.hpp"
#include "ayatori/collectives/pmpi/bindings/neighbours.hpp"
#include "ayatori/collectives/pmpi/kept_handles.hpp"
#include "ayatori/collectives/pmpi/library.hpp"
#include "ayatori/collectives/pmpi/neighbour_calls.hpp"
#include "ayatori/collectives/pmpi/pending_calls.hpp"
#include "ayatori/collectives/pmpi/schedules.hpp"
#include "ayatori/collectives/pmpi/trace.hpp"

#ifdef OPEN_MPI

using namespace ayatori::pmpi;

extern "C" {
// Addresses that stand for MPI_BOTTOM and MPI_IN_PLACE; an MPI without Fortran has none.
extern int mpi_fortran_bottom_ __attribute__((weak));
extern int mpi_fortran_in_place_ __attribute__((weak));
}

namespace {

/// The address as C knows it.
void* address(void* data) {
  if (data == &mpi_fortran_bottom_) return MPI_BOTTOM;
  if (data == &mpi_fortran_in_place_) return MPI_IN_PLACE;
  return data;
}

/// Types of all blocks of alltoallw.
std::vector<MPI_Datatype> types_of(const MPI_Fint types[], std::size_t count) {
  std::vector<MPI_Datatype> result;
  for (std::size_t i = 0; i < count; ++i) result.push_back(PMPI_Type_f2c(types[i]));
  return result;
}

}  // namespace

// A function under the names that compilers and Open MPI's modules give it; the MPI's own is the one that
// begins with p. It is there if the program is Fortran.
#define AYATORI_FORTRAN(name, NAME, parameters)                                                   \
  extern "C" __attribute__((weak)) void pmpi_##name##_ parameters;                                \
  extern "C" void ompi_##name##_f parameters;                                                     \
  extern "C" decltype(ompi_##name##_f) mpi_##name __attribute__((alias("ompi_" #name "_f")));     \
  extern "C" decltype(ompi_##name##_f) mpi_##name##_ __attribute__((alias("ompi_" #name "_f")));  \
  extern "C" decltype(ompi_##name##_f) mpi_##name##__ __attribute__((alias("ompi_" #name "_f"))); \
  extern "C" decltype(ompi_##name##_f) MPI_##NAME __attribute__((alias("ompi_" #name "_f")));     \
  extern "C" void ompi_##name##_f parameters

#define AYATORI_PARAMETER_BLOCKING
#define AYATORI_PARAMETER_NONBLOCKING MPI_Fint *request,
#define AYATORI_ARGUMENT_BLOCKING
#define AYATORI_ARGUMENT_NONBLOCKING request,
#define AYATORI_TRY_BLOCKING(name, ...)                   \
  if (const auto done = by_schedule::name(__VA_ARGS__)) { \
    *error = *done;                                       \
    return;                                               \
  }
#define AYATORI_TRY_NONBLOCKING(name, ...)                            \
  MPI_Request made = MPI_REQUEST_NULL;                                \
  if (const auto done = by_schedule::name(__VA_ARGS__, Way{&made})) { \
    if (*done == MPI_SUCCESS) *request = PMPI_Request_c2f(made);      \
    *error = *done;                                                   \
    return;                                                           \
  }
// Functions that go by pairs of ranks, which only calls that block do.
#define AYATORI_TRY_PAIRS_BLOCKING(name, ...) AYATORI_TRY_BLOCKING(name, __VA_ARGS__)
#define AYATORI_TRY_PAIRS_NONBLOCKING(name, ...)
// Likewise of those among neighbours.
#define AYATORI_TRY_NEIGHBOURS_BLOCKING(name, ...)               \
  NeighbourTurn turn(NeighbourKind::name, PMPI_Comm_f2c(*comm)); \
  AYATORI_TRY_BLOCKING(name, turn, __VA_ARGS__)
#define AYATORI_TRY_NEIGHBOURS_NONBLOCKING(name, ...)
#define AYATORI_FAMILY(MACRO, name, NAME, Name, iname, INAME, IName) \
  MACRO(name, NAME, Name, BLOCKING) MACRO(iname, INAME, IName, NONBLOCKING)

#define AYATORI_SEND(name, NAME, Name, TAIL)                                                                 \
  AYATORI_FORTRAN(name, NAME,                                                                                \
                  (void* data, MPI_Fint* count, MPI_Fint* type, MPI_Fint* to, MPI_Fint* tag, MPI_Fint* comm, \
                   AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {                                              \
    static CallCount call("MPI_" #Name);                                                                     \
    record_send(call, *count, PMPI_Type_f2c(*type), *to, PMPI_Comm_f2c(*comm));                              \
    pmpi_##name##_(data, count, type, to, tag, comm, AYATORI_ARGUMENT_##TAIL error);                         \
  }

#define AYATORI_SEND_INIT(name, NAME, Name, TAIL)                                                            \
  AYATORI_FORTRAN(name, NAME,                                                                                \
                  (void* data, MPI_Fint* count, MPI_Fint* type, MPI_Fint* to, MPI_Fint* tag, MPI_Fint* comm, \
                   AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {                                              \
    static CallCount call("MPI_" #Name);                                                                     \
    pmpi_##name##_(data, count, type, to, tag, comm, AYATORI_ARGUMENT_##TAIL error);                         \
    if (*error == MPI_SUCCESS)                                                                               \
      record_persistent(call, persistent_send(*count, PMPI_Type_f2c(*type), *to, PMPI_Comm_f2c(*comm)),      \
                        PMPI_Request_f2c(*request));                                                         \
  }

#define AYATORI_SENDRECV(name, NAME, Name, TAIL)                                                            \
  AYATORI_FORTRAN(name, NAME,                                                                               \
                  (void* data, MPI_Fint* count, MPI_Fint* type, MPI_Fint* to, MPI_Fint* tag, void* receive, \
                   MPI_Fint* receive_count, MPI_Fint* receive_type, MPI_Fint* from, MPI_Fint* receive_tag,  \
                   MPI_Fint* comm, MPI_Fint* status, AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {           \
    static CallCount call("MPI_" #Name);                                                                    \
    record_send(call, *count, PMPI_Type_f2c(*type), *to, PMPI_Comm_f2c(*comm));                             \
    pmpi_##name##_(data, count, type, to, tag, receive, receive_count, receive_type, from, receive_tag,     \
                   comm, status, AYATORI_ARGUMENT_##TAIL error);                                            \
  }

#define AYATORI_SENDRECV_REPLACE(name, NAME, Name, TAIL)                                                     \
  AYATORI_FORTRAN(                                                                                           \
      name, NAME,                                                                                            \
      (void* data, MPI_Fint* count, MPI_Fint* type, MPI_Fint* to, MPI_Fint* tag, MPI_Fint* from,             \
       MPI_Fint* receive_tag, MPI_Fint* comm, MPI_Fint* status, AYATORI_PARAMETER_##TAIL MPI_Fint* error)) { \
    static CallCount call("MPI_" #Name);                                                                     \
    record_send(call, *count, PMPI_Type_f2c(*type), *to, PMPI_Comm_f2c(*comm));                              \
    pmpi_##name##_(data, count, type, to, tag, from, receive_tag, comm, status,                              \
                   AYATORI_ARGUMENT_##TAIL error);                                                           \
  }

#define AYATORI_PUT(name, NAME, Name, TAIL)                                                                  \
  AYATORI_FORTRAN(name, NAME,                                                                                \
                  (void* data, MPI_Fint* count, MPI_Fint* type, MPI_Fint* target, MPI_Aint* place,           \
                   MPI_Fint* target_count, MPI_Fint* target_type, MPI_Fint* win,                             \
                   AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {                                              \
    static CallCount call("MPI_" #Name);                                                                     \
    record_one_sided(call, Direction::to_target, *count, PMPI_Type_f2c(*type), *target, PMPI_Win_f2c(*win)); \
    pmpi_##name##_(data, count, type, target, place, target_count, target_type, win,                         \
                   AYATORI_ARGUMENT_##TAIL error);                                                           \
  }

#define AYATORI_GET(name, NAME, Name, TAIL)                                                        \
  AYATORI_FORTRAN(name, NAME,                                                                      \
                  (void* data, MPI_Fint* count, MPI_Fint* type, MPI_Fint* target, MPI_Aint* place, \
                   MPI_Fint* target_count, MPI_Fint* target_type, MPI_Fint* win,                   \
                   AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {                                    \
    static CallCount call("MPI_" #Name);                                                           \
    record_one_sided(call, Direction::from_target, *count, PMPI_Type_f2c(*type), *target,          \
                     PMPI_Win_f2c(*win));                                                          \
    pmpi_##name##_(data, count, type, target, place, target_count, target_type, win,               \
                   AYATORI_ARGUMENT_##TAIL error);                                                 \
  }

#define AYATORI_ACCUMULATE(name, NAME, Name, TAIL)                                                           \
  AYATORI_FORTRAN(name, NAME,                                                                                \
                  (void* data, MPI_Fint* count, MPI_Fint* type, MPI_Fint* target, MPI_Aint* place,           \
                   MPI_Fint* target_count, MPI_Fint* target_type, MPI_Fint* op, MPI_Fint* win,               \
                   AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {                                              \
    static CallCount call("MPI_" #Name);                                                                     \
    record_one_sided(call, Direction::to_target, *count, PMPI_Type_f2c(*type), *target, PMPI_Win_f2c(*win)); \
    pmpi_##name##_(data, count, type, target, place, target_count, target_type, op, win,                     \
                   AYATORI_ARGUMENT_##TAIL error);                                                           \
  }

#define AYATORI_GET_ACCUMULATE(name, NAME, Name, TAIL)                                                  \
  AYATORI_FORTRAN(                                                                                      \
      name, NAME,                                                                                       \
      (void* data, MPI_Fint* count, MPI_Fint* type, void* result, MPI_Fint* result_count,               \
       MPI_Fint* result_type, MPI_Fint* target, MPI_Aint* place, MPI_Fint* target_count,                \
       MPI_Fint* target_type, MPI_Fint* op, MPI_Fint* win, AYATORI_PARAMETER_##TAIL MPI_Fint* error)) { \
    static CallCount call("MPI_" #Name);                                                                \
    record_one_sided(call, Direction::both_ways, *target_count, PMPI_Type_f2c(*target_type), *target,   \
                     PMPI_Win_f2c(*win));                                                               \
    pmpi_##name##_(data, count, type, result, result_count, result_type, target, place, target_count,   \
                   target_type, op, win, AYATORI_ARGUMENT_##TAIL error);                                \
  }

// Collective calls.

#define AYATORI_BARRIER(name, NAME, Name, TAIL)                                               \
  AYATORI_FORTRAN(name, NAME, (MPI_Fint * comm, AYATORI_PARAMETER_##TAIL MPI_Fint * error)) { \
    static CallCount call("MPI_" #Name);                                                      \
    const MPI_Comm c_comm = PMPI_Comm_f2c(*comm);                                             \
    if (is_tracing() && c_comm != MPI_COMM_NULL) record_collective(call, 0, c_comm);          \
    AYATORI_TRY_##TAIL(barrier, c_comm) pmpi_##name##_(comm, AYATORI_ARGUMENT_##TAIL error);  \
  }

#define AYATORI_BCAST(name, NAME, Name, TAIL)                                                            \
  AYATORI_FORTRAN(name, NAME,                                                                            \
                  (void* data, MPI_Fint* count, MPI_Fint* type, MPI_Fint* root, MPI_Fint* comm,          \
                   AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {                                          \
    static CallCount call("MPI_" #Name);                                                                 \
    const MPI_Comm c_comm = PMPI_Comm_f2c(*comm);                                                        \
    if (is_tracing() && c_comm != MPI_COMM_NULL)                                                         \
      record_collective(call, handed_in::broadcast(*count, PMPI_Type_f2c(*type), *root, c_comm), c_comm, \
                        *root);                                                                          \
    AYATORI_TRY_##TAIL(broadcast, address(data), *count, PMPI_Type_f2c(*type), *root, c_comm)            \
        pmpi_##name##_(data, count, type, root, comm, AYATORI_ARGUMENT_##TAIL error);                    \
  }

#define AYATORI_GATHER(name, NAME, Name, TAIL)                                                          \
  AYATORI_FORTRAN(                                                                                      \
      name, NAME,                                                                                       \
      (void* send, MPI_Fint* send_count, MPI_Fint* send_type, void* receive, MPI_Fint* count,           \
       MPI_Fint* type, MPI_Fint* root, MPI_Fint* comm, AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {     \
    static CallCount call("MPI_" #Name);                                                                \
    const MPI_Comm c_comm = PMPI_Comm_f2c(*comm);                                                       \
    if (is_tracing() && c_comm != MPI_COMM_NULL)                                                        \
      record_collective(call,                                                                           \
                        handed_in::hands_in(*root)                                                      \
                            ? handed_in::block(address(send), *send_count, PMPI_Type_f2c(*send_type),   \
                                               *count, PMPI_Type_f2c(*type))                            \
                            : 0,                                                                        \
                        c_comm, *root);                                                                 \
    AYATORI_TRY_##TAIL(gather, address(send), *send_count, PMPI_Type_f2c(*send_type), address(receive), \
                       *count, PMPI_Type_f2c(*type), *root, c_comm)                                     \
        pmpi_##name##_(send, send_count, send_type, receive, count, type, root, comm,                   \
                       AYATORI_ARGUMENT_##TAIL error);                                                  \
  }

#define AYATORI_SCATTER(name, NAME, Name, TAIL)                                                          \
  AYATORI_FORTRAN(                                                                                       \
      name, NAME,                                                                                        \
      (void* send, MPI_Fint* send_count, MPI_Fint* send_type, void* receive, MPI_Fint* count,            \
       MPI_Fint* type, MPI_Fint* root, MPI_Fint* comm, AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {      \
    static CallCount call("MPI_" #Name);                                                                 \
    const MPI_Comm c_comm = PMPI_Comm_f2c(*comm);                                                        \
    if (is_tracing() && c_comm != MPI_COMM_NULL)                                                         \
      record_collective(call, handed_in::scatter(*send_count, PMPI_Type_f2c(*send_type), *root, c_comm), \
                        c_comm, *root);                                                                  \
    AYATORI_TRY_##TAIL(scatter, address(send), *send_count, PMPI_Type_f2c(*send_type), address(receive), \
                       *count, PMPI_Type_f2c(*type), *root, c_comm)                                      \
        pmpi_##name##_(send, send_count, send_type, receive, count, type, root, comm,                    \
                       AYATORI_ARGUMENT_##TAIL error);                                                   \
  }

#define AYATORI_ALLGATHER(name, NAME, Name, TAIL)                                                          \
  AYATORI_FORTRAN(name, NAME,                                                                              \
                  (void* send, MPI_Fint* send_count, MPI_Fint* send_type, void* receive, MPI_Fint* count,  \
                   MPI_Fint* type, MPI_Fint* comm, AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {            \
    static CallCount call("MPI_" #Name);                                                                   \
    const MPI_Comm c_comm = PMPI_Comm_f2c(*comm);                                                          \
    if (is_tracing() && c_comm != MPI_COMM_NULL)                                                           \
      record_collective(call,                                                                              \
                        handed_in::block(address(send), *send_count, PMPI_Type_f2c(*send_type), *count,    \
                                         PMPI_Type_f2c(*type)),                                            \
                        c_comm);                                                                           \
    AYATORI_TRY_##TAIL(allgather, address(send), *send_count, PMPI_Type_f2c(*send_type), address(receive), \
                       *count, PMPI_Type_f2c(*type), c_comm)                                               \
        pmpi_##name##_(send, send_count, send_type, receive, count, type, comm,                            \
                       AYATORI_ARGUMENT_##TAIL error);                                                     \
  }

#define AYATORI_ALLTOALL(name, NAME, Name, TAIL)                                                          \
  AYATORI_FORTRAN(name, NAME,                                                                             \
                  (void* send, MPI_Fint* send_count, MPI_Fint* send_type, void* receive, MPI_Fint* count, \
                   MPI_Fint* type, MPI_Fint* comm, AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {           \
    static CallCount call("MPI_" #Name);                                                                  \
    const MPI_Comm c_comm = PMPI_Comm_f2c(*comm);                                                         \
    if (is_tracing() && c_comm != MPI_COMM_NULL)                                                          \
      record_collective(call,                                                                             \
                        handed_in::size_of(c_comm) * handed_in::block(address(send), *send_count,         \
                                                                      PMPI_Type_f2c(*send_type), *count,  \
                                                                      PMPI_Type_f2c(*type)),              \
                        c_comm);                                                                          \
    AYATORI_TRY_##TAIL(alltoall, address(send), *send_count, PMPI_Type_f2c(*send_type), address(receive), \
                       *count, PMPI_Type_f2c(*type), c_comm)                                              \
        pmpi_##name##_(send, send_count, send_type, receive, count, type, comm,                           \
                       AYATORI_ARGUMENT_##TAIL error);                                                    \
  }

#define AYATORI_GATHERV(name, NAME, Name, TAIL)                                                            \
  AYATORI_FORTRAN(name, NAME,                                                                              \
                  (void* send, MPI_Fint* send_count, MPI_Fint* send_type, void* receive, MPI_Fint* counts, \
                   MPI_Fint* places, MPI_Fint* type, MPI_Fint* root, MPI_Fint* comm,                       \
                   AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {                                            \
    static CallCount call("MPI_" #Name);                                                                   \
    const MPI_Comm c_comm = PMPI_Comm_f2c(*comm);                                                          \
    if (is_tracing() && c_comm != MPI_COMM_NULL)                                                           \
      record_collective(call,                                                                              \
                        handed_in::hands_in(*root)                                                         \
                            ? handed_in::own_block(address(send), *send_count, PMPI_Type_f2c(*send_type),  \
                                                   counts, PMPI_Type_f2c(*type), c_comm)                   \
                            : 0,                                                                           \
                        c_comm, *root);                                                                    \
    AYATORI_TRY_PAIRS_##TAIL(gatherv, address(send), *send_count, PMPI_Type_f2c(*send_type),               \
                             address(receive), counts, places, PMPI_Type_f2c(*type), *root, c_comm)        \
        pmpi_##name##_(send, send_count, send_type, receive, counts, places, type, root, comm,             \
                       AYATORI_ARGUMENT_##TAIL error);                                                     \
  }

#define AYATORI_ALLGATHERV(name, NAME, Name, TAIL)                                                          \
  AYATORI_FORTRAN(                                                                                          \
      name, NAME,                                                                                           \
      (void* send, MPI_Fint* send_count, MPI_Fint* send_type, void* receive, MPI_Fint* counts,              \
       MPI_Fint* places, MPI_Fint* type, MPI_Fint* comm, AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {       \
    static CallCount call("MPI_" #Name);                                                                    \
    const MPI_Comm c_comm = PMPI_Comm_f2c(*comm);                                                           \
    if (is_tracing() && c_comm != MPI_COMM_NULL)                                                            \
      record_collective(call,                                                                               \
                        handed_in::own_block(address(send), *send_count, PMPI_Type_f2c(*send_type), counts, \
                                             PMPI_Type_f2c(*type), c_comm),                                 \
                        c_comm);                                                                            \
    AYATORI_TRY_##TAIL(allgatherv, address(send), *send_count, PMPI_Type_f2c(*send_type), address(receive), \
                       counts, places, PMPI_Type_f2c(*type), c_comm)                                        \
        pmpi_##name##_(send, send_count, send_type, receive, counts, places, type, comm,                    \
                       AYATORI_ARGUMENT_##TAIL error);                                                      \
  }

#define AYATORI_SCATTERV(name, NAME, Name, TAIL)                                                            \
  AYATORI_FORTRAN(name, NAME,                                                                               \
                  (void* send, MPI_Fint* counts, MPI_Fint* places, MPI_Fint* type, void* receive,           \
                   MPI_Fint* receive_count, MPI_Fint* receive_type, MPI_Fint* root, MPI_Fint* comm,         \
                   AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {                                             \
    static CallCount call("MPI_" #Name);                                                                    \
    const MPI_Comm c_comm = PMPI_Comm_f2c(*comm);                                                           \
    if (is_tracing() && c_comm != MPI_COMM_NULL)                                                            \
      record_collective(call, handed_in::scatterv(counts, PMPI_Type_f2c(*type), *root, c_comm), c_comm,     \
                        *root);                                                                             \
    AYATORI_TRY_PAIRS_##TAIL(scatterv, address(send), counts, places, PMPI_Type_f2c(*type),                 \
                             address(receive), *receive_count, PMPI_Type_f2c(*receive_type), *root, c_comm) \
        pmpi_##name##_(send, counts, places, type, receive, receive_count, receive_type, root, comm,        \
                       AYATORI_ARGUMENT_##TAIL error);                                                      \
  }

#define AYATORI_ALLTOALLV(name, NAME, Name, TAIL)                                                            \
  AYATORI_FORTRAN(name, NAME,                                                                                \
                  (void* send, MPI_Fint* send_counts, MPI_Fint* send_places, MPI_Fint* send_type,            \
                   void* receive, MPI_Fint* counts, MPI_Fint* places, MPI_Fint* type, MPI_Fint* comm,        \
                   AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {                                              \
    static CallCount call("MPI_" #Name);                                                                     \
    const MPI_Comm c_comm = PMPI_Comm_f2c(*comm);                                                            \
    if (is_tracing() && c_comm != MPI_COMM_NULL)                                                             \
      record_collective(call,                                                                                \
                        handed_in::all_blocks(address(send), send_counts, PMPI_Type_f2c(*send_type), counts, \
                                              PMPI_Type_f2c(*type), c_comm),                                 \
                        c_comm);                                                                             \
    AYATORI_TRY_PAIRS_##TAIL(alltoallv, address(send), send_counts, send_places, PMPI_Type_f2c(*send_type),  \
                             address(receive), counts, places, PMPI_Type_f2c(*type), c_comm)                 \
        pmpi_##name##_(send, send_counts, send_places, send_type, receive, counts, places, type, comm,       \
                       AYATORI_ARGUMENT_##TAIL error);                                                       \
  }

#define AYATORI_ALLTOALLW(name, NAME, Name, TAIL)                                                          \
  AYATORI_FORTRAN(name, NAME,                                                                              \
                  (void* send, MPI_Fint* send_counts, MPI_Fint* send_places, MPI_Fint* send_types,         \
                   void* receive, MPI_Fint* counts, MPI_Fint* places, MPI_Fint* types, MPI_Fint* comm,     \
                   AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {                                            \
    static CallCount call("MPI_" #Name);                                                                   \
    const MPI_Comm c_comm = PMPI_Comm_f2c(*comm);                                                          \
    if (is_tracing() && c_comm != MPI_COMM_NULL)                                                           \
      record_collective(                                                                                   \
          call,                                                                                            \
          handed_in::typed_blocks(                                                                         \
              address(send), send_counts,                                                                  \
              types_of(send_types, address(send) == MPI_IN_PLACE ? 0 : handed_in::size_of(c_comm)).data(), \
              counts, types_of(types, handed_in::size_of(c_comm)).data(), c_comm),                         \
          c_comm);                                                                                         \
    pmpi_##name##_(send, send_counts, send_places, send_types, receive, counts, places, types, comm,       \
                   AYATORI_ARGUMENT_##TAIL error);                                                         \
  }

#define AYATORI_REDUCE(name, NAME, Name, TAIL)                                                               \
  AYATORI_FORTRAN(name, NAME,                                                                                \
                  (void* send, void* receive, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op, MPI_Fint* root, \
                   MPI_Fint* comm, AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {                              \
    static CallCount call("MPI_" #Name);                                                                     \
    const MPI_Comm c_comm = PMPI_Comm_f2c(*comm);                                                            \
    if (is_tracing() && c_comm != MPI_COMM_NULL)                                                             \
      record_collective(call, handed_in::hands_in(*root) ? bytes_of(*count, PMPI_Type_f2c(*type)) : 0,       \
                        c_comm, *root);                                                                      \
    AYATORI_TRY_##TAIL(reduce, address(send), address(receive), *count, PMPI_Type_f2c(*type),                \
                       PMPI_Op_f2c(*op), *root, c_comm)                                                      \
        pmpi_##name##_(send, receive, count, type, op, root, comm, AYATORI_ARGUMENT_##TAIL error);           \
  }

#define AYATORI_ALLREDUCE(name, NAME, Name, TAIL)                                                            \
  AYATORI_FORTRAN(name, NAME,                                                                                \
                  (void* send, void* receive, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op, MPI_Fint* comm, \
                   AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {                                              \
    static CallCount call("MPI_" #Name);                                                                     \
    const MPI_Comm c_comm = PMPI_Comm_f2c(*comm);                                                            \
    if (is_tracing() && c_comm != MPI_COMM_NULL)                                                             \
      record_collective(call, bytes_of(*count, PMPI_Type_f2c(*type)), c_comm);                               \
    AYATORI_TRY_##TAIL(allreduce, address(send), address(receive), *count, PMPI_Type_f2c(*type),             \
                       PMPI_Op_f2c(*op), c_comm)                                                             \
        pmpi_##name##_(send, receive, count, type, op, comm, AYATORI_ARGUMENT_##TAIL error);                 \
  }

#define AYATORI_SCAN(name, NAME, Name, TAIL)                                                                 \
  AYATORI_FORTRAN(name, NAME,                                                                                \
                  (void* send, void* receive, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op, MPI_Fint* comm, \
                   AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {                                              \
    static CallCount call("MPI_" #Name);                                                                     \
    const MPI_Comm c_comm = PMPI_Comm_f2c(*comm);                                                            \
    if (is_tracing() && c_comm != MPI_COMM_NULL)                                                             \
      record_collective(call, bytes_of(*count, PMPI_Type_f2c(*type)), c_comm);                               \
    pmpi_##name##_(send, receive, count, type, op, comm, AYATORI_ARGUMENT_##TAIL error);                     \
  }

#define AYATORI_REDUCE_SCATTER_BLOCK(name, NAME, Name, TAIL)                                                 \
  AYATORI_FORTRAN(name, NAME,                                                                                \
                  (void* send, void* receive, MPI_Fint* count, MPI_Fint* type, MPI_Fint* op, MPI_Fint* comm, \
                   AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {                                              \
    static CallCount call("MPI_" #Name);                                                                     \
    const MPI_Comm c_comm = PMPI_Comm_f2c(*comm);                                                            \
    if (is_tracing() && c_comm != MPI_COMM_NULL)                                                             \
      record_collective(call, handed_in::own_size_of(c_comm) * bytes_of(*count, PMPI_Type_f2c(*type)),       \
                        c_comm);                                                                             \
    AYATORI_TRY_##TAIL(reduce_scatter_block, address(send), address(receive), *count, PMPI_Type_f2c(*type),  \
                       PMPI_Op_f2c(*op), c_comm)                                                             \
        pmpi_##name##_(send, receive, count, type, op, comm, AYATORI_ARGUMENT_##TAIL error);                 \
  }

#define AYATORI_REDUCE_SCATTER(name, NAME, Name, TAIL)                                                \
  AYATORI_FORTRAN(name, NAME,                                                                         \
                  (void* send, void* receive, MPI_Fint* counts, MPI_Fint* type, MPI_Fint* op,         \
                   MPI_Fint* comm, AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {                       \
    static CallCount call("MPI_" #Name);                                                              \
    const MPI_Comm c_comm = PMPI_Comm_f2c(*comm);                                                     \
    if (is_tracing() && c_comm != MPI_COMM_NULL)                                                      \
      record_collective(call, handed_in::own_blocks(counts, PMPI_Type_f2c(*type), c_comm), c_comm);   \
    AYATORI_TRY_##TAIL(reduce_scatter, address(send), address(receive), counts, PMPI_Type_f2c(*type), \
                       PMPI_Op_f2c(*op), c_comm)                                                      \
        pmpi_##name##_(send, receive, counts, type, op, comm, AYATORI_ARGUMENT_##TAIL error);         \
  }

#define AYATORI_NEIGHBOR(name, NAME, Name, TAIL)                                                          \
  AYATORI_FORTRAN(name, NAME,                                                                             \
                  (void* send, MPI_Fint* send_count, MPI_Fint* send_type, void* receive, MPI_Fint* count, \
                   MPI_Fint* type, MPI_Fint* comm, AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {           \
    static CallCount call("MPI_" #Name);                                                                  \
    record_neighbours(call, PMPI_Comm_f2c(*comm),                                                         \
                      [&](int) { return bytes_of(*send_count, PMPI_Type_f2c(*send_type)); });             \
    AYATORI_TRY_NEIGHBOURS_##TAIL(name, address(send), *send_count, PMPI_Type_f2c(*send_type),            \
                                  address(receive), *count, PMPI_Type_f2c(*type))                         \
        pmpi_##name##_(send, send_count, send_type, receive, count, type, comm,                           \
                       AYATORI_ARGUMENT_##TAIL error);                                                    \
  }

#define AYATORI_NEIGHBOR_ALLGATHERV(name, NAME, Name, TAIL)                                           \
  AYATORI_FORTRAN(                                                                                    \
      name, NAME,                                                                                     \
      (void* send, MPI_Fint* send_count, MPI_Fint* send_type, void* receive, MPI_Fint* counts,        \
       MPI_Fint* places, MPI_Fint* type, MPI_Fint* comm, AYATORI_PARAMETER_##TAIL MPI_Fint* error)) { \
    static CallCount call("MPI_" #Name);                                                              \
    record_neighbours(call, PMPI_Comm_f2c(*comm),                                                     \
                      [&](int) { return bytes_of(*send_count, PMPI_Type_f2c(*send_type)); });         \
    AYATORI_TRY_NEIGHBOURS_##TAIL(name, address(send), *send_count, PMPI_Type_f2c(*send_type),        \
                                  address(receive), counts, places, PMPI_Type_f2c(*type))             \
        pmpi_##name##_(send, send_count, send_type, receive, counts, places, type, comm,              \
                       AYATORI_ARGUMENT_##TAIL error);                                                \
  }

#define AYATORI_NEIGHBOR_ALLTOALLV(name, NAME, Name, TAIL)                                                  \
  AYATORI_FORTRAN(name, NAME,                                                                               \
                  (void* send, MPI_Fint* send_counts, MPI_Fint* send_places, MPI_Fint* send_type,           \
                   void* receive, MPI_Fint* counts, MPI_Fint* places, MPI_Fint* type, MPI_Fint* comm,       \
                   AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {                                             \
    static CallCount call("MPI_" #Name);                                                                    \
    record_neighbours(call, PMPI_Comm_f2c(*comm),                                                           \
                      [&](int i) { return bytes_of(send_counts[i], PMPI_Type_f2c(*send_type)); });          \
    AYATORI_TRY_NEIGHBOURS_##TAIL(name, address(send), send_counts, send_places, PMPI_Type_f2c(*send_type), \
                                  address(receive), counts, places, PMPI_Type_f2c(*type))                   \
        pmpi_##name##_(send, send_counts, send_places, send_type, receive, counts, places, type, comm,      \
                       AYATORI_ARGUMENT_##TAIL error);                                                      \
  }

#define AYATORI_NEIGHBOR_ALLTOALLW(name, NAME, Name, TAIL)                                               \
  AYATORI_FORTRAN(name, NAME,                                                                            \
                  (void* send, MPI_Fint* send_counts, MPI_Aint* send_places, MPI_Fint* send_types,       \
                   void* receive, MPI_Fint* counts, MPI_Aint* places, MPI_Fint* types, MPI_Fint* comm,   \
                   AYATORI_PARAMETER_##TAIL MPI_Fint* error)) {                                          \
    static CallCount call("MPI_" #Name);                                                                 \
    record_neighbours(call, PMPI_Comm_f2c(*comm),                                                        \
                      [&](int i) { return bytes_of(send_counts[i], PMPI_Type_f2c(send_types[i])); });    \
    AYATORI_TRY_NEIGHBOURS_##TAIL(name, address(send), send_counts, send_places,                         \
                                  types_of(send_types, turn.destinations()).data(), address(receive),    \
                                  counts, places, types_of(types, turn.sources()).data())                \
        pmpi_##name##_(send, send_counts, send_places, send_types, receive, counts, places, types, comm, \
                       AYATORI_ARGUMENT_##TAIL error);                                                   \
  }

AYATORI_SEND(send, SEND, Send, BLOCKING)
AYATORI_SEND(bsend, BSEND, Bsend, BLOCKING)
AYATORI_SEND(rsend, RSEND, Rsend, BLOCKING)
AYATORI_SEND(ssend, SSEND, Ssend, BLOCKING)
AYATORI_SEND(isend, ISEND, Isend, NONBLOCKING)
AYATORI_SEND(ibsend, IBSEND, Ibsend, NONBLOCKING)
AYATORI_SEND(irsend, IRSEND, Irsend, NONBLOCKING)
AYATORI_SEND(issend, ISSEND, Issend, NONBLOCKING)
AYATORI_SEND_INIT(send_init, SEND_INIT, Send_init, NONBLOCKING)
AYATORI_SEND_INIT(bsend_init, BSEND_INIT, Bsend_init, NONBLOCKING)
AYATORI_SEND_INIT(rsend_init, RSEND_INIT, Rsend_init, NONBLOCKING)
AYATORI_SEND_INIT(ssend_init, SSEND_INIT, Ssend_init, NONBLOCKING)
AYATORI_SENDRECV(sendrecv, SENDRECV, Sendrecv, BLOCKING)
AYATORI_SENDRECV_REPLACE(sendrecv_replace, SENDRECV_REPLACE, Sendrecv_replace, BLOCKING)
AYATORI_PUT(put, PUT, Put, BLOCKING)
AYATORI_GET(get, GET, Get, BLOCKING)
AYATORI_ACCUMULATE(accumulate, ACCUMULATE, Accumulate, BLOCKING)
AYATORI_GET_ACCUMULATE(get_accumulate, GET_ACCUMULATE, Get_accumulate, BLOCKING)
AYATORI_PUT(rput, RPUT, Rput, NONBLOCKING)
AYATORI_GET(rget, RGET, Rget, NONBLOCKING)
AYATORI_ACCUMULATE(raccumulate, RACCUMULATE, Raccumulate, NONBLOCKING)
AYATORI_GET_ACCUMULATE(rget_accumulate, RGET_ACCUMULATE, Rget_accumulate, NONBLOCKING)

AYATORI_FAMILY(AYATORI_BARRIER, barrier, BARRIER, Barrier, ibarrier, IBARRIER, Ibarrier)
AYATORI_FAMILY(AYATORI_BCAST, bcast, BCAST, Bcast, ibcast, IBCAST, Ibcast)
AYATORI_FAMILY(AYATORI_GATHER, gather, GATHER, Gather, igather, IGATHER, Igather)
AYATORI_FAMILY(AYATORI_GATHERV, gatherv, GATHERV, Gatherv, igatherv, IGATHERV, Igatherv)
AYATORI_FAMILY(AYATORI_SCATTER, scatter, SCATTER, Scatter, iscatter, ISCATTER, Iscatter)
AYATORI_FAMILY(AYATORI_SCATTERV, scatterv, SCATTERV, Scatterv, iscatterv, ISCATTERV, Iscatterv)
AYATORI_FAMILY(AYATORI_ALLGATHER, allgather, ALLGATHER, Allgather, iallgather, IALLGATHER, Iallgather)
AYATORI_FAMILY(AYATORI_ALLGATHERV, allgatherv, ALLGATHERV, Allgatherv, iallgatherv, IALLGATHERV, Iallgatherv)
AYATORI_FAMILY(AYATORI_ALLTOALL, alltoall, ALLTOALL, Alltoall, ialltoall, IALLTOALL, Ialltoall)
AYATORI_FAMILY(AYATORI_ALLTOALLV, alltoallv, ALLTOALLV, Alltoallv, ialltoallv, IALLTOALLV, Ialltoallv)
AYATORI_FAMILY(AYATORI_ALLTOALLW, alltoallw, ALLTOALLW, Alltoallw, ialltoallw, IALLTOALLW, Ialltoallw)
AYATORI_FAMILY(AYATORI_REDUCE, reduce, REDUCE, Reduce, ireduce, IREDUCE, Ireduce)
AYATORI_FAMILY(AYATORI_ALLREDUCE, allreduce, ALLREDUCE, Allreduce, iallreduce, IALLREDUCE, Iallreduce)
AYATORI_FAMILY(AYATORI_REDUCE_SCATTER, reduce_scatter, REDUCE_SCATTER, Reduce_scatter, ireduce_scatter,
               IREDUCE_SCATTER, Ireduce_scatter)
AYATORI_FAMILY(AYATORI_REDUCE_SCATTER_BLOCK, reduce_scatter_block, REDUCE_SCATTER_BLOCK, Reduce_scatter_block,
               ireduce_scatter_block, IREDUCE_SCATTER_BLOCK, Ireduce_scatter_block)
AYATORI_FAMILY(AYATORI_SCAN, scan, SCAN, Scan, iscan, ISCAN, Iscan)
AYATORI_FAMILY(AYATORI_SCAN, exscan, EXSCAN, Exscan, iexscan, IEXSCAN, Iexscan)
AYATORI_FAMILY(AYATORI_NEIGHBOR, neighbor_allgather, NEIGHBOR_ALLGATHER, Neighbor_allgather,
               ineighbor_allgather, INEIGHBOR_ALLGATHER, Ineighbor_allgather)
AYATORI_FAMILY(AYATORI_NEIGHBOR_ALLGATHERV, neighbor_allgatherv, NEIGHBOR_ALLGATHERV, Neighbor_allgatherv,
               ineighbor_allgatherv, INEIGHBOR_ALLGATHERV, Ineighbor_allgatherv)
AYATORI_FAMILY(AYATORI_NEIGHBOR, neighbor_alltoall, NEIGHBOR_ALLTOALL, Neighbor_alltoall, ineighbor_alltoall,
               INEIGHBOR_ALLTOALL, Ineighbor_alltoall)
AYATORI_FAMILY(AYATORI_NEIGHBOR_ALLTOALLV, neighbor_alltoallv, NEIGHBOR_ALLTOALLV, Neighbor_alltoallv,
               ineighbor_alltoallv, INEIGHBOR_ALLTOALLV, Ineighbor_alltoallv)
AYATORI_FAMILY(AYATORI_NEIGHBOR_ALLTOALLW, neighbor_alltoallw, NEIGHBOR_ALLTOALLW, Neighbor_alltoallw,
               ineighbor_alltoallw, INEIGHBOR_ALLTOALLW, Ineighbor_alltoallw)

AYATORI_FORTRAN(start, START, (MPI_Fint * request, MPI_Fint* error)) {
  static CallCount call("MPI_Start");
  const MPI_Request c_request = PMPI_Request_f2c(*request);
  record_starts(call, 1, &c_request);
  pmpi_start_(request, error);
  if (*error == MPI_SUCCESS) start_persistent_calls(1, &c_request);
}

AYATORI_FORTRAN(startall, STARTALL, (MPI_Fint * count, MPI_Fint* requests, MPI_Fint* error)) {
  static CallCount call("MPI_Startall");
  std::vector<MPI_Request> c_requests;
  for (int i = 0; i < *count; ++i) c_requests.push_back(PMPI_Request_f2c(requests[i]));
  record_starts(call, *count, c_requests.data());
  pmpi_startall_(count, requests, error);
  if (*error == MPI_SUCCESS) start_persistent_calls(*count, c_requests.data());
}

AYATORI_FORTRAN(request_free, REQUEST_FREE, (MPI_Fint * request, MPI_Fint* error)) {
  forget_persistent(PMPI_Request_f2c(*request));
  forget_persistent_call(PMPI_Request_f2c(*request));
  pmpi_request_free_(request, error);
}

AYATORI_FORTRAN(type_free, TYPE_FREE, (MPI_Fint * type, MPI_Fint* error)) {
  MPI_Datatype c_type = PMPI_Type_f2c(*type);
  if (!free_type_later(&c_type)) return pmpi_type_free_(type, error);
  *type = PMPI_Type_c2f(c_type);
  *error = MPI_SUCCESS;
}

AYATORI_FORTRAN(op_free, OP_FREE, (MPI_Fint * op, MPI_Fint* error)) {
  MPI_Op c_op = PMPI_Op_f2c(*op);
  if (!free_op_later(&c_op)) return pmpi_op_free_(op, error);
  *op = PMPI_Op_c2f(c_op);
  *error = MPI_SUCCESS;
}

AYATORI_FORTRAN(fetch_and_op, FETCH_AND_OP,
                (void* data, void* result, MPI_Fint* type, MPI_Fint* target, MPI_Aint* place, MPI_Fint* op,
                 MPI_Fint* win, MPI_Fint* error)) {
  static CallCount call("MPI_Fetch_and_op");
  record_one_sided(call, Direction::both_ways, 1, PMPI_Type_f2c(*type), *target, PMPI_Win_f2c(*win));
  pmpi_fetch_and_op_(data, result, type, target, place, op, win, error);
}

AYATORI_FORTRAN(compare_and_swap, COMPARE_AND_SWAP,
                (void* data, void* compared, void* result, MPI_Fint* type, MPI_Fint* target, MPI_Aint* place,
                 MPI_Fint* win, MPI_Fint* error)) {
  static CallCount call("MPI_Compare_and_swap");
  record_one_sided(call, Direction::both_ways, 1, PMPI_Type_f2c(*type), *target, PMPI_Win_f2c(*win));
  pmpi_compare_and_swap_(data, compared, result, type, target, place, win, error);
}

AYATORI_FORTRAN(init, INIT, (MPI_Fint * error)) {
  pmpi_init_(error);
  if (*error == MPI_SUCCESS) begin();
}

AYATORI_FORTRAN(init_thread, INIT_THREAD, (MPI_Fint * required, MPI_Fint* provided, MPI_Fint* error)) {
  pmpi_init_thread_(required, provided, error);
  if (*error == MPI_SUCCESS) begin();
}

AYATORI_FORTRAN(finalize, FINALIZE, (MPI_Fint * error)) {
  end();
  pmpi_finalize_(error);
}

#elif !defined(MPI_ABI_VERSION)  // the ABI of MPI 5 is one for C

// The compiler hands in addresses, that of the error only if the program asks for it; handles are those of C.
#define AYATORI_FORTRAN(name, parameters, call)  \
  extern "C" void mpi_##name##_f08_ parameters;  \
  extern "C" void mpi_##name##_f08_ parameters { \
    const int code = call;                       \
    if (error != nullptr) *error = code;         \
  }

AYATORI_FORTRAN(init, (int* error), MPI_Init(nullptr, nullptr))
AYATORI_FORTRAN(init_thread, (const int* required, int* provided, int* error),
                MPI_Init_thread(nullptr, nullptr, *required, provided))
AYATORI_FORTRAN(finalize, (int* error), MPI_Finalize())
AYATORI_FORTRAN(barrier, (const MPI_Comm* comm, int* error), MPI_Barrier(*comm))
AYATORI_FORTRAN(ibarrier, (const MPI_Comm* comm, MPI_Request* request, int* error),
                MPI_Ibarrier(*comm, request))
AYATORI_FORTRAN(start, (MPI_Request * request, int* error), MPI_Start(request))
AYATORI_FORTRAN(startall, (const int* count, MPI_Request* requests, int* error),
                MPI_Startall(*count, requests))
AYATORI_FORTRAN(request_free, (MPI_Request * request, int* error), MPI_Request_free(request))

#endif
