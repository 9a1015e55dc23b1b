#pragma once

#include <cstdint>

namespace ayatori::io {

/// How the triangle of a matrix that a file leaves out follows from the one that it stores.
enum class Symmetry { general, symmetric, skew, hermitian };

/// What a number of the stored triangle is in the other one. `part` is 1 for an imaginary part, and else 0.
constexpr double mirrored(Symmetry symmetry, std::int64_t part, double value) {
  const bool changes_sign = symmetry == Symmetry::skew || (symmetry == Symmetry::hermitian && part == 1);
  return changes_sign ? -value : value;
}

}  // namespace ayatori::io
