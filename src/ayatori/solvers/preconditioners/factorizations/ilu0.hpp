#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "ayatori/base/array.hpp"
#include "ayatori/base/range.hpp"
#include "ayatori/solvers/preconditioners/orderings/level_slices.hpp"
#include "ayatori/sparse/complex_form.hpp"
#include "ayatori/sparse/csr.hpp"

namespace ayatori::solvers {

/// What became of a factorization.
struct Ilu0Report {
  std::int32_t inserted_diagonals = 0;  ///< rows without a stored diagonal entry
  std::int32_t zero_rows = 0;  ///< rows without a nonzero in the block; their pivot is the block's scale
  std::int32_t rejected_row =
      -1;                      ///< where the unshifted factorization failed, counted from the block's begin
  double shift = 0;            ///< s of A + s diag(d) that was factored
  bool diagonal_only = false;  ///< no shift helped: L = U = I
};

/// An incomplete factorization L D U of a square block: L and U unit triangular with the pattern of the
/// block's strict triangles, short rows made even (even_starts()), D diagonal. Storage, and traffic of
/// solve() beside its vectors: 4 + sizeof(Scalar) bytes per off-diagonal entry, 8 + sizeof(Scalar) per row.
/// `Scalar`: double or sparse::Complex.
template <class Scalar>
struct Ilu0Of {
  std::int32_t rows = 0;
  Array<std::int32_t> lower_start;   ///< rows + 1
  Array<std::int32_t> lower_column;  ///< from the block's begin, ascending in a row
  Array<Scalar> lower_value;
  Array<std::int32_t> upper_start;  ///< rows + 1
  Array<std::int32_t>
      upper_column;  ///< from the block's begin, descending in a row: solve() meets the newest last
  Array<Scalar> upper_value;
  Array<Scalar> inverse_pivot;  ///< rows; the diagonal of 1 / D
  Ilu0Report report;
  mutable TriangleSlices<Scalar> slices = {};

  /// y = (L D U)^-1 x on the calling thread; rows elements each, not overlapping. Reads and writes y twice, x
  /// once.
  void solve(std::span<const Scalar> x, std::span<Scalar> y) const;

  /// Bytes that solve() reads beside its vectors.
  std::int64_t bytes() const;
};
using Ilu0 = Ilu0Of<double>;

/// ILU(0) of the diagonal block of `matrix` on rows and columns [block.begin, block.end), on the calling
/// thread and in memory that it touches first. On the block's pattern (with its whole diagonal), L D U equals
/// the block (Meijerink & van der Vorst 1977). Time: the nonzeros, plus one step per pair of a lower entry
/// (i, k) and an upper entry of row k.
///
/// Pivots must be finite, neither tiny nor huge against their rows, and, where the matrix looks symmetric and
/// all diagonal entries have one sign, of that sign; so a symmetric positive definite block gets a symmetric
/// positive definite factorization. Where they are not, A + s diag(d) is factored instead (Manteuffel 1980)
/// with growing s, until they are and have that sign; d is the diagonal of A, or the row's largest entry
/// where that is zero. Diagonals with imaginary parts have no sign; those of Hermitian blocks have.
///
/// Throws InputError for an entry that is not finite or a diagonal whose inverse is not, naming the row
/// counted from `first_row` (the global number of the matrix's row 0); EnvironmentError if the block has 2^31
/// entries or more, or once `gives_up`, asked every few rows, is true.
template <class Scalar>
Ilu0Of<Scalar> ilu0_factor(const sparse::CsrOf<Scalar>& matrix, Range block, std::int64_t first_row = 0,
                           const std::function<bool()>& gives_up = {});

}  // namespace ayatori::solvers
