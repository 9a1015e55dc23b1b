#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/sparse/complex_form.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

namespace ayatori::solvers {

/// The inverse of a matrix's diagonal, with stand-ins where that has none.
template <class Scalar>
struct InverseDiagonalOf {
  Array<Scalar> value;        ///< 1 / d_i of own rows, finite
  std::int64_t replaced = 0;  ///< rows of all ranks where a_ii vanishes and d_i is another

  /// What a user should know: one line about the replaced entries, or nothing.
  std::vector<std::string> notes() const;
};
using InverseDiagonal = InverseDiagonalOf<double>;

/// Collective. d_i is a_ii; where that vanishes (below 1e-12 of the row's largest entry) the row's largest
/// |a_ij|; in a row of zeros the largest |entry| of the rank, or 1. So d > 0 if A is symmetric positive
/// definite. Throws InputError (agreed), beginning with `who`, naming a row with an entry or an inverse that
/// is not finite.
InverseDiagonal invert_diagonal(const sparse::DistributedMatrix& matrix, std::string_view who);

/// Collective. The same of the complex matrix that this is the real form of.
InverseDiagonalOf<sparse::Complex> invert_complex_diagonal(const sparse::DistributedMatrix& matrix,
                                                           std::string_view who);

}  // namespace ayatori::solvers
