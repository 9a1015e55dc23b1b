#pragma once

#include <cstddef>
#include <span>

namespace ayatori::solvers {

/// The largest matrix that invert_dense takes: its workspace, n^2 doubles, is on the stack.
inline constexpr int largest_dense = 64;
inline constexpr std::size_t dense_entries = std::size_t{largest_dense} * largest_dense;

/// The inverse of an n x n matrix stored by rows, by LU factorization with row scaling and partial pivoting;
/// exactly symmetric if the matrix is. Gives false, and leaves `inverse` undefined, if the matrix is singular
/// to working precision. Precondition: n <= largest_dense. Both spans have n n elements and do not overlap.
/// Work: 2 n^3 operations.
bool invert_dense(int n, std::span<const double> matrix, std::span<double> inverse);

}  // namespace ayatori::solvers
