#pragma once

#include <cstring>

// Vectors of doubles for loops whose instruction set is chosen when the program runs, whatever it was
// compiled for.

namespace ayatori::sparse {

/// Instruction sets that kernels are compiled for.
enum class Simd { portable, avx2, avx512 };

/// The widest that this processor has.
inline Simd best_simd() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx512f") != 0) return Simd::avx512;
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) return Simd::avx2;
#endif
  return Simd::portable;
}

template <int Width>
struct VectorOf {
  using type [[gnu::vector_size(Width * sizeof(double))]] = double;
};
/// `Width` doubles that are added and multiplied element by element.
template <int Width>
using Vector = typename VectorOf<Width>::type;

template <int Width>
[[gnu::always_inline]] inline Vector<Width> load(const double* from) {
  Vector<Width> vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

/// The sum of the elements.
template <int Width>
[[gnu::always_inline]] inline double total(const Vector<Width>& vector) {
  double sum = 0;
  for (int u = 0; u < Width; ++u) sum += vector[u];
  return sum;
}

template <int Width>
[[gnu::always_inline]] inline void store(double* to, const Vector<Width>& vector) {
  std::memcpy(to, &vector, sizeof vector);
}

#ifdef __x86_64__
template <class F>
[[gnu::target("avx512f")]] void run_avx512(const F& f) {
  f.template operator()<8>();
}
template <class F>
[[gnu::target("avx2,fma")]] void run_avx2(const F& f) {
  f.template operator()<4>();
}
#endif

/// Calls f.operator()<Width>(), compiled for this instruction set, Width being what its registers hold. All
/// of f that is to be so must be inlined into it ([[gnu::always_inline]]).
template <class F>
void with_simd(Simd simd, const F& f) {
#ifdef __x86_64__
  if (simd == Simd::avx512) return run_avx512(f);
  if (simd == Simd::avx2) return run_avx2(f);
#else
  static_cast<void>(simd);
#endif
  f.template operator()<2>();
}

}  // namespace ayatori::sparse
