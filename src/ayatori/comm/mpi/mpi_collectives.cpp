#include <algorithm>
#include <vector>

#include "ayatori/comm/collectives.hpp"
#include "ayatori/comm/mpi/native.hpp"

namespace ayatori::comm {

namespace {

/// Tag of the transfers that replace a vector collective whose counts MPI cannot express. Communicators of
/// the library carry no user messages with it.
constexpr int wide_tag = 32001;

std::vector<int> narrow(std::span<const std::int64_t> wide) {
  return {wide.begin(), wide.end()};
}

const std::byte* at(const void* base, std::int64_t elements, DataType type) {
  return static_cast<const std::byte*>(base) + elements * static_cast<std::int64_t>(size_of(type));
}

std::byte* at(void* base, std::int64_t elements, DataType type) {
  return static_cast<std::byte*>(base) + elements * static_cast<std::int64_t>(size_of(type));
}

class MpiCollectives final : public Collectives {
 public:
  explicit MpiCollectives(std::int64_t max_count) : max_count_(max_count) {}

  void barrier(const Comm& comm) const override { check_mpi(MPI_Barrier(native(comm)), "MPI_Barrier"); }

  void broadcast(const Comm& comm, void* data, std::int64_t count, DataType type, int root) const override {
    in_pieces(count, type, [&](std::int64_t offset, int n) {
      check_mpi(MPI_Bcast(static_cast<std::byte*>(data) + offset, n, native(type), root, native(comm)),
                "MPI_Bcast");
    });
  }

  void allreduce(const Comm& comm, void* data, std::int64_t count, DataType type,
                 ReduceOp op) const override {
    in_pieces(count, type, [&](std::int64_t offset, int n) {
      check_mpi(MPI_Allreduce(MPI_IN_PLACE, static_cast<std::byte*>(data) + offset, n, native(type),
                              native(op), native(comm)),
                "MPI_Allreduce");
    });
  }

  void reduce(const Comm& comm, void* data, std::int64_t count, DataType type, ReduceOp op,
              int root) const override {
    in_pieces(count, type, [&](std::int64_t offset, int n) {
      std::byte* const piece = static_cast<std::byte*>(data) + offset;
      const bool is_root = comm.rank() == root;
      // A copy, since MPICH 4.0.2 reads from MPI_IN_PLACE where the root is not 0 and the data is long.
      std::vector<std::byte> copy;
      const bool is_copied = is_root && root != 0;
      if (is_copied) copy.assign(piece, piece + n * size_of(type));
      const void* const own = is_copied ? copy.data() : is_root ? MPI_IN_PLACE : piece;
      check_mpi(MPI_Reduce(own, is_root ? piece : nullptr, n, native(type), native(op), root, native(comm)),
                "MPI_Reduce");
    });
  }

  void reduce_scatter(const Comm& comm, const void* send, void* receive, std::int64_t count, DataType type,
                      ReduceOp op) const override {
    if (count > max_count_) {
      for (int r = 0; r < comm.size(); ++r) {
        std::vector<std::byte> block(static_cast<std::size_t>(count) * size_of(type));
        std::copy_n(at(send, r * count, type), block.size(), block.data());
        reduce(comm, block.data(), count, type, op, r);
        if (comm.rank() == r) std::ranges::copy(block, static_cast<std::byte*>(receive));
      }
      return;
    }
    check_mpi(MPI_Reduce_scatter_block(send, receive, static_cast<int>(count), native(type), native(op),
                                       native(comm)),
              "MPI_Reduce_scatter_block");
  }

  void exclusive_scan(const Comm& comm, void* data, std::int64_t count, DataType type,
                      ReduceOp op) const override {
    in_pieces(count, type, [&](std::int64_t offset, int n) {
      check_mpi(MPI_Exscan(MPI_IN_PLACE, static_cast<std::byte*>(data) + offset, n, native(type), native(op),
                           native(comm)),
                "MPI_Exscan");
    });
  }

  void allgather(const Comm& comm, const void* send, std::int64_t count, void* receive,
                 DataType type) const override {
    if (count > max_count_) {
      const std::vector<std::int64_t> counts(comm.size(), count);
      const std::vector<std::int64_t> displacements = multiples(comm.size(), count);
      allgatherv(comm, send, count, receive, counts, displacements, type);
      return;
    }
    const auto n = static_cast<int>(count);
    check_mpi(MPI_Allgather(send, n, native(type), receive, n, native(type), native(comm)), "MPI_Allgather");
  }

  void allgatherv(const Comm& comm, const void* send, std::int64_t count, void* receive,
                  std::span<const std::int64_t> counts, std::span<const std::int64_t> displacements,
                  DataType type) const override {
    if (!fit(counts, displacements)) {  // counts are known to every rank, so all come here together
      std::copy_n(static_cast<const std::byte*>(send), count * static_cast<std::int64_t>(size_of(type)),
                  at(receive, displacements[comm.rank()], type));
      for (int r = 0; r < comm.size(); ++r)
        broadcast(comm, at(receive, displacements[r], type), counts[r], type, r);
      return;
    }
    check_mpi(MPI_Allgatherv(send, static_cast<int>(count), native(type), receive, narrow(counts).data(),
                             narrow(displacements).data(), native(type), native(comm)),
              "MPI_Allgatherv");
  }

  void gather(const Comm& comm, const void* send, std::int64_t count, void* receive, DataType type,
              int root) const override {
    if (count > max_count_) {
      gatherv(comm, send, count, receive, std::vector(comm.size(), count), multiples(comm.size(), count),
              type, root);
      return;
    }
    const auto n = static_cast<int>(count);
    check_mpi(MPI_Gather(send, n, native(type), receive, n, native(type), root, native(comm)), "MPI_Gather");
  }

  void gatherv(const Comm& comm, const void* send, std::int64_t count, void* receive,
               std::span<const std::int64_t> counts, std::span<const std::int64_t> displacements,
               DataType type, int root) const override {
    if (!fit(counts, displacements)) {
      std::vector<std::int64_t> send_counts(comm.size(), 0);
      std::vector<std::int64_t> zeros(comm.size(), 0);
      send_counts[root] = count;
      const bool is_root = comm.rank() == root;
      exchange(comm, send, send_counts, zeros, receive, is_root ? counts : zeros,
               is_root ? displacements : zeros, type);
      return;
    }
    check_mpi(MPI_Gatherv(send, static_cast<int>(count), native(type), receive, narrow(counts).data(),
                          narrow(displacements).data(), native(type), root, native(comm)),
              "MPI_Gatherv");
  }

  void scatter(const Comm& comm, const void* send, void* receive, std::int64_t count, DataType type,
               int root) const override {
    if (count > max_count_) {
      scatterv(comm, send, std::vector(comm.size(), count), multiples(comm.size(), count), receive, count,
               type, root);
      return;
    }
    const auto n = static_cast<int>(count);
    check_mpi(MPI_Scatter(send, n, native(type), receive, n, native(type), root, native(comm)),
              "MPI_Scatter");
  }

  void scatterv(const Comm& comm, const void* send, std::span<const std::int64_t> counts,
                std::span<const std::int64_t> displacements, void* receive, std::int64_t count, DataType type,
                int root) const override {
    if (!fit(counts, displacements)) {
      std::vector<std::int64_t> receive_counts(comm.size(), 0);
      std::vector<std::int64_t> zeros(comm.size(), 0);
      receive_counts[root] = count;
      const bool is_root = comm.rank() == root;
      exchange(comm, send, is_root ? counts : zeros, is_root ? displacements : zeros, receive, receive_counts,
               zeros, type);
      return;
    }
    check_mpi(MPI_Scatterv(send, narrow(counts).data(), narrow(displacements).data(), native(type), receive,
                           static_cast<int>(count), native(type), root, native(comm)),
              "MPI_Scatterv");
  }

  void alltoall(const Comm& comm, const void* send, std::int64_t count, void* receive,
                DataType type) const override {
    if (count > max_count_) {
      const std::vector<std::int64_t> counts(comm.size(), count);
      const std::vector<std::int64_t> displacements = multiples(comm.size(), count);
      exchange(comm, send, counts, displacements, receive, counts, displacements, type);
      return;
    }
    const auto n = static_cast<int>(count);
    check_mpi(MPI_Alltoall(send, n, native(type), receive, n, native(type), native(comm)), "MPI_Alltoall");
  }

  void alltoallv(const Comm& comm, const void* send, std::span<const std::int64_t> send_counts,
                 std::span<const std::int64_t> send_displacements, void* receive,
                 std::span<const std::int64_t> receive_counts,
                 std::span<const std::int64_t> receive_displacements, DataType type) const override {
    // Counts differ between ranks, so the choice between the two paths has to be agreed on.
    std::int64_t wide =
        fit(send_counts, send_displacements) && fit(receive_counts, receive_displacements) ? 0 : 1;
    allreduce(comm, &wide, 1, DataType::int64, ReduceOp::max);
    if (wide != 0) {
      exchange(comm, send, send_counts, send_displacements, receive, receive_counts, receive_displacements,
               type);
      return;
    }
    check_mpi(MPI_Alltoallv(send, narrow(send_counts).data(), narrow(send_displacements).data(), native(type),
                            receive, narrow(receive_counts).data(), narrow(receive_displacements).data(),
                            native(type), native(comm)),
              "MPI_Alltoallv");
  }

 private:
  /// True when MPI can express all of these.
  bool fit(std::span<const std::int64_t> counts, std::span<const std::int64_t> displacements) const {
    const auto fits = [this](std::int64_t n) { return n <= max_count_; };
    return std::ranges::all_of(counts, fits) && std::ranges::all_of(displacements, fits);
  }

  /// Calls f(offset in bytes, count) for pieces that MPI can count.
  template <class F>
  void in_pieces(std::int64_t count, DataType type, F&& f) const {
    for (std::int64_t done = 0; done < count; done += max_count_) {
      f(done * static_cast<std::int64_t>(size_of(type)),
        static_cast<int>(std::min(count - done, max_count_)));
    }
  }

  static std::vector<std::int64_t> multiples(int n, std::int64_t step) {
    std::vector<std::int64_t> result(n);
    for (int i = 0; i < n; ++i) result[i] = i * step;
    return result;
  }

  /// Alltoallv in point-to-point messages, without a limit on lengths.
  static void exchange(const Comm& comm, const void* send, std::span<const std::int64_t> send_counts,
                       std::span<const std::int64_t> send_displacements, void* receive,
                       std::span<const std::int64_t> receive_counts,
                       std::span<const std::int64_t> receive_displacements, DataType type) {
    const auto bytes = [&](std::int64_t count) { return static_cast<std::size_t>(count) * size_of(type); };
    std::vector<Request> requests;
    for (int r = 0; r < comm.size(); ++r) {
      if (receive_counts[r] == 0) continue;
      requests.push_back(comm.irecv(
          std::span(at(receive, receive_displacements[r], type), bytes(receive_counts[r])), r, wide_tag));
    }
    for (int r = 0; r < comm.size(); ++r) {
      if (send_counts[r] == 0) continue;
      requests.push_back(
          comm.isend(std::span(at(send, send_displacements[r], type), bytes(send_counts[r])), r, wide_tag));
    }
    wait_all(requests);
  }

  std::int64_t max_count_;
};

}  // namespace

void reduce_local(const void* in, void* inout, std::int64_t count, DataType type, ReduceOp op) {
  in_messages(count, type, max_message, [&](std::int64_t offset, int n) {
    check_mpi(MPI_Reduce_local(static_cast<const std::byte*>(in) + offset,
                               static_cast<std::byte*>(inout) + offset, n, native(type), native(op)),
              "MPI_Reduce_local");
  });
}

std::shared_ptr<const Collectives> mpi_collectives(std::int64_t max_count) {
  return std::make_shared<const MpiCollectives>(max_count);
}

}  // namespace ayatori::comm
