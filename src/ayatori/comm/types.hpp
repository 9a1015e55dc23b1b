#pragma once

#include <cstddef>
#include <cstdint>
#include <ranges>
#include <type_traits>

namespace ayatori::comm {

/// Element types that travel. Everything else travels as bytes (and cannot be reduced).
enum class DataType { byte, int32, int64, uint64, float32, float64 };

/// Reductions that the library uses. Smallest and largest of uint64 are only for values below 2^63: MPICH 4.0
/// compares them as if they were signed.
enum class ReduceOp { sum, min, max, bitwise_or };

/// Elements in one message; longer transfers are cut, since MPI counts with an int.
inline constexpr std::int64_t max_message = std::int64_t{1} << 30;

/// Elements [begin, end) of a buffer that go to a rank, or come from it.
struct Neighbour {
  int rank;
  std::int64_t begin;
  std::int64_t end;
};

/// What may travel byte by byte. Pointers and views (std::span, std::string_view) are trivially copyable as
/// well, but mean nothing to another process.
template <class T>
inline constexpr bool is_transferable =
    std::is_trivially_copyable_v<T> && !std::is_pointer_v<T> && !std::ranges::view<T>;

/// The DataType of T; byte for a struct.
template <class T>
constexpr DataType data_type_of() {
  static_assert(is_transferable<T>, "this type cannot travel between processes");
  if constexpr (std::is_same_v<T, double>)
    return DataType::float64;
  else if constexpr (std::is_same_v<T, float>)
    return DataType::float32;
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 8)
    return std::is_signed_v<T> ? DataType::int64 : DataType::uint64;
  else if constexpr (std::is_integral_v<T> && std::is_signed_v<T> && sizeof(T) == 4)
    return DataType::int32;
  else
    return DataType::byte;
}

/// Elements of data_type_of<T>() in one T.
template <class T>
constexpr std::int64_t units_of() {
  return data_type_of<T>() == DataType::byte ? static_cast<std::int64_t>(sizeof(T)) : 1;
}

/// Bytes of one element.
std::size_t size_of(DataType type);

}  // namespace ayatori::comm
