#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "ayatori/collectives/pmpi/library.hpp"

// Records who talks to whom. Everything may be called by several threads at once, and does nothing unless the
// library traces.

namespace ayatori::pmpi {

/// A number of calls or messages, and their bytes.
struct Count {
  std::atomic<std::int64_t> number = 0;
  std::atomic<std::int64_t> bytes = 0;

  void add(std::int64_t more_bytes) {
    number.fetch_add(1, std::memory_order_relaxed);
    bytes.fetch_add(more_bytes, std::memory_order_relaxed);
  }
};

/// Calls of one function of MPI by this process. One object for each function, that lives as long as the
/// program.
class CallCount : public Count {
 public:
  explicit CallCount(const char* function);
  const char* name() const { return name_; }

 private:
  const char* name_;  ///< "MPI_Send"
};

/// Collective calls by a set of ranks, whatever communicators they have made of it.
struct MemberCalls {
  std::mutex mutex;
  std::map<std::pair<const CallCount*, int>, Count> calls;  ///< by function and root (or no_root)
};

MemberCalls* calls_of_members(const std::vector<int>& world_ranks);

/// Bytes of `count` elements.
std::int64_t bytes_of(MPI_Count count, MPI_Datatype type);

/// A message to rank `to` of `comm`, which may be MPI_PROC_NULL.
void record_send(CallCount& call, MPI_Count count, MPI_Datatype type, int to, MPI_Comm comm);

/// Root of functions that have none.
constexpr int no_root = -1;

/// What every start of a persistent request does.
struct PersistentCall {
  struct Message {
    int to;  ///< world rank, or MPI_UNDEFINED
    std::int64_t bytes;
  };
  std::vector<Message> messages;   ///< point-to-point, and among neighbours
  std::int64_t bytes = 0;          ///< handed in
  MemberCalls* members = nullptr;  ///< members of a collective call, but among neighbours
  int root = no_root;
};
PersistentCall persistent_send(MPI_Count count, MPI_Datatype type, int to, MPI_Comm comm);
PersistentCall persistent_collective(std::int64_t bytes, MPI_Comm comm, int root);
/// `call` is what has made the request.
void record_persistent(CallCount& call, PersistentCall started, MPI_Request request);
void record_starts(CallCount& call, int count, const MPI_Request requests[]);
void forget_persistent(MPI_Request request);

enum class Direction { to_target, from_target, both_ways };
/// One-sided: `bytes` in each direction that they flow.
void record_one_sided(CallCount& call, Direction direction, MPI_Count count, MPI_Datatype type, int target,
                      MPI_Win win);

/// `bytes`: those that this rank hands in. root: negative for functions that have none.
void record_collective(CallCount& call, std::int64_t bytes, MPI_Comm comm, int root = no_root);

/// `bytes` to a neighbour; for each message of a neighbourhood collective.
void record_message(std::int64_t bytes, int to, MPI_Comm comm);

/// MPI_UNDEFINED for MPI_PROC_NULL, and for processes that are not in MPI_COMM_WORLD.
int world_rank_of(int rank, MPI_Comm comm);

/// Collective over MPI_COMM_WORLD. Rank 0 writes everything as JSON (docs/trace.schema.json).
void write_trace(const std::string& path);

}  // namespace ayatori::pmpi
