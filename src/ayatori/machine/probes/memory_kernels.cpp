#include "ayatori/machine/probes/memory_kernels.hpp"

#include <array>
#include <cstring>

namespace ayatori::machine {

namespace {

constexpr double factor = 3;

double copy(const MemoryVectors& v, Range range) {
  const double* __restrict a = v.a;
  double* __restrict c = v.c;
  for (auto i = range.begin; i < range.end; ++i) c[i] = a[i];
  return 0;
}

double scale(const MemoryVectors& v, Range range) {
  const double* __restrict c = v.c;
  double* __restrict b = v.b;
  for (auto i = range.begin; i < range.end; ++i) b[i] = factor * c[i];
  return 0;
}

double add(const MemoryVectors& v, Range range) {
  const double* __restrict a = v.a;
  const double* __restrict b = v.b;
  double* __restrict c = v.c;
  for (auto i = range.begin; i < range.end; ++i) c[i] = a[i] + b[i];
  return 0;
}

double triad(const MemoryVectors& v, Range range) {
  double* __restrict a = v.a;
  const double* __restrict b = v.b;
  const double* __restrict c = v.c;
  for (auto i = range.begin; i < range.end; ++i) a[i] = b[i] + factor * c[i];
  return 0;
}

double read(const MemoryVectors& v, Range range) {
  const double* __restrict a = v.a;
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (auto i = range.begin; i < range.end; ++i) sum += a[i];
  return sum;
}

double write(const MemoryVectors& v, Range range) {
  double* __restrict a = v.a;
  for (auto i = range.begin; i < range.end; ++i) a[i] = 1;
  return 0;
}

double memory_copy(const MemoryVectors& v, Range range) {
  std::memcpy(v.c + range.begin, v.a + range.begin, range.size() * sizeof(double));
  return 0;
}

}  // namespace

std::span<const MemoryKernel> memory_kernels() {
  static constexpr std::array list{
      MemoryKernel{"copy", 2, 16, copy},         MemoryKernel{"scale", 2, 16, scale},
      MemoryKernel{"add", 3, 24, add},           MemoryKernel{"triad", 3, 24, triad},
      MemoryKernel{"read", 1, 8, read},          MemoryKernel{"write", 1, 8, write},
      MemoryKernel{"memcpy", 2, 16, memory_copy}};
  return list;
}

}  // namespace ayatori::machine
