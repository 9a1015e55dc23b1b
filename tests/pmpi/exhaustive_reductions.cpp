// Reductions: what ranks contribute is exact in every order.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <functional>
#include <numeric>

#include "tests/pmpi/exhaustive.hpp"

namespace exhaustive {

namespace {

constexpr std::size_t bytes_in_place = 1000;  ///< that MPICH reduces rightly

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

}  // namespace

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

void reductions_of_ints(MPI_Comm comm, const std::vector<int>& counts) {
  integers<int>(comm, "int", MPI_INT, counts);
}

void reductions_of_doubles(MPI_Comm comm, const std::vector<int>& counts) {
  reals<double>(comm, "double", MPI_DOUBLE, counts);
}

void reductions(MPI_Comm comm) {
  const std::vector<int> few = {1, 7};
  integers<signed char>(comm, "signed char", MPI_SIGNED_CHAR, few);
  integers<unsigned char>(comm, "unsigned char", MPI_UNSIGNED_CHAR, few);
  integers<short>(comm, "short", MPI_SHORT, few);
  integers<unsigned short>(comm, "unsigned short", MPI_UNSIGNED_SHORT, few);
  reductions_of_ints(comm, {0, 1, 3, 64, 1000, 5000});
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
  reductions_of_doubles(comm, {0, 1, 2, 3, 17, 4000});
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

}  // namespace exhaustive
