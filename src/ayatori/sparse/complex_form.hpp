#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <span>

#include "ayatori/base/range.hpp"
#include "ayatori/sparse/csr.hpp"
#include "ayatori/sparse/partition/graph_partition.hpp"
#include "ayatori/sparse/partition/row_partition.hpp"
#include "ayatori/sparse/row_block.hpp"

// Complex systems. A complex matrix of order n is held in its real form, of order 2 n, in which the entry a +
// i b is the full block [a -b; b a], and a complex vector as pairs of real and imaginary part, which is how
// std::complex lies in memory. The rows of a pair are on one rank. So partitions, halo exchanges, sums,
// residuals and all methods with real coefficients are those of real systems; what gains from complex
// arithmetic (kernels, factors, coefficients of methods) sees the matrix as what it is.

namespace ayatori::sparse {

using Complex = std::complex<double>;

/// For what is written for both scalars.
inline double conjugate(double a) {
  return a;
}
inline Complex conjugate(Complex a) {
  return std::conj(a);
}

inline bool is_finite(double a) {
  return std::isfinite(a);
}
inline bool is_finite(Complex a) {
  return std::isfinite(a.real()) && std::isfinite(a.imag());
}
/// a b, without what std::complex does for infinite factors: that is no product to a compiler's vectors.
inline double times(double a, double b) {
  return a * b;
}
inline Complex times(Complex a, Complex b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// sum -= a b, by a part's products one after the other, which a compiler may fuse with the differences.
inline void subtract_product(double& sum, double a, double b) {
  sum -= a * b;
}
inline void subtract_product(Complex& sum, Complex a, Complex b) {
  sum = {sum.real() - a.real() * b.real() + a.imag() * b.imag(),
         sum.imag() - a.real() * b.imag() - a.imag() * b.real()};
}

/// Calls add(row, column, value) for the four entries that a complex one has in the real form.
template <class Add>
void add_real_form(std::int64_t row, std::int64_t column, Complex value, Add&& add) {
  add(2 * row, 2 * column, value.real());
  add(2 * row, 2 * column + 1, -value.imag());
  add(2 * row + 1, 2 * column, value.imag());
  add(2 * row + 1, 2 * column + 1, value.real());
}

/// Partition of the real numbers of pairs, from that of complex elements.
RowPartition of_pairs(const RowPartition& elements);

/// The way back. Throws InternalError where a pair is on two ranks.
RowPartition of_elements(const RowPartition& pairs);

/// The same partition, but for pairs that are on two ranks: they go to the second.
RowPartition with_whole_pairs(const RowPartition& partition);

/// One entry for each block of the real form, of the value 1: the pattern of the complex matrix.
RowBlock complex_pattern(const RowBlock& real_form);

/// Permutation of the rows of pairs, from that of complex rows.
Permutation of_pairs(const Permutation& elements);

/// Pairs as complex numbers, and complex numbers as pairs: the same memory.
inline std::span<const Complex> as_complex(std::span<const double> pairs) {
  return {reinterpret_cast<const Complex*>(pairs.data()), pairs.size() / 2};
}
inline std::span<Complex> as_complex(std::span<double> pairs) {
  return {reinterpret_cast<Complex*>(pairs.data()), pairs.size() / 2};
}
inline std::span<const double> as_pairs(std::span<const Complex> numbers) {
  return {reinterpret_cast<const double*>(numbers.data()), 2 * numbers.size()};
}
inline std::span<double> as_pairs(std::span<Complex> numbers) {
  return {reinterpret_cast<double*>(numbers.data()), 2 * numbers.size()};
}

/// The complex matrix that these rows are the real form of, on this rank.
CsrOf<Complex> complex_matrix(const Csr& real_form);

/// Whether rows 2 i and 2 i + 1 are of blocks [a -b; b a]. `Rows`: Csr or RowBlock.
template <class Rows>
bool is_pair_of_rows(const Rows& rows, std::int64_t i) {
  const std::int64_t first = rows.row_start[2 * i];
  const std::int64_t entries = rows.row_start[2 * i + 1] - first;
  if (entries % 2 != 0 || rows.row_start[2 * i + 2] - first != 2 * entries) return false;
  for (std::int64_t k = first; k < first + entries; k += 2) {
    const std::int64_t below = k + entries;
    const auto column = rows.column[k];
    const bool is_full = column % 2 == 0 && rows.column[k + 1] == column + 1 &&
                         rows.column[below] == column && rows.column[below + 1] == column + 1;
    if (!is_full || rows.value[k] != rows.value[below + 1] || rows.value[k + 1] != -rows.value[below])
      return false;
  }
  return true;
}

/// Whether the rows are in the real form: all of blocks [a -b; b a]. Traffic: that of a product where they
/// are, next to none of most matrices that are not.
bool is_real_form(const Csr& matrix);
/// The same of these pairs of rows.
bool is_real_form(const Csr& matrix, Range pairs);

}  // namespace ayatori::sparse
