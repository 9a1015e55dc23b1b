#include <utility>

#include "ayatori/collectives/pmpi/bindings/abi.hpp"
#include "ayatori/collectives/pmpi/bindings/handed_in.hpp"
#include "ayatori/collectives/pmpi/bindings/neighbours.hpp"
#include "ayatori/collectives/pmpi/kept_handles.hpp"
#include "ayatori/collectives/pmpi/library.hpp"
#include "ayatori/collectives/pmpi/neighbour_calls.hpp"
#include "ayatori/collectives/pmpi/pending_calls.hpp"
#include "ayatori/collectives/pmpi/schedules.hpp"
#include "ayatori/collectives/pmpi/trace.hpp"

// The functions of MPI that a program finds here instead of in its MPI. Names of C cannot be templates, so
// those of a family come from one macro: blocking, non-blocking and persistent, with counts (N) and
// displacements (D) of int and, from MPI-4 on, of MPI_Count and MPI_Aint (functions whose names end in _c;
// they are recorded without it).

using namespace ayatori::pmpi;

// What the variants of a family differ in.
#define AYATORI_PARAMETER_BLOCKING
#define AYATORI_PARAMETER_NONBLOCKING , MPI_Request* request
#define AYATORI_PARAMETER_PERSISTENT , MPI_Info info, MPI_Request *request
#define AYATORI_ARGUMENT_BLOCKING
#define AYATORI_ARGUMENT_NONBLOCKING , request
#define AYATORI_ARGUMENT_PERSISTENT , info, request
#define AYATORI_RECORD_BLOCKING(bytes, root) \
  if (is_tracing() && comm != MPI_COMM_NULL) record_collective(call, bytes, comm, root)
#define AYATORI_RECORD_NONBLOCKING(bytes, root) AYATORI_RECORD_BLOCKING(bytes, root)
#define AYATORI_RECORD_PERSISTENT(bytes, root) \
  PersistentCall started;                      \
  if (is_tracing() && comm != MPI_COMM_NULL) started = persistent_collective(bytes, comm, root)
#define AYATORI_NEIGHBOURS_BLOCKING(bytes_to) record_neighbours(call, comm, bytes_to)
#define AYATORI_NEIGHBOURS_NONBLOCKING(bytes_to) AYATORI_NEIGHBOURS_BLOCKING(bytes_to)
#define AYATORI_NEIGHBOURS_PERSISTENT(bytes_to) PersistentCall started = persistent_neighbours(comm, bytes_to)
#define AYATORI_TRY_BLOCKING(name, ...) \
  if (const auto done = by_schedule::name(__VA_ARGS__)) return *done
#define AYATORI_TRY_NONBLOCKING(name, ...) \
  if (const auto done = by_schedule::name(__VA_ARGS__, Way{request})) return *done
#define AYATORI_TRY_PERSISTENT(name, ...)                                            \
  if (const auto done = by_schedule::name(__VA_ARGS__, Way{request, true})) {        \
    if (*done == MPI_SUCCESS) record_persistent(call, std::move(started), *request); \
    return *done;                                                                    \
  }
// Functions that go by pairs of ranks, which only calls that block do.
#define AYATORI_TRY_PAIRS_BLOCKING(name, ...) AYATORI_TRY_BLOCKING(name, __VA_ARGS__)
#define AYATORI_TRY_PAIRS_NONBLOCKING(name, ...)
#define AYATORI_TRY_PAIRS_PERSISTENT(name, ...)
// Likewise of those among neighbours.
#define AYATORI_TRY_NEIGHBOURS_BLOCKING(name, ...) \
  NeighbourTurn turn(NeighbourKind::name, comm);   \
  AYATORI_TRY_BLOCKING(name, turn, __VA_ARGS__)
#define AYATORI_TRY_NEIGHBOURS_NONBLOCKING(name, ...)
#define AYATORI_TRY_NEIGHBOURS_PERSISTENT(name, ...)
#define AYATORI_CALL_BLOCKING(call_of_mpi) return call_of_mpi
#define AYATORI_CALL_NONBLOCKING(call_of_mpi) return call_of_mpi
#define AYATORI_CALL_PERSISTENT(call_of_mpi)                                      \
  const int code = call_of_mpi;                                                   \
  if (code == MPI_SUCCESS) record_persistent(call, std::move(started), *request); \
  return code

// A function with counts of int, and where the MPI has it with large ones.
#if MPI_VERSION >= 4
#define AYATORI_ALSO_LARGE(MACRO, Name, ...) \
  MACRO(MPI_##Name, Name, int, int, __VA_ARGS__) MACRO(MPI_##Name##_c, Name, MPI_Count, MPI_Aint, __VA_ARGS__)
#else
#define AYATORI_ALSO_LARGE(MACRO, Name, ...) MACRO(MPI_##Name, Name, int, int, __VA_ARGS__)
#endif
// Persistent collective calls, which Open MPI 4 has as an extension.
#if MPI_VERSION >= 4
#define AYATORI_PERSISTENT(MACRO, Name) MACRO(MPI_##Name, Name, int, int, PERSISTENT)
#define AYATORI_PERSISTENT_ALSO_LARGE(MACRO, Name) AYATORI_ALSO_LARGE(MACRO, Name, PERSISTENT)
#elif defined(OMPI_HAVE_MPI_EXT_PCOLLREQ)
#define AYATORI_PERSISTENT(MACRO, Name) MACRO(MPIX_##Name, Name, int, int, PERSISTENT)
#define AYATORI_PERSISTENT_ALSO_LARGE(MACRO, Name) AYATORI_PERSISTENT(MACRO, Name)
#else
#define AYATORI_PERSISTENT(MACRO, Name)
#define AYATORI_PERSISTENT_ALSO_LARGE(MACRO, Name)
#endif
#define AYATORI_FAMILY(MACRO, Name, IName)      \
  AYATORI_ALSO_LARGE(MACRO, Name, BLOCKING)     \
  AYATORI_ALSO_LARGE(MACRO, IName, NONBLOCKING) \
  AYATORI_PERSISTENT_ALSO_LARGE(MACRO, Name##_init)

#define AYATORI_SEND(Function, Name, N, D, TAIL)                                  \
  int Function(const void* data, N count, MPI_Datatype type, int to, int tag,     \
               MPI_Comm comm AYATORI_PARAMETER_##TAIL) {                          \
    static CallCount call("MPI_" #Name);                                          \
    record_send(call, count, type, to, comm);                                     \
    return P##Function(data, count, type, to, tag, comm AYATORI_ARGUMENT_##TAIL); \
  }

#define AYATORI_SEND_INIT(Function, Name, N, D, TAIL)                                                   \
  int Function(const void* data, N count, MPI_Datatype type, int to, int tag, MPI_Comm comm,            \
               MPI_Request* request) {                                                                  \
    static CallCount call("MPI_" #Name);                                                                \
    const int code = P##Function(data, count, type, to, tag, comm, request);                            \
    if (code == MPI_SUCCESS) record_persistent(call, persistent_send(count, type, to, comm), *request); \
    return code;                                                                                        \
  }

#define AYATORI_SENDRECV(Function, Name, N, D, TAIL)                                                        \
  int Function(const void* data, N count, MPI_Datatype type, int to, int tag, void* receive,                \
               N receive_count, MPI_Datatype receive_type, int from, int receive_tag, MPI_Comm comm,        \
               MPI_Status* status AYATORI_PARAMETER_##TAIL) {                                               \
    static CallCount call("MPI_" #Name);                                                                    \
    record_send(call, count, type, to, comm);                                                               \
    return P##Function(data, count, type, to, tag, receive, receive_count, receive_type, from, receive_tag, \
                       comm, status AYATORI_ARGUMENT_##TAIL);                                               \
  }

#define AYATORI_SENDRECV_REPLACE(Function, Name, N, D, TAIL)                                                 \
  int Function(void* data, N count, MPI_Datatype type, int to, int tag, int from, int receive_tag,           \
               MPI_Comm comm, MPI_Status* status AYATORI_PARAMETER_##TAIL) {                                 \
    static CallCount call("MPI_" #Name);                                                                     \
    record_send(call, count, type, to, comm);                                                                \
    return P##Function(data, count, type, to, tag, from, receive_tag, comm, status AYATORI_ARGUMENT_##TAIL); \
  }

#define AYATORI_PUT(Function, Name, N, D, TAIL)                                                          \
  int Function(const void* data, N count, MPI_Datatype type, int target, MPI_Aint place, N target_count, \
               MPI_Datatype target_type, MPI_Win win AYATORI_PARAMETER_##TAIL) {                         \
    static CallCount call("MPI_" #Name);                                                                 \
    record_one_sided(call, Direction::to_target, count, type, target, win);                              \
    return P##Function(data, count, type, target, place, target_count, target_type,                      \
                       win AYATORI_ARGUMENT_##TAIL);                                                     \
  }

#define AYATORI_GET(Function, Name, N, D, TAIL)                                                    \
  int Function(void* data, N count, MPI_Datatype type, int target, MPI_Aint place, N target_count, \
               MPI_Datatype target_type, MPI_Win win AYATORI_PARAMETER_##TAIL) {                   \
    static CallCount call("MPI_" #Name);                                                           \
    record_one_sided(call, Direction::from_target, count, type, target, win);                      \
    return P##Function(data, count, type, target, place, target_count, target_type,                \
                       win AYATORI_ARGUMENT_##TAIL);                                               \
  }

#define AYATORI_ACCUMULATE(Function, Name, N, D, TAIL)                                                   \
  int Function(const void* data, N count, MPI_Datatype type, int target, MPI_Aint place, N target_count, \
               MPI_Datatype target_type, MPI_Op op, MPI_Win win AYATORI_PARAMETER_##TAIL) {              \
    static CallCount call("MPI_" #Name);                                                                 \
    record_one_sided(call, Direction::to_target, count, type, target, win);                              \
    return P##Function(data, count, type, target, place, target_count, target_type, op,                  \
                       win AYATORI_ARGUMENT_##TAIL);                                                     \
  }

#define AYATORI_GET_ACCUMULATE(Function, Name, N, D, TAIL)                                                \
  int Function(const void* data, N count, MPI_Datatype type, void* result, N result_count,                \
               MPI_Datatype result_type, int target, MPI_Aint place, N target_count,                      \
               MPI_Datatype target_type, MPI_Op op, MPI_Win win AYATORI_PARAMETER_##TAIL) {               \
    static CallCount call("MPI_" #Name);                                                                  \
    record_one_sided(call, Direction::both_ways, target_count, target_type, target, win);                 \
    return P##Function(data, count, type, result, result_count, result_type, target, place, target_count, \
                       target_type, op, win AYATORI_ARGUMENT_##TAIL);                                     \
  }

// Collective calls.

#define AYATORI_BARRIER(Function, Name, N, D, TAIL)                 \
  int Function(MPI_Comm comm AYATORI_PARAMETER_##TAIL) {            \
    static CallCount call("MPI_" #Name);                            \
    AYATORI_RECORD_##TAIL(0, no_root);                              \
    AYATORI_TRY_##TAIL(barrier, comm);                              \
    AYATORI_CALL_##TAIL(P##Function(comm AYATORI_ARGUMENT_##TAIL)); \
  }

#define AYATORI_BCAST(Function, Name, N, D, TAIL)                                                          \
  int Function(void* data, N count, MPI_Datatype type, int root, MPI_Comm comm AYATORI_PARAMETER_##TAIL) { \
    static CallCount call("MPI_" #Name);                                                                   \
    AYATORI_RECORD_##TAIL(handed_in::broadcast(count, type, root, comm), root);                            \
    AYATORI_TRY_##TAIL(broadcast, data, count, type, root, comm);                                          \
    AYATORI_CALL_##TAIL(P##Function(data, count, type, root, comm AYATORI_ARGUMENT_##TAIL));               \
  }

#define AYATORI_GATHER(Function, Name, N, D, TAIL)                                                           \
  int Function(const void* send, N send_count, MPI_Datatype send_type, void* receive, N count,               \
               MPI_Datatype type, int root, MPI_Comm comm AYATORI_PARAMETER_##TAIL) {                        \
    static CallCount call("MPI_" #Name);                                                                     \
    AYATORI_RECORD_##TAIL(                                                                                   \
        handed_in::hands_in(root) ? handed_in::block(send, send_count, send_type, count, type) : 0, root);   \
    AYATORI_TRY_##TAIL(gather, send, send_count, send_type, receive, count, type, root, comm);               \
    AYATORI_CALL_##TAIL(                                                                                     \
        P##Function(send, send_count, send_type, receive, count, type, root, comm AYATORI_ARGUMENT_##TAIL)); \
  }

#define AYATORI_SCATTER(Function, Name, N, D, TAIL)                                                          \
  int Function(const void* send, N send_count, MPI_Datatype send_type, void* receive, N count,               \
               MPI_Datatype type, int root, MPI_Comm comm AYATORI_PARAMETER_##TAIL) {                        \
    static CallCount call("MPI_" #Name);                                                                     \
    AYATORI_RECORD_##TAIL(handed_in::scatter(send_count, send_type, root, comm), root);                      \
    AYATORI_TRY_##TAIL(scatter, send, send_count, send_type, receive, count, type, root, comm);              \
    AYATORI_CALL_##TAIL(                                                                                     \
        P##Function(send, send_count, send_type, receive, count, type, root, comm AYATORI_ARGUMENT_##TAIL)); \
  }

#define AYATORI_ALLGATHER(Function, Name, N, D, TAIL)                                                  \
  int Function(const void* send, N send_count, MPI_Datatype send_type, void* receive, N count,         \
               MPI_Datatype type, MPI_Comm comm AYATORI_PARAMETER_##TAIL) {                            \
    static CallCount call("MPI_" #Name);                                                               \
    AYATORI_RECORD_##TAIL(handed_in::block(send, send_count, send_type, count, type), no_root);        \
    AYATORI_TRY_##TAIL(allgather, send, send_count, send_type, receive, count, type, comm);            \
    AYATORI_CALL_##TAIL(                                                                               \
        P##Function(send, send_count, send_type, receive, count, type, comm AYATORI_ARGUMENT_##TAIL)); \
  }

#define AYATORI_ALLTOALL(Function, Name, N, D, TAIL)                                                     \
  int Function(const void* send, N send_count, MPI_Datatype send_type, void* receive, N count,           \
               MPI_Datatype type, MPI_Comm comm AYATORI_PARAMETER_##TAIL) {                              \
    static CallCount call("MPI_" #Name);                                                                 \
    AYATORI_RECORD_##TAIL(                                                                               \
        handed_in::size_of(comm) * handed_in::block(send, send_count, send_type, count, type), no_root); \
    AYATORI_TRY_##TAIL(alltoall, send, send_count, send_type, receive, count, type, comm);               \
    AYATORI_CALL_##TAIL(                                                                                 \
        P##Function(send, send_count, send_type, receive, count, type, comm AYATORI_ARGUMENT_##TAIL));   \
  }

#define AYATORI_GATHERV(Function, Name, N, D, TAIL)                                                     \
  int Function(const void* send, N send_count, MPI_Datatype send_type, void* receive, const N counts[], \
               const D places[], MPI_Datatype type, int root, MPI_Comm comm AYATORI_PARAMETER_##TAIL) { \
    static CallCount call("MPI_" #Name);                                                                \
    AYATORI_RECORD_##TAIL(handed_in::hands_in(root)                                                     \
                              ? handed_in::own_block(send, send_count, send_type, counts, type, comm)   \
                              : 0,                                                                      \
                          root);                                                                        \
    AYATORI_TRY_PAIRS_##TAIL(gatherv, send, send_count, send_type, receive, counts, places, type, root, \
                             comm);                                                                     \
    AYATORI_CALL_##TAIL(P##Function(send, send_count, send_type, receive, counts, places, type, root,   \
                                    comm AYATORI_ARGUMENT_##TAIL));                                     \
  }

#define AYATORI_ALLGATHERV(Function, Name, N, D, TAIL)                                                     \
  int Function(const void* send, N send_count, MPI_Datatype send_type, void* receive, const N counts[],    \
               const D places[], MPI_Datatype type, MPI_Comm comm AYATORI_PARAMETER_##TAIL) {              \
    static CallCount call("MPI_" #Name);                                                                   \
    AYATORI_RECORD_##TAIL(handed_in::own_block(send, send_count, send_type, counts, type, comm), no_root); \
    AYATORI_TRY_##TAIL(allgatherv, send, send_count, send_type, receive, counts, places, type, comm);      \
    AYATORI_CALL_##TAIL(P##Function(send, send_count, send_type, receive, counts, places, type,            \
                                    comm AYATORI_ARGUMENT_##TAIL));                                        \
  }

#define AYATORI_SCATTERV(Function, Name, N, D, TAIL)                                                        \
  int Function(const void* send, const N counts[], const D places[], MPI_Datatype type, void* receive,      \
               N receive_count, MPI_Datatype receive_type, int root,                                        \
               MPI_Comm comm AYATORI_PARAMETER_##TAIL) {                                                    \
    static CallCount call("MPI_" #Name);                                                                    \
    AYATORI_RECORD_##TAIL(handed_in::scatterv(counts, type, root, comm), root);                             \
    AYATORI_TRY_PAIRS_##TAIL(scatterv, send, counts, places, type, receive, receive_count, receive_type,    \
                             root, comm);                                                                   \
    AYATORI_CALL_##TAIL(P##Function(send, counts, places, type, receive, receive_count, receive_type, root, \
                                    comm AYATORI_ARGUMENT_##TAIL));                                         \
  }

#define AYATORI_ALLTOALLV(Function, Name, N, D, TAIL)                                                        \
  int Function(const void* send, const N send_counts[], const D send_places[], MPI_Datatype send_type,       \
               void* receive, const N counts[], const D places[], MPI_Datatype type,                         \
               MPI_Comm comm AYATORI_PARAMETER_##TAIL) {                                                     \
    static CallCount call("MPI_" #Name);                                                                     \
    AYATORI_RECORD_##TAIL(handed_in::all_blocks(send, send_counts, send_type, counts, type, comm), no_root); \
    AYATORI_TRY_PAIRS_##TAIL(alltoallv, send, send_counts, send_places, send_type, receive, counts, places,  \
                             type, comm);                                                                    \
    AYATORI_CALL_##TAIL(P##Function(send, send_counts, send_places, send_type, receive, counts, places,      \
                                    type, comm AYATORI_ARGUMENT_##TAIL));                                    \
  }

#define AYATORI_ALLTOALLW(Function, Name, N, D, TAIL)                                                    \
  int Function(const void* send, const N send_counts[], const D send_places[],                           \
               const MPI_Datatype send_types[], void* receive, const N counts[], const D places[],       \
               const MPI_Datatype types[], MPI_Comm comm AYATORI_PARAMETER_##TAIL) {                     \
    static CallCount call("MPI_" #Name);                                                                 \
    AYATORI_RECORD_##TAIL(handed_in::typed_blocks(send, send_counts, send_types, counts, types, comm),   \
                          no_root);                                                                      \
    AYATORI_CALL_##TAIL(P##Function(send, send_counts, send_places, send_types, receive, counts, places, \
                                    types, comm AYATORI_ARGUMENT_##TAIL));                               \
  }

#define AYATORI_REDUCE(Function, Name, N, D, TAIL)                                                        \
  int Function(const void* send, void* receive, N count, MPI_Datatype type, MPI_Op op, int root,          \
               MPI_Comm comm AYATORI_PARAMETER_##TAIL) {                                                  \
    static CallCount call("MPI_" #Name);                                                                  \
    AYATORI_RECORD_##TAIL(handed_in::hands_in(root) ? bytes_of(count, type) : 0, root);                   \
    AYATORI_TRY_##TAIL(reduce, send, receive, count, type, op, root, comm);                               \
    AYATORI_CALL_##TAIL(P##Function(send, receive, count, type, op, root, comm AYATORI_ARGUMENT_##TAIL)); \
  }

#define AYATORI_ALLREDUCE(Function, Name, N, D, TAIL)                                               \
  int Function(const void* send, void* receive, N count, MPI_Datatype type, MPI_Op op,              \
               MPI_Comm comm AYATORI_PARAMETER_##TAIL) {                                            \
    static CallCount call("MPI_" #Name);                                                            \
    AYATORI_RECORD_##TAIL(bytes_of(count, type), no_root);                                          \
    AYATORI_TRY_##TAIL(allreduce, send, receive, count, type, op, comm);                            \
    AYATORI_CALL_##TAIL(P##Function(send, receive, count, type, op, comm AYATORI_ARGUMENT_##TAIL)); \
  }

#define AYATORI_SCAN(Function, Name, N, D, TAIL)                                                    \
  int Function(const void* send, void* receive, N count, MPI_Datatype type, MPI_Op op,              \
               MPI_Comm comm AYATORI_PARAMETER_##TAIL) {                                            \
    static CallCount call("MPI_" #Name);                                                            \
    AYATORI_RECORD_##TAIL(bytes_of(count, type), no_root);                                          \
    AYATORI_CALL_##TAIL(P##Function(send, receive, count, type, op, comm AYATORI_ARGUMENT_##TAIL)); \
  }

#define AYATORI_REDUCE_SCATTER_BLOCK(Function, Name, N, D, TAIL)                                    \
  int Function(const void* send, void* receive, N count, MPI_Datatype type, MPI_Op op,              \
               MPI_Comm comm AYATORI_PARAMETER_##TAIL) {                                            \
    static CallCount call("MPI_" #Name);                                                            \
    AYATORI_RECORD_##TAIL(handed_in::own_size_of(comm) * bytes_of(count, type), no_root);           \
    AYATORI_TRY_##TAIL(reduce_scatter_block, send, receive, count, type, op, comm);                 \
    AYATORI_CALL_##TAIL(P##Function(send, receive, count, type, op, comm AYATORI_ARGUMENT_##TAIL)); \
  }

#define AYATORI_REDUCE_SCATTER(Function, Name, N, D, TAIL)                                           \
  int Function(const void* send, void* receive, const N counts[], MPI_Datatype type, MPI_Op op,      \
               MPI_Comm comm AYATORI_PARAMETER_##TAIL) {                                             \
    static CallCount call("MPI_" #Name);                                                             \
    AYATORI_RECORD_##TAIL(handed_in::own_blocks(counts, type, comm), no_root);                       \
    AYATORI_TRY_##TAIL(reduce_scatter, send, receive, counts, type, op, comm);                       \
    AYATORI_CALL_##TAIL(P##Function(send, receive, counts, type, op, comm AYATORI_ARGUMENT_##TAIL)); \
  }

// Collective calls among neighbours, which are messages to them.

#define AYATORI_NEIGHBOR(kind, Function, Name, N, D, TAIL)                                             \
  int Function(const void* send, N send_count, MPI_Datatype send_type, void* receive, N count,         \
               MPI_Datatype type, MPI_Comm comm AYATORI_PARAMETER_##TAIL) {                            \
    static CallCount call("MPI_" #Name);                                                               \
    AYATORI_NEIGHBOURS_##TAIL([&](int) { return bytes_of(send_count, send_type); });                   \
    AYATORI_TRY_NEIGHBOURS_##TAIL(kind, send, send_count, send_type, receive, count, type);            \
    AYATORI_CALL_##TAIL(                                                                               \
        P##Function(send, send_count, send_type, receive, count, type, comm AYATORI_ARGUMENT_##TAIL)); \
  }

#define AYATORI_NEIGHBOR_ALLGATHER(...) AYATORI_NEIGHBOR(neighbor_allgather, __VA_ARGS__)
#define AYATORI_NEIGHBOR_ALLTOALL(...) AYATORI_NEIGHBOR(neighbor_alltoall, __VA_ARGS__)

#define AYATORI_NEIGHBOR_ALLGATHERV(Function, Name, N, D, TAIL)                                              \
  int Function(const void* send, N send_count, MPI_Datatype send_type, void* receive, const N counts[],      \
               const D places[], MPI_Datatype type, MPI_Comm comm AYATORI_PARAMETER_##TAIL) {                \
    static CallCount call("MPI_" #Name);                                                                     \
    AYATORI_NEIGHBOURS_##TAIL([&](int) { return bytes_of(send_count, send_type); });                         \
    AYATORI_TRY_NEIGHBOURS_##TAIL(neighbor_allgatherv, send, send_count, send_type, receive, counts, places, \
                                  type);                                                                     \
    AYATORI_CALL_##TAIL(P##Function(send, send_count, send_type, receive, counts, places, type,              \
                                    comm AYATORI_ARGUMENT_##TAIL));                                          \
  }

#define AYATORI_NEIGHBOR_ALLTOALLV(Function, Name, N, D, TAIL)                                            \
  int Function(const void* send, const N send_counts[], const D send_places[], MPI_Datatype send_type,    \
               void* receive, const N counts[], const D places[], MPI_Datatype type,                      \
               MPI_Comm comm AYATORI_PARAMETER_##TAIL) {                                                  \
    static CallCount call("MPI_" #Name);                                                                  \
    AYATORI_NEIGHBOURS_##TAIL([&](int i) { return bytes_of(send_counts[i], send_type); });                \
    AYATORI_TRY_NEIGHBOURS_##TAIL(neighbor_alltoallv, send, send_counts, send_places, send_type, receive, \
                                  counts, places, type);                                                  \
    AYATORI_CALL_##TAIL(P##Function(send, send_counts, send_places, send_type, receive, counts, places,   \
                                    type, comm AYATORI_ARGUMENT_##TAIL));                                 \
  }

#define AYATORI_NEIGHBOR_ALLTOALLW(Function, Name, N, D, TAIL)                                             \
  int Function(const void* send, const N send_counts[], const MPI_Aint send_places[],                      \
               const MPI_Datatype send_types[], void* receive, const N counts[], const MPI_Aint places[],  \
               const MPI_Datatype types[], MPI_Comm comm AYATORI_PARAMETER_##TAIL) {                       \
    static CallCount call("MPI_" #Name);                                                                   \
    AYATORI_NEIGHBOURS_##TAIL([&](int i) { return bytes_of(send_counts[i], send_types[i]); });             \
    AYATORI_TRY_NEIGHBOURS_##TAIL(neighbor_alltoallw, send, send_counts, send_places, send_types, receive, \
                                  counts, places, types);                                                  \
    AYATORI_CALL_##TAIL(P##Function(send, send_counts, send_places, send_types, receive, counts, places,   \
                                    types, comm AYATORI_ARGUMENT_##TAIL));                                 \
  }

extern "C" {

AYATORI_ALSO_LARGE(AYATORI_SEND, Send, BLOCKING)
AYATORI_ALSO_LARGE(AYATORI_SEND, Bsend, BLOCKING)
AYATORI_ALSO_LARGE(AYATORI_SEND, Rsend, BLOCKING)
AYATORI_ALSO_LARGE(AYATORI_SEND, Ssend, BLOCKING)
AYATORI_ALSO_LARGE(AYATORI_SEND, Isend, NONBLOCKING)
AYATORI_ALSO_LARGE(AYATORI_SEND, Ibsend, NONBLOCKING)
AYATORI_ALSO_LARGE(AYATORI_SEND, Irsend, NONBLOCKING)
AYATORI_ALSO_LARGE(AYATORI_SEND, Issend, NONBLOCKING)
AYATORI_ALSO_LARGE(AYATORI_SEND_INIT, Send_init, NONBLOCKING)
AYATORI_ALSO_LARGE(AYATORI_SEND_INIT, Bsend_init, NONBLOCKING)
AYATORI_ALSO_LARGE(AYATORI_SEND_INIT, Rsend_init, NONBLOCKING)
AYATORI_ALSO_LARGE(AYATORI_SEND_INIT, Ssend_init, NONBLOCKING)
AYATORI_ALSO_LARGE(AYATORI_SENDRECV, Sendrecv, BLOCKING)
AYATORI_ALSO_LARGE(AYATORI_SENDRECV_REPLACE, Sendrecv_replace, BLOCKING)

AYATORI_ALSO_LARGE(AYATORI_PUT, Put, BLOCKING)
AYATORI_ALSO_LARGE(AYATORI_GET, Get, BLOCKING)
AYATORI_ALSO_LARGE(AYATORI_ACCUMULATE, Accumulate, BLOCKING)
AYATORI_ALSO_LARGE(AYATORI_GET_ACCUMULATE, Get_accumulate, BLOCKING)
AYATORI_ALSO_LARGE(AYATORI_PUT, Rput, NONBLOCKING)
AYATORI_ALSO_LARGE(AYATORI_GET, Rget, NONBLOCKING)
AYATORI_ALSO_LARGE(AYATORI_ACCUMULATE, Raccumulate, NONBLOCKING)
AYATORI_ALSO_LARGE(AYATORI_GET_ACCUMULATE, Rget_accumulate, NONBLOCKING)

AYATORI_BARRIER(MPI_Barrier, Barrier, int, int, BLOCKING)
AYATORI_BARRIER(MPI_Ibarrier, Ibarrier, int, int, NONBLOCKING)
AYATORI_PERSISTENT(AYATORI_BARRIER, Barrier_init)
AYATORI_FAMILY(AYATORI_BCAST, Bcast, Ibcast)
AYATORI_FAMILY(AYATORI_GATHER, Gather, Igather)
AYATORI_FAMILY(AYATORI_GATHERV, Gatherv, Igatherv)
AYATORI_FAMILY(AYATORI_SCATTER, Scatter, Iscatter)
AYATORI_FAMILY(AYATORI_SCATTERV, Scatterv, Iscatterv)
AYATORI_FAMILY(AYATORI_ALLGATHER, Allgather, Iallgather)
AYATORI_FAMILY(AYATORI_ALLGATHERV, Allgatherv, Iallgatherv)
AYATORI_FAMILY(AYATORI_ALLTOALL, Alltoall, Ialltoall)
AYATORI_FAMILY(AYATORI_ALLTOALLV, Alltoallv, Ialltoallv)
AYATORI_FAMILY(AYATORI_ALLTOALLW, Alltoallw, Ialltoallw)
AYATORI_FAMILY(AYATORI_REDUCE, Reduce, Ireduce)
AYATORI_FAMILY(AYATORI_ALLREDUCE, Allreduce, Iallreduce)
AYATORI_FAMILY(AYATORI_REDUCE_SCATTER, Reduce_scatter, Ireduce_scatter)
AYATORI_FAMILY(AYATORI_REDUCE_SCATTER_BLOCK, Reduce_scatter_block, Ireduce_scatter_block)
AYATORI_FAMILY(AYATORI_SCAN, Scan, Iscan)
AYATORI_FAMILY(AYATORI_SCAN, Exscan, Iexscan)
AYATORI_FAMILY(AYATORI_NEIGHBOR_ALLGATHER, Neighbor_allgather, Ineighbor_allgather)
AYATORI_FAMILY(AYATORI_NEIGHBOR_ALLGATHERV, Neighbor_allgatherv, Ineighbor_allgatherv)
AYATORI_FAMILY(AYATORI_NEIGHBOR_ALLTOALL, Neighbor_alltoall, Ineighbor_alltoall)
AYATORI_FAMILY(AYATORI_NEIGHBOR_ALLTOALLV, Neighbor_alltoallv, Ineighbor_alltoallv)
AYATORI_FAMILY(AYATORI_NEIGHBOR_ALLTOALLW, Neighbor_alltoallw, Ineighbor_alltoallw)

int MPI_Start(MPI_Request* request) {
  static CallCount call("MPI_Start");
  record_starts(call, 1, request);
  const int code = PMPI_Start(request);
  if (code == MPI_SUCCESS) start_persistent_calls(1, request);
  return code;
}

int MPI_Startall(int count, MPI_Request requests[]) {
  static CallCount call("MPI_Startall");
  record_starts(call, count, requests);
  const int code = PMPI_Startall(count, requests);
  if (code == MPI_SUCCESS) start_persistent_calls(count, requests);
  return code;
}

#if MPI_VERSION >= 4
/// One message, whatever partitions become ready when.
int MPI_Psend_init(const void* data, int partitions, MPI_Count count, MPI_Datatype type, int to, int tag,
                   MPI_Comm comm, MPI_Info info, MPI_Request* request) {
  static CallCount call("MPI_Psend_init");
  const int code = PMPI_Psend_init(data, partitions, count, type, to, tag, comm, info, request);
  if (code == MPI_SUCCESS)
    record_persistent(call, persistent_send(partitions * count, type, to, comm), *request);
  return code;
}
#endif

int MPI_Request_free(MPI_Request* request) {
  forget_persistent(*request);
  forget_persistent_call(*request);
  return PMPI_Request_free(request);
}

int MPI_Type_free(MPI_Datatype* type) {
  return free_type_later(type) ? MPI_SUCCESS : PMPI_Type_free(type);
}

int MPI_Op_free(MPI_Op* op) {
  return free_op_later(op) ? MPI_SUCCESS : PMPI_Op_free(op);
}

int MPI_Fetch_and_op(const void* data, void* result, MPI_Datatype type, int target, MPI_Aint place, MPI_Op op,
                     MPI_Win win) {
  static CallCount call("MPI_Fetch_and_op");
  record_one_sided(call, Direction::both_ways, 1, type, target, win);
  return PMPI_Fetch_and_op(data, result, type, target, place, op, win);
}

int MPI_Compare_and_swap(const void* data, const void* compared, void* result, MPI_Datatype type, int target,
                         MPI_Aint place, MPI_Win win) {
  static CallCount call("MPI_Compare_and_swap");
  record_one_sided(call, Direction::both_ways, 1, type, target, win);
  return PMPI_Compare_and_swap(data, compared, result, type, target, place, win);
}

int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS && fits_the_mpi()) begin();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS && fits_the_mpi()) begin();
  return code;
}

int MPI_Finalize() {
  end();
  return PMPI_Finalize();
}

}  // extern "C"
