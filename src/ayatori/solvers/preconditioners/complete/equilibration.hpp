#pragma once

#include <cstdint>
#include <vector>

#include "ayatori/solvers/preconditioners/complete/matrix_entries.hpp"

namespace ayatori::solvers {

/// Exponents of 2 by which rows and columns are multiplied so that no entry exceeds 2, and each row's largest
/// is near 1: single precision then holds them. All rows, on all ranks. The same for rows and columns of a
/// symmetric matrix.
struct Equilibration {
  std::vector<std::int32_t> row;
  std::vector<std::int32_t> column;
};

/// Collective.
Equilibration equilibrate(const MatrixToFactor& matrix);

/// Entries in single precision, those that are too small as zeros.
std::vector<float> scaled(const MatrixEntries& entries, const Equilibration& by);

}  // namespace ayatori::solvers
