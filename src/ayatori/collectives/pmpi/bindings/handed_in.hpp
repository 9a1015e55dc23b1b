#pragma once

#include <cstdint>

#include "ayatori/collectives/pmpi/trace.hpp"

// The bytes that a rank hands in to a collective call, from the arguments of the call. MPI_IN_PLACE stands
// for what the receiving arguments say.

namespace ayatori::pmpi::handed_in {

inline bool is_root(int root, MPI_Comm comm) {
  return root == MPI_ROOT || (root >= 0 && facts_of(comm).is_intra && facts_of(comm).rank == root);
}

/// Size of the group that the calls name: the other one of an intercommunicator.
inline int size_of(MPI_Comm comm) {
  return static_cast<int>(facts_of(comm).world_ranks.size());
}

template <class N>
std::int64_t sum(const N counts[], MPI_Datatype type, int ranks) {
  MPI_Count elements = 0;
  for (int rank = 0; rank < ranks; ++rank) elements += counts[rank];
  return bytes_of(elements, type);
}

/// Size of this rank's own group, which the blocks of reduce-scatters are for.
inline int own_size_of(MPI_Comm comm) {
  int size = 0;
  PMPI_Comm_size(comm, &size);
  return size;
}

template <class N>
std::int64_t own_blocks(const N counts[], MPI_Datatype type, MPI_Comm comm) {
  return sum(counts, type, own_size_of(comm));
}

/// The ranks of a root's own group hand in nothing to what goes between groups, the root gets.
inline bool hands_in(int root) {
  return root != MPI_ROOT && root != MPI_PROC_NULL;
}

inline std::int64_t broadcast(MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  return is_root(root, comm) ? bytes_of(count, type) : 0;
}

inline std::int64_t scatter(MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
  return is_root(root, comm) ? size_of(comm) * bytes_of(count, type) : 0;
}

template <class N>
std::int64_t scatterv(const N counts[], MPI_Datatype type, int root, MPI_Comm comm) {
  return is_root(root, comm) ? sum(counts, type, size_of(comm)) : 0;
}

/// Bytes of one block of gather, allgather and alltoall.
inline std::int64_t block(const void* send, MPI_Count send_count, MPI_Datatype send_type, MPI_Count count,
                          MPI_Datatype type) {
  return send == MPI_IN_PLACE ? bytes_of(count, type) : bytes_of(send_count, send_type);
}

/// Bytes of this rank's block of gatherv and allgatherv.
template <class N>
std::int64_t own_block(const void* send, MPI_Count send_count, MPI_Datatype send_type, const N counts[],
                       MPI_Datatype type, MPI_Comm comm) {
  return send == MPI_IN_PLACE ? bytes_of(counts[facts_of(comm).rank], type) : bytes_of(send_count, send_type);
}

template <class N>
std::int64_t all_blocks(const void* send, const N send_counts[], MPI_Datatype send_type, const N counts[],
                        MPI_Datatype type, MPI_Comm comm) {
  return send == MPI_IN_PLACE ? sum(counts, type, size_of(comm)) : sum(send_counts, send_type, size_of(comm));
}

/// Bytes of all blocks of alltoallw.
template <class N>
std::int64_t typed_blocks(const void* send, const N send_counts[], const MPI_Datatype send_types[],
                          const N counts[], const MPI_Datatype types[], MPI_Comm comm) {
  std::int64_t bytes = 0;
  for (int rank = 0; rank < size_of(comm); ++rank)
    bytes += send == MPI_IN_PLACE ? bytes_of(counts[rank], types[rank])
                                  : bytes_of(send_counts[rank], send_types[rank]);
  return bytes;
}

}  // namespace ayatori::pmpi::handed_in
