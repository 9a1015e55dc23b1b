#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "ayatori/comm/comm.hpp"
#include "ayatori/comm/shared_memory/mapped_memory.hpp"

namespace ayatori::comm {

/// Memory of the ranks of a node that all of them see: a part of each. Begins with zeros.
class SharedMemory {
 public:
  /// Collective over ranks of one node (see Comm::split_by_node). `bytes` may differ. Throws EnvironmentError
  /// (agreed) when there is none.
  SharedMemory(const Comm& node, std::int64_t bytes);

  /// Part of a rank of the node, on a line of the cache.
  std::byte* part(int rank) const;

 private:
  std::optional<MappedMemory> memory_;
};

}  // namespace ayatori::comm
