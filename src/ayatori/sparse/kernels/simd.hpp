#pragma once

#include <cstring>

// Vectors of doubles or floats for loops whose instruction set is chosen when the program runs, whatever it
// was compiled for.

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

template <int Width, class Real>
struct VectorOf {
  using type [[gnu::vector_size(Width * sizeof(Real))]] = Real;
};
/// `Width` elements that are added and multiplied one by one.
template <int Width, class Real = double>
using Vector = typename VectorOf<Width, Real>::type;

/// Elements of this type in a register of `Width` doubles, but not more than `most`.
template <class Real, int Width, int most>
inline constexpr int width_of = Width * sizeof(double) / sizeof(Real) < most
                                    ? Width * sizeof(double) / sizeof(Real)
                                    : most;

template <int Width, class Real>
[[gnu::always_inline]] inline Vector<Width, Real> load(const Real* from) {
  Vector<Width, Real> vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

/// The sum of the elements.
template <int Width, class Real = double>
[[gnu::always_inline]] inline Real total(const Vector<Width, Real>& vector) {
  Real sum = 0;
  for (int u = 0; u < Width; ++u) sum += vector[u];
  return sum;
}

template <int Width, class Real>
[[gnu::always_inline]] inline void store(Real* to, const Vector<Width, Real>& vector) {
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
