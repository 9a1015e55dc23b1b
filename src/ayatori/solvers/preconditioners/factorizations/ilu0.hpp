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

/// An approximate factorization L D U of a square block: L and U unit triangular with the pattern of the
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
  /// Whether L D and D U are the block's triangles with D's diagonal: exactly, as elimination without fill
  /// leaves them where no three rows are coupled with each other. Not asked of complex blocks.
  bool holds_triangles = false;
  Array<Scalar> pivot;           ///< rows, where it is so; the diagonal of D
  Array<Scalar> without_pivots;  ///< rows, where it is so: a_ii - 2 d_i
  Ilu0Report report;
  mutable TriangleSlices<Scalar> slices = {};
  mutable Array<Scalar> work;  ///< rows, where it holds triangles

  /// y = (L D U)^-1 x on the calling thread; rows elements each, not overlapping. Reads and writes y twice, x
  /// once.
  void solve(std::span<const Scalar> x, std::span<Scalar> y) const;

  // What SplitForm wants of a block A whose triangles these are, D + U there being D U here.

  /// z = (D U)^-1 x and w = A z - L D z, and u = D^-1 x unless u is empty.
  void solve_upper(std::span<const Scalar> x, std::span<Scalar> z, std::span<Scalar> w,
                   std::span<Scalar> u) const;
  /// w becomes L^-1 w + D z: with the w of solve_upper(), what L^-1 A z is.
  void finish_product(std::span<const Scalar> z, std::span<Scalar> w) const;
  void solve_lower(std::span<Scalar> r) const;                                   ///< r becomes L^-1 r
  void multiply_lower(std::span<const Scalar> seen, std::span<Scalar> r) const;  ///< r = L seen

  /// Bytes that solve() reads beside its vectors.
  std::int64_t bytes() const;

 private:
  RowEntries<Scalar> lower(std::int32_t i) const;
  RowEntries<Scalar> upper(std::int32_t i) const;
  void make_slices() const;
  /// y = L^-1 of what begin(i) gives; end(i, y_i) is told, and gives it back.
  template <class Begin, class End>
  void sweep_lower(const Begin& begin, const End& end, Scalar* y) const;
  /// y_i = end(i, element i of U^-1 of what begin(i) gives).
  template <class Begin, class End>
  void sweep_upper(const Begin& begin, const End& end, Scalar* y) const;
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

/// L D U with a given D, and the triangles of the block in L D and D U: what a sweep of Gauss and Seidel
/// forward and one backward solve with. On the calling thread. Throws EnvironmentError as above.
Ilu0 take_triangles(const sparse::Csr& matrix, Range block, std::span<const double> inverse_diagonal);

}  // namespace ayatori::solvers
