#include "ayatori/solvers/methods/hessenberg_least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ayatori/sparse/complex_form.hpp"

namespace ayatori::solvers {

using sparse::conjugate;

template <class Scalar>
HessenbergLeastSquaresOf<Scalar>::HessenbergLeastSquaresOf(int columns)
    : triangle_(static_cast<std::size_t>(columns) * (columns + 1) / 2),
      cosine_(columns),
      sine_(columns),
      g_(columns + 1),
      y_(columns) {}

template <class Scalar>
void HessenbergLeastSquaresOf<Scalar>::restart(double g) {
  columns_ = 0;
  g_[0] = g;
}

template <class Scalar>
bool HessenbergLeastSquaresOf<Scalar>::append(std::span<const Scalar> h, double below) {
  const int k = columns_;
  Scalar* r = column(k);
  std::copy_n(h.begin(), k + 1, r);
  double size = std::abs(below);
  for (int i = 0; i <= k; ++i) size = std::hypot(size, std::abs(h[i]));
  for (int i = 0; i < k; ++i) {
    const Scalar above = cosine_[i] * r[i] + sine_[i] * r[i + 1];
    r[i + 1] = conjugate(cosine_[i]) * r[i + 1] - sine_[i] * r[i];
    r[i] = above;
  }
  const double diagonal = std::hypot(std::abs(r[k]), below);
  // Not greater also where something is NaN.
  if (!(diagonal > 4 * std::numeric_limits<double>::epsilon() * size) || !std::isfinite(size)) return false;
  cosine_[k] = conjugate(r[k]) / diagonal;
  sine_[k] = below / diagonal;
  r[k] = diagonal;
  g_[k + 1] = -sine_[k] * g_[k];
  g_[k] *= cosine_[k];
  ++columns_;
  return true;
}

template <class Scalar>
double HessenbergLeastSquaresOf<Scalar>::residual() const {
  return std::abs(g_[columns_]);
}

template <class Scalar>
std::span<const Scalar> HessenbergLeastSquaresOf<Scalar>::solve() {
  for (int i = columns_ - 1; i >= 0; --i) {
    Scalar value = g_[i];
    for (int j = i + 1; j < columns_; ++j) value -= column(j)[i] * y_[j];
    y_[i] = value / column(i)[i];
  }
  return std::span<const Scalar>(y_).first(columns_);
}

template class HessenbergLeastSquaresOf<double>;
template class HessenbergLeastSquaresOf<std::complex<double>>;

}  // namespace ayatori::solvers
