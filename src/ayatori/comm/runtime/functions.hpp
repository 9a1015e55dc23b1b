#pragma once

#include "ayatori/comm/runtime/handles.hpp"

// The formatter would give every argument a line of its own.
// clang-format off
/// The functions of MPI that comm and its tests call: f(name, parameters, arguments) for each, without
/// "MPI_". A new call of comm is a line here, and a function in single.cpp. All give a code of MPI's. A
/// macro, since a line becomes a pointer in a table, a call through it, a name to look for in a library, and
/// a declaration.
#define AYATORI_MPI_FUNCTIONS(f)                                                                             \
  f(Abort, (MPI_Comm comm, int status), (comm, status))                                                      \
  f(Initialized, (int* flag), (flag))                                                                        \
  f(Finalized, (int* flag), (flag))                                                                          \
  f(Init_thread, (int* argc, char*** argv, int required, int* provided), (argc, argv, required,              \
    provided))                                                                                               \
  f(Finalize, (), ())                                                                                        \
  f(Get_library_version, (char* text, int* length), (text, length))                                          \
  f(Error_string, (int code, char* text, int* length), (code, text, length))                                 \
  f(Type_size, (MPI_Datatype type, int* bytes), (type, bytes))                                               \
  f(Comm_rank, (MPI_Comm comm, int* rank), (comm, rank))                                                     \
  f(Comm_size, (MPI_Comm comm, int* size), (comm, size))                                                     \
  f(Comm_test_inter, (MPI_Comm comm, int* flag), (comm, flag))                                               \
  f(Comm_dup, (MPI_Comm comm, MPI_Comm* copy), (comm, copy))                                                 \
  f(Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm* part), (comm, color, key, part))               \
  f(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* part), (comm, type,         \
    key, info, part))                                                                                        \
  f(Comm_free, (MPI_Comm* comm), (comm))                                                                     \
  f(Comm_create_keyval, (CopyAttribute* copy, DeleteAttribute* remove, int* key, void* extra), (copy,        \
    remove, key, extra))                                                                                     \
  f(Comm_free_keyval, (int* key), (key))                                                                     \
  f(Comm_set_attr, (MPI_Comm comm, int key, void* value), (comm, key, value))                                \
  f(Comm_set_errhandler, (MPI_Comm comm, MPI_Errhandler handler), (comm, handler))                           \
  f(Comm_get_errhandler, (MPI_Comm comm, MPI_Errhandler* handler), (comm, handler))                          \
  f(Errhandler_free, (MPI_Errhandler* handler), (handler))                                                   \
  f(Dist_graph_create_adjacent, (MPI_Comm comm, int sources, const int* source, const int*                   \
    source_weight, int destinations, const int* destination, const int* destination_weight, MPI_Info         \
    info, int reorder, MPI_Comm* graph), (comm, sources, source, source_weight, destinations,                \
    destination, destination_weight, info, reorder, graph))                                                  \
  f(Send, (const void* data, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm),         \
    (data, count, type, destination, tag, comm))                                                             \
  f(Recv, (void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status*         \
    status), (data, count, type, source, tag, comm, status))                                                 \
  f(Isend, (const void* data, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,         \
    MPI_Request* request), (data, count, type, destination, tag, comm, request))                             \
  f(Irecv, (void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request*       \
    request), (data, count, type, source, tag, comm, request))                                               \
  f(Send_init, (const void* data, int count, MPI_Datatype type, int destination, int tag, MPI_Comm comm,     \
    MPI_Request* request), (data, count, type, destination, tag, comm, request))                             \
  f(Recv_init, (void* data, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,                \
    MPI_Request* request), (data, count, type, source, tag, comm, request))                                  \
  f(Startall, (int count, MPI_Request* requests), (count, requests))                                         \
  f(Wait, (MPI_Request* request, MPI_Status* status), (request, status))                                     \
  f(Test, (MPI_Request* request, int* flag, MPI_Status* status), (request, flag, status))                    \
  f(Waitall, (int count, MPI_Request* requests, MPI_Status* statuses), (count, requests, statuses))          \
  f(Waitany, (int count, MPI_Request* requests, int* index, MPI_Status* status), (count, requests,           \
    index, status))                                                                                          \
  f(Request_free, (MPI_Request* request), (request))                                                         \
  f(Iprobe, (int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status), (source, tag, comm,         \
    flag, status))                                                                                           \
  f(Barrier, (MPI_Comm comm), (comm))                                                                        \
  f(Bcast, (void* data, int count, MPI_Datatype type, int root, MPI_Comm comm), (data, count, type,          \
    root, comm))                                                                                             \
  f(Allreduce, (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm           \
    comm), (send, receive, count, type, op, comm))                                                           \
  f(Reduce, (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, int root,             \
    MPI_Comm comm), (send, receive, count, type, op, root, comm))                                            \
  f(Reduce_local, (const void* in, void* inout, int count, MPI_Datatype type, MPI_Op op), (in, inout,        \
    count, type, op))                                                                                        \
  f(Reduce_scatter_block, (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op,         \
    MPI_Comm comm), (send, receive, count, type, op, comm))                                                  \
  f(Exscan, (const void* send, void* receive, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm),       \
    (send, receive, count, type, op, comm))                                                                  \
  f(Allgather, (const void* send, int sent, MPI_Datatype send_type, void* receive, int received,             \
    MPI_Datatype receive_type, MPI_Comm comm), (send, sent, send_type, receive, received, receive_type,      \
    comm))                                                                                                   \
  f(Allgatherv, (const void* send, int sent, MPI_Datatype send_type, void* receive, const int* counts,       \
    const int* displacements, MPI_Datatype receive_type, MPI_Comm comm), (send, sent, send_type,             \
    receive, counts, displacements, receive_type, comm))                                                     \
  f(Gather, (const void* send, int sent, MPI_Datatype send_type, void* receive, int received,                \
    MPI_Datatype receive_type, int root, MPI_Comm comm), (send, sent, send_type, receive, received,          \
    receive_type, root, comm))                                                                               \
  f(Gatherv, (const void* send, int sent, MPI_Datatype send_type, void* receive, const int* counts,          \
    const int* displacements, MPI_Datatype receive_type, int root, MPI_Comm comm), (send, sent,              \
    send_type, receive, counts, displacements, receive_type, root, comm))                                    \
  f(Scatter, (const void* send, int sent, MPI_Datatype send_type, void* receive, int received,               \
    MPI_Datatype receive_type, int root, MPI_Comm comm), (send, sent, send_type, receive, received,          \
    receive_type, root, comm))                                                                               \
  f(Scatterv, (const void* send, const int* counts, const int* displacements, MPI_Datatype send_type,        \
    void* receive, int received, MPI_Datatype receive_type, int root, MPI_Comm comm), (send, counts,         \
    displacements, send_type, receive, received, receive_type, root, comm))                                  \
  f(Alltoall, (const void* send, int sent, MPI_Datatype send_type, void* receive, int received,              \
    MPI_Datatype receive_type, MPI_Comm comm), (send, sent, send_type, receive, received, receive_type,      \
    comm))                                                                                                   \
  f(Alltoallv, (const void* send, const int* send_counts, const int* send_displacements, MPI_Datatype        \
    send_type, void* receive, const int* receive_counts, const int* receive_displacements, MPI_Datatype      \
    receive_type, MPI_Comm comm), (send, send_counts, send_displacements, send_type, receive,                \
    receive_counts, receive_displacements, receive_type, comm))                                              \
  f(Ineighbor_alltoallv, (const void* send, const int* send_counts, const int* send_displacements,           \
    MPI_Datatype send_type, void* receive, const int* receive_counts, const int* receive_displacements,      \
    MPI_Datatype receive_type, MPI_Comm graph, MPI_Request* request), (send, send_counts,                    \
    send_displacements, send_type, receive, receive_counts, receive_displacements, receive_type, graph,      \
    request))                                                                                                \
  f(Win_allocate, (MPI_Aint bytes, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window),     \
    (bytes, unit, info, comm, base, window))                                                                 \
  f(Win_free, (MPI_Win* window), (window))                                                                   \
  f(Win_set_errhandler, (MPI_Win window, MPI_Errhandler handler), (window, handler))                         \
  f(Win_lock_all, (int assertion, MPI_Win window), (assertion, window))                                      \
  f(Win_unlock_all, (MPI_Win window), (window))                                                              \
  f(Win_flush_all, (MPI_Win window), (window))                                                               \
  f(Win_sync, (MPI_Win window), (window))                                                                    \
  f(Put, (const void* data, int count, MPI_Datatype type, int target, MPI_Aint place, int target_count,      \
    MPI_Datatype target_type, MPI_Win window), (data, count, type, target, place, target_count,              \
    target_type, window))
// clang-format on

namespace ayatori::comm {

/// Pointers to the functions of one transport, and two more: handles of communicators as Fortran has them.
struct Functions {
// NOLINTNEXTLINE(bugprone-macro-parentheses): a declaration's parameters, and its name
#define AYATORI_POINTER(name, parameters, arguments) int(*name) parameters;
  AYATORI_MPI_FUNCTIONS(AYATORI_POINTER)
#undef AYATORI_POINTER
  MPI_Fint (*Comm_c2f)(MPI_Comm comm);
  MPI_Comm (*Comm_f2c)(MPI_Fint handle);
};

}  // namespace ayatori::comm
