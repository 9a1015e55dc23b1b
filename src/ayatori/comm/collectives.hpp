#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <span>

#include "ayatori/comm/types.hpp"

namespace ayatori::comm {

class Comm;

/// The collective operations that the library uses, on untyped buffers. Every method is collective: every
/// rank of the communicator calls it with matching arguments. Comm gives them types; who implements them is
/// the application's choice (Comm::with_collectives): the MPI's own by default, synthesized schedules when
/// installed.
///
/// Counts and displacements are in elements of `type`; those of allgatherv, gatherv and scatterv are the same
/// on every rank, and so is `count` elsewhere. Throws EnvironmentError when the transport fails.
class Collectives {
 public:
  virtual ~Collectives() = default;

  virtual void barrier(const Comm& comm) const = 0;
  virtual void broadcast(const Comm& comm, void* data, std::int64_t count, DataType type, int root) const = 0;
  /// In place: data holds this rank's contribution, then the result.
  virtual void allreduce(const Comm& comm, void* data, std::int64_t count, DataType type,
                         ReduceOp op) const = 0;
  /// In place: data holds this rank's contribution, and on `root` the result.
  virtual void reduce(const Comm& comm, void* data, std::int64_t count, DataType type, ReduceOp op,
                      int root) const = 0;
  /// Rank r receives elements [r * count, (r + 1) * count) of the reduction of `send`, which holds `count`
  /// for every rank.
  virtual void reduce_scatter(const Comm& comm, const void* send, void* receive, std::int64_t count,
                              DataType type, ReduceOp op) const = 0;
  /// Rank r receives in `data` the reduction over ranks < r; rank 0's data is left as it was.
  virtual void exclusive_scan(const Comm& comm, void* data, std::int64_t count, DataType type,
                              ReduceOp op) const = 0;
  virtual void allgather(const Comm& comm, const void* send, std::int64_t count, void* receive,
                         DataType type) const = 0;
  virtual void allgatherv(const Comm& comm, const void* send, std::int64_t count, void* receive,
                          std::span<const std::int64_t> counts, std::span<const std::int64_t> displacements,
                          DataType type) const = 0;
  virtual void gather(const Comm& comm, const void* send, std::int64_t count, void* receive, DataType type,
                      int root) const = 0;
  virtual void gatherv(const Comm& comm, const void* send, std::int64_t count, void* receive,
                       std::span<const std::int64_t> counts, std::span<const std::int64_t> displacements,
                       DataType type, int root) const = 0;
  virtual void scatter(const Comm& comm, const void* send, void* receive, std::int64_t count, DataType type,
                       int root) const = 0;
  virtual void scatterv(const Comm& comm, const void* send, std::span<const std::int64_t> counts,
                        std::span<const std::int64_t> displacements, void* receive, std::int64_t count,
                        DataType type, int root) const = 0;
  virtual void alltoall(const Comm& comm, const void* send, std::int64_t count, void* receive,
                        DataType type) const = 0;
  virtual void alltoallv(const Comm& comm, const void* send, std::span<const std::int64_t> send_counts,
                         std::span<const std::int64_t> send_displacements, void* receive,
                         std::span<const std::int64_t> receive_counts,
                         std::span<const std::int64_t> receive_displacements, DataType type) const = 0;
};

/// inout = in op inout, element by element, by the MPI's own loops.
void reduce_local(const void* in, void* inout, std::int64_t count, DataType type, ReduceOp op);

/// The collectives of the MPI library in use. Calls with more than `max_count` elements are cut into several;
/// MPI cannot count further than an int, and tests of the cutting ask for less.
std::shared_ptr<const Collectives> mpi_collectives(std::int64_t max_count = std::numeric_limits<int>::max());

}  // namespace ayatori::comm
