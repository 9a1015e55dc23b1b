// Calls whose counts are MPI_Count, each a few times on every root: says what is wrong first, or nothing.
// What MPI has before its version 4 has none.
#include <mpi.h>

#include <cstdio>
#include <numeric>
#include <vector>

namespace {

#if MPI_VERSION >= 4
constexpr MPI_Count count = 5;  ///< ints in a block

void expect(bool is_right, const char* what) {
  if (is_right) return;
  std::fprintf(stderr, "wrong: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// What rank `from` has for rank `to`.
int value(int from, int to, MPI_Count i) {
  return 1000 * from + 10 * to + static_cast<int>(i);
}

/// Where the block of every rank begins, with room for one element before each, and how long they are.
struct Blocks {
  std::vector<MPI_Count> counts;
  std::vector<MPI_Aint> places;

  explicit Blocks(int size) {
    MPI_Aint place = 0;
    for (int rank = 0; rank < size; ++rank) {
      counts.push_back(rank % 3 + 1);
      places.push_back(++place);
      place += static_cast<MPI_Aint>(counts.back());
    }
  }
  std::vector<int> room() const {
    return std::vector<int>(static_cast<std::size_t>(places.back() + counts.back()), -1);
  }
};

class Calls {
 public:
  explicit Calls(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_rank(comm, &me_);
    MPI_Comm_size(comm, &size_);
    for (int to = 0; to < size_; ++to) {
      for (MPI_Count i = 0; i < count; ++i) from_me_.push_back(value(me_, to, i));
    }
  }

  void rooted(int root) const {
    std::vector<int> data(count, me_ == root ? 7 : 0);
    MPI_Bcast_c(data.data(), count, MPI_INT, root, comm_);
    expect(std::accumulate(data.begin(), data.end(), 0) == 7 * count, "Bcast_c");
    std::vector<int> all(from_me_.size(), -1);
    MPI_Reduce_c(from_me_.data(), all.data(), count, MPI_INT, MPI_MAX, root, comm_);
    expect(me_ != root || all[1] == value(size_ - 1, 0, 1), "Reduce_c");
    MPI_Gather_c(from_me_.data(), count, MPI_INT, all.data(), count, MPI_INT, root, comm_);
    for (int rank = 0; rank < size_ && me_ == root; ++rank)
      expect(all[rank * count + 2] == value(rank, 0, 2), "Gather_c");
    MPI_Scatter_c(from_me_.data(), count, MPI_INT, data.data(), count, MPI_INT, root, comm_);
    expect(data[3] == value(root, me_, 3), "Scatter_c");

    const Blocks blocks(size_);
    std::vector<int> room = blocks.room();
    MPI_Gatherv_c(from_me_.data(), blocks.counts[me_], MPI_INT, room.data(), blocks.counts.data(),
                  blocks.places.data(), MPI_INT, root, comm_);
    for (int rank = 0; rank < size_ && me_ == root; ++rank)
      expect(room[blocks.places[rank]] == value(rank, 0, 0), "Gatherv_c");
    std::iota(room.begin(), room.end(), 100 * root);
    MPI_Scatterv_c(room.data(), blocks.counts.data(), blocks.places.data(), MPI_INT, data.data(),
                   blocks.counts[me_], MPI_INT, root, comm_);
    expect(data[0] == 100 * root + blocks.places[me_], "Scatterv_c");
  }

  void of_all() const {
    std::vector<int> all(from_me_.size(), -1);
    MPI_Allreduce_c(from_me_.data(), all.data(), count, MPI_INT, MPI_MIN, comm_);
    expect(all[4] == value(0, 0, 4), "Allreduce_c");
    MPI_Allgather_c(from_me_.data(), count, MPI_INT, all.data(), count, MPI_INT, comm_);
    for (int rank = 0; rank < size_; ++rank) expect(all[rank * count] == value(rank, 0, 0), "Allgather_c");
    MPI_Alltoall_c(from_me_.data(), count, MPI_INT, all.data(), count, MPI_INT, comm_);
    for (int rank = 0; rank < size_; ++rank)
      expect(all[rank * count + 1] == value(rank, me_, 1), "Alltoall_c");
    MPI_Reduce_scatter_block_c(from_me_.data(), all.data(), count, MPI_INT, MPI_MAX, comm_);
    expect(all[2] == value(size_ - 1, me_, 2), "Reduce_scatter_block_c");

    const Blocks blocks(size_);
    std::vector<int> room = blocks.room();
    MPI_Allgatherv_c(from_me_.data(), blocks.counts[me_], MPI_INT, room.data(), blocks.counts.data(),
                     blocks.places.data(), MPI_INT, comm_);
    for (int rank = 0; rank < size_; ++rank)
      expect(room[blocks.places[rank]] == value(rank, 0, 0), "Allgatherv_c");
    const MPI_Count before =
        std::accumulate(blocks.counts.begin(), blocks.counts.begin() + me_, MPI_Count{0});
    MPI_Reduce_scatter_c(from_me_.data(), all.data(), blocks.counts.data(), MPI_INT, MPI_MIN, comm_);
    expect(all[0] == value(0, static_cast<int>(before / count), before % count), "Reduce_scatter_c");

    // The first element of every block, to places with gaps.
    std::vector<MPI_Count> ones(size_, 1);
    std::vector<MPI_Aint> from(size_);
    for (int rank = 0; rank < size_; ++rank) from[rank] = static_cast<MPI_Aint>(rank * count);
    MPI_Alltoallv_c(from_me_.data(), ones.data(), from.data(), MPI_INT, room.data(), ones.data(),
                    blocks.places.data(), MPI_INT, comm_);
    for (int rank = 0; rank < size_; ++rank)
      expect(room[blocks.places[rank]] == value(rank, me_, 0), "Alltoallv_c");
  }

  int size() const { return size_; }

 private:
  MPI_Comm comm_;
  int me_ = 0;
  int size_ = 0;
  std::vector<int> from_me_;  ///< a block for every rank
};

void call_all() {
  const Calls calls(MPI_COMM_WORLD);
  for (int again = 0; again < 6; ++again) {
    for (int root = 0; root < calls.size(); ++root) calls.rooted(root);
    calls.of_all();
  }
}
#else
void call_all() {}
#endif

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  call_all();
  MPI_Finalize();
  return 0;
}
