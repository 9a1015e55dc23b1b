#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "ayatori/comm/collectives.hpp"
#include "ayatori/comm/comm.hpp"

namespace ayatori::eigen {

/// What one kind of collective operation has cost this rank.
struct OperationCost {
  std::int64_t calls = 0;
  std::int64_t bytes = 0;  ///< handed in: of broadcast and allreduce the vector, else what this rank sends
  double seconds = 0;      ///< waiting for other ranks included
};

/// Hands every call to the collectives of another communicator, and notes what calls of several ranks cost.
/// It serves one rank, one call at a time.
class TimedCollectives final : public comm::Collectives {
 public:
  /// `next` is the communicator whose collectives do the work, on any communicator.
  explicit TimedCollectives(comm::Comm next) : next_(std::move(next)) {}

  /// By operation: "broadcast", "allreduce", ...
  const std::map<std::string, OperationCost>& costs() const { return costs_; }

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
  template <class F>
  void timed(const char* operation, const comm::Comm& comm, std::int64_t count, comm::DataType type,
             F&& call) const;

  comm::Comm next_;
  mutable std::map<std::string, OperationCost> costs_;
};

}  // namespace ayatori::eigen
