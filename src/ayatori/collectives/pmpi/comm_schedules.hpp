#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "ayatori/collectives/executor.hpp"
#include "ayatori/collectives/pmpi/transport.hpp"
#include "ayatori/collectives/table.hpp"

namespace ayatori::pmpi {

/// The schedules of one communicator at work. As MPI has it, its collective calls come one after the other.
class CommSchedules {
 public:
  /// Collective: makes a communicator of the same ranks, for the messages of schedules alone.
  CommSchedules(MPI_Comm comm, const collectives::ScheduleTable& table);
  /// Frees it: collective, as freeing `comm` is.
  ~CommSchedules();
  CommSchedules(const CommSchedules&) = delete;
  CommSchedules& operator=(const CommSchedules&) = delete;

  int rank() const { return rank_; }
  int size() const { return size_; }
  /// The private one.
  MPI_Comm comm() const { return comm_; }
  PmpiTransport& transport() { return transport_; }

  /// This rank's part of the schedule for a call of `bytes` (of the buffer); null where there is none. Kept
  /// for the next call. keeps_order: right for operations that do not commute.
  collectives::Executor* executor(collectives::Operation operation, std::int64_t bytes, int root,
                                  bool keeps_order);

  /// Memory that is kept from call to call.
  std::byte* scratch(std::int64_t bytes);

 private:
  struct Part {
    const collectives::TableEntry* entry;
    int root;
    collectives::Executor executor;
  };

  const collectives::TableEntry* entry_that_keeps_order(std::span<const collectives::TableEntry> entries,
                                                        std::int64_t bytes, int root);

  const collectives::ScheduleTable& table_;
  int rank_ = 0;
  int size_ = 1;
  MPI_Comm comm_;
  PmpiTransport transport_;
  std::vector<Part> parts_;
  std::size_t oldest_ = 0;  ///< of the parts, which goes when there are too many
  std::map<std::pair<const collectives::TableEntry*, int>, bool> keeps_order_;  ///< by root
  std::vector<std::byte> scratch_;
};

}  // namespace ayatori::pmpi
