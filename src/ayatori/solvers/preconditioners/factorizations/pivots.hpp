#pragma once

#include <cstdint>
#include <optional>

#include "ayatori/base/array.hpp"
#include "ayatori/sparse/csr.hpp"

namespace ayatori::solvers {

/// What pivots of an incomplete factorization of a square matrix are judged and shifted by. Pivots must be
/// finite, neither tiny nor huge against their rows, and, where the matrix looks symmetric and all diagonal
/// entries have one sign, of that sign; so a symmetric positive definite matrix gets a symmetric positive
/// definite factorization.
class Pivots {
 public:
  /// `matrix` must outlive it.
  explicit Pivots(const sparse::Csr& matrix);

  bool acceptable(std::int32_t i, double pivot) const;
  /// From now on pivots must have the sign of the diagonal, symmetric or not.
  void insist_on_sign() { keeps_sign_ = true; }
  /// Whether the pivot does not have the one sign that all diagonal entries have.
  bool has_turned(double pivot) const { return one_sign_ && pivot * sign_ <= 0; }
  /// What is added to a_ii where A + shift diag(d) is factored (Manteuffel 1980); the scale of the matrix in
  /// a row of zeros.
  double added(std::int32_t i, double shift) const;
  /// d: a_ii, or the row's largest entry where that vanishes; the scale of the matrix in a row of zeros.
  double reference(std::int32_t i) const { return reference_[i]; }

  std::int32_t missing() const { return missing_; }      ///< rows without a stored diagonal entry
  std::int32_t vanishing() const { return vanishing_; }  ///< rows whose diagonal entry is as good as zero
  std::int32_t zero_rows() const { return zero_rows_; }

 private:
  bool keeps_sign() const;

  const sparse::Csr& matrix_;
  Array<double> row_max_;  ///< max_j |a_ij|
  Array<double> reference_;
  double scale_ = 1;  ///< largest entry
  double sign_ = 0;   ///< sign of the first diagonal entry
  bool one_sign_ = true;
  mutable std::optional<bool> keeps_sign_;  ///< once it matters
  std::int32_t missing_ = 0;
  std::int32_t vanishing_ = 0;
  std::int32_t zero_rows_ = 0;
};

}  // namespace ayatori::solvers
