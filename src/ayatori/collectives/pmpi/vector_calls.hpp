#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ayatori/collectives/operation.hpp"
#include "ayatori/comm/comm.hpp"

namespace ayatori::pmpi {

/// Vector calls with blocks of one length, as this library does them when it is put before a program, and as
/// the MPI does: to time them beside each other. One of these at a time, in a process that the library is not
/// put before.
class VectorCalls {
 public:
  /// Collective over all ranks, of which `comm` is a communicator.
  explicit VectorCalls(const comm::Comm& comm);
  /// Collective.
  ~VectorCalls();
  VectorCalls(const VectorCalls&) = delete;
  VectorCalls& operator=(const VectorCalls&) = delete;

  /// Gather, scatter or alltoall: whose vector call this is.
  static bool knows(collectives::Operation operation);

  /// Collective. `send` and `receive` have a block for every rank, of this many bytes; root is rank 0. False,
  /// on all ranks, if the library leaves the call to the MPI: memory does not reach all ranks. Throws
  /// EnvironmentError.
  bool by_memory(collectives::Operation operation, const std::byte* send, std::byte* receive,
                 std::int64_t block);
  /// Collective. Likewise, by the MPI.
  void by_mpi(collectives::Operation operation, const std::byte* send, std::byte* receive,
              std::int64_t block);

 private:
  void set_blocks(std::int64_t block);

  comm::Comm comm_;
  std::int64_t block_ = 0;
  std::vector<int> counts_;
  std::vector<int> places_;
};

}  // namespace ayatori::pmpi
