#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace ayatori::io::petsc {

inline std::uint32_t swap_if_little(std::uint32_t bits) {
  return std::endian::native == std::endian::little ? __builtin_bswap32(bits) : bits;
}

inline std::uint64_t swap_if_little(std::uint64_t bits) {
  return std::endian::native == std::endian::little ? __builtin_bswap64(bits) : bits;
}

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// The 4- or 8-byte number that is stored big-endian at `bytes`.
template <class T>
T load_big_endian(const char* bytes) {
  BitsOf<T> bits = 0;
  std::memcpy(&bits, bytes, sizeof bits);
  return std::bit_cast<T>(swap_if_little(bits));
}

/// Stores a 4- or 8-byte number big-endian at `bytes`.
template <class T>
void store_big_endian(T value, char* bytes) {
  const BitsOf<T> bits = swap_if_little(std::bit_cast<BitsOf<T>>(value));
  std::memcpy(bytes, &bits, sizeof bits);
}

}  // namespace ayatori::io::petsc
