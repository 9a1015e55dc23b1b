#pragma once

#include <span>
#include <string_view>

#include "ayatori/base/range.hpp"

namespace ayatori::machine {

/// Three vectors of the same length.
struct MemoryVectors {
  double* a;
  double* b;
  double* c;
};

/// A loop over vectors whose only work is to move memory. `run` gives a number that depends on what was read.
struct MemoryKernel {
  std::string_view name;
  int vectors;            ///< how many of the three it uses: its working set
  int bytes_per_element;  ///< counted as McCalpin does, without the read that a write may cause
  double (*run)(const MemoryVectors& vectors, Range range);
};

/// copy (c = a), scale (b = 3 c), add (c = a + b), triad (a = b + 3 c), read (sum of a), write (a = 1),
/// memcpy.
std::span<const MemoryKernel> memory_kernels();

}  // namespace ayatori::machine
