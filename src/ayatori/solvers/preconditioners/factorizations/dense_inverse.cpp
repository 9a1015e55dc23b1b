#include "ayatori/solvers/preconditioners/factorizations/dense_inverse.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "ayatori/base/error.hpp"

namespace ayatori::solvers {

namespace {

/// P S A = L U, with P a permutation, S a diagonal that makes the largest entry of every row 1, L and U
/// packed.
class DenseLu {
 public:
  DenseLu(int n, std::span<const double> matrix) : n_(n) {
    std::copy(matrix.begin(), matrix.end(), lu_.begin());
    for (int i = 0; i < n_ && regular_; ++i) scale_row(i);
    for (int k = 0; k < n_ && regular_; ++k) eliminate(k);
  }

  bool regular() const { return regular_; }

  /// Column j of the inverse.
  void solve_unit(int j, std::span<double> x) const {
    for (int i = 0; i < n_; ++i) {
      x[i] = row_[i] == j ? scale_[j] : 0;
      for (int k = 0; k < i; ++k) x[i] -= at(i, k) * x[k];
    }
    for (int i = n_; i-- > 0;) {
      for (int k = i + 1; k < n_; ++k) x[i] -= at(i, k) * x[k];
      x[i] /= at(i, i);
    }
  }

 private:
  double& at(int i, int j) { return lu_[i * n_ + j]; }
  double at(int i, int j) const { return lu_[i * n_ + j]; }

  void scale_row(int i) {
    double largest = 0;
    for (int j = 0; j < n_; ++j) largest = std::max(largest, std::abs(at(i, j)));
    row_[i] = i;
    scale_[i] = 1 / largest;
    regular_ = std::isfinite(scale_[i]) && scale_[i] > 0;
    for (int j = 0; j < n_; ++j) at(i, j) *= scale_[i];
  }

  void eliminate(int k) {
    int pivot = k;
    for (int i = k + 1; i < n_; ++i)
      if (std::abs(at(i, k)) > std::abs(at(pivot, k))) pivot = i;
    regular_ = std::abs(at(pivot, k)) > n_ * std::numeric_limits<double>::epsilon();
    if (!regular_) return;
    std::swap(row_[k], row_[pivot]);
    std::swap_ranges(&at(k, 0), &at(k, 0) + n_, &at(pivot, 0));
    for (int i = k + 1; i < n_; ++i) {
      at(i, k) /= at(k, k);
      for (int j = k + 1; j < n_; ++j) at(i, j) -= at(i, k) * at(k, j);
    }
  }

  int n_;
  std::array<double, dense_entries> lu_;
  std::array<int, largest_dense> row_;  ///< P: row i of L U is row row_[i] of S A
  std::array<double, largest_dense> scale_;
  bool regular_ = true;
};

bool is_symmetric(int n, std::span<const double> matrix) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      if (matrix[i * n + j] != matrix[j * n + i]) return false;
  return true;
}

void symmetrize(int n, std::span<double> matrix) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j)
      matrix[i * n + j] = matrix[j * n + i] = matrix[i * n + j] / 2 + matrix[j * n + i] / 2;
}

}  // namespace

bool invert_dense(int n, std::span<const double> matrix, std::span<double> inverse) {
  AYATORI_ASSERT(n <= largest_dense);
  const DenseLu lu(n, matrix);
  if (!lu.regular()) return false;
  std::array<double, largest_dense> column;
  for (int j = 0; j < n; ++j) {
    lu.solve_unit(j, column);
    for (int i = 0; i < n; ++i) inverse[i * n + j] = column[i];
  }
  if (is_symmetric(n, matrix)) symmetrize(n, inverse);
  return std::all_of(inverse.begin(), inverse.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace ayatori::solvers
