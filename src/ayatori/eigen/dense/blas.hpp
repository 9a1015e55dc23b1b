#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

// The BLAS and LAPACK that the eigensolver stands on, for double and float, with column-major blocks for
// arguments. Sizes fit an int: they are local. What a call works on is double unless it says otherwise:
// multiply<float>(...).

namespace ayatori::eigen {

/// A column-major block of a larger array: element (i, j) is data[i + j * leading].
template <class T>
struct ConstBlockOf {
  const T* data;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t leading;
};

template <class T>
struct BlockOf {
  T* data;
  std::int64_t rows;
  std::int64_t columns;
  std::int64_t leading;

  operator ConstBlockOf<T>() const { return {data, rows, columns, leading}; }
};

using ConstBlock = ConstBlockOf<double>;
using Block = BlockOf<double>;

/// Beside elements of size 1 a square below this is nothing, and squares of smaller numbers lose digits.
template <class T>
inline constexpr T negligible_square = std::numeric_limits<T>::min() / (std::numeric_limits<T>::epsilon() *
                                                                        std::numeric_limits<T>::epsilon());

enum class Op : char { none = 'N', transpose = 'T' };

// Arguments from which T is not deduced.
template <class T>
using Const = std::type_identity_t<ConstBlockOf<T>>;
template <class T>
using Mutable = std::type_identity_t<BlockOf<T>>;
template <class T>
using Number = std::type_identity_t<T>;

/// c = alpha op(a) op(b) + beta c. Empty blocks are allowed.
template <class T = double>
void multiply(Number<T> alpha, Op op_a, Const<T> a, Op op_b, Const<T> b, Number<T> beta, Mutable<T> c);

/// y = alpha op(a) x + beta y, with unit strides. Empty blocks are allowed.
template <class T = double>
void multiply(Number<T> alpha, Op op_a, Const<T> a, const Number<T>* x, Number<T> beta, Number<T>* y);

/// y = a x for the symmetric matrix whose lower triangle `a` holds. (dsymv)
template <class T = double>
void multiply_symmetric(Const<T> a, const Number<T>* x, Number<T>* y);

/// The lower triangle of c = a^T a. (dsyrk)
template <class T = double>
void gram(Const<T> a, Mutable<T> c);

enum class Side : char { left = 'L', right = 'R' };

/// b = op(t) b, or b = b op(t), t upper triangular, square.
template <class T = double>
void multiply_upper_triangular(Side side, Op op, Const<T> t, Mutable<T> b);

/// a = (I - v t v^T) r for a with at least as many rows as columns: r takes the place of the upper triangle
/// of a, v, unit lower trapezoidal but for its ones, the place below; t is upper triangular. (dgeqrt3)
template <class T = double>
void factor_qr(Mutable<T> a, Mutable<T> t);

/// t, upper triangular, such that I - v t v^T = H_0 H_1 ..., H_k = I - tau[k] v_k v_k^T, where v_k is column
/// k of v (Schreiber, Van Loan 1989); its inner products are those of one product of matrices. What is below
/// the diagonal of t is destroyed.
template <class T = double>
void block_reflector(Const<T> v, const Number<T>* tau, Mutable<T> t);

/// l lower triangular with l l^T = the symmetric matrix whose lower triangle `a` holds, in its place; what is
/// above the diagonal stays. 0, or the order of the first leading minor that is not positive. (dpotrf)
std::int64_t factor_cholesky(Block a);

/// b = op(l)^-1 b, or b = b op(l)^-1, l lower triangular, square.
void solve_lower(Side side, Op op, ConstBlock l, Block b);

/// Eigenvalues of a symmetric tridiagonal matrix of order n, ascending, into `diagonal`; `off_diagonal` is
/// destroyed. False if the iteration failed. (dsterf: no vectors, O(n^2).)
template <class T = double>
bool tridiagonal_values(std::int64_t n, Number<T>* diagonal, Number<T>* off_diagonal);

/// The same with eigenvectors in the columns of `vectors` (dsteqr, for small matrices).
template <class T = double>
bool tridiagonal_vectors(std::int64_t n, Number<T>* diagonal, Number<T>* off_diagonal, Mutable<T> vectors);

/// Eigenvalues of a symmetric matrix, ascending, into `values`; its eigenvectors take its place. False if the
/// iteration failed. (dsyev, for small matrices.)
bool symmetric_pairs(Block a, double* values);

/// a = q t q^T with t in real Schur form in the place of a: block upper triangular, blocks of two being
/// conjugate pairs in standard form. False if the iteration failed. (dgees)
bool schur_form(Block a, Block q);

/// Moves the block that begins at row `from` to row `to`, those between make room; as far as it goes where
/// eigenvalues are too close to be exchanged. (dtrexc)
void move_in_schur_form(Block t, Block q, std::int64_t from, std::int64_t to);

/// Root j of 1 + rho sum_i z_i^2 / (d_i - x), n > 2, d ascending, ||z|| = 1, rho > 0; delta[i] = d_i - root,
/// to high relative accuracy. False if the iteration failed. (dlaed4)
template <class T = double>
bool secular_root(std::int64_t n, std::int64_t j, const Number<T>* d, const Number<T>* z, Number<T> rho,
                  Number<T>* delta);

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
