#pragma once

#include <complex>
#include <cstdint>
#include <span>

#include "ayatori/base/array.hpp"

namespace ayatori::solvers {

/// min over y of || g e_1 - H y || for a (k+1) x k upper Hessenberg matrix H that grows by a column at a
/// time, by Givens rotations (Saad & Schultz 1986). Local: every rank solves the same small problem.
/// `Scalar`: double or std::complex<double>; below the diagonal H is real.
template <class Scalar>
class HessenbergLeastSquaresOf {
 public:
  /// Room for `columns` columns.
  explicit HessenbergLeastSquaresOf(int columns);

  /// An empty H and the right-hand side g e_1.
  void restart(double g);

  /// Appends a column: h[0, k) and the element below the diagonal. False, and H as it was, if that would make
  /// H singular to working precision, or something is not finite.
  bool append(std::span<const Scalar> h, double below);

  int columns() const { return columns_; }
  /// The norm of the residual of the least squares problem.
  double residual() const;
  /// The minimiser y, of columns() elements; valid until the next call.
  std::span<const Scalar> solve();

 private:
  /// Column j of the triangle R that the rotations make of H.
  Scalar* column(int j) { return triangle_.data() + static_cast<std::int64_t>(j) * (j + 1) / 2; }

  int columns_ = 0;
  Array<Scalar> triangle_;  ///< packed by columns
  Array<Scalar> cosine_;
  Array<double> sine_;
  Array<Scalar> g_;
  Array<Scalar> y_;
};

extern template class HessenbergLeastSquaresOf<double>;
extern template class HessenbergLeastSquaresOf<std::complex<double>>;
using HessenbergLeastSquares = HessenbergLeastSquaresOf<double>;

}  // namespace ayatori::solvers
