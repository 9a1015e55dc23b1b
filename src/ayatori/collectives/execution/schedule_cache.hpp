#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "ayatori/collectives/execution/executor.hpp"
#include "ayatori/collectives/table.hpp"

namespace ayatori::collectives {

/// One rank's parts of the schedules of a table, made when they are first asked for and kept for later calls,
/// with the memory that calls work in. Calls come one after the other, as a communicator's collective calls
/// do.
class ScheduleCache {
 public:
  /// For rank `rank` of `size` ranks; keeps a reference to the table.
  ScheduleCache(const ScheduleTable& table, int rank, int size) : table_(table), rank_(rank), size_(size) {}
  ScheduleCache(const ScheduleCache&) = delete;
  ScheduleCache& operator=(const ScheduleCache&) = delete;

  struct Part {
    const TableEntry* entry;
    int root;
    Executor executor;
  };
  /// Part with the schedule for a call of `bytes` (of the buffer; all blocks, where the operation is by
  /// rank). Null where the table leaves it to the MPI. The same on all ranks. Valid until the next call.
  /// keeps_order: right for operations that do not commute.
  Part* find(Operation operation, std::int64_t bytes, int root, bool keeps_order = false);

  /// Likewise a part of its own for a call that goes on while others do.
  std::unique_ptr<Part> take(Operation operation, std::int64_t bytes, int root, bool keeps_order = false);
  /// When that call has ended; by any thread.
  void give_back(std::unique_ptr<Part> part);

  /// Memory that is kept from call to call; what it held may be lost.
  std::byte* scratch(std::int64_t bytes);

 private:
  const TableEntry* entry_for(Operation operation, std::int64_t bytes, int root, bool keeps_order);
  const TableEntry* entry_that_keeps_order(std::span<const TableEntry> entries, std::int64_t bytes, int root);

  const ScheduleTable& table_;
  int rank_;
  int size_;
  std::vector<Part> parts_;
  std::size_t oldest_ = 0;  ///< the oldest part, which goes when there are too many
  std::map<std::pair<const TableEntry*, int>, bool> keeps_order_;  ///< by root
  std::vector<std::byte> scratch_;
  std::mutex idle_mutex_;
  std::vector<std::unique_ptr<Part>> idle_;  ///< parts that were given back, a few of them
};

}  // namespace ayatori::collectives
