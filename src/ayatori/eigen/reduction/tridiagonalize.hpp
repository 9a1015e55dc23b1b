#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "ayatori/eigen/dense/distributed_dense.hpp"

namespace ayatori::eigen {

/// A = Q T Q^T with T symmetric tridiagonal; on every rank.
template <class T>
struct TridiagonalOf {
  std::vector<T> diagonal;      ///< n
  std::vector<T> off_diagonal;  ///< n - 1
  std::vector<T> tau;           ///< n - 2: Q = H_0 H_1 ... H_{n-3} with H_j = I - tau[j] v_j v_j^T
};

using Tridiagonal = TridiagonalOf<double>;

/// Collective. Householder's reduction of the symmetric matrix whose lower triangle `a` holds. Afterwards v_j
/// stands in column j of `a`, in rows j + 1 (where it is 1) to n - 1. What is above the diagonal is neither
/// read nor kept.
///
/// Precondition: max |a_ij| is about 1 (columns whose square is below negligible_square are taken for zeros).
///
/// Panels of `block` columns, as in Dongarra, Hammarling, Sorensen (1989): inside a panel A stays as it is,
/// and
///   p = (A - V W^T - W V^T) v,   w = tau p - (tau^2 / 2) (p . v) v,
/// after it A -= V W^T + W V^T. Half the operations are thus those of matrix products, the other half of
/// products A v (SymmetricProduct). p . v = v^T A v - 2 (V^T v) . (W^T v), of which each rank adds its part
/// to the sums for A v: a column costs, on a grid of r x c ranks and n' remaining rows, a Bcast of n'/r along
/// rows and an Allreduce of n'/r along rows; and, for r > 1, along columns two Allreduce of n'/c, one of two
/// numbers, and a Bcast of at most `block` numbers, for Imamura's scheme.
///
/// Reduces the first `columns` only, rounded up to whole panels, for who wants to know what they cost. Only
/// these mean something in T then, and what is left to be reduced stands in `a`.
template <class T>
TridiagonalOf<T> tridiagonalize(DenseOf<T>& a, std::int64_t block,
                                std::int64_t columns = std::numeric_limits<std::int64_t>::max());

}  // namespace ayatori::eigen
