#include <algorithm>
#include <array>
#include <bit>
#include <type_traits>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/solvers/vector_ops.hpp"

// Operations of one vector with many. Rows are taken in blocks whose part of w fits in the first-level cache
// beside four streams of basis vectors; four vectors at a time share each load of w.

namespace ayatori::solvers {

namespace {

constexpr std::int64_t block_rows = 1024;
constexpr int group = 4;
constexpr int pass = 32;  ///< vectors whose sums are kept on the stack

/// Calls body(block) for the blocks of a thread's share.
template <class Body>
void for_each_block(Range share, Body&& body) {
  for (std::int64_t begin = share.begin; begin < share.end; begin += block_rows) {
    body(Range{begin, std::min(begin + block_rows, share.end)});
  }
}

/// What coefficients and products of vectors are: those of floats are doubles.
template <class Scalar>
using Coefficient = std::conditional_t<std::is_same_v<Scalar, Complex>, Complex, double>;

/// out[0, 4) += parts of (v_j, w), ..., (v_(j+3), w) over a block.
template <class Real>
void add_four_dots(const Real* v, std::int64_t stride, const Real* w, Range block, double* out) {
  const Real* v1 = v + stride;
  const Real* v2 = v1 + stride;
  const Real* v3 = v2 + stride;
  Real s0 = 0;
  Real s1 = 0;
  Real s2 = 0;
  Real s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
  for (std::int64_t i = block.begin; i < block.end; ++i) {
    s0 += v[i] * w[i];
    s1 += v1[i] * w[i];
    s2 += v2[i] * w[i];
    s3 += v3[i] * w[i];
  }
  out[0] += static_cast<double>(s0);
  out[1] += static_cast<double>(s1);
  out[2] += static_cast<double>(s2);
  out[3] += static_cast<double>(s3);
}

template <class Real>
double dot_over(const Real* v, const Real* w, Range block) {
  Real sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = block.begin; i < block.end; ++i) sum += v[i] * w[i];
  return static_cast<double>(sum);
}

/// This part of (v, w), with v conjugated.
Complex dot_over(const Complex* v, const Complex* w, Range block) {
  double real = 0;
  double imaginary = 0;
#pragma omp simd reduction(+ : real, imaginary)
  for (std::int64_t i = block.begin; i < block.end; ++i) {
    real += v[i].real() * w[i].real() + v[i].imag() * w[i].imag();
    imaginary += v[i].real() * w[i].imag() - v[i].imag() * w[i].real();
  }
  return {real, imaginary};
}

void add_four_dots(const Complex* v, std::int64_t stride, const Complex* w, Range block, Complex* out) {
  const Complex* v1 = v + stride;
  const Complex* v2 = v1 + stride;
  const Complex* v3 = v2 + stride;
  double r0 = 0, r1 = 0, r2 = 0, r3 = 0;
  double i0 = 0, i1 = 0, i2 = 0, i3 = 0;
#pragma omp simd reduction(+ : r0, r1, r2, r3, i0, i1, i2, i3)
  for (std::int64_t i = block.begin; i < block.end; ++i) {
    const double real = w[i].real();
    const double imaginary = w[i].imag();
    r0 += v[i].real() * real + v[i].imag() * imaginary;
    i0 += v[i].real() * imaginary - v[i].imag() * real;
    r1 += v1[i].real() * real + v1[i].imag() * imaginary;
    i1 += v1[i].real() * imaginary - v1[i].imag() * real;
    r2 += v2[i].real() * real + v2[i].imag() * imaginary;
    i2 += v2[i].real() * imaginary - v2[i].imag() * real;
    r3 += v3[i].real() * real + v3[i].imag() * imaginary;
    i3 += v3[i].real() * imaginary - v3[i].imag() * real;
  }
  out[0] += Complex(r0, i0);
  out[1] += Complex(r1, i1);
  out[2] += Complex(r2, i2);
  out[3] += Complex(r3, i3);
}

/// This part of (w, w).
template <class Real>
double square_over(const Real* w, Range block) {
  return dot_over(w, w, block);
}
double square_over(const Complex* w, Range block) {
  return dot_over(reinterpret_cast<const double*>(w), reinterpret_cast<const double*>(w),
                  {2 * block.begin, 2 * block.end});
}

/// w += sum over j of h_j v_j over a block, four vectors at a time.
template <class Real>
void add_combination(const BasisOf<Real>& basis, const double* h, double sign, Real* w, Range block) {
  int j = 0;
  for (; j + group <= basis.size; j += group) {
    const Real* v0 = basis.data + j * basis.stride;
    const Real* v1 = v0 + basis.stride;
    const Real* v2 = v1 + basis.stride;
    const Real* v3 = v2 + basis.stride;
    const Real h0 = static_cast<Real>(sign * h[j]);
    const Real h1 = static_cast<Real>(sign * h[j + 1]);
    const Real h2 = static_cast<Real>(sign * h[j + 2]);
    const Real h3 = static_cast<Real>(sign * h[j + 3]);
#pragma omp simd
    for (std::int64_t i = block.begin; i < block.end; ++i) {
      w[i] += (h0 * v0[i] + h1 * v1[i]) + (h2 * v2[i] + h3 * v3[i]);
    }
  }
  for (; j < basis.size; ++j) {
    const Real* v = basis.data + j * basis.stride;
    const Real hj = static_cast<Real>(sign * h[j]);
#pragma omp simd
    for (std::int64_t i = block.begin; i < block.end; ++i) w[i] += hj * v[i];
  }
}

/// What real and what imaginary parts of coefficients give over a block, in doubles. The latter are to be
/// turned by i, once for all vectors: to turn every v would take longer than to multiply it.
struct Parts {
  double* of_real;
  double* of_imaginary;
  std::int64_t doubles;
};

void add_four(const double* v, std::int64_t stride, const Complex* h, double sign, const Parts& parts) {
  const double* v1 = v + stride;
  const double* v2 = v1 + stride;
  const double* v3 = v2 + stride;
  const Complex h0 = sign * h[0], h1 = sign * h[1], h2 = sign * h[2], h3 = sign * h[3];
  const double r0 = h0.real(), r1 = h1.real(), r2 = h2.real(), r3 = h3.real();
  const double i0 = h0.imag(), i1 = h1.imag(), i2 = h2.imag(), i3 = h3.imag();
  double* const w = parts.of_real;
  double* const t = parts.of_imaginary;
#pragma omp simd
  for (std::int64_t i = 0; i < parts.doubles; ++i) {
    w[i] += (r0 * v[i] + r1 * v1[i]) + (r2 * v2[i] + r3 * v3[i]);
    t[i] += (i0 * v[i] + i1 * v1[i]) + (i2 * v2[i] + i3 * v3[i]);
  }
}

void add_one(const double* v, Complex h, const Parts& parts) {
  const double re = h.real();
  const double im = h.imag();
  double* const w = parts.of_real;
  double* const t = parts.of_imaginary;
#pragma omp simd
  for (std::int64_t i = 0; i < parts.doubles; ++i) {
    w[i] += re * v[i];
    t[i] += im * v[i];
  }
}

void add_combination(const ComplexBasis& basis, const Complex* h, double sign, Complex* w, Range block) {
  constexpr std::int64_t most = block_rows / 2;  // rows: as many doubles of w, and of the other part
  std::array<double, 2 * most> t;
  for (std::int64_t begin = block.begin; begin < block.end; begin += most) {
    const std::int64_t rows = std::min(most, block.end - begin);
    const Parts parts{reinterpret_cast<double*>(w + begin), t.data(), 2 * rows};
    const auto* v = reinterpret_cast<const double*>(basis.data + begin);
    const std::int64_t stride = 2 * basis.stride;
    std::fill_n(t.begin(), parts.doubles, 0.0);
    int j = 0;
    for (; j + group <= basis.size; j += group) add_four(v + j * stride, stride, h + j, sign, parts);
    for (; j < basis.size; ++j) add_one(v + j * stride, sign * h[j], parts);
#pragma omp simd
    for (std::int64_t i = 0; i < rows; ++i) {
      parts.of_real[2 * i] -= t[2 * i + 1];
      parts.of_real[2 * i + 1] += t[2 * i];
    }
  }
}

/// (v_j, w) for the at most `pass` vectors of the basis, and (w, w) in the last place.
template <class Scalar>
struct PassSums {
  std::array<Coefficient<Scalar>, pass> products{};
  double square = 0;
};

template <class Scalar>
PassSums<Scalar> dots_of_pass(const BasisOf<Scalar>& basis, std::span<const Scalar> w) {
  constexpr std::size_t doubles = sizeof(PassSums<Scalar>) / sizeof(double);
  using Doubles = std::array<double, doubles>;
  return std::bit_cast<PassSums<Scalar>>(
      parallel_sums<doubles>(static_cast<std::int64_t>(w.size()), [&](Range share) {
        PassSums<Scalar> sums;
        for_each_block(share, [&](Range block) {
          int j = 0;
          for (; j + group <= basis.size; j += group) {
            add_four_dots(basis.data + j * basis.stride, basis.stride, w.data(), block, &sums.products[j]);
          }
          for (; j < basis.size; ++j)
            sums.products[j] += dot_over(basis.data + j * basis.stride, w.data(), block);
          sums.square += square_over(w.data(), block);
        });
        return std::bit_cast<Doubles>(sums);
      }));
}

template <class Scalar>
double dots_of(const BasisOf<Scalar>& basis, std::span<const Scalar> w, std::span<Coefficient<Scalar>> h) {
  AYATORI_ASSERT(static_cast<int>(h.size()) >= basis.size);
  if (basis.size == 0) return dots_of_pass(basis, w).square;
  double square = 0;
  for (int first = 0; first < basis.size; first += pass) {
    const int count = std::min(pass, basis.size - first);
    const auto sums = dots_of_pass<Scalar>({basis.data + first * basis.stride, basis.stride, count}, w);
    std::copy_n(sums.products.begin(), count, h.begin() + first);
    square = sums.square;
  }
  return square;
}

template <class Scalar>
double subtract_from(const BasisOf<Scalar>& basis, std::span<const Coefficient<Scalar>> h,
                     std::span<Scalar> w) {
  AYATORI_ASSERT(static_cast<int>(h.size()) >= basis.size);
  return parallel_sum(static_cast<std::int64_t>(w.size()), [&](Range share) {
    double square = 0;
    for_each_block(share, [&](Range block) {
      add_combination(basis, h.data(), -1, w.data(), block);
      square += square_over(w.data(), block);
    });
    return square;
  });
}

template <class Scalar>
void combination_of(const BasisOf<Scalar>& basis, std::span<const Coefficient<Scalar>> h,
                    std::span<Scalar> w) {
  AYATORI_ASSERT(static_cast<int>(h.size()) >= basis.size);
  parallel_ranges(static_cast<std::int64_t>(w.size()), [&](Range share) {
    for_each_block(share, [&](Range block) {
      std::fill(w.begin() + block.begin, w.begin() + block.end, Scalar(0));
      add_combination(basis, h.data(), 1, w.data(), block);
    });
  });
}

}  // namespace

double local_dots(const Basis& basis, ConstVector w, std::span<double> h) {
  return dots_of(basis, w, h);
}

double local_dots(const ComplexBasis& basis, ConstComplexVector w, std::span<Complex> h) {
  return dots_of(basis, w, h);
}

double local_dots(const FloatBasis& basis, ConstFloatVector w, std::span<double> h) {
  return dots_of(basis, w, h);
}

double subtract_combination(const Basis& basis, std::span<const double> h, Vector w) {
  return subtract_from(basis, h, w);
}

double subtract_combination(const ComplexBasis& basis, std::span<const Complex> h, ComplexVector w) {
  return subtract_from(basis, h, w);
}

double subtract_combination(const FloatBasis& basis, std::span<const double> h, FloatVector w) {
  return subtract_from(basis, h, w);
}

void combine(const Basis& basis, std::span<const double> h, Vector w) {
  combination_of(basis, h, w);
}

void combine(const ComplexBasis& basis, std::span<const Complex> h, ComplexVector w) {
  combination_of(basis, h, w);
}

void combine(const FloatBasis& basis, std::span<const double> h, FloatVector w) {
  combination_of(basis, h, w);
}

}  // namespace ayatori::solvers
