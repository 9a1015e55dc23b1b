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
  /// definite if the matrix is. Work: 2 n^3 operations, many times that for a singular matrix.
  DenseInverse(std::int64_t n, std::vector<double> matrix, bool symmetric);

  /// y = A^-1 x
  void apply(std::span<const double> x, std::span<double> y) const;
  bool is_singular() const { return singular_; }

 private:
  bool invert_definite();
  bool invert_general();
  void pseudo_invert();

  int n_;
  std::vector<double> value_;
  bool singular_ = false;
};

/// The largest eigenvalue of a symmetric tridiagonal matrix.
double largest_eigenvalue(std::vector<double> diagonal, std::vector<double> beside);

}  // namespace ayatori::solvers::amg
