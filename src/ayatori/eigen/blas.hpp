#pragma once

#include <cstdint>

// The BLAS and LAPACK that the eigensolver stands on, with column-major blocks for arguments. Sizes fit an
// int: they are local.

namespace ayatori::eigen {

/// A column-major block of a larger array: element (i, j) is data[i + j * leading].
struct ConstBlock {
  const double* data;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t leading;
};

struct Block {
  double* data;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t leading;

  operator ConstBlock() const { return {data, rows, columns, leading}; }
};

enum class Op : char { none = 'N', transpose = 'T' };

/// c = alpha op(a) op(b) + beta c. Empty blocks are allowed.
void multiply(double alpha, Op op_a, ConstBlock a, Op op_b, ConstBlock b, double beta, Block c);

/// y = alpha op(a) x + beta y, with unit strides. Empty blocks are allowed.
void multiply(double alpha, Op op_a, ConstBlock a, const double* x, double beta, double* y);

/// y = a x for the symmetric matrix whose lower triangle `a` holds. (dsymv)
void multiply_symmetric(ConstBlock a, const double* x, double* y);

/// The lower triangle of c = a^T a.
void gram(ConstBlock a, Block c);

enum class Side : char { left = 'L', right = 'R' };

/// b = op(t) b, or b = b op(t), t upper triangular, square.
void multiply_upper_triangular(Side side, Op op, ConstBlock t, Block b);

/// a = (I - v t v^T) r for a with at least as many rows as columns: r takes the place of the upper triangle
/// of a, v, unit lower trapezoidal but for its ones, the place below; t is upper triangular. (dgeqrt3)
void factor_qr(Block a, Block t);

/// t such that I - v t v^T = H_0 H_1 ..., H_k = I - tau[k] v_k v_k^T, where v_k is column k of v, unit lower
/// trapezoidal.
void block_reflector(ConstBlock v, const double* tau, Block t);

/// l lower triangular with l l^T = the symmetric matrix whose lower triangle `a` holds, in its place; what is
/// above the diagonal stays. 0, or the order of the first leading minor that is not positive. (dpotrf)
std::int64_t factor_cholesky(Block a);

/// b = op(l)^-1 b, or b = b op(l)^-1, l lower triangular, square.
void solve_lower(Side side, Op op, ConstBlock l, Block b);

/// Eigenvalues of a symmetric tridiagonal matrix of order n, ascending, into `diagonal`; `off_diagonal` is
/// destroyed. False if the iteration failed. (dsterf: no vectors, O(n^2).)
bool tridiagonal_values(std::int64_t n, double* diagonal, double* off_diagonal);

/// The same with eigenvectors in the columns of `vectors` (dsteqr, for small matrices).
bool tridiagonal_vectors(std::int64_t n, double* diagonal, double* off_diagonal, Block vectors);

/// Eigenvalues of a symmetric matrix, ascending, into `values`; its eigenvectors take its place. False if the
/// iteration failed. (dsyev, for small matrices.)
bool symmetric_pairs(Block a, double* values);

/// Root j of 1 + rho sum_i z_i^2 / (d_i - x), n > 2, d ascending, ||z|| = 1, rho > 0; delta[i] = d_i - root,
/// to high relative accuracy. False if the iteration failed. (dlaed4)
bool secular_root(std::int64_t n, std::int64_t j, const double* d, const double* z, double rho,
                  double* delta);

/// While it lives, OpenBLAS uses as many threads as parallel regions do. Another BLAS has its own ways.
class BlasThreads {
 public:
  BlasThreads();
  ~BlasThreads();
  BlasThreads(const BlasThreads&) = delete;
  BlasThreads& operator=(const BlasThreads&) = delete;

 private:
  int before_ = 0;
};

}  // namespace ayatori::eigen
