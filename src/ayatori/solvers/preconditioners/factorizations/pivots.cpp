#include "ayatori/solvers/preconditioners/factorizations/pivots.hpp"

#include <algorithm>
#include <cmath>

#include "ayatori/solvers/preconditioners/looks_symmetric.hpp"

namespace ayatori::solvers {

namespace {

/// A diagonal entry this small against its row is rounding noise: as good as zero.
constexpr double zero_diagonal = 1e-12;
/// Pivots are wanted within [smallest |d_i|, largest max_j |a_ij|], about half of the digits either way.
constexpr double smallest_pivot = 1e-8;
constexpr double largest_pivot = 1e8;

}  // namespace

Pivots::Pivots(const sparse::Csr& matrix)
    : matrix_(matrix), row_max_(matrix.rows, 0.0), reference_(matrix.rows, 0.0) {
  for (std::int32_t i = 0; i < matrix.rows; ++i) {
    bool stored = false;
    double diagonal = 0;
    for (std::int64_t k = matrix.row_start[i]; k < matrix.row_start[i + 1]; ++k) {
      row_max_[i] = std::max(row_max_[i], std::abs(matrix.value[k]));
      if (matrix.column[k] != i) continue;
      stored = true;
      diagonal = matrix.value[k];
    }
    if (!stored) ++missing_;
    if (row_max_[i] == 0) {
      ++zero_rows_;
      continue;
    }
    const bool vanishes = std::abs(diagonal) <= zero_diagonal * row_max_[i];
    reference_[i] = vanishes ? row_max_[i] : diagonal;
    vanishing_ += vanishes ? 1 : 0;
    if (sign_ == 0) sign_ = diagonal < 0 ? -1 : 1;
    if (vanishes || diagonal * sign_ < 0) one_sign_ = false;
  }
  if (matrix.rows > 0) scale_ = *std::max_element(row_max_.begin(), row_max_.end());
  if (scale_ == 0) scale_ = 1;
  for (std::int32_t i = 0; i < matrix.rows; ++i)
    if (row_max_[i] == 0) reference_[i] = scale_;
}

bool Pivots::acceptable(std::int32_t i, double pivot) const {
  if (!std::isfinite(pivot) || !std::isfinite(1 / pivot)) return false;
  if (row_max_[i] == 0) return true;
  if (has_turned(pivot) && keeps_sign()) return false;
  return std::abs(pivot) >= smallest_pivot * std::abs(reference_[i]) &&
         std::abs(pivot) <= largest_pivot * std::max(row_max_[i], std::abs(reference_[i]));
}

bool Pivots::keeps_sign() const {
  if (!keeps_sign_) keeps_sign_ = looks_symmetric(matrix_);
  return *keeps_sign_;
}

double Pivots::added(std::int32_t i, double shift) const {
  return row_max_[i] == 0 ? scale_ : shift * reference_[i];
}

}  // namespace ayatori::solvers
