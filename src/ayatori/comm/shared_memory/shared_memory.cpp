#include "ayatori/comm/shared_memory/shared_memory.hpp"

#include <utility>

#include "ayatori/base/error.hpp"

namespace ayatori::comm {

#ifdef AYATORI_SMPI
SharedMemory::SharedMemory(const Comm& node, std::int64_t bytes) {
  (void)node;
  (void)bytes;
  throw EnvironmentError("simulated ranks share no memory: they do not run at the same time");
}
#else
SharedMemory::SharedMemory(const Comm& node, std::int64_t bytes)
    : memory_(
          MappedMemory::make(node.rank(), bytes, [&](std::int64_t mine) { return node.allgather(mine); })) {
  if (!memory_)
    throw_error(ErrorKind::environment, "the ranks of a node get no memory that they share", true);
}
#endif

std::byte* SharedMemory::part(int rank) const {
  return memory_->part(rank);
}

}  // namespace ayatori::comm
