#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::solvers {

/// The inverse of a matrix's diagonal, with stand-ins where that has none.
struct InverseDiagonal {
  Array<double> value;        ///< local_size; 1 / d_i, finite
  std::int64_t replaced = 0;  ///< rows of all ranks where a_ii vanishes and d_i is another

  /// What a user should know: one line about the replaced entries, or nothing.
  std::vector<std::string> notes() const;
};

/// Collective. d_i is a_ii; where that vanishes (below 1e-12 of the row's largest entry) the row's largest
/// |a_ij|; in a row of zeros the largest |entry| of the rank, or 1. So d > 0 if A is symmetric positive
/// definite. Throws InputError (agreed), beginning with `who`, naming a row with an entry or an inverse that
/// is not finite.
InverseDiagonal invert_diagonal(const sparse::DistributedMatrix& matrix, std::string_view who);

}  // namespace ayatori::solvers
