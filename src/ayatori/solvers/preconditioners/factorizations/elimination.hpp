#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "ayatori/solvers/preconditioners/factorizations/fill_pattern.hpp"
#include "ayatori/solvers/preconditioners/factorizations/pivots.hpp"
#include "ayatori/solvers/preconditioners/factorizations/triangular_factors.hpp"
#include "ayatori/sparse/csr.hpp"

// Incomplete Gaussian elimination of a square matrix on the calling thread, in double precision. Each gives
// the row of the first pivot that is not acceptable, or nothing and the factors of A + shift diag(d).
// `give_up_if` is asked now and then and may throw.

namespace ayatori::solvers {

struct Eliminated {
  TriangularFactors<double> factors;
  std::optional<std::int32_t> rejected_row;
};

/// What ILUT drops.
struct DropRule {
  double tolerance;  ///< entries below this share of the 2-norm of the row of A
  int extra;  ///< all but the largest: as many per triangle as the row of A has there, and this many more
};

/// On a given pattern, row by row: L D U = A + shift diag(d) there (Meijerink & van der Vorst 1977). The
/// pattern becomes that of the factors.
Eliminated eliminate_on_pattern(const sparse::Csr& matrix, FillPattern pattern, const Pivots& pivots,
                                double shift, const std::function<void()>& give_up_if);

/// The same for a symmetric matrix, of which the upper triangle is read, at half the work: row i of U
/// collects what the rows above have for it.
Eliminated eliminate_symmetric(const sparse::Csr& matrix, FillPattern pattern, const Pivots& pivots,
                               double shift, const std::function<void()>& give_up_if);

/// On the pattern that the values make (ILUT, Saad 1994).
Eliminated eliminate_by_size(const sparse::Csr& matrix, const DropRule& rule, const Pivots& pivots,
                             double shift, const std::function<void()>& give_up_if);

}  // namespace ayatori::solvers
