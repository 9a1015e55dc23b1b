#pragma once

#include <cstring>

// Sixteen neighbouring numbers, as the products of the hierarchy take them.

namespace ayatori::solvers::amg {

/// Rows of a slice.
inline constexpr int slice_rows = 16;

#if defined(__AVX512F__)
inline constexpr int register_bytes = 64;
#elif defined(__AVX__)
inline constexpr int register_bytes = 32;
#else
inline constexpr int register_bytes = 16;
#endif

/// Held in vector registers of the processor that this is compiled for. One vector of 16 would not do: the
/// compiler takes what is wider than a register through memory, again and again.
template <class T>
struct Slice {
  static constexpr int lanes = register_bytes / static_cast<int>(sizeof(T));
  static constexpr int parts = slice_rows / lanes;
  using Part [[gnu::vector_size(register_bytes)]] = T;

  Part part[parts];
};

/// Slice of the parts that `part(p)` gives.
template <class T, class PartOf>
[[gnu::always_inline]] inline Slice<T> slice_of(PartOf&& part) {
  Slice<T> slice;
  for (int p = 0; p < Slice<T>::parts; ++p) slice.part[p] = part(p);
  return slice;
}

template <class T>
[[gnu::always_inline]] inline Slice<T> operator+(const Slice<T>& a, const Slice<T>& b) {
  return slice_of<T>([&](int p) { return a.part[p] + b.part[p]; });
}
template <class T>
[[gnu::always_inline]] inline Slice<T> operator-(const Slice<T>& a, const Slice<T>& b) {
  return slice_of<T>([&](int p) { return a.part[p] - b.part[p]; });
}
template <class T>
[[gnu::always_inline]] inline Slice<T> operator*(const Slice<T>& a, const Slice<T>& b) {
  return slice_of<T>([&](int p) { return a.part[p] * b.part[p]; });
}
template <class T>
[[gnu::always_inline]] inline Slice<T> operator*(T a, const Slice<T>& b) {
  return slice_of<T>([&](int p) { return a * b.part[p]; });
}
template <class T>
[[gnu::always_inline]] inline Slice<T>& operator+=(Slice<T>& a, const Slice<T>& b) {
  for (int p = 0; p < Slice<T>::parts; ++p) a.part[p] += b.part[p];
  return a;
}

template <class T>
[[gnu::always_inline]] inline Slice<T> load_slice(const T* from) {
  return slice_of<T>([&](int p) {
    typename Slice<T>::Part part;
    std::memcpy(&part, from + p * Slice<T>::lanes, sizeof part);
    return part;
  });
}
template <class T>
[[gnu::always_inline]] inline void store_slice(T* to, const Slice<T>& slice) {
  for (int p = 0; p < Slice<T>::parts; ++p)
    std::memcpy(to + p * Slice<T>::lanes, &slice.part[p], sizeof slice.part[p]);
}

}  // namespace ayatori::solvers::amg
