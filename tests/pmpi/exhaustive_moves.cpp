// Data that moves: elements of three ints, wherever they lie.
#include <functional>

#include "tests/pmpi/exhaustive.hpp"

namespace exhaustive {

namespace {

struct Shape {
  std::string name;
  MPI_Datatype type;
  int elements;             ///< elements of the type for three ints
  std::vector<int> places;  ///< places of the three, in the order of the type
  int extent;               ///< ints from three to three
};

std::vector<Shape> make_shapes() {
  MPI_Datatype three = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(3, MPI_INT, &three);
  MPI_Datatype again = MPI_DATATYPE_NULL;
  MPI_Type_dup(three, &again);
  MPI_Datatype strided = MPI_DATATYPE_NULL;  // with a hole behind it as well
  MPI_Datatype vector = MPI_DATATYPE_NULL;
  MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
  MPI_Type_create_resized(vector, 0, 6 * sizeof(int), &strided);
  MPI_Type_free(&vector);
  MPI_Datatype permuted = MPI_DATATYPE_NULL;  // looks contiguous, and is not
  const int lengths[3] = {1, 1, 1};
  const int places[3] = {2, 0, 1};
  MPI_Type_indexed(3, lengths, places, MPI_INT, &permuted);
  for (MPI_Datatype* type : {&three, &again, &strided, &permuted}) MPI_Type_commit(type);
  return {{"ints", MPI_INT, 3, {0, 1, 2}, 3},
          {"contiguous", three, 1, {0, 1, 2}, 3},
          {"strided", strided, 1, {0, 2, 4}, 6},
          {"permuted", permuted, 1, {2, 0, 1}, 3},
          {"duplicate", again, 1, {0, 1, 2}, 3}};
}

void free_shapes(std::vector<Shape>& shapes) {
  for (std::size_t i = 1; i < shapes.size(); ++i) MPI_Type_free(&shapes[i].type);
}

constexpr int hole = -77;

/// Threes of ints in a buffer of a shape; the rest is holes.
class Threes {
 public:
  Threes(const Shape& shape, int count)
      : shape_(shape), data_(static_cast<std::size_t>(count) * shape.extent, hole) {}

  void set(int first, int count, const std::function<int(int)>& value) {
    for (int i = 0; i < 3 * count; ++i) data_[place(3 * first + i)] = value(i);
  }
  /// Whether the threes are these, all others are none, and nothing was written between them.
  bool is(int first, int count, const std::function<int(int)>& value) {
    for (int i = 0; i < 3 * count; ++i) {
      int& x = data_[place(3 * first + i)];
      if (x != value(i)) return false;
      x = hole;
    }
    return true;
  }
  bool is_clean() const {
    for (const int x : data_) {
      if (x != hole) return false;
    }
    return true;
  }
  int* data() { return data_.data(); }

 private:
  std::size_t place(int i) const {
    return static_cast<std::size_t>(i / 3) * shape_.extent + shape_.places[i % 3];
  }
  const Shape& shape_;
  std::vector<int> data_;
};

int value_of(int from, int to, int i) {
  return 1000000 * from + 10000 * to + i % 10000;
}

void block_moves(MPI_Comm comm, const std::vector<Shape>& shapes, int count, int turn) {
  const int size = size_of(comm);
  const int me = rank_in(comm);
  // Ranks describe the same data by different types.
  const auto pick = [&](int by) -> const Shape& { return shapes[(by + turn) % std::ssize(shapes)]; };
  const Shape& in = pick(me);
  const Shape& out = pick(2 * me + 1);
  const int in_count = count * in.elements;
  const int out_count = count * out.elements;
  const std::string name =
      in.name + " to " + out.name + ", " + std::to_string(count) + ", " + std::to_string(size) + " ranks";
  const auto from_to = [](int from, int to) { return [from, to](int i) { return value_of(from, to, i); }; };
  for (int root = 0; root < size; ++root) {
    const bool is_root = me == root;
    Threes data(in, count);
    if (is_root) data.set(0, count, from_to(root, 0));
    MPI_Bcast(data.data(), in_count, in.type, root, comm);
    expect(data.is(0, count, from_to(root, 0)) && data.is_clean(), "bcast: " + name);

    Threes mine(in, count);
    mine.set(0, count, from_to(me, 0));
    Threes all(out, is_root ? size * count : 0);
    MPI_Gather(mine.data(), in_count, in.type, all.data(), out_count, out.type, root, comm);
    for (int r = 0; r < size && is_root; ++r)
      expect(all.is(r * count, count, from_to(r, 0)), "gather: " + name);
    expect(all.is_clean(), "gather beside: " + name);
    if (is_root) all.set(root * count, count, from_to(root, 0));
    MPI_Gather(is_root ? MPI_IN_PLACE : mine.data(), in_count, in.type, all.data(), out_count, out.type, root,
               comm);
    for (int r = 0; r < size && is_root; ++r)
      expect(all.is(r * count, count, from_to(r, 0)), "gather in place: " + name);

    Threes dealt(in, is_root ? size * count : 0);
    for (int r = 0; r < size && is_root; ++r) dealt.set(r * count, count, from_to(root, r));
    Threes part(out, count);
    MPI_Scatter(dealt.data(), in_count, in.type, part.data(), out_count, out.type, root, comm);
    expect(part.is(0, count, from_to(root, me)) && part.is_clean(), "scatter: " + name);
    MPI_Scatter(dealt.data(), in_count, in.type, is_root ? MPI_IN_PLACE : static_cast<void*>(part.data()),
                out_count, out.type, root, comm);
    expect(is_root || part.is(0, count, from_to(root, me)), "scatter in place: " + name);
    for (int r = 0; r < size && is_root; ++r)
      expect(dealt.is(r * count, count, from_to(root, r)), "scatter: " + name);
  }

  Threes mine(in, count);
  mine.set(0, count, from_to(me, 0));
  Threes all(out, size * count);
  MPI_Allgather(mine.data(), in_count, in.type, all.data(), out_count, out.type, comm);
  for (int r = 0; r < size; ++r) expect(all.is(r * count, count, from_to(r, 0)), "allgather: " + name);
  expect(all.is_clean(), "allgather beside: " + name);
  all.set(me * count, count, from_to(me, 0));
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), out_count, out.type, comm);
  for (int r = 0; r < size; ++r)
    expect(all.is(r * count, count, from_to(r, 0)), "allgather in place: " + name);

  Threes sent(in, size * count);
  for (int r = 0; r < size; ++r) sent.set(r * count, count, from_to(me, r));
  MPI_Alltoall(sent.data(), in_count, in.type, all.data(), out_count, out.type, comm);
  for (int r = 0; r < size; ++r) expect(all.is(r * count, count, from_to(r, me)), "alltoall: " + name);
  expect(all.is_clean(), "alltoall beside: " + name);
  for (int r = 0; r < size; ++r) expect(sent.is(r * count, count, from_to(me, r)), "alltoall sends: " + name);
  for (int r = 0; r < size; ++r) all.set(r * count, count, from_to(me, r));
  MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), out_count, out.type, comm);
  for (int r = 0; r < size; ++r)
    expect(all.is(r * count, count, from_to(r, me)), "alltoall in place: " + name);
}

/// Where blocks lie in a buffer of a shape.
struct Blocks {
  std::vector<int> lengths;  ///< in threes
  std::vector<int> firsts;   ///< in threes
  std::vector<int> counts;   ///< in elements of the type
  std::vector<int> places;   ///< likewise
  int end = 0;               ///< in threes
};

enum Arrangement { in_order, with_gap, reversed };

Blocks arrange(const Shape& shape, Arrangement arrangement, const std::vector<int>& lengths) {
  const int size = static_cast<int>(std::ssize(lengths));
  Blocks b{lengths, std::vector<int>(size), std::vector<int>(size), std::vector<int>(size)};
  b.end = arrangement == with_gap && size > 1 ? 1 : 0;  // MPICH 4.0.2 forgets the place of one rank
  for (int i = 0; i < size; ++i) {
    const int rank = arrangement == reversed ? size - 1 - i : i;
    b.firsts[rank] = b.end;
    b.end += lengths[rank] + (arrangement == with_gap && rank % 2 == 0 ? 1 : 0);
    b.counts[rank] = lengths[rank] * shape.elements;
    b.places[rank] = lengths[rank] == 0 ? 1000000 : b.firsts[rank] * shape.elements;  // no block: no matter
  }
  return b;
}

/// Blocks of different lengths, among them none, one after the other or not.
class VectorMoves {
 public:
  VectorMoves(MPI_Comm comm, const Shape& in, const Shape& out, Arrangement arrangement, int count, int turn)
      : comm_(comm), in_(in), out_(out), arrangement_(arrangement), count_(count), turn_(turn) {
    for (int rank = 0; rank < size_; ++rank) lengths_.push_back((rank + turn) % 3 * count);
    blocks_ = arrange(out, arrangement, lengths_);
    own_ = lengths_[me_];
    name_ = in.name + " to " + out.name + ", blocks of " + std::to_string(count) + ", arrangement " +
            std::to_string(arrangement);
  }

  void allgather() const {
    Threes mine(in_, own_);
    mine.set(0, own_, from(me_));
    Threes all(out_, blocks_.end);
    MPI_Allgatherv(mine.data(), own_ * in_.elements, in_.type, all.data(), blocks_.counts.data(),
                   blocks_.places.data(), out_.type, comm_);
    expect_all(all, "allgatherv");
    expect(mine.is(0, own_, from(me_)), "allgatherv sends: " + name_);
    all.set(blocks_.firsts[me_], own_, from(me_));
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), blocks_.counts.data(),
                   blocks_.places.data(), out_.type, comm_);
    expect_all(all, "allgatherv in place");
  }

  /// The root's counts mean nothing to the others.
  void gather(int root) const {
    const bool is_root = me_ == root;
    Threes mine(in_, own_);
    mine.set(0, own_, from(me_));
    Threes all(out_, is_root ? blocks_.end : 0);
    const int* const counts = is_root ? blocks_.counts.data() : nullptr;
    const int* const places = is_root ? blocks_.places.data() : nullptr;
    const int in_count = own_ * in_.elements;
    MPI_Gatherv(mine.data(), in_count, in_.type, all.data(), counts, places, out_.type, root, comm_);
    if (is_root) expect_all(all, "gatherv");
    if (is_root) all.set(blocks_.firsts[me_], own_, from(me_));
    MPI_Gatherv(is_root ? MPI_IN_PLACE : mine.data(), in_count, in_.type, all.data(), counts, places,
                out_.type, root, comm_);
    if (is_root) expect_all(all, "gatherv in place");
    expect(mine.is(0, own_, from(me_)), "gatherv sends: " + name_);
  }

  void scatter(int root) const {
    const bool is_root = me_ == root;
    Threes all(out_, is_root ? blocks_.end : 0);
    for (int r = 0; r < size_ && is_root; ++r) all.set(blocks_.firsts[r], lengths_[r], from(r));
    const int* const counts = is_root ? blocks_.counts.data() : nullptr;
    const int* const places = is_root ? blocks_.places.data() : nullptr;
    const int in_count = own_ * in_.elements;
    Threes part(in_, own_);
    MPI_Scatterv(all.data(), counts, places, out_.type, part.data(), in_count, in_.type, root, comm_);
    expect(part.is(0, own_, from(me_)) && part.is_clean(), "scatterv: " + name_);
    MPI_Scatterv(all.data(), counts, places, out_.type,
                 is_root ? MPI_IN_PLACE : static_cast<void*>(part.data()), in_count, in_.type, root, comm_);
    expect(is_root || (part.is(0, own_, from(me_)) && part.is_clean()), "scatterv in place: " + name_);
    if (is_root) expect_all(all, "scatterv sends");
  }

  void alltoall() const {
    const auto length = [&](int sender, int receiver) {
      return (sender + 2 * receiver + turn_) % 3 * count_;
    };
    std::vector<int> to_others;
    std::vector<int> from_others;
    for (int r = 0; r < size_; ++r) {
      to_others.push_back(length(me_, r));
      from_others.push_back(length(r, me_));
    }
    const Blocks sent = arrange(in_, arrangement_, to_others);
    const Blocks received = arrange(out_, arrangement_, from_others);
    Threes mine(in_, sent.end);
    for (int r = 0; r < size_; ++r) mine.set(sent.firsts[r], to_others[r], between(me_, r));
    Threes all(out_, received.end);
    MPI_Alltoallv(mine.data(), sent.counts.data(), sent.places.data(), in_.type, all.data(),
                  received.counts.data(), received.places.data(), out_.type, comm_);
    for (int r = 0; r < size_; ++r) {
      expect(all.is(received.firsts[r], from_others[r], between(r, me_)), "alltoallv: " + name_);
      expect(mine.is(sent.firsts[r], to_others[r], between(me_, r)), "alltoallv sends: " + name_);
    }
    expect(all.is_clean(), "alltoallv beside: " + name_);
  }

  /// As long there as back.
  void alltoall_in_place() const {
    std::vector<int> lengths;
    for (int r = 0; r < size_; ++r) lengths.push_back((me_ + r + turn_) % 3 * count_);
    const Blocks blocks = arrange(out_, arrangement_, lengths);
    Threes all(out_, blocks.end);
    for (int r = 0; r < size_; ++r) all.set(blocks.firsts[r], lengths[r], between(me_, r));
    MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, all.data(), blocks.counts.data(),
                  blocks.places.data(), out_.type, comm_);
    for (int r = 0; r < size_; ++r)
      expect(all.is(blocks.firsts[r], lengths[r], between(r, me_)), "alltoallv in place: " + name_);
    expect(all.is_clean(), "alltoallv in place beside: " + name_);
  }

 private:
  static std::function<int(int)> from(int rank) { return between(rank, 0); }
  static std::function<int(int)> between(int sender, int receiver) {
    return [=](int i) { return value_of(sender, receiver, i); };
  }
  void expect_all(Threes& all, const std::string& call) const {
    for (int r = 0; r < size_; ++r)
      expect(all.is(blocks_.firsts[r], lengths_[r], from(r)), call + ": " + name_);
    expect(all.is_clean(), call + " beside: " + name_);
  }

  MPI_Comm comm_;
  const Shape& in_;
  const Shape& out_;
  Arrangement arrangement_;
  int count_;
  int turn_;
  int size_ = size_of(comm_);
  int me_ = rank_in(comm_);
  std::vector<int> lengths_;  ///< length of every rank's block
  Blocks blocks_;
  int own_ = 0;
  std::string name_;
};

void vector_moves(MPI_Comm comm, const std::vector<Shape>& shapes, int count, int turn) {
  const auto pick = [&](int by) -> const Shape& {
    return shapes[((is_alone ? 0 : by) + turn) % std::ssize(shapes)];
  };
  const int me = rank_in(comm);
  for (const auto arrangement : {in_order, with_gap, reversed}) {
    const VectorMoves moves(comm, pick(me), pick(2 * me + 1), arrangement, count, turn);
    moves.allgather();
    for (int root = 0; root < size_of(comm); ++root) {
      moves.gather(root);
      moves.scatter(root);
    }
    moves.alltoall();
    moves.alltoall_in_place();
  }
}

}  // namespace

void moves(MPI_Comm comm) {
  auto shapes = make_shapes();
  for (const int count : {0, 1, 2, 17, 400}) {
    for (int turn = 0; turn < std::ssize(shapes); ++turn) {
      block_moves(comm, shapes, count, turn);
      vector_moves(comm, shapes, count, turn);
    }
  }
  free_shapes(shapes);
}

}  // namespace exhaustive
