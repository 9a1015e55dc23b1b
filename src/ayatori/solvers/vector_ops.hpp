#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <type_traits>

#include "ayatori/solvers/global_sum.hpp"
#include "ayatori/sparse/complex_form.hpp"

// Threaded operations on the local pieces of distributed vectors. "Traffic" is the memory read and written,
// in doubles per element. Vectors of one call have the same length; an output may be one of the inputs, but
// no vectors overlap in another way. Those that take a GlobalSum are collective. Sums are the same for the
// same number of threads.

namespace ayatori::solvers {

using Vector = std::span<double>;
using ConstVector = std::span<const double>;
using FloatVector = std::span<float>;
using ConstFloatVector = std::span<const float>;

void fill(Vector x, double value);                      ///< x = value; traffic 1
void copy(ConstVector x, Vector y);                     ///< y = x; traffic 2
void scale(double a, Vector x);                         ///< x = a x; traffic 2
void axpy(double a, ConstVector x, Vector y);           ///< y = y + a x; traffic 3
void aypx(double a, ConstVector x, Vector y);           ///< y = x + a y; traffic 3
void subtract(ConstVector x, ConstVector y, Vector z);  ///< z = x - y; traffic 3

/// z = z + a x + b y; traffic 4
void axpbypz(double a, ConstVector x, double b, ConstVector y, Vector z);
/// y = x + a (y - b z); traffic 4
void aypx_minus(double a, ConstVector x, double b, ConstVector z, Vector y);
/// x = x + a p, then p = z + b p; traffic 5
void axpy_aypx(double a, Vector p, Vector x, double b, ConstVector z);

double local_dot(ConstVector x, ConstVector y);  ///< this rank's part of (x, y); traffic 2
double local_max_abs(ConstVector x);             ///< this rank's max |x_i|; NaN if any is NaN; traffic 1

/// This rank's parts of (x, y) and (y, y); traffic 2
std::array<double, 2> local_dot_and_square(ConstVector x, ConstVector y);
/// This rank's parts of (x, y) for 3 to 5 pairs {x, y}; traffic 1 for every vector, however often it occurs
struct Pair {
  ConstVector x;
  ConstVector y;
};
void local_products(std::initializer_list<Pair> pairs, std::span<double> products);
/// y = y + a x; this rank's part of the new (y, y); traffic 3
double axpy_square(double a, ConstVector x, Vector y);
/// y = y + a x; this rank's part of the new (z, y); traffic 4
double axpy_dot(double a, ConstVector x, Vector y, ConstVector z);
/// y = y + a x; this rank's parts of the new (z, y) and (y, y); traffic 4
std::array<double, 2> axpy_dot_and_square(double a, ConstVector x, Vector y, ConstVector z);

/// y = a x + b y; this rank's part of the new (y, y); traffic 3
double axpby_square(double a, ConstVector x, double b, Vector y);

/// y = x + a y, then z = z + b y; this rank's part of the new (z, z); traffic 5
double aypx_axpy_square(double a, ConstVector x, Vector y, double b, Vector z);
/// z = a z + b x + c y; traffic 4
void axpbypcz(double b, ConstVector x, double c, ConstVector y, double a, Vector z);

/// w_old = (z - a w_old - b w) c, then x = x + d w_old: the update of MINRES; traffic 6
void advance_minres(ConstVector z, double a, Vector w_old, double b, ConstVector w, double c, double d,
                    Vector x);

double dot(const GlobalSum& sum, ConstVector x, ConstVector y);  ///< (x, y)

/// ||x||_2, right also where squares of the elements overflow or underflow; NaN or infinite if an element is.
/// One reduction, two for such extreme vectors.
double norm(const GlobalSum& sum, ConstVector x);

/// k vectors of n local elements each, one after the other in memory, seen as the columns of an n x k matrix
/// V.
template <class Real>
struct BasisOf {
  const Real* data;
  std::int64_t stride;  ///< elements from one vector to the next
  int size;             ///< k
};
using Basis = BasisOf<double>;
using FloatBasis = BasisOf<float>;

/// h = V^T w on this rank, h of k elements, and the local (w, w) is returned. Blocked over rows so that w is
/// read from memory once for every 32 vectors; traffic k + k/32 per element of w.
double local_dots(const Basis& basis, ConstVector w, std::span<double> h);
/// w = w - V h; this rank's part of the new (w, w). w stays in cache over a block of rows; traffic k + 2.
double subtract_combination(const Basis& basis, std::span<const double> h, Vector w);
/// w = V h; traffic k + 1.
void combine(const Basis& basis, std::span<const double> h, Vector w);

// The same of vectors in single precision. Products are summed so over at most 1024 rows, and in double from
// there on. Traffic: in floats.

void copy(ConstFloatVector x, FloatVector y);
void scale(double a, FloatVector x);
double local_max_abs(ConstFloatVector x);
double local_dots(const FloatBasis& basis, ConstFloatVector w, std::span<double> h);
double subtract_combination(const FloatBasis& basis, std::span<const double> h, FloatVector w);
void combine(const FloatBasis& basis, std::span<const double> h, FloatVector w);

// The same of complex vectors, and of pairs seen as such. Products conjugate the first factor: (x, y) = x^H
// y. Squares are sums of |x_i|^2, real. Traffic: in complex numbers.

using sparse::as_complex;
using sparse::as_pairs;
using sparse::Complex;
using sparse::conjugate;
using sparse::times;
using ComplexVector = std::span<Complex>;
using ConstComplexVector = std::span<const Complex>;
using ComplexBasis = BasisOf<Complex>;

/// Pairs as complex vectors: of an even stride.
inline ComplexBasis as_complex(const Basis& pairs) {
  return {reinterpret_cast<const Complex*>(pairs.data), pairs.stride / 2, pairs.size};
}
/// What a method for either scalar writes for vectors that are real already.
template <class Scalar>
std::span<const Scalar> as(ConstVector x) {
  if constexpr (std::is_same_v<Scalar, double>)
    return x;
  else
    return as_complex(x);
}
template <class Scalar>
std::span<Scalar> as(Vector x) {
  if constexpr (std::is_same_v<Scalar, double>)
    return x;
  else
    return as_complex(x);
}
inline Vector as_pairs(Vector x) {
  return x;
}

void scale(Complex a, ComplexVector x);
void axpy(Complex a, ConstComplexVector x, ComplexVector y);
void axpbypz(Complex a, ConstComplexVector x, Complex b, ConstComplexVector y, ComplexVector z);
void aypx_minus(Complex a, ConstComplexVector x, Complex b, ConstComplexVector z, ComplexVector y);
void aypx(Complex a, ConstComplexVector x, ComplexVector y);
double axpy_square(Complex a, ConstComplexVector x, ComplexVector y);
std::array<Complex, 2> local_dot_and_square(ConstComplexVector x, ConstComplexVector y);
std::array<Complex, 2> axpy_dot_and_square(Complex a, ConstComplexVector x, ComplexVector y,
                                           ConstComplexVector z);
struct ComplexPair {
  ConstComplexVector x;
  ConstComplexVector y;
};
void local_products(std::initializer_list<ComplexPair> pairs, std::span<Complex> products);
/// This rank's parts of x^T y, without a conjugate, and of (y, y).
std::array<Complex, 2> local_transposed_dot_and_square(ConstComplexVector x, ConstComplexVector y);
inline std::array<double, 2> local_transposed_dot_and_square(ConstVector x, ConstVector y) {
  return local_dot_and_square(x, y);
}
double local_dots(const ComplexBasis& basis, ConstComplexVector w, std::span<Complex> h);
double subtract_combination(const ComplexBasis& basis, std::span<const Complex> h, ComplexVector w);
void combine(const ComplexBasis& basis, std::span<const Complex> h, ComplexVector w);

}  // namespace ayatori::solvers
