#include "ayatori/comm/shared_memory.hpp"

#include <algorithm>
#include <vector>

#include "ayatori/base/error.hpp"
#include "ayatori/comm/agree.hpp"
#include "ayatori/comm/native.hpp"

namespace ayatori::comm {

struct SharedMemory::State : OwnedWindow {
  std::vector<std::byte*> parts;
};

#ifdef AYATORI_SMPI
SharedMemory::SharedMemory(const Comm& node, std::int64_t bytes) {
  (void)node;
  (void)bytes;
  throw EnvironmentError("simulated ranks share no memory: they do not run at the same time");
}
#else
SharedMemory::SharedMemory(const Comm& node, std::int64_t bytes) {
  agree(node, [&] {
    state_ = std::make_unique<State>();
    state_->parts.resize(node.size());
  });
  constexpr std::int64_t line = 64;
  const std::int64_t whole_lines = (bytes + line - 1) / line * line + line;
  void* memory = nullptr;
  const int code = MPI_Win_allocate_shared(whole_lines, 1, MPI_INFO_NULL, native(node),
                                           static_cast<void*>(&memory), &state_->window);
  agree(node, [&] {
    check_mpi(code, "MPI_Win_allocate_shared");
    check_mpi(MPI_Win_set_errhandler(state_->window, MPI_ERRORS_RETURN), "MPI_Win_set_errhandler");
    check_mpi(MPI_Win_lock_all(MPI_MODE_NOCHECK, state_->window), "MPI_Win_lock_all");
    std::fill_n(static_cast<std::byte*>(memory), whole_lines, std::byte());
    for (int rank = 0; rank < node.size(); ++rank) {
      MPI_Aint length = 0;
      int unit = 0;
      void* part = nullptr;
      check_mpi(MPI_Win_shared_query(state_->window, rank, &length, &unit, static_cast<void*>(&part)),
                "MPI_Win_shared_query");
      auto room = static_cast<std::size_t>(length);
      state_->parts[rank] = static_cast<std::byte*>(std::align(line, room - line, part, room));
    }
    check_mpi(MPI_Win_sync(state_->window), "MPI_Win_sync");
  });
}
#endif

SharedMemory::SharedMemory(SharedMemory&&) noexcept = default;
SharedMemory& SharedMemory::operator=(SharedMemory&&) noexcept = default;
SharedMemory::~SharedMemory() = default;

std::byte* SharedMemory::part(int rank) const {
  return state_->parts[rank];
}

}  // namespace ayatori::comm
