#include "ayatori/collectives/scheduled_collectives.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>

#include "ayatori/comm/comm.hpp"

namespace ayatori::collectives {

namespace {

using comm::Comm;
using comm::DataType;
using comm::ReduceOp;

constexpr ReduceOp no_op = ReduceOp::sum;  ///< placeholder for operations that only move

std::int64_t bytes_of(std::int64_t count, DataType type) {
  return count * static_cast<std::int64_t>(comm::size_of(type));
}

void copy_bytes(const void* from, std::int64_t bytes, void* to) {
  std::copy_n(static_cast<const std::byte*>(from), bytes, static_cast<std::byte*>(to));
}

/// Where block `rank` begins.
std::byte* block(void* data, int rank, std::int64_t bytes) {
  return static_cast<std::byte*>(data) + rank * bytes;
}

bool is_allgather(std::span<const std::int64_t> counts, std::span<const std::int64_t> displacements) {
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    if (counts[rank] != counts[0] || displacements[rank] != static_cast<std::int64_t>(rank) * counts[0])
      return false;
  }
  return true;
}

}  // namespace

ScheduledCollectives::ScheduledCollectives(ScheduleTable table,
                                           std::shared_ptr<const comm::Collectives> otherwise)
    : table_(std::move(table)), otherwise_(std::move(otherwise)) {}

std::vector<ScheduleUse> ScheduledCollectives::uses() const {
  std::vector<ScheduleUse> list;
  for (const auto& [use, count] : uses_) list.push_back({use.first, use.second, count});
  std::ranges::sort(list, {}, [](const ScheduleUse& use) {
    return std::tuple(use.operation, use.entry->plan->ranks, use.entry->bytes, use.entry);
  });
  return list;
}

void ScheduledCollectives::share_memory(const Comm& comm) {
  const Comm plain = comm.with_collectives(otherwise_);  // these calls are no use of schedules
  sharing_.push_back({plain, comm::make_node_channel(plain, plain.split_by_node())});
}

comm::NodeChannel* ScheduledCollectives::channel_of(const Comm& comm) const {
  for (const SharingComm& sharing : sharing_) {
    if (&sharing.comm.handle() == &comm.handle()) return sharing.channel.get();
  }
  return nullptr;
}

bool ScheduledCollectives::can_copy_once(const Comm& comm) const {
  const comm::NodeChannel* const channel = channel_of(comm);
  return channel != nullptr && channel->can_copy_once();
}

template <class F>
bool ScheduledCollectives::by_schedule(const Comm& comm, Operation operation, std::int64_t bytes, int root,
                                       F&& carry_out) const {
  if (comm.size() == 1 || bytes == 0) return false;
  ++calls_[operation];
  comm::NodeChannel* const channel = channel_of(comm);
  auto& cache = caches_.try_emplace({comm.size(), comm.rank(), channel}, table_, comm.rank(), comm.size())
                    .first->second;
  ScheduleCache::Part* const part = cache.find(operation, bytes, root);
  if (part == nullptr) return false;
  ++uses_[{operation, part->entry}];
  carry_out(Part{part->executor, cache, channel});
  return true;
}

void ScheduledCollectives::barrier(const Comm& comm) const {
  const bool is_done = by_schedule(comm, Operation::barrier, barrier_bytes, 0, [&](const Part& part) {
    double nothing = 0;
    part.executor.run(comm, &nothing, 1, DataType::float64, ReduceOp::max, part.channel);
  });
  if (!is_done) otherwise_->barrier(comm);
}

void ScheduledCollectives::broadcast(const Comm& comm, void* data, std::int64_t count, DataType type,
                                     int root) const {
  const bool is_done =
      by_schedule(comm, Operation::broadcast, bytes_of(count, type), root,
                  [&](const Part& part) { part.executor.run(comm, data, count, type, no_op, part.channel); });
  if (!is_done) otherwise_->broadcast(comm, data, count, type, root);
}

void ScheduledCollectives::allreduce(const Comm& comm, void* data, std::int64_t count, DataType type,
                                     ReduceOp op) const {
  const bool is_done =
      by_schedule(comm, Operation::allreduce, bytes_of(count, type), 0,
                  [&](const Part& part) { part.executor.run(comm, data, count, type, op, part.channel); });
  if (!is_done) otherwise_->allreduce(comm, data, count, type, op);
}

void ScheduledCollectives::reduce(const Comm& comm, void* data, std::int64_t count, DataType type,
                                  ReduceOp op, int root) const {
  const std::int64_t bytes = bytes_of(count, type);
  const bool is_done = by_schedule(comm, Operation::reduce, bytes, root, [&](const Part& part) {
    void* place = data;
    if (comm.rank() != root) {  // whose data stays
      place = part.cache.scratch(bytes);
      copy_bytes(data, bytes, place);
    }
    part.executor.run(comm, place, count, type, op, part.channel);
  });
  if (!is_done) otherwise_->reduce(comm, data, count, type, op, root);
}

void ScheduledCollectives::reduce_scatter(const Comm& comm, const void* send, void* receive,
                                          std::int64_t count, DataType type, ReduceOp op) const {
  const std::int64_t bytes = bytes_of(count, type);
  const bool is_done =
      by_schedule(comm, Operation::reduce_scatter, bytes * comm.size(), 0, [&](const Part& part) {
        std::byte* const all = part.cache.scratch(bytes * comm.size());
        copy_bytes(send, bytes * comm.size(), all);
        part.executor.run(comm, all, count, type, op, part.channel);
        copy_bytes(block(all, comm.rank(), bytes), bytes, receive);
      });
  if (!is_done) otherwise_->reduce_scatter(comm, send, receive, count, type, op);
}

void ScheduledCollectives::exclusive_scan(const Comm& comm, void* data, std::int64_t count, DataType type,
                                          ReduceOp op) const {
  otherwise_->exclusive_scan(comm, data, count, type, op);
}

void ScheduledCollectives::allgather(const Comm& comm, const void* send, std::int64_t count, void* receive,
                                     DataType type) const {
  const std::int64_t bytes = bytes_of(count, type);
  const bool is_done = by_schedule(comm, Operation::allgather, bytes * comm.size(), 0, [&](const Part& part) {
    copy_bytes(send, bytes, block(receive, comm.rank(), bytes));
    part.executor.run(comm, receive, count, type, no_op, part.channel);
  });
  if (!is_done) otherwise_->allgather(comm, send, count, receive, type);
}

void ScheduledCollectives::allgatherv(const Comm& comm, const void* send, std::int64_t count, void* receive,
                                      std::span<const std::int64_t> counts,
                                      std::span<const std::int64_t> displacements, DataType type) const {
  if (is_allgather(counts, displacements)) return allgather(comm, send, count, receive, type);
  otherwise_->allgatherv(comm, send, count, receive, counts, displacements, type);
}

void ScheduledCollectives::gather(const Comm& comm, const void* send, std::int64_t count, void* receive,
                                  DataType type, int root) const {
  const std::int64_t bytes = bytes_of(count, type);
  const bool is_done = by_schedule(comm, Operation::gather, bytes * comm.size(), root, [&](const Part& part) {
    void* const all = comm.rank() == root ? receive : part.cache.scratch(bytes * comm.size());
    copy_bytes(send, bytes, block(all, comm.rank(), bytes));
    part.executor.run(comm, all, count, type, no_op, part.channel);
  });
  if (!is_done) otherwise_->gather(comm, send, count, receive, type, root);
}

void ScheduledCollectives::gatherv(const Comm& comm, const void* send, std::int64_t count, void* receive,
                                   std::span<const std::int64_t> counts,
                                   std::span<const std::int64_t> displacements, DataType type,
                                   int root) const {
  otherwise_->gatherv(comm, send, count, receive, counts, displacements, type, root);
}

void ScheduledCollectives::scatter(const Comm& comm, const void* send, void* receive, std::int64_t count,
                                   DataType type, int root) const {
  const std::int64_t bytes = bytes_of(count, type);
  const bool is_done =
      by_schedule(comm, Operation::scatter, bytes * comm.size(), root, [&](const Part& part) {
        std::byte* const all = part.cache.scratch(bytes * comm.size());
        if (comm.rank() == root) copy_bytes(send, bytes * comm.size(), all);
        part.executor.run(comm, all, count, type, no_op, part.channel);
        copy_bytes(block(all, comm.rank(), bytes), bytes, receive);
      });
  if (!is_done) otherwise_->scatter(comm, send, receive, count, type, root);
}

void ScheduledCollectives::scatterv(const Comm& comm, const void* send, std::span<const std::int64_t> counts,
                                    std::span<const std::int64_t> displacements, void* receive,
                                    std::int64_t count, DataType type, int root) const {
  otherwise_->scatterv(comm, send, counts, displacements, receive, count, type, root);
}

void ScheduledCollectives::alltoall(const Comm& comm, const void* send, std::int64_t count, void* receive,
                                    DataType type) const {
  const std::int64_t bytes = bytes_of(count, type);
  const bool is_done = by_schedule(comm, Operation::alltoall, bytes * comm.size(), 0, [&](const Part& part) {
    copy_bytes(send, bytes * comm.size(), receive);
    part.executor.run(comm, receive, count, type, no_op, part.channel);
  });
  if (!is_done) otherwise_->alltoall(comm, send, count, receive, type);
}

void ScheduledCollectives::alltoallv(const Comm& comm, const void* send,
                                     std::span<const std::int64_t> send_counts,
                                     std::span<const std::int64_t> send_displacements, void* receive,
                                     std::span<const std::int64_t> receive_counts,
                                     std::span<const std::int64_t> receive_displacements,
                                     DataType type) const {
  otherwise_->alltoallv(comm, send, send_counts, send_displacements, receive, receive_counts,
                        receive_displacements, type);
}

}  // namespace ayatori::collectives
