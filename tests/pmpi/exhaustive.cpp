// Every collective operation that schedules can do, compared with what it has to give: types and operations
// of MPI and of users, types with holes and other orders, MPI_IN_PLACE, nothing at all, every root,
// communicators that come and go, several threads. Says nothing, or what was wrong first. --no-threads leaves
// those out.
#include <mpi.h>

#include <atomic>
#include <chrono>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace {

int rank_in(MPI_Comm comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}

int size_of(MPI_Comm comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

void expect(bool is_right, const std::string& what) {
  if (is_right) return;
  std::fprintf(stderr, "rank %d of the world: wrong: %s\n", rank_in(MPI_COMM_WORLD), what.c_str());
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/// MPICH 4.0.2 reads from MPI_IN_PLACE in MPI_Reduce of more than some 2000 bytes to another root than 0. In
/// MPI_Allgatherv of Open MPI 4.1.4, ranks with different types may choose different algorithms, and hang.
bool is_alone = false;
constexpr std::size_t bytes_in_place = 1000;

// Reductions.

/// What a rank contributes, element by element, and how two are combined: exactly, in every order.
template <class T>
struct Reduction {
  std::string name;
  MPI_Datatype type;
  MPI_Op op;
  std::function<T(int rank, int element)> value;
  std::function<T(T left, T right)> combine;
};

/// Padding has no value.
template <class T>
bool is_same(const T& a, const T& b) {
  return a == b;
}

template <class T>
void reduce_everywhere(MPI_Comm comm, const Reduction<T>& r, const std::vector<int>& counts) {
  const int size = size_of(comm);
  const int me = rank_in(comm);
  for (const int count : counts) {
    const auto all = static_cast<std::size_t>(count) * size;  // reduce-scatter has a block for every rank
    std::vector<T> mine(all);
    std::vector<T> expected(all);
    for (std::size_t i = 0; i < all; ++i) {
      mine[i] = r.value(me, static_cast<int>(i));
      expected[i] = r.value(0, static_cast<int>(i));
      for (int rank = 1; rank < size; ++rank)
        expected[i] = r.combine(expected[i], r.value(rank, static_cast<int>(i)));
    }
    const auto is_right = [&](const std::vector<T>& result, int first) {
      for (int i = 0; i < count; ++i) {
        if (!is_same(result[i], expected[first + i])) return false;
      }
      return true;
    };
    const std::string name =
        r.name + ", " + std::to_string(count) + " elements, " + std::to_string(size) + " ranks";
    const std::vector<T> kept = mine;
    std::vector<T> result(all);
    MPI_Allreduce(mine.data(), result.data(), count, r.type, r.op, comm);
    expect(is_right(result, 0) && mine == kept, "allreduce: " + name);
    result = mine;
    MPI_Allreduce(MPI_IN_PLACE, result.data(), count, r.type, r.op, comm);
    expect(is_right(result, 0), "allreduce in place: " + name);
    for (int root = 0; root < size; ++root) {
      std::fill(result.begin(), result.end(), T());
      MPI_Reduce(mine.data(), me == root ? result.data() : nullptr, count, r.type, r.op, root, comm);
      expect((me != root || is_right(result, 0)) && mine == kept, "reduce: " + name);
      if (is_alone && count * sizeof(T) > bytes_in_place) continue;
      result = mine;
      MPI_Reduce(me == root ? MPI_IN_PLACE : mine.data(), result.data(), count, r.type, r.op, root, comm);
      expect(me == root ? is_right(result, 0) : result == mine, "reduce in place: " + name);
    }
    std::fill(result.begin(), result.end(), T());
    MPI_Reduce_scatter_block(mine.data(), result.data(), count, r.type, r.op, comm);
    expect(is_right(result, me * count) && mine == kept, "reduce_scatter_block: " + name);
    result = mine;
    MPI_Reduce_scatter_block(MPI_IN_PLACE, result.data(), count, r.type, r.op, comm);
    expect(is_right(result, me * count), "reduce_scatter_block in place: " + name);

    // Blocks of different lengths, among them none, of the same vector.
    std::vector<int> lengths(size, count);
    for (int rank = 0; rank + 1 < size; rank += 2) {
      const int more = (rank / 2 + 2) % 3 * count / 2;
      lengths[rank] += more;
      lengths[rank + 1] -= more;
    }
    const int before = std::accumulate(lengths.begin(), lengths.begin() + me, 0);
    const auto is_own = [&] {
      for (int i = 0; i < lengths[me]; ++i) {
        if (!is_same(result[i], expected[before + i])) return false;
      }
      return true;
    };
    std::fill(result.begin(), result.end(), T());
    MPI_Reduce_scatter(mine.data(), result.data(), lengths.data(), r.type, r.op, comm);
    expect(is_own() && mine == kept, "reduce_scatter: " + name);
    result = mine;
    MPI_Reduce_scatter(MPI_IN_PLACE, result.data(), lengths.data(), r.type, r.op, comm);
    expect(is_own(), "reduce_scatter in place: " + name);
  }
}

/// Small numbers: sums and products of 8 of them fit the shortest type.
template <class T>
T small(int rank, int element) {
  return static_cast<T>(static_cast<signed char>(1 + (rank + element) % 2));
}

template <class T>
void sums_and_products(MPI_Comm comm, const std::string& name, MPI_Datatype type,
                       const std::vector<int>& counts) {
  reduce_everywhere<T>(
      comm, {name + " sum", type, MPI_SUM, small<T>, [](T a, T b) { return static_cast<T>(a + b); }}, counts);
  reduce_everywhere<T>(
      comm, {name + " prod", type, MPI_PROD, small<T>, [](T a, T b) { return static_cast<T>(a * b); }},
      counts);
}

template <class T>
void extremes(MPI_Comm comm, const std::string& name, MPI_Datatype type, const std::vector<int>& counts) {
  const auto value = [](int rank, int element) { return static_cast<T>((7 * rank + 5 * element) % 100); };
  reduce_everywhere<T>(comm, {name + " max", type, MPI_MAX, value, [](T a, T b) { return std::max(a, b); }},
                       counts);
  reduce_everywhere<T>(comm, {name + " min", type, MPI_MIN, value, [](T a, T b) { return std::min(a, b); }},
                       counts);
}

template <class T>
void logical(MPI_Comm comm, const std::string& name, MPI_Datatype type, const std::vector<int>& counts) {
  const auto value = [](int rank, int element) {
    return static_cast<T>((rank * element + element) % 3 > 0 ? 1 : 0);
  };
  reduce_everywhere<T>(
      comm, {name + " land", type, MPI_LAND, value, [](T a, T b) { return static_cast<T>(a && b); }}, counts);
  reduce_everywhere<T>(
      comm, {name + " lor", type, MPI_LOR, value, [](T a, T b) { return static_cast<T>(a || b); }}, counts);
  reduce_everywhere<T>(
      comm, {name + " lxor", type, MPI_LXOR, value, [](T a, T b) { return static_cast<T>(!a != !b); }},
      counts);
}

template <class T>
void bitwise(MPI_Comm comm, const std::string& name, MPI_Datatype type, const std::vector<int>& counts) {
  const auto value = [](int rank, int element) { return static_cast<T>(0x5a ^ (rank * 37 + element * 11)); };
  reduce_everywhere<T>(
      comm, {name + " band", type, MPI_BAND, value, [](T a, T b) { return static_cast<T>(a & b); }}, counts);
  reduce_everywhere<T>(
      comm, {name + " bor", type, MPI_BOR, value, [](T a, T b) { return static_cast<T>(a | b); }}, counts);
  reduce_everywhere<T>(
      comm, {name + " bxor", type, MPI_BXOR, value, [](T a, T b) { return static_cast<T>(a ^ b); }}, counts);
}

template <class T>
void integers(MPI_Comm comm, const std::string& name, MPI_Datatype type, const std::vector<int>& counts) {
  sums_and_products<T>(comm, name, type, counts);
  extremes<T>(comm, name, type, counts);
  logical<T>(comm, name, type, counts);
  bitwise<T>(comm, name, type, counts);
}

template <class T>
void reals(MPI_Comm comm, const std::string& name, MPI_Datatype type, const std::vector<int>& counts) {
  sums_and_products<T>(comm, name, type, counts);
  extremes<T>(comm, name, type, counts);
}

/// A value and where it is.
template <class T>
struct Pair {
  T value;
  int place;
  bool operator==(const Pair&) const = default;
};

template <class T>
void pairs(MPI_Comm comm, const std::string& name, MPI_Datatype type, const std::vector<int>& counts) {
  using P = Pair<T>;
  const auto value = [](int rank, int element) {
    return P{static_cast<T>((3 * rank + element) % 4), (rank * 5 + element) % 9};
  };
  reduce_everywhere<P>(comm,
                       {name + " maxloc", type, MPI_MAXLOC, value,
                        [](P a, P b) {
                          if (a.value == b.value) return P{a.value, std::min(a.place, b.place)};
                          return a.value > b.value ? a : b;
                        }},
                       counts);
  reduce_everywhere<P>(comm,
                       {name + " minloc", type, MPI_MINLOC, value,
                        [](P a, P b) {
                          if (a.value == b.value) return P{a.value, std::min(a.place, b.place)};
                          return a.value < b.value ? a : b;
                        }},
                       counts);
}

/// Products of these do not commute.
struct Matrix {
  std::int32_t a[4];
  const std::int32_t* row(int i) const { return i == 0 ? a : a + 2; }
  bool operator==(const Matrix&) const = default;
};

Matrix product(const Matrix& x, const Matrix& y) {
  const auto entry = [&](int i, int j) {
    return static_cast<std::int32_t>(
        (std::int64_t{x.row(i)[0]} * y.a[j] + std::int64_t{x.row(i)[1]} * y.a[2 + j]) % 10007);
  };
  return {{entry(0, 0), entry(0, 1), entry(1, 0), entry(1, 1)}};
}

// NOLINTNEXTLINE(readability-non-const-parameter): MPI_User_function
void multiply(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  const auto* const left = static_cast<const Matrix*>(in);
  auto* const right = static_cast<Matrix*>(inout);
  for (int i = 0; i < *count; ++i) right[i] = product(left[i], right[i]);
}

// NOLINTNEXTLINE(readability-non-const-parameter): MPI_User_function
void add_modulo(void* in, void* inout, int* count, MPI_Datatype* /*type*/) {
  const auto* const left = static_cast<const int*>(in);
  auto* const right = static_cast<int*>(inout);
  for (int i = 0; i < *count; ++i) right[i] = (left[i] + right[i]) % 101;
}

void user_operations(MPI_Comm comm, const std::vector<int>& counts) {
  MPI_Datatype matrix = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(4, MPI_INT32_T, &matrix);
  MPI_Type_commit(&matrix);
  MPI_Op multiplication = MPI_OP_NULL;
  MPI_Op_create(multiply, 0, &multiplication);
  reduce_everywhere<Matrix>(comm,
                            {"matrices", matrix, multiplication,
                             [](int rank, int i) {
                               return Matrix{{rank + 1, i % 7, 2, (rank * 3 + i) % 11}};
                             },
                             product},
                            counts);
  MPI_Op addition = MPI_OP_NULL;
  MPI_Op_create(add_modulo, 1, &addition);
  reduce_everywhere<int>(
      comm,
      {"sums modulo 101", MPI_INT, addition, [](int rank, int i) { return (rank * 57 + i) % 101; },
       [](int a, int b) { return (a + b) % 101; }},
      counts);
  MPI_Op_free(&addition);
  MPI_Op_free(&multiplication);
  MPI_Type_free(&matrix);
}

void reductions(MPI_Comm comm) {
  const std::vector<int> few = {1, 7};
  integers<signed char>(comm, "signed char", MPI_SIGNED_CHAR, few);
  integers<unsigned char>(comm, "unsigned char", MPI_UNSIGNED_CHAR, few);
  integers<short>(comm, "short", MPI_SHORT, few);
  integers<unsigned short>(comm, "unsigned short", MPI_UNSIGNED_SHORT, few);
  integers<int>(comm, "int", MPI_INT, {0, 1, 3, 64, 1000, 5000});
  integers<unsigned>(comm, "unsigned", MPI_UNSIGNED, few);
  integers<long>(comm, "long", MPI_LONG, few);
  integers<unsigned long>(comm, "unsigned long", MPI_UNSIGNED_LONG, few);
  integers<long long>(comm, "long long", MPI_LONG_LONG, few);
  integers<unsigned long long>(comm, "unsigned long long", MPI_UNSIGNED_LONG_LONG, few);
  integers<std::int8_t>(comm, "int8", MPI_INT8_T, few);
  integers<std::int16_t>(comm, "int16", MPI_INT16_T, few);
  integers<std::int32_t>(comm, "int32", MPI_INT32_T, few);
  integers<std::int64_t>(comm, "int64", MPI_INT64_T, few);
  integers<std::uint8_t>(comm, "uint8", MPI_UINT8_T, few);
  integers<std::uint16_t>(comm, "uint16", MPI_UINT16_T, few);
  integers<std::uint32_t>(comm, "uint32", MPI_UINT32_T, few);
  integers<std::uint64_t>(comm, "uint64", MPI_UINT64_T, few);
  sums_and_products<MPI_Aint>(comm, "aint", MPI_AINT, few);
  sums_and_products<MPI_Offset>(comm, "offset", MPI_OFFSET, few);
  sums_and_products<MPI_Count>(comm, "count", MPI_COUNT, few);
  bitwise<unsigned char>(comm, "byte", MPI_BYTE, few);

  logical<unsigned char>(comm, "bool", MPI_C_BOOL, few);
  reals<float>(comm, "float", MPI_FLOAT, {1, 7, 333});
  reals<double>(comm, "double", MPI_DOUBLE, {0, 1, 2, 3, 17, 4000});
  reals<long double>(comm, "long double", MPI_LONG_DOUBLE, few);
  sums_and_products<std::complex<float>>(comm, "complex float", MPI_C_FLOAT_COMPLEX, few);
  sums_and_products<std::complex<double>>(comm, "complex double", MPI_C_DOUBLE_COMPLEX, few);
  pairs<float>(comm, "float and int", MPI_FLOAT_INT, few);
  pairs<double>(comm, "double and int", MPI_DOUBLE_INT, {1, 7, 500});
  pairs<long>(comm, "long and int", MPI_LONG_INT, few);
  pairs<int>(comm, "int and int", MPI_2INT, few);
  pairs<short>(comm, "short and int", MPI_SHORT_INT, few);
  user_operations(comm, {0, 1, 5, 300});
}

// Data that moves: elements of three ints, wherever they lie.

struct Shape {
  std::string name;
  MPI_Datatype type;
  int elements;             ///< of the type for three ints
  std::vector<int> places;  ///< of the three, in the order of the type
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

void moves(MPI_Comm comm, const std::vector<Shape>& shapes, int count, int turn) {
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

/// Blocks of different lengths, among them none, one after the other or not.
void vector_moves(MPI_Comm comm, const std::vector<Shape>& shapes, int count, int turn) {
  const int size = size_of(comm);
  const int me = rank_in(comm);
  const auto pick = [&](int by) -> const Shape& {
    return shapes[((is_alone ? 0 : by) + turn) % std::ssize(shapes)];
  };
  const Shape& in = pick(me);
  const Shape& out = pick(2 * me + 1);
  enum { in_order, with_gap, reversed };
  for (const auto arrangement : {in_order, with_gap, reversed}) {
    const auto length = [&](int rank) { return (rank + turn) % 3 * count; };
    std::vector<int> counts(size);
    std::vector<int> places(size);
    std::vector<int> firsts(size);                          // in threes
    int end = arrangement == with_gap && size > 1 ? 1 : 0;  // MPICH 4.0.2 forgets the place of one rank
    for (int i = 0; i < size; ++i) {
      const int rank = arrangement == reversed ? size - 1 - i : i;
      firsts[rank] = end;
      end += length(rank) + (arrangement == with_gap && rank % 2 == 0 ? 1 : 0);
      counts[rank] = length(rank) * out.elements;
      places[rank] = firsts[rank] * out.elements;
      if (counts[rank] == 0) places[rank] = 1000000;  // of nothing, it means nothing
    }
    const std::string name = in.name + " to " + out.name + ", blocks of " + std::to_string(count) +
                             ", arrangement " + std::to_string(arrangement);
    const auto from = [](int rank) { return [rank](int i) { return value_of(rank, 0, i); }; };
    Threes mine(in, length(me));
    mine.set(0, length(me), from(me));
    Threes all(out, end);
    MPI_Allgatherv(mine.data(), length(me) * in.elements, in.type, all.data(), counts.data(), places.data(),
                   out.type, comm);
    for (int r = 0; r < size; ++r) expect(all.is(firsts[r], length(r), from(r)), "allgatherv: " + name);
    expect(all.is_clean() && mine.is(0, length(me), from(me)), "allgatherv beside: " + name);
    all.set(firsts[me], length(me), from(me));
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), counts.data(), places.data(), out.type,
                   comm);
    for (int r = 0; r < size; ++r)
      expect(all.is(firsts[r], length(r), from(r)), "allgatherv in place: " + name);
    expect(all.is_clean(), "allgatherv in place beside: " + name);
  }
}

void all_moves(MPI_Comm comm) {
  auto shapes = make_shapes();
  for (const int count : {0, 1, 2, 17, 400}) {
    for (int turn = 0; turn < std::ssize(shapes); ++turn) {
      moves(comm, shapes, count, turn);
      vector_moves(comm, shapes, count, turn);
    }
  }
  free_shapes(shapes);
}

/// Addresses of their own instead of a buffer.
void bottom(MPI_Comm comm) {
  int one = rank_in(comm) == 0 ? 11 : 0;
  int two = rank_in(comm) == 0 ? 22 : 0;
  const int lengths[2] = {1, 1};
  MPI_Aint places[2] = {0, 0};
  MPI_Get_address(&one, &places[0]);
  MPI_Get_address(&two, &places[1]);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(2, lengths, places, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Bcast(MPI_BOTTOM, 1, type, 0, comm);
  MPI_Type_free(&type);
  expect(one == 11 && two == 22, "MPI_BOTTOM");
}

/// Nobody leaves one before the last has come: everybody counts, in memory that all see. Some come late.
void barriers(MPI_Comm comm) {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, rank_in(comm), MPI_INFO_NULL, &node);
  const int size = size_of(node);
  const int me = rank_in(node);
  int* own = nullptr;
  MPI_Win window = MPI_WIN_NULL;
  MPI_Win_allocate_shared(sizeof(int), 1, MPI_INFO_NULL, node, &own, &window);
  std::vector<int*> counters(size);
  for (int rank = 0; rank < size; ++rank) {
    MPI_Aint bytes = 0;
    int unit = 0;
    MPI_Win_shared_query(window, rank, &bytes, &unit, &counters[rank]);
  }
  *own = 0;
  MPI_Barrier(node);
  constexpr int calls = 60;
  for (int call = 1; call <= calls; ++call) {
    if (call % size == me) std::this_thread::sleep_for(std::chrono::microseconds(100));
    std::atomic_ref(*own).store(call);
    MPI_Barrier(comm);
    for (const int* counter : counters)
      expect(std::atomic_ref(*const_cast<int*>(counter)).load() >= call, "a barrier that lets through");
  }
  MPI_Win_free(&window);
  MPI_Comm_free(&node);
}

/// A receive that takes anything waits while collective calls go on.
void messages_between(MPI_Comm comm) {
  const int size = size_of(comm);
  const int me = rank_in(comm);
  int got = -1;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
  int sum = me;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Bcast(&sum, 1, MPI_INT, size - 1, comm);
  MPI_Send(&me, 1, MPI_INT, (me + 1) % size, 28000, comm);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(sum == size * (size - 1) / 2 && got == (me + size - 1) % size, "messages between collective calls");
}

int count_copy(MPI_Comm /*comm*/, int /*keyval*/, void* copies, void* /*value*/, void* /*copied*/,
               int* flag) {
  ++*static_cast<int*>(copies);
  *flag = 0;
  return MPI_SUCCESS;
}

/// What a program has attached to a communicator is not touched, and errors go where it wants them.
void attributes_and_errors() {
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int copies = 0;
  int keyval = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(count_copy, MPI_COMM_NULL_DELETE_FN, &keyval, &copies);
  MPI_Comm_set_attr(comm, keyval, nullptr);
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect(copies == 0, "the attributes of a program were copied");
  MPI_Comm_free_keyval(&keyval);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  expect(MPI_Bcast(&sum, -1, MPI_INT, 0, comm) != MPI_SUCCESS, "a count of -1");
  expect(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_OP_NULL, comm) != MPI_SUCCESS, "no operation");
  double real = 1;
  expect(MPI_Allreduce(MPI_IN_PLACE, &real, 1, MPI_DOUBLE, MPI_BAND, comm) != MPI_SUCCESS,
         "bits of a double");
  expect(MPI_Bcast(&sum, 1, MPI_INT, size_of(comm), comm) != MPI_SUCCESS, "a root that is no rank");
  MPI_Comm_free(&comm);
}

void everything(MPI_Comm comm) {
  reductions(comm);
  all_moves(comm);
  bottom(comm);
  barriers(comm);
  messages_between(comm);
}

void communicators() {
  const int me = rank_in(MPI_COMM_WORLD);
  for (int again = 0; again < 3; ++again) {
    for (const auto& [color, key] : {std::pair(0, -me), {me % 2, me}, {me / 3, -me}}) {
      MPI_Comm part = MPI_COMM_NULL;
      MPI_Comm_split(MPI_COMM_WORLD, color, key, &part);
      if (again == 0)
        all_moves(part);
      else
        user_operations(part, {1, 40});
      MPI_Comm_free(&part);
    }
  }
  all_moves(MPI_COMM_SELF);
}

/// Every thread has a communicator of its own, and calls what the others do not call then. They overlap: all
/// ranks; all but the first, backwards; halves.
void threads() {
  constexpr int count = 3;
  const int me = rank_in(MPI_COMM_WORLD);
  const int colors[count] = {0, me == 0 ? 1 : 0, 2 * me / size_of(MPI_COMM_WORLD)};
  std::vector<MPI_Comm> comms(count, MPI_COMM_NULL);
  for (int t = 0; t < count; ++t) MPI_Comm_split(MPI_COMM_WORLD, colors[t], t == 1 ? -me : me, &comms[t]);
  std::vector<std::thread> workers;
  for (int t = 0; t < count; ++t) {
    workers.emplace_back([t, comm = comms[t]] {
      for (int again = 0; again < 2; ++again) {
        if ((t + again) % 3 == 0) user_operations(comm, {1, 100});
        if ((t + again) % 3 == 1) reals<double>(comm, "double", MPI_DOUBLE, {1, 3000});
        if ((t + again) % 3 == 2) integers<int>(comm, "int", MPI_INT, {2, 10});
        MPI_Comm mine = MPI_COMM_NULL;  // made and freed by a thread
        MPI_Comm_dup(comm, &mine);
        messages_between(mine);
        MPI_Comm_free(&mine);
      }
    });
  }
  for (auto& worker : workers) worker.join();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
}

}  // namespace

int main(int argc, char** argv) {
  is_alone = argc > 1 && std::strcmp(argv[1], "--alone") == 0;
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  everything(MPI_COMM_WORLD);
  communicators();
  attributes_and_errors();
  if (provided == MPI_THREAD_MULTIPLE) threads();
  MPI_Finalize();
  return 0;
}
