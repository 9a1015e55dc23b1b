#pragma once

#include <cstring>
#include <type_traits>

// Sixteen neighbouring numbers, as the products of the hierarchy take them.

namespace ayatori::solvers::amg {

/// Rows of a slice, and elements of a vector register or two.
inline constexpr int slice_rows = 16;

template <class T>
struct SliceOf {};
template <class T>
requires std::is_arithmetic_v<T>
struct SliceOf<T> {
  using type [[gnu::vector_size(slice_rows * sizeof(T))]] = T;
};
template <class T>
using Slice = typename SliceOf<T>::type;

template <class T>
[[gnu::always_inline]] inline Slice<T> load_slice(const T* from) {
  Slice<T> slice;
  std::memcpy(&slice, from, sizeof slice);
  return slice;
}
template <class T>
[[gnu::always_inline]] inline void store_slice(T* to, const Slice<T>& slice) {
  std::memcpy(to, &slice, sizeof slice);
}

}  // namespace ayatori::solvers::amg
