#pragma once

#include <cstdint>

#include "ayatori/base/array.hpp"
#include "ayatori/sparse/csr.hpp"

namespace ayatori::solvers {

/// What pivots of an incomplete factorization of a square matrix are judged and shifted by. Pivots must be
/// finite, neither tiny nor huge against their rows, and, where all diagonal entries have one sign, of that
/// sign; so a symmetric positive definite matrix gets a symmetric positive definite factorization.
class Pivots {
 public:
  explicit Pivots(const sparse::Csr& matrix);

  bool acceptable(std::int32_t i, double pivot) const;
  /// What is added to a_ii where A + shift diag(d) is factored (Manteuffel 1980); the scale of the matrix in
  /// a row of zeros.
  double added(std::int32_t i, double shift) const;
  /// d: a_ii, or the row's largest entry where that vanishes; the scale of the matrix in a row of zeros.
  double reference(std::int32_t i) const { return reference_[i]; }

  std::int32_t missing() const { return missing_; }      ///< rows without a stored diagonal entry
  std::int32_t vanishing() const { return vanishing_; }  ///< rows whose diagonal entry is as good as zero
  std::int32_t zero_rows() const { return zero_rows_; }

 private:
  Array<double> row_max_;  ///< max_j |a_ij|
  Array<double> reference_;
  double scale_ = 1;  ///< largest entry
  double sign_ = 0;   ///< of the first diagonal entry
  bool one_sign_ = true;
  std::int32_t missing_ = 0;
  std::int32_t vanishing_ = 0;
  std::int32_t zero_rows_ = 0;
};

}  // namespace ayatori::solvers
