#pragma once

#include <cstdint>
#include <vector>

#include "ayatori/base/array.hpp"
#include "ayatori/eigen/dense/distributed_dense.hpp"

namespace ayatori::eigen {

/// A symmetric band matrix, on every rank: element (j + d, j) at values[j * (width + 1) + d], 0 <= d <=
/// width.
template <class T>
struct BandOf {
  std::int64_t n = 0;
  std::int64_t width = 1;  ///< diagonals below the main one
  Array<T> values;         ///< (width + 1) x n

  T* column(std::int64_t j) { return values.data() + j * (width + 1); }
  const T* column(std::int64_t j) const { return values.data() + j * (width + 1); }
};

using Band = BandOf<double>;

/// A = Q B Q^T with B a band.
template <class T>
struct BandReduction {
  BandOf<T> band;
  std::vector<T> tau;  ///< Q = H_0 H_1 ...: H_j = I - tau[j] v_j v_j^T
};

/// Collective. The first stage of a reduction to tridiagonal form, of the symmetric matrix whose lower
/// triangle `a` holds (Dongarra, Hammarling, Sorensen 1989; Bischof, Lang, Sun 2000). Afterwards v_j stands
/// in column j of `a`, in rows j + width (where it is 1) to n - 1: as of tridiagonalize() with `width` for 1.
///
/// Per panel of `width` columns: its columns are gathered on all ranks (Allgatherv), each of which factors
/// them, below the band, into (I - V T V^T) R; then with P = A V, of which each rank adds its part,
///   Y = P T,   W = Y - 1/2 V T^T (V^T P) T,   A -= V W^T + W V^T.
/// All operations are those of matrix products. On a grid of r x c ranks and n' remaining rows P costs an
/// Allreduce of width n'/r along grid rows and, for r > 1, two of width n'/c along columns: the bytes of
/// tridiagonalize(), in n / width times as many calls as it has columns. What every rank does for itself is
/// the factorization, 2 n' width^2 operations.
template <class T>
BandReduction<T> reduce_to_band(DenseOf<T>& a, std::int64_t width);

}  // namespace ayatori::eigen
