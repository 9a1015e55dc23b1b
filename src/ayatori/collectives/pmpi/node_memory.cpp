#include "ayatori/collectives/pmpi/node_memory.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <unistd.h>

#include "ayatori/collectives/pmpi/transport.hpp"

namespace ayatori::pmpi {

namespace {

/// A process shares as much, of its own, with all communicators together: on nodes of few ranks it is half a
/// megabyte for one.
constexpr std::int64_t most_bytes = std::int64_t{32} << 20;
std::atomic<std::int64_t> shared_bytes{0};

/// Programs free communicators in any order, and to free a window its ranks have to meet: windows stay until
/// MPI_Finalize. There an MPI would free them in its own order, which is not that of the other ranks where
/// communicators overlap, and hang.
struct Windows {
  /// The same on all ranks of a window: rank in MPI_COMM_WORLD, process, and number there, of its first one.
  using Name = std::array<std::int64_t, 3>;
  std::mutex mutex;
  std::atomic<std::int64_t> named = 0;
  std::vector<std::pair<Name, MPI_Win>> all;
};
Windows windows;

/// Of the ranks of a node.
struct NodeMemory {
  MPI_Win window = MPI_WIN_NULL;
  std::vector<std::byte*> parts;
};

/// Collective.
bool all_agree(MPI_Comm node, bool mine) {
  int all = mine ? 1 : 0;
  return PMPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_INT, MPI_MIN, node) == MPI_SUCCESS && all != 0;
}

/// Collective.
void keep(MPI_Comm node, MPI_Win window) {
  Windows::Name name = {world_rank(), getpid(), windows.named++};
  PMPI_Bcast(name.data(), static_cast<int>(name.size()), MPI_INT64_T, 0, node);
  const std::lock_guard lock(windows.mutex);  // not while others are waited for
  windows.all.emplace_back(name, window);
}

/// Collective over the node. Whether all of it is there.
bool allocate(MPI_Comm node, NodeMemory& memory, int ranks) {
  constexpr std::int64_t line = 64;
  const std::int64_t bytes = comm::NodeChannel::bytes(ranks) + line;
  if (!all_agree(node, shared_bytes + bytes <= most_bytes)) return false;
  void* own = nullptr;
  const int code =
      PMPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, node, static_cast<void*>(&own), &memory.window);
  if (!all_agree(node, code == MPI_SUCCESS)) return false;
  shared_bytes += bytes;
  keep(node, memory.window);
  PMPI_Win_set_errhandler(memory.window, MPI_ERRORS_RETURN);
  bool is_there = PMPI_Win_lock_all(MPI_MODE_NOCHECK, memory.window) == MPI_SUCCESS;
  if (is_there) std::fill_n(static_cast<std::byte*>(own), bytes, std::byte());
  for (int rank = 0; is_there && rank < ranks; ++rank) {
    MPI_Aint length = 0;
    int unit = 0;
    void* part = nullptr;
    is_there =
        PMPI_Win_shared_query(memory.window, rank, &length, &unit, static_cast<void*>(&part)) == MPI_SUCCESS;
    auto room = static_cast<std::size_t>(bytes);
    if (is_there) memory.parts.push_back(static_cast<std::byte*>(std::align(line, room - line, part, room)));
  }
  return all_agree(node, is_there);  // and all zeros are written
}

}  // namespace

std::unique_ptr<comm::NodeChannel> make_node_channel(MPI_Comm comm) {
  int rank = 0;
  int size = 1;
  PMPI_Comm_rank(comm, &rank);
  PMPI_Comm_size(comm, &size);
  MPI_Comm node = MPI_COMM_NULL;
  check(PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
  PMPI_Comm_set_errhandler(node, MPI_ERRORS_RETURN);
  int ranks = 1;
  PMPI_Comm_size(node, &ranks);
  std::unique_ptr<comm::NodeChannel> channel;
  NodeMemory memory;
  if (ranks > 1 && allocate(node, memory, ranks)) {
    std::vector<int> members(ranks);
    PMPI_Allgather(&rank, 1, MPI_INT, members.data(), 1, MPI_INT, node);
    std::vector<int> numbers(size, -1);
    for (int number = 0; number < ranks; ++number) numbers[members[number]] = number;
    channel = std::make_unique<comm::NodeChannel>(std::move(memory.parts), std::move(numbers), rank, nullptr);
  }
  PMPI_Comm_free(&node);
  return channel;
}

void free_node_memory() {
  std::sort(windows.all.begin(), windows.all.end(), [](auto& a, auto& b) { return a.first < b.first; });
  for (auto& [name, window] : windows.all) {
    PMPI_Win_unlock_all(window);
    PMPI_Win_free(&window);
  }
  windows.all.clear();
  shared_bytes = 0;
}

}  // namespace ayatori::pmpi
