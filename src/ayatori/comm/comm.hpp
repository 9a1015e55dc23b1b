#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ayatori/comm/collectives.hpp"
#include "ayatori/comm/types.hpp"

namespace ayatori::comm {

struct CommHandle;  // holds the MPI_Comm; see mpi/native.hpp

/// A transfer under way; a default one is complete. Must be waited for before it is destroyed (wait_all does
/// it for many at once). Starting one allocates nothing unless it is longer than MPI can count.
class Request {
 public:
  Request() = default;
  Request(Request&& other) noexcept { *this = std::move(other); }
  Request& operator=(Request&& other) noexcept {
    first_ = other.first_;
    more_ = std::move(other.more_);
    active_ = std::exchange(other.active_, false);
    return *this;
  }

  void wait();
  /// True once the transfer is complete; gives the MPI a chance to progress it.
  bool test();

  /// An MPI_Request, which is a pointer or an integer, whatever the MPI; see mpi/native.hpp.
  struct alignas(void*) Part {
    std::byte bytes[sizeof(void*)];
  };

 private:
  friend class Comm;
  friend class NeighbourExchange;
  friend class RequestList;
  Part first_{};
  std::vector<Part> more_;  ///< further parts of a transfer that had to be cut
  bool active_ = false;
};

void wait_all(std::span<Request> requests);

/// What allgatherv-like calls give back: the elements of rank r are at [offsets[r], offsets[r + 1]).
template <class T>
struct Gathered {
  std::vector<T> values;
  std::vector<std::int64_t> offsets;  ///< size + 1 entries

  std::span<const T> of(int rank) const {
    return std::span<const T>(values).subspan(offsets[rank], offsets[rank + 1] - offsets[rank]);
  }
};

/// A communicator: a group of ranks and a private space for their messages. Copies share it; duplicate()
/// makes a new one. Element types are anything trivially copyable; reductions want one of the arithmetic
/// DataTypes. Collective calls are marked: every rank of the communicator makes them, in the same order.
class Comm {
 public:
  /// All ranks of the job; valid while an Environment lives.
  static Comm world();
  /// This rank alone.
  static Comm self();

  int rank() const { return rank_; }
  int size() const { return size_; }

  /// Collective. A communicator of the same ranks with a message space of its own.
  Comm duplicate() const;
  /// Collective. Ranks with equal color, ordered by key, then by rank.
  Comm split(int color, int key) const;
  /// Collective. The ranks that share this rank's node, in rank order; of one rank alone, itself.
  Comm split_by_node() const;
  /// The same communicator, with its collective operations done by `collectives`.
  Comm with_collectives(std::shared_ptr<const Collectives> collectives) const;

  const Collectives& collectives() const { return *collectives_; }
  const CommHandle& handle() const { return *handle_; }

  /// Gives the MPI a chance to progress whatever is under way.
  void poke() const;

  // Point-to-point. Buffers of the non-blocking calls stay untouched and alive until the request is done.
  template <class T>
  Request isend(std::span<const T> data, int destination, int tag) const {
    return isend_raw(data.data(), count_of<T>(data.size()), data_type_of<T>(), destination, tag);
  }
  template <class T>
  Request irecv(std::span<T> data, int source, int tag) const {
    return irecv_raw(data.data(), count_of<T>(data.size()), data_type_of<T>(), source, tag);
  }
  template <class T>
  void send(std::span<const T> data, int destination, int tag) const {
    send_raw(data.data(), count_of<T>(data.size()), data_type_of<T>(), destination, tag);
  }
  template <class T>
  void recv(std::span<T> data, int source, int tag) const {
    recv_raw(data.data(), count_of<T>(data.size()), data_type_of<T>(), source, tag);
  }

  /// Collective.
  void barrier() const { collectives_->barrier(*this); }

  /// Collective. Root's data replaces everybody's; all pass the same length.
  template <class T>
  void broadcast(std::span<T> data, int root) const {
    collectives_->broadcast(*this, data.data(), count_of<T>(data.size()), data_type_of<T>(), root);
  }
  template <class T>
  T broadcast(T value, int root) const {
    broadcast(std::span<T>(&value, 1), root);
    return value;
  }
  /// Collective. Also carries the length.
  std::string broadcast(const std::string& text, int root) const;

  /// Collective, in place.
  template <class T>
  void allreduce(std::span<T> data, ReduceOp op) const {
    static_assert(data_type_of<T>() != DataType::byte, "bytes cannot be reduced");
    collectives_->allreduce(*this, data.data(), static_cast<std::int64_t>(data.size()), data_type_of<T>(),
                            op);
  }
  template <class T>
  T allreduce(T value, ReduceOp op) const {
    allreduce(std::span<T>(&value, 1), op);
    return value;
  }
  /// Collective. True if it is true on any rank.
  bool any(bool value) const { return allreduce<std::int64_t>(value ? 1 : 0, ReduceOp::max) != 0; }

  /// Collective. The sum over lower ranks; zero on rank 0.
  template <class T>
  T exclusive_sum(T value) const {
    static_assert(data_type_of<T>() != DataType::byte, "bytes cannot be reduced");
    collectives_->exclusive_scan(*this, &value, 1, data_type_of<T>(), ReduceOp::sum);
    return rank_ == 0 ? T{} : value;
  }

  /// Collective. One value of every rank, in rank order.
  template <class T>
  std::vector<T> allgather(const T& value) const {
    std::vector<T> all(size_);
    collectives_->allgather(*this, &value, units_of<T>(), all.data(), data_type_of<T>());
    return all;
  }

  /// Collective. Every rank's elements on every rank; lengths may differ.
  template <class T>
  Gathered<T> allgatherv(std::span<const T> mine) const {
    Gathered<T> result{{}, offsets_from(allgather(static_cast<std::int64_t>(mine.size())))};
    result.values.resize(result.offsets.back());
    const Layout layout(result.offsets, units_of<T>());
    collectives_->allgatherv(*this, mine.data(), count_of<T>(mine.size()), result.values.data(),
                             layout.counts, layout.displacements, data_type_of<T>());
    return result;
  }

  /// Collective. Every rank's elements on `root`; empty elsewhere (the offsets are known everywhere).
  template <class T>
  Gathered<T> gatherv(std::span<const T> mine, int root) const {
    Gathered<T> result{{}, offsets_from(allgather(static_cast<std::int64_t>(mine.size())))};
    if (rank_ == root) result.values.resize(result.offsets.back());
    const Layout layout(result.offsets, units_of<T>());
    collectives_->gatherv(*this, mine.data(), count_of<T>(mine.size()), result.values.data(), layout.counts,
                          layout.displacements, data_type_of<T>(), root);
    return result;
  }

  /// Collective. Sends [offsets[r], offsets[r + 1]) of `data` to rank r; gives what all ranks sent to this
  /// one.
  template <class T>
  Gathered<T> alltoallv(std::span<const T> data, std::span<const std::int64_t> offsets) const {
    std::vector<std::int64_t> send_sizes(size_);
    for (int r = 0; r < size_; ++r) send_sizes[r] = offsets[r + 1] - offsets[r];
    std::vector<std::int64_t> receive_sizes(size_);
    collectives_->alltoall(*this, send_sizes.data(), 1, receive_sizes.data(), DataType::int64);
    Gathered<T> result{{}, offsets_from(receive_sizes)};
    result.values.resize(result.offsets.back());
    const Layout send({offsets.begin(), offsets.end()}, units_of<T>());
    const Layout receive(result.offsets, units_of<T>());
    collectives_->alltoallv(*this, data.data(), send.counts, send.displacements, result.values.data(),
                            receive.counts, receive.displacements, data_type_of<T>());
    return result;
  }

 private:
  /// Offsets in objects turned into counts and displacements in transfer units.
  struct Layout {
    Layout(const std::vector<std::int64_t>& offsets, std::int64_t units);
    std::vector<std::int64_t> counts;
    std::vector<std::int64_t> displacements;
  };

  explicit Comm(std::shared_ptr<const CommHandle> handle, std::shared_ptr<const Collectives> collectives);
  friend struct CommHandle;

  template <class T>
  static std::int64_t count_of(std::size_t elements) {
    return static_cast<std::int64_t>(elements) * units_of<T>();
  }
  static std::vector<std::int64_t> offsets_from(const std::vector<std::int64_t>& sizes);

  template <class Start>
  static Request start_parts(std::int64_t count, DataType type, Start&& start);
  Request isend_raw(const void* data, std::int64_t count, DataType type, int destination, int tag) const;
  Request irecv_raw(void* data, std::int64_t count, DataType type, int source, int tag) const;
  void send_raw(const void* data, std::int64_t count, DataType type, int destination, int tag) const;
  void recv_raw(void* data, std::int64_t count, DataType type, int source, int tag) const;

  std::shared_ptr<const CommHandle> handle_;
  std::shared_ptr<const Collectives> collectives_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace ayatori::comm
