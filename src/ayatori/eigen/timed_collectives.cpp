#include "ayatori/eigen/timed_collectives.hpp"

#include <numeric>

#include "ayatori/base/timing.hpp"

namespace ayatori::eigen {

using comm::Comm;
using comm::DataType;
using comm::ReduceOp;

template <class F>
void TimedCollectives::timed(const char* operation, const Comm& comm, std::int64_t count, DataType type,
                             F&& call) const {
  if (comm.size() == 1) {
    call(next_.collectives());
    return;
  }
  OperationCost& cost = costs_[operation];
  const ScopedTimer timer(cost.seconds);
  ++cost.calls;
  cost.bytes += count * static_cast<std::int64_t>(comm::size_of(type));
  call(next_.collectives());
}

void TimedCollectives::barrier(const Comm& comm) const {
  timed("barrier", comm, 0, DataType::byte, [&](const Collectives& next) { next.barrier(comm); });
}

void TimedCollectives::broadcast(const Comm& comm, void* data, std::int64_t count, DataType type,
                                 int root) const {
  if (comm.size() == 1) return;
  timed("broadcast", comm, count, type,
        [&](const Collectives& next) { next.broadcast(comm, data, count, type, root); });
}

void TimedCollectives::allreduce(const Comm& comm, void* data, std::int64_t count, DataType type,
                                 ReduceOp op) const {
  if (comm.size() == 1) return;
  timed("allreduce", comm, count, type,
        [&](const Collectives& next) { next.allreduce(comm, data, count, type, op); });
}

void TimedCollectives::reduce(const Comm& comm, void* data, std::int64_t count, DataType type, ReduceOp op,
                              int root) const {
  timed("reduce", comm, count, type,
        [&](const Collectives& next) { next.reduce(comm, data, count, type, op, root); });
}

void TimedCollectives::reduce_scatter(const Comm& comm, const void* send, void* receive, std::int64_t count,
                                      DataType type, ReduceOp op) const {
  timed("reduce_scatter", comm, count * comm.size(), type,
        [&](const Collectives& next) { next.reduce_scatter(comm, send, receive, count, type, op); });
}

void TimedCollectives::exclusive_scan(const Comm& comm, void* data, std::int64_t count, DataType type,
                                      ReduceOp op) const {
  timed("exclusive_scan", comm, count, type,
        [&](const Collectives& next) { next.exclusive_scan(comm, data, count, type, op); });
}

void TimedCollectives::allgather(const Comm& comm, const void* send, std::int64_t count, void* receive,
                                 DataType type) const {
  timed("allgather", comm, count, type,
        [&](const Collectives& next) { next.allgather(comm, send, count, receive, type); });
}

void TimedCollectives::allgatherv(const Comm& comm, const void* send, std::int64_t count, void* receive,
                                  std::span<const std::int64_t> counts,
                                  std::span<const std::int64_t> displacements, DataType type) const {
  timed("allgatherv", comm, count, type, [&](const Collectives& next) {
    next.allgatherv(comm, send, count, receive, counts, displacements, type);
  });
}

void TimedCollectives::gather(const Comm& comm, const void* send, std::int64_t count, void* receive,
                              DataType type, int root) const {
  timed("gather", comm, count, type,
        [&](const Collectives& next) { next.gather(comm, send, count, receive, type, root); });
}

void TimedCollectives::gatherv(const Comm& comm, const void* send, std::int64_t count, void* receive,
                               std::span<const std::int64_t> counts,
                               std::span<const std::int64_t> displacements, DataType type, int root) const {
  timed("gatherv", comm, count, type, [&](const Collectives& next) {
    next.gatherv(comm, send, count, receive, counts, displacements, type, root);
  });
}

void TimedCollectives::scatter(const Comm& comm, const void* send, void* receive, std::int64_t count,
                               DataType type, int root) const {
  timed("scatter", comm, comm.rank() == root ? count * comm.size() : 0, type,
        [&](const Collectives& next) { next.scatter(comm, send, receive, count, type, root); });
}

void TimedCollectives::scatterv(const Comm& comm, const void* send, std::span<const std::int64_t> counts,
                                std::span<const std::int64_t> displacements, void* receive,
                                std::int64_t count, DataType type, int root) const {
  const std::int64_t sent =
      comm.rank() == root ? std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) : 0;
  timed("scatterv", comm, sent, type, [&](const Collectives& next) {
    next.scatterv(comm, send, counts, displacements, receive, count, type, root);
  });
}

void TimedCollectives::alltoall(const Comm& comm, const void* send, std::int64_t count, void* receive,
                                DataType type) const {
  timed("alltoall", comm, count * comm.size(), type,
        [&](const Collectives& next) { next.alltoall(comm, send, count, receive, type); });
}

void TimedCollectives::alltoallv(const Comm& comm, const void* send,
                                 std::span<const std::int64_t> send_counts,
                                 std::span<const std::int64_t> send_displacements, void* receive,
                                 std::span<const std::int64_t> receive_counts,
                                 std::span<const std::int64_t> receive_displacements, DataType type) const {
  const std::int64_t sent = std::accumulate(send_counts.begin(), send_counts.end(), std::int64_t{0});
  timed("alltoallv", comm, sent, type, [&](const Collectives& next) {
    next.alltoallv(comm, send, send_counts, send_displacements, receive, receive_counts,
                   receive_displacements, type);
  });
}

}  // namespace ayatori::eigen
