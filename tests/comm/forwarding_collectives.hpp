#pragma once

#include <memory>

#include "ayatori/comm/collectives.hpp"

namespace ayatori::comm {

/// Hands every call to the MPI's own collectives: the base of test doubles that change one of them.
class ForwardingCollectives : public Collectives {
 public:
  void barrier(const Comm& comm) const override { next_->barrier(comm); }
  void broadcast(const Comm& comm, void* data, std::int64_t count, DataType type, int root) const override {
    next_->broadcast(comm, data, count, type, root);
  }
  void allreduce(const Comm& comm, void* data, std::int64_t count, DataType type,
                 ReduceOp op) const override {
    next_->allreduce(comm, data, count, type, op);
  }
  void reduce(const Comm& comm, void* data, std::int64_t count, DataType type, ReduceOp op,
              int root) const override {
    next_->reduce(comm, data, count, type, op, root);
  }
  void reduce_scatter(const Comm& comm, const void* send, void* receive, std::int64_t count, DataType type,
                      ReduceOp op) const override {
    next_->reduce_scatter(comm, send, receive, count, type, op);
  }
  void gather(const Comm& comm, const void* send, std::int64_t count, void* receive, DataType type,
              int root) const override {
    next_->gather(comm, send, count, receive, type, root);
  }
  void scatter(const Comm& comm, const void* send, void* receive, std::int64_t count, DataType type,
               int root) const override {
    next_->scatter(comm, send, receive, count, type, root);
  }
  void exclusive_scan(const Comm& comm, void* data, std::int64_t count, DataType type,
                      ReduceOp op) const override {
    next_->exclusive_scan(comm, data, count, type, op);
  }
  void allgather(const Comm& comm, const void* send, std::int64_t count, void* receive,
                 DataType type) const override {
    next_->allgather(comm, send, count, receive, type);
  }
  void allgatherv(const Comm& comm, const void* send, std::int64_t count, void* receive,
                  std::span<const std::int64_t> counts, std::span<const std::int64_t> displacements,
                  DataType type) const override {
    next_->allgatherv(comm, send, count, receive, counts, displacements, type);
  }
  void gatherv(const Comm& comm, const void* send, std::int64_t count, void* receive,
               std::span<const std::int64_t> counts, std::span<const std::int64_t> displacements,
               DataType type, int root) const override {
    next_->gatherv(comm, send, count, receive, counts, displacements, type, root);
  }
  void scatterv(const Comm& comm, const void* send, std::span<const std::int64_t> counts,
                std::span<const std::int64_t> displacements, void* receive, std::int64_t count, DataType type,
                int root) const override {
    next_->scatterv(comm, send, counts, displacements, receive, count, type, root);
  }
  void alltoall(const Comm& comm, const void* send, std::int64_t count, void* receive,
                DataType type) const override {
    next_->alltoall(comm, send, count, receive, type);
  }
  void alltoallv(const Comm& comm, const void* send, std::span<const std::int64_t> send_counts,
                 std::span<const std::int64_t> send_displacements, void* receive,
                 std::span<const std::int64_t> receive_counts,
                 std::span<const std::int64_t> receive_displacements, DataType type) const override {
    next_->alltoallv(comm, send, send_counts, send_displacements, receive, receive_counts,
                     receive_displacements, type);
  }

 private:
  std::shared_ptr<const Collectives> next_ = mpi_collectives();
};

}  // namespace ayatori::comm
