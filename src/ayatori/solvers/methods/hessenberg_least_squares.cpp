#include "ayatori/solvers/methods/hessenberg_least_squares.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace ayatori::solvers {

HessenbergLeastSquares::HessenbergLeastSquares(int columns)
    : triangle_(static_cast<std::size_t>(columns) * (columns + 1) / 2),
      cosine_(columns),
      sine_(columns),
      g_(columns + 1),
      y_(columns) {}

void HessenbergLeastSquares::restart(double g) {
  columns_ = 0;
  g_[0] = g;
}

bool HessenbergLeastSquares::append(std::span<const double> h, double below) {
  const int k = columns_;
  double* r = column(k);
  std::copy_n(h.begin(), k + 1, r);
  double size = std::abs(below);
  for (int i = 0; i <= k; ++i) size = std::hypot(size, h[i]);
  for (int i = 0; i < k; ++i) {
    const double above = cosine_[i] * r[i] + sine_[i] * r[i + 1];
    r[i + 1] = cosine_[i] * r[i + 1] - sine_[i] * r[i];
    r[i] = above;
  }
  const double diagonal = std::hypot(r[k], below);
  // Not greater also where something is NaN.
  if (!(diagonal > 4 * std::numeric_limits<double>::epsilon() * size) || !std::isfinite(size)) return false;
  cosine_[k] = r[k] / diagonal;
  sine_[k] = below / diagonal;
  r[k] = diagonal;
  g_[k + 1] = -sine_[k] * g_[k];
  g_[k] *= cosine_[k];
  ++columns_;
  return true;
}

double HessenbergLeastSquares::residual() const {
  return std::abs(g_[columns_]);
}

std::span<const double> HessenbergLeastSquares::solve() {
  for (int i = columns_ - 1; i >= 0; --i) {
    double value = g_[i];
    for (int j = i + 1; j < columns_; ++j) value -= column(j)[i] * y_[j];
    y_[i] = value / column(i)[i];
  }
  return std::span<const double>(y_).first(columns_);
}

}  // namespace ayatori::solvers
