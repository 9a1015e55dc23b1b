#pragma once

#include <bit>
#include <cstdint>

#include "ayatori/solvers/preconditioners/multigrid/slice.hpp"

#ifdef __F16C__
#include <immintrin.h>
#endif

namespace ayatori::solvers::amg {

/// A number of 16 bits: 11 of mantissa from 2^-14 to 65504, fewer below. Where the processor does not convert
/// 8 or 16 at once, has_half is false and the functions are not there.
struct Half {
  std::uint16_t bits = 0;
};

#ifdef __F16C__
inline constexpr bool has_half = true;
#else
inline constexpr bool has_half = false;
#endif

inline constexpr float largest_half = 65504;

float to_float(Half half);
Half to_half(float value);  ///< the nearest
Slice<float> load_slice(const Half* from);
void store_slice(Half* to, const Slice<float>& slice);

#ifdef __F16C__

inline float to_float(Half half) {
  return _cvtsh_ss(half.bits);
}

inline Half to_half(float value) {
  return {_cvtss_sh(value, _MM_FROUND_TO_NEAREST_INT)};
}

#ifdef __AVX512F__

// All lanes are named, as GCC 12 warns of undefined ones where none are.
inline constexpr __mmask16 every_lane = 0xFFFF;

[[gnu::always_inline]] inline Slice<float> load_slice(const Half* from) {
  const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  return std::bit_cast<Slice<float>>(_mm512_maskz_cvtph_ps(every_lane, bits));
}

[[gnu::always_inline]] inline void store_slice(Half* to, const Slice<float>& slice) {
  const auto floats = std::bit_cast<__m512>(slice);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(to),
                      _mm512_maskz_cvtps_ph(every_lane, floats, _MM_FROUND_TO_NEAREST_INT));
}

#else

[[gnu::always_inline]] inline Slice<float> load_slice(const Half* from) {
  const auto* bits = reinterpret_cast<const __m128i*>(from);
  return slice_of<float>(
      [&](int p) { return std::bit_cast<Slice<float>::Part>(_mm256_cvtph_ps(_mm_loadu_si128(bits + p))); });
}

[[gnu::always_inline]] inline void store_slice(Half* to, const Slice<float>& slice) {
  auto* bits = reinterpret_cast<__m128i*>(to);
  for (int p = 0; p < Slice<float>::parts; ++p)
    _mm_storeu_si128(bits + p,
                     _mm256_cvtps_ph(std::bit_cast<__m256>(slice.part[p]), _MM_FROUND_TO_NEAREST_INT));
}

#endif
#endif

}  // namespace ayatori::solvers::amg
