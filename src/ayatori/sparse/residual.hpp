#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "ayatori/comm/comm.hpp"
#include "ayatori/sparse/distributed_matrix.hpp"

// r = b - A x with a rigorous bound of what rounding may have changed in it, so that a claim about its norm
// can be proved.

namespace ayatori::sparse {

/// How the products of a row are summed.
enum class Summation {
  plain,    ///< in doubles: the error is at most (n + 4) u (|b| + |A| |x|), n entries in the row, u = 2^-53
  doubled,  ///< as if in twice the digits, then rounded, by error-free transformations (Ogita, Rump, Oishi,
            ///< SIAM J. Sci. Comput. 26, 2005, Dot2): u |r| + ((n + 4) u)^2 (|b| + |A| |x|)
};

/// Sums over rows of what is known of r, in units of `unit` squared.
struct ResidualSums {
  double squares = 0;        ///< squares of r_i as computed
  double error_squares = 0;  ///< squares of bounds of |r_i - the true one|
  /// (a_ij x_j)^2: rounding every x_j to double leaves about 0.4 u times the root. Doubled summation only.
  double product_squares = 0;

  void merge(const ResidualSums& other) {
    squares += other.squares;
    error_squares += other.error_squares;
    product_squares += other.product_squares;
  }
};

/// Collective. r = b - A x of this rank's rows, and their sums on this rank: of the rows that are marked in
/// `apart` (one byte for each row, or none at all) second, of the others first. An x that is not finite, or
/// products that overflow, give sums that are not. Traffic: 12 bytes per nonzero, 32 per row.
std::array<ResidualSums, 2> residual(const comm::Comm& comm, const SplitMatrix& parts,
                                     std::span<const double> x, std::span<const double> b,
                                     std::span<double> r, Summation summation,
                                     std::span<const std::uint8_t> apart = {});

/// The same of compressed sparse rows that belong to somebody else: rows in any order, columns may repeat.
/// `unit` is a power of two near the norm of b, so that no square overflows.
template <class Index>
ResidualSums residual(std::int64_t rows, const Index* row_start, const Index* column, const double* value,
                      std::span<const double> x, std::span<const double> b, std::span<double> r,
                      Summation summation, double unit);

}  // namespace ayatori::sparse
