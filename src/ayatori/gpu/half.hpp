#pragma once

#include <cstdint>
#include <cstring>

#ifdef __CUDACC__
#include <cuda_fp16.h>
#endif

#include "ayatori/gpu/portable.hpp"

namespace ayatori::gpu {

/// A number of 16 bits (IEEE binary16), as matrices are stored in.
struct Half {
  std::uint16_t bits = 0;
};

AYATORI_PORTABLE float to_real(Half h) {
#ifdef __CUDA_ARCH__
  return __half2float(__ushort_as_half(h.bits));
#else
  // Exponent and mantissa moved into a float whose exponent is too small by 112, which a product mends.
  const std::uint32_t moved = (std::uint32_t{h.bits} & 0x7fffU) << 13;
  const std::uint32_t factor_bits = 0x77800000U;  // 2^112
  float value, factor;
  std::memcpy(&value, &moved, sizeof value);
  std::memcpy(&factor, &factor_bits, sizeof factor);
  value *= factor;
  return (h.bits & 0x8000U) != 0 ? -value : value;
#endif
}
AYATORI_PORTABLE float to_real(float v) {
  return v;
}
AYATORI_PORTABLE double to_real(double v) {
  return v;
}

/// The nearest number of 16 bits; beyond `largest_half` in magnitude, that.
inline constexpr float largest_half = 65504;
Half to_half(float value);

}  // namespace ayatori::gpu
