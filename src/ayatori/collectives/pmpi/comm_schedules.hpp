#pragma once

#include "ayatori/collectives/pmpi/transport.hpp"
#include "ayatori/collectives/schedule_cache.hpp"

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

  /// Collective. This rank's part of the schedule for a call, as ScheduleCache finds it; null where there is
  /// none.
  collectives::Executor* executor(collectives::Operation operation, std::int64_t bytes, int root,
                                  bool keeps_order);

  /// Memory that is kept from call to call.
  std::byte* scratch(std::int64_t bytes) { return cache_.scratch(bytes); }

 private:
  MPI_Comm comm_;
  int rank_;
  int size_;
  PmpiTransport transport_;
  std::int64_t calls_ = 0;
  collectives::ScheduleCache cache_;
};

}  // namespace ayatori::pmpi
