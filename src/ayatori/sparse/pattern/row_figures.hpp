#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "ayatori/sparse/csr.hpp"
#include "ayatori/sparse/kernels/simd.hpp"

namespace ayatori::sparse {

/// What one pass over a row tells. What is not used costs nothing.
struct RowFigures {
  double sum = 0;
  double sum_abs = 0;
  double largest = 0;             ///< |entry|, of those that are numbers
  std::int64_t largest_bits = 0;  ///< bits of |entry|, in the same order: what is not finite is on top
  double diagonal = 0;            ///< the entry in the column asked for; 0 if there is none
};

/// Whether a row's diagonal entry is all that has weight: what stands beside it is below its rounding.
inline bool is_boundary_row(double abs_diagonal, double sum_abs) {
  return abs_diagonal > 0 && sum_abs <= abs_diagonal * (1 + 0x1p-52);
}

/// Figures of a row, of long ones by four entries at a time. No jump depends on an entry.
[[gnu::always_inline]] inline RowFigures row_figures(const Csr& matrix, std::int64_t row,
                                                     std::int64_t column) {
  constexpr std::int64_t long_row = 12;
  constexpr std::int64_t magnitude = ~std::uint64_t{0} >> 1;
  const double* value = matrix.value.data();
  const std::int32_t* columns = matrix.column.data();
  const std::int64_t end = matrix.row_start[row + 1];
  std::int64_t k = matrix.row_start[row];
  RowFigures figures;
  if (k + long_row <= end) {
    using Doubles = Vector<4>;
    using Integers = Vector<4, std::int64_t>;
    Doubles sum{};
    Doubles sum_abs{};
    Doubles largest{};
    Integers largest_bits{};
    Integers found{};
    const Integers wanted = Integers{} + column;
    for (; k + 4 <= end; k += 4) {
      const Doubles values = load<4>(value + k);
      const auto bits = std::bit_cast<Integers>(values);
      const Integers abs_bits = bits & magnitude;
      const auto abs = std::bit_cast<Doubles>(abs_bits);
      sum += values;
      sum_abs += abs;
      largest = abs > largest ? abs : largest;
      largest_bits = abs_bits > largest_bits ? abs_bits : largest_bits;
      found |= bits & (__builtin_convertvector(load<4>(columns + k), Integers) == wanted);
    }
    figures.sum = (sum[0] + sum[2]) + (sum[1] + sum[3]);
    figures.sum_abs = (sum_abs[0] + sum_abs[2]) + (sum_abs[1] + sum_abs[3]);
    figures.diagonal = std::bit_cast<double>((found[0] | found[2]) | (found[1] | found[3]));
    for (int u = 0; u < 4; ++u) {
      figures.largest = std::max(figures.largest, largest[u]);
      figures.largest_bits = std::max<std::int64_t>(figures.largest_bits, largest_bits[u]);
    }
  }
  std::int64_t place = -1;
  for (; k < end; ++k) {
    figures.sum += value[k];
    figures.sum_abs += std::abs(value[k]);
    figures.largest = std::max(figures.largest, std::abs(value[k]));
    figures.largest_bits = std::max(figures.largest_bits, std::bit_cast<std::int64_t>(value[k]) & magnitude);
    place = columns[k] == column ? k : place;  // a move, not a jump
  }
  if (place >= 0) figures.diagonal = value[place];
  return figures;
}

/// Figures of an even row of a real form (complex_form.hpp) and the one below, in the moduli of their complex
/// numbers. The diagonal has the sign of the real part, sum and largest are those of the row, and
/// largest_bits is not filled in.
struct ComplexRowFigures : RowFigures {
  double sum_below = 0;  ///< sum of the row below
};
inline ComplexRowFigures complex_row_figures(const Csr& matrix, std::int64_t row, std::int64_t column) {
  constexpr double smallest_square_root = 0x1p-500;  // squares of others are no numbers, or vanish
  constexpr double largest_square_root = 0x1p500;
  ComplexRowFigures figures;
  for (std::int64_t k = matrix.row_start[row]; k + 1 < matrix.row_start[row + 1]; k += 2) {
    const double first = matrix.value[k];
    const double second = matrix.value[k + 1];
    double modulus = std::sqrt(first * first + second * second);
    if (!(smallest_square_root < modulus && modulus < largest_square_root))
      modulus = std::hypot(first, second);
    figures.sum += first + second;
    figures.sum_below += first - second;
    figures.sum_abs += modulus;
    figures.largest = std::max({figures.largest, std::abs(first), std::abs(second)});
    if (matrix.column[k] == column) figures.diagonal = std::copysign(modulus, first);
  }
  return figures;
}

}  // namespace ayatori::sparse
