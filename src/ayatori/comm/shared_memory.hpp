#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ayatori/comm/comm.hpp"

namespace ayatori::comm {

/// Memory of the ranks of a node that all of them see: a part of each (MPI-3 shared-memory window). Begins
/// with zeros.
class SharedMemory {
 public:
  /// Collective over ranks of one node (see Comm::split_by_node). `bytes` may differ. Throws EnvironmentError
  /// (agreed) when there is none.
  SharedMemory(const Comm& node, std::int64_t bytes);
  SharedMemory(SharedMemory&&) noexcept;
  SharedMemory& operator=(SharedMemory&&) noexcept;
  /// Collective; but while an exception unwinds this rank, the others may never come here: then the memory is
  /// left to MPI.
  ~SharedMemory();

  /// Of a rank of the node, on a line of the cache.
  std::byte* part(int rank) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace ayatori::comm
