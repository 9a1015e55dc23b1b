#pragma once

#include <array>
#include <span>

#include "ayatori/collectives/execution/schedule_cache.hpp"
#include "ayatori/collectives/pmpi/messages/transport.hpp"

namespace ayatori::pmpi {

/// The schedules of one communicator at work. As MPI has it, its collective calls come one after the other.
class CommSchedules {
 public:
  /// `space` is that of the communicator.
  CommSchedules(TagSpace space, const collectives::ScheduleTable& table);
  CommSchedules(const CommSchedules&) = delete;
  CommSchedules& operator=(const CommSchedules&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  const TagSpace& space() const { return transport_.space(); }
  PmpiTransport& transport() { return transport_; }

  /// Collective. This rank's part of the schedule for a call, as ScheduleCache finds it; null where there is
  /// none.
  collectives::Executor* executor(collectives::Operation operation, std::int64_t bytes, int root,
                                  bool keeps_order);

  /// What the table has of an operation for this many ranks.
  std::span<const collectives::TableEntry> entries(collectives::Operation operation) const {
    return entries_[static_cast<std::size_t>(operation)];
  }
  /// Whether that has blocks of some length go through memory.
  bool sends_blocks_by_memory(collectives::Operation operation) const {
    return sends_blocks_by_memory_[static_cast<std::size_t>(operation)];
  }
  /// Collective. Memory through which messages reach the ranks of this node, from now on; null where there is
  /// nobody else, or none.
  comm::NodeChannel* memory();
  /// Collective. Memory through which messages reach every rank; null unless all are on one node, and there
  /// is some. The same on all ranks.
  comm::NodeChannel* memory_of_all();

  /// Memory that is kept from call to call.
  std::byte* scratch(std::int64_t bytes) { return cache_.scratch(bytes); }

 private:
  void count_call();

  static constexpr auto operation_count = static_cast<std::size_t>(collectives::Operation::barrier) + 1;

  int rank_;
  int size_;
  PmpiTransport transport_;
  std::int64_t calls_ = 0;
  bool has_asked_for_memory_ = false;
  bool has_memory_of_all_ = false;
  collectives::ScheduleCache cache_;
  std::array<std::span<const collectives::TableEntry>, operation_count> entries_;
  std::array<bool, operation_count> sends_blocks_by_memory_{};
};

}  // namespace ayatori::pmpi
