#pragma once

#include <cstdint>
#include <span>

#include "ayatori/base/array.hpp"
#include "ayatori/solvers/preconditioners/orderings/level_slices.hpp"

namespace ayatori::solvers {

/// Off its diagonal, in compressed sparse rows.
template <class Value>
struct Triangle {
  Array<std::int32_t> start;
  Array<std::int32_t> column;
  Array<Value> value;
};

/// An incomplete factorization L D U of a square matrix: L and U unit triangular in compressed sparse rows,
/// columns ascending (even rows may have one twice), D diagonal. Traffic of solve() beside its vectors: 4 +
/// sizeof(Value) bytes per entry of L and U, 16 per row; where L = U^T every entry is stored once and read
/// twice.
template <class Value>
struct TriangularFactors {
  std::int32_t rows = 0;
  bool symmetric = false;           ///< L = U^T: `lower` is empty
  Array<std::int32_t> lower_start;  ///< rows + 1, or empty
  Array<std::int32_t> lower_column;
  Array<Value> lower_value;
  Array<std::int32_t> upper_start;  ///< rows + 1
  Array<std::int32_t> upper_column;
  Array<Value> upper_value;
  Array<double> inverse_pivot;  ///< rows; the diagonal of 1 / D
  mutable TriangleSlices<double, Value> slices = {};

  /// y = (L D U)^-1 x on the calling thread; rows elements each, the same or not overlapping.
  void solve(std::span<const double> x, std::span<double> y) const;

  /// U^T by rows, which is L where that is symmetric; columns ascending.
  Triangle<Value> transposed_upper() const;

  /// Entries of L and U that are stored.
  std::int64_t entries() const {
    return static_cast<std::int64_t>(lower_value.size()) + static_cast<std::int64_t>(upper_value.size());
  }
  /// Bytes that are stored, without the starts of rows.
  std::int64_t bytes() const {
    return (4 + static_cast<std::int64_t>(sizeof(Value))) * entries() + 8 * std::int64_t{rows};
  }
};

/// The same factors, off the diagonal in single precision.
TriangularFactors<float> rounded(TriangularFactors<double> factors);

}  // namespace ayatori::solvers
