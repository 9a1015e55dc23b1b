#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "ayatori/collectives/execution/schedule_cache.hpp"
#include "ayatori/comm/collectives.hpp"

namespace ayatori::collectives {

/// How often the schedule of a table's entry was used.
struct ScheduleUse {
  Operation operation;
  const TableEntry* entry;
  std::int64_t calls;
};

/// Collective operations by the schedules of a table, for communicators of any size: a call goes by the
/// schedule of the nearest size (see nearest()), or, where the table has none for it, to `otherwise`, as do
/// all operations without schedules. Allgatherv has those of allgather where all counts are the same and the
/// blocks lie side by side. Which call goes where is the same on all ranks, and so is every bit of what
/// allreduce gives them.
///
/// Messages have the communicator's own space and tags from 28000 on. One object may serve many communicators
/// of one rank, one call at a time, as MPI_THREAD_FUNNELED has it. Gather, scatter and reduce-scatter keep
/// room for all blocks, on every rank.
class ScheduledCollectives final : public comm::Collectives {
 public:
  explicit ScheduledCollectives(ScheduleTable table,
                                std::shared_ptr<const comm::Collectives> otherwise = comm::mpi_collectives());

  /// Collective. From now on messages of calls on this communicator, and on copies of it, go through memory
  /// where they stay inside a node (comm::NodeChannel). The communicator lives as long as this object, which
  /// all ranks destroy together.
  void share_memory(const comm::Comm& comm);

  /// Whether messages that a schedule has copied once are so, on a communicator that shares memory; those of
  /// others go by the MPI. See comm::NodeChannel.
  bool can_copy_once(const comm::Comm& comm) const;

  const ScheduleTable& table() const { return table_; }
  /// So far, of this rank: calls by several ranks that had something to do, of operations with schedules.
  const std::map<Operation, std::int64_t>& calls() const { return calls_; }
  /// Those that were done by schedules, by operation, ranks and bytes. Entries live as long as this object.
  std::vector<ScheduleUse> uses() const;

  void barrier(const comm::Comm& comm) const override;
  void broadcast(const comm::Comm& comm, void* data, std::int64_t count, comm::DataType type,
                 int root) const override;
  void allreduce(const comm::Comm& comm, void* data, std::int64_t count, comm::DataType type,
                 comm::ReduceOp op) const override;
  void reduce(const comm::Comm& comm, void* data, std::int64_t count, comm::DataType type, comm::ReduceOp op,
              int root) const override;
  void reduce_scatter(const comm::Comm& comm, const void* send, void* receive, std::int64_t count,
                      comm::DataType type, comm::ReduceOp op) const override;
  void exclusive_scan(const comm::Comm& comm, void* data, std::int64_t count, comm::DataType type,
                      comm::ReduceOp op) const override;
  void allgather(const comm::Comm& comm, const void* send, std::int64_t count, void* receive,
                 comm::DataType type) const override;
  void allgatherv(const comm::Comm& comm, const void* send, std::int64_t count, void* receive,
                  std::span<const std::int64_t> counts, std::span<const std::int64_t> displacements,
                  comm::DataType type) const override;
  void gather(const comm::Comm& comm, const void* send, std::int64_t count, void* receive,
              comm::DataType type, int root) const override;
  void gatherv(const comm::Comm& comm, const void* send, std::int64_t count, void* receive,
               std::span<const std::int64_t> counts, std::span<const std::int64_t> displacements,
               comm::DataType type, int root) const override;
  void scatter(const comm::Comm& comm, const void* send, void* receive, std::int64_t count,
               comm::DataType type, int root) const override;
  void scatterv(const comm::Comm& comm, const void* send, std::span<const std::int64_t> counts,
                std::span<const std::int64_t> displacements, void* receive, std::int64_t count,
                comm::DataType type, int root) const override;
  void alltoall(const comm::Comm& comm, const void* send, std::int64_t count, void* receive,
                comm::DataType type) const override;
  void alltoallv(const comm::Comm& comm, const void* send, std::span<const std::int64_t> send_counts,
                 std::span<const std::int64_t> send_displacements, void* receive,
                 std::span<const std::int64_t> receive_counts,
                 std::span<const std::int64_t> receive_displacements, comm::DataType type) const override;

 private:
  /// What carries out one call.
  struct Part {
    Executor& executor;
    ScheduleCache& cache;
    comm::NodeChannel* channel;
  };
  struct SharingComm {
    comm::Comm comm;
    std::unique_ptr<comm::NodeChannel> channel;
  };

  comm::NodeChannel* channel_of(const comm::Comm& comm) const;
  /// Does one call on a buffer by its schedule, which carry_out(part) applies. False if there is none.
  template <class F>
  bool by_schedule(const comm::Comm& comm, Operation operation, std::int64_t bytes, int root,
                   F&& carry_out) const;

  ScheduleTable table_;
  std::shared_ptr<const comm::Collectives> otherwise_;
  std::vector<SharingComm> sharing_;
  /// By size, rank and channel. Schedules know nothing else of a communicator, and the calls of all come one
  /// after the other.
  mutable std::map<std::tuple<int, int, const comm::NodeChannel*>, ScheduleCache> caches_;
  mutable std::map<Operation, std::int64_t> calls_;
  mutable std::map<std::pair<Operation, const TableEntry*>, std::int64_t> uses_;
};

}  // namespace ayatori::collectives
