#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/base/range.hpp"
#include "ayatori/eigen/dense/blas.hpp"
#include "ayatori/eigen/dense/process_grid.hpp"

namespace ayatori::eigen {

/// A square dense matrix, cyclic over a process grid in both directions: element (i, j) is on grid row i mod
/// rows and grid column j mod columns.
template <class T>
struct DenseOf {
  ProcessGrid grid;
  Cyclic rows;
  Cyclic columns;
  Array<T> values;  ///< rows.count() x columns.count(), column-major

  std::int64_t order() const { return rows.n; }
  std::int64_t leading() const { return rows.count(); }
  T* column(std::int64_t local_column) { return values.data() + local_column * leading(); }
  const T* column(std::int64_t local_column) const { return values.data() + local_column * leading(); }
};

using DistributedDense = DenseOf<double>;

/// Collective. A zero matrix of order n. Throws (agreed) InputError for n < 0 or n >= 2^31, EnvironmentError
/// where memory is short.
template <class T = double>
DenseOf<T> make_dense(const ProcessGrid& grid, std::int64_t n);

/// Sets every local element to f(i, j), global indices.
template <class T, class F>
void fill(DenseOf<T>& a, F&& f) {
  const std::int64_t rows = a.rows.count();
  const std::int64_t columns = a.columns.count();
#pragma omp parallel for
  for (std::int64_t l = 0; l < columns; ++l) {
    const std::int64_t j = a.columns.global(l);
    T* const column = a.column(l);
    for (std::int64_t k = 0; k < rows; ++k) column[k] = f(a.rows.global(k), j);
  }
}

/// The same matrix in other numbers, rounded.
template <class To, class From>
DenseOf<To> convert(const DenseOf<From>& a) {
  DenseOf<To> result{a.grid, a.rows, a.columns, Array<To>(a.values.size())};
  std::ranges::transform(a.values, result.values.begin(), [](From value) { return static_cast<To>(value); });
  return result;
}

struct DenseEntry {
  std::int64_t row;
  std::int64_t column;
  double value;
};

/// Collective. Adds entries, each known to any one rank. Precondition: row and column are in [0, order).
void add_entries(DistributedDense& a, std::span<const DenseEntry> entries);

/// What a rank sends of a rows x columns block that lies on a grid, if all send pieces of the same length, as
/// long as the longest: there are better algorithms, and schedules, for these. 0 if that more than doubles
/// what is sent.
std::int64_t equal_piece(GridShape shape, std::int64_t rows, std::int64_t columns);

/// Collective. Columns `wanted` from row `first_row` on, on every rank: (n - first_row) x wanted.size(),
/// column-major. Sent in pieces of the same length where equal_piece() allows it.
template <class T>
Array<T> gather_columns(const DenseOf<T>& a, Range wanted, std::int64_t first_row);

/// The inverse of gather_columns(): sets the local elements of columns `wanted` from row `first_row` on.
void put_columns(DistributedDense& a, Range wanted, std::int64_t first_row, std::span<const double> panel);

/// Collective. Elements above the diagonal become those below.
void mirror_lower(DistributedDense& a);

/// Which elements of a matrix count: all, those on and below the diagonal, these as a symmetric matrix.
enum class Shape { full, lower, symmetric };

/// Collective. y = op(A) x, of A's elements or of their absolute values; x and y (n) are on every rank. A
/// rank reads its elements once.
std::vector<double> apply(const DistributedDense& a, Shape shape, Op op, bool absolute,
                          std::span<const double> x);

/// Collective. Throws InputError (agreed) that says where in the matrix called `name`, unless every element
/// is finite and |a_ij - a_ji| <= n eps max|a|: what rounding leaves of symmetry is far less than what any
/// eigensolver perturbs.
void check_symmetric(const DistributedDense& a, std::string_view name);

/// Collective. The largest |a_ij|.
double max_abs(const DistributedDense& a);

/// Collective. max_j sum_i |a_ij|.
double one_norm(const DistributedDense& a);

}  // namespace ayatori::eigen
