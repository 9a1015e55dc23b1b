#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ayatori::solvers::amg {

/// The inverse of a dense n x n matrix, for the coarsest grid. Where that is singular to working precision,
/// the pseudo-inverse, which maps the null space to 0.
class DenseInverse {
 public:
  /// `matrix`, n n elements by rows. `symmetric`: the inverse is then too, to the last bit; and positive
  /// definite if the matrix is. Work: 2 n^3 operations, by eigenvalues or singular values, 10 or 20 times
  /// that, where it is not definite or singular and no null vectors are known. `null_vectors`: orthonormal, n
  /// elements each; those that the matrix nearly maps to 0 and the inverse exactly does, as far as rounding
  /// allows.
  DenseInverse(std::int64_t n, std::vector<double> matrix, bool symmetric,
               const std::vector<std::vector<double>>& null_vectors = {});

  /// y = A^-1 x
  void apply(std::span<const double> x, std::span<double> y) const;
  /// Row after row, n n elements.
  const std::vector<double>& rows() const { return value_; }
  bool is_singular() const { return singular_; }

 private:
  void invert(bool symmetric);
  bool invert_definite();
  bool invert_general();
  void pseudo_invert();
  void invert_by_eigenvalues();
  void take_out(const std::vector<double>& v, bool symmetric);

  int n_;
  std::vector<double> value_;
  bool singular_ = false;
};

/// Pieces of the near null space that the matrix maps to 0 up to rounding in float, one for every unknown of
/// each connected component. Orthonormal. The matrix has n x n elements, by rows, on n / unknowns nodes with
/// this many unknowns.
std::vector<std::vector<double>> find_null_vectors(const std::vector<double>& matrix,
                                                   std::span<const double> near_null, int unknowns);

/// The largest eigenvalue of a symmetric tridiagonal matrix.
double largest_eigenvalue(std::vector<double> diagonal, std::vector<double> beside);

}  // namespace ayatori::solvers::amg
