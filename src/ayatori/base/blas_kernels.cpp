#include "ayatori/base/blas_kernels.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

extern "C" {
// Only OpenBLAS has it.
[[gnu::weak]] char* openblas_get_corename();
}

namespace ayatori {

namespace {

/// OpenBLAS' kernels for processors without AVX.
constexpr std::array<std::string_view, 7> oldest_kernels{"Katmai", "Coppermine", "Northwood", "Prescott",
                                                         "Banias", "Core2",      "Nehalem"};

}  // namespace

std::string blas_kernels() {
  return openblas_get_corename != nullptr ? openblas_get_corename() : "";
}

std::string better_blas_kernels() {
#ifdef __x86_64__
  if (std::getenv("OPENBLAS_CORETYPE") != nullptr) return "";
  if (std::ranges::count(oldest_kernels, blas_kernels()) == 0) return "";
  if (__builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
      __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0)
    return "SKYLAKEX";
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) return "HASWELL";
#endif
  return "";
}

}  // namespace ayatori
