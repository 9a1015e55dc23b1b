#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <span>
#include <utility>

#include "ayatori/collectives/execution/schedule_cache.hpp"
#include "ayatori/collectives/pmpi/messages/transport.hpp"

namespace ayatori::pmpi {

/// The schedules of one communicator at work. As MPI has it, its collective calls come one after the other:
/// those that block, and the beginnings of the others.
class CommSchedules : public std::enable_shared_from_this<CommSchedules> {
 public:
  /// `space` is that of the communicator, whose tags may still be on their way.
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

  /// Whether tags are known, as has_come() has found.
  bool has_tags() const { return has_tags_.load(std::memory_order_acquire); }
  /// By one thread at a time. Throws MpiError.
  bool has_come();

  using Part = collectives::ScheduleCache::Part;
  /// Likewise for a call that goes on while others do; give_back() takes it when that has ended.
  std::unique_ptr<Part> take(collectives::Operation operation, std::int64_t bytes, int root,
                             bool keeps_order) {
    return cache_.take(operation, bytes, root, keeps_order);
  }
  void give_back(std::unique_ptr<Part> part) { cache_.give_back(std::move(part)); }

  /// What calls that go on while others do have chosen of tags, counted without end: each the next ones. They
  /// come again after Executor::tags, so that a call waits for those that still have its own.
  struct Turn {
    std::int64_t begin;
    std::int64_t end;
  };
  /// The same on all ranks, by the order of calls.
  Turn next_turn(int tags) {
    const std::int64_t begin = std::exchange(next_tag_, next_tag_ + tags);
    return {begin, next_tag_};
  }
  /// By one thread at a time, in the order of turns.
  void enter(const Turn& turn) { turns_.push_back(turn.begin); }
  bool may_begin(const Turn& turn) const { return turn.end - turns_.front() <= collectives::Executor::tags; }
  void leave(const Turn& turn) { turns_.erase(std::ranges::find(turns_, turn.begin)); }

  /// What the table has of an operation for so many ranks.
  std::span<const collectives::TableEntry> entries(collectives::Operation operation) const {
    return entries_[static_cast<std::size_t>(operation)];
  }
  /// Whether that has blocks of some length go through memory.
  bool sends_blocks_by_memory(collectives::Operation operation) const {
    return sends_blocks_by_memory_[static_cast<std::size_t>(operation)];
  }
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
  std::atomic<bool> has_tags_ = false;
  std::int64_t next_tag_ = 0;
  std::deque<std::int64_t> turns_;  ///< that have not ended: where they begin
  std::int64_t calls_ = 0;
  bool has_memory_of_all_ = false;
  collectives::ScheduleCache cache_;
  std::array<std::span<const collectives::TableEntry>, operation_count> entries_;
  std::array<bool, operation_count> sends_blocks_by_memory_{};
};

}  // namespace ayatori::pmpi
