#pragma once

#include <functional>

#include "ayatori/base/array.hpp"
#include "ayatori/sparse/csr.hpp"

namespace ayatori::solvers {

/// The strict triangles of a factorization: in a row the columns ascend.
struct FillPattern {
  Array<std::int32_t>
      lower_start;  ///< rows + 1; empty where the lower triangle is the upper one's mirror image
  Array<std::int32_t> lower_column;
  Array<std::int32_t> upper_start;  ///< rows + 1
  Array<std::int32_t> upper_column;
};

/// The entries of ILU(`levels`) for a square matrix: those of the matrix have level 0; one that elimination
/// fills in by entries of levels a and b has level a + b + 1, the least over all ways to fill it, and is kept
/// up to `levels` (Saad, Iterative Methods for Sparse Linear Systems, 10.3.3). Of a symmetric pattern the
/// upper triangle alone is kept. `give_up_if` is asked now and then and may throw. Throws EnvironmentError
/// where a triangle has 2^31 entries or more.
FillPattern level_pattern(const sparse::Csr& matrix, bool symmetric, int levels,
                          const std::function<void()>& give_up_if);

}  // namespace ayatori::solvers
