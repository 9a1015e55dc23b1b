#include "ayatori/solvers/vector_ops.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "ayatori/base/error.hpp"
#include "ayatori/base/parallel.hpp"

namespace ayatori::solvers {

namespace {

/// body(i) for every element, vectorised, in the shares of the threads that first touched the data.
template <class Body>
void for_each_element(std::size_t n, Body&& body) {
  parallel_ranges(static_cast<std::int64_t>(n), [&](Range range) {
#pragma omp simd
    for (std::int64_t i = range.begin; i < range.end; ++i) body(i);
  });
}

/// What an element adds to a first and a second sum.
struct Terms {
  double first;
  double second;
};

/// The sums of body(i), a Terms, over a range. Four runs of elements at a time, each with sums of its own:
/// with one, the latency of the addition would bound the loop, not the memory.
template <class Body>
std::array<double, 2> two_sums_over_range(Range range, Body body) {
  constexpr std::int64_t run = 512;
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  double t0 = 0, t1 = 0, t2 = 0, t3 = 0;
  std::int64_t begin = range.begin;
  for (; begin + 4 * run <= range.end; begin += 4 * run) {
#pragma omp simd reduction(+ : s0, s1, s2, s3, t0, t1, t2, t3)
    for (std::int64_t i = begin; i < begin + run; ++i) {
      const Terms e0 = body(i);
      const Terms e1 = body(i + run);
      const Terms e2 = body(i + 2 * run);
      const Terms e3 = body(i + 3 * run);
      s0 += e0.first;
      s1 += e1.first;
      s2 += e2.first;
      s3 += e3.first;
      t0 += e0.second;
      t1 += e1.second;
      t2 += e2.second;
      t3 += e3.second;
    }
  }
#pragma omp simd reduction(+ : s0, t0)
  for (std::int64_t i = begin; i < range.end; ++i) {
    const Terms e = body(i);
    s0 += e.first;
    t0 += e.second;
  }
  return {(s0 + s1) + (s2 + s3), (t0 + t1) + (t2 + t3)};
}

/// The sums of body(i), a Terms, over every element, vectorised.
template <class Body>
std::array<double, 2> two_sums_over_elements(std::size_t n, Body body) {
  return parallel_sums<2>(static_cast<std::int64_t>(n),
                          [=](Range range) { return two_sums_over_range(range, body); });
}

/// The sum of body(i) over every element, vectorised.
template <class Body>
double sum_over_elements(std::size_t n, Body body) {
  return two_sums_over_elements(n, [=](std::int64_t i) { return Terms{body(i), 0}; })[0];
}

/// local_products of K pairs: all products of an element before those of the next, so that every vector
/// is read from memory once.
template <std::size_t K>
void products_over_elements(const Pair* pairs, std::span<double> products) {
  constexpr std::int64_t lanes = 8;
  std::array<const double*, K> x{};
  std::array<const double*, K> y{};
  for (std::size_t k = 0; k < K; ++k) {
    AYATORI_ASSERT(pairs[k].x.size() == pairs[0].x.size() && pairs[k].y.size() == pairs[0].x.size());
    x[k] = pairs[k].x.data();
    y[k] = pairs[k].y.data();
  }
  const auto sums = parallel_sums<K>(static_cast<std::int64_t>(pairs[0].x.size()), [=](Range range) {
    double parts[K][lanes] = {};
    std::int64_t i = range.begin;
    for (; i + lanes <= range.end; i += lanes) {
      for (std::size_t k = 0; k < K; ++k) {
#pragma omp simd
        for (std::int64_t lane = 0; lane < lanes; ++lane) parts[k][lane] += x[k][i + lane] * y[k][i + lane];
      }
    }
    std::array<double, K> total{};
    for (std::size_t k = 0; k < K; ++k) {
      for (const double part : parts[k]) total[k] += part;
      for (std::int64_t j = i; j < range.end; ++j) total[k] += x[k][j] * y[k][j];
    }
    return total;
  });
  std::ranges::copy(sums, products.begin());
}

/// ||x||_2 by way of the largest element, for vectors whose squares leave the range of double.
double scaled_norm(const GlobalSum& sum, ConstVector x) {
  // The sum over ranks of their largest elements bounds the largest of all, and costs no other kind of
  // reduction.
  const double largest = sum(local_max_abs(x));
  const double smallest = std::numeric_limits<double>::min();
  if (largest < smallest || !std::isfinite(largest)) return largest;
  const double factor = 1 / largest;
  const double squares = sum_over_elements(x.size(), [=](std::int64_t i) {
    const double scaled = x[i] * factor;
    return scaled * scaled;
  });
  return largest * std::sqrt(sum(squares));
}

/// By the bits of absolute values, which are in the same order, NaN on top: a maximum of floating point may
/// drop that, and is not taken by vectors.
template <class Bits, class Real>
double max_abs_of(std::span<const Real> x) {
  static_assert(sizeof(Bits) == sizeof(Real));
  constexpr Bits magnitude = std::numeric_limits<Bits>::max();
  std::atomic<Bits> largest = 0;
  parallel_ranges(static_cast<std::int64_t>(x.size()), [&largest, values = x.data()](Range range) {
    Bits mine = 0;
    for (std::int64_t i = range.begin; i < range.end; ++i) {
      const Bits bits = std::bit_cast<Bits>(values[i]) & magnitude;
      mine = bits > mine ? bits : mine;
    }
    for (Bits known = largest; known < mine && !largest.compare_exchange_weak(known, mine);) {
    }
  });
  return std::bit_cast<Real>(largest.load());
}

}  // namespace

void fill(Vector x, double value) {
  for_each_element(x.size(), [=](std::int64_t i) { x[i] = value; });
}

void copy(ConstVector x, Vector y) {
  AYATORI_ASSERT(x.size() == y.size());
  for_each_element(x.size(), [=](std::int64_t i) { y[i] = x[i]; });
}

void copy(ConstFloatVector x, FloatVector y) {
  AYATORI_ASSERT(x.size() == y.size());
  for_each_element(x.size(), [=](std::int64_t i) { y[i] = x[i]; });
}

void scale(double a, Vector x) {
  for_each_element(x.size(), [=](std::int64_t i) { x[i] *= a; });
}

void scale(double a, FloatVector x) {
  const auto factor = static_cast<float>(a);
  for_each_element(x.size(), [=](std::int64_t i) { x[i] *= factor; });
}

void axpy(double a, ConstVector x, Vector y) {
  AYATORI_ASSERT(x.size() == y.size());
  for_each_element(x.size(), [=](std::int64_t i) { y[i] += a * x[i]; });
}

void aypx(double a, ConstVector x, Vector y) {
  AYATORI_ASSERT(x.size() == y.size());
  for_each_element(x.size(), [=](std::int64_t i) { y[i] = x[i] + a * y[i]; });
}

void subtract(ConstVector x, ConstVector y, Vector z) {
  AYATORI_ASSERT(x.size() == y.size() && y.size() == z.size());
  for_each_element(x.size(), [=](std::int64_t i) { z[i] = x[i] - y[i]; });
}

void axpbypcz(double b, ConstVector x, double c, ConstVector y, double a, Vector z) {
  AYATORI_ASSERT(x.size() == y.size() && y.size() == z.size());
  for_each_element(x.size(), [=](std::int64_t i) { z[i] = a * z[i] + b * x[i] + c * y[i]; });
}

void axpbypz(double a, ConstVector x, double b, ConstVector y, Vector z) {
  AYATORI_ASSERT(x.size() == y.size() && y.size() == z.size());
  for_each_element(x.size(), [=](std::int64_t i) { z[i] += a * x[i] + b * y[i]; });
}

void aypx_minus(double a, ConstVector x, double b, ConstVector z, Vector y) {
  AYATORI_ASSERT(x.size() == y.size() && y.size() == z.size());
  for_each_element(x.size(), [=](std::int64_t i) { y[i] = x[i] + a * (y[i] - b * z[i]); });
}

void axpy_aypx(double a, Vector p, Vector x, double b, ConstVector z) {
  AYATORI_ASSERT(p.size() == x.size() && x.size() == z.size());
  for_each_element(x.size(), [=](std::int64_t i) {
    const double old = p[i];
    x[i] += a * old;
    p[i] = z[i] + b * old;
  });
}

double local_dot(ConstVector x, ConstVector y) {
  AYATORI_ASSERT(x.size() == y.size());
  return sum_over_elements(x.size(), [=](std::int64_t i) { return x[i] * y[i]; });
}

double local_max_abs(ConstVector x) {
  return max_abs_of<std::int64_t>(x);
}

double local_max_abs(ConstFloatVector x) {
  return max_abs_of<std::int32_t>(x);
}

std::array<double, 2> local_dot_and_square(ConstVector x, ConstVector y) {
  AYATORI_ASSERT(x.size() == y.size());
  return two_sums_over_elements(x.size(), [=](std::int64_t i) { return Terms{x[i] * y[i], y[i] * y[i]}; });
}

void local_products(std::initializer_list<Pair> pairs, std::span<double> products) {
  AYATORI_ASSERT(products.size() >= pairs.size());
  const Pair* const of = pairs.begin();
  switch (pairs.size()) {
    case 3:
      return products_over_elements<3>(of, products);
    case 4:
      return products_over_elements<4>(of, products);
    default:
      AYATORI_ASSERT(pairs.size() == 5);
      return products_over_elements<5>(of, products);
  }
}

double axpy_square(double a, ConstVector x, Vector y) {
  AYATORI_ASSERT(x.size() == y.size());
  return sum_over_elements(x.size(), [=](std::int64_t i) {
    const double value = y[i] + a * x[i];
    y[i] = value;
    return value * value;
  });
}

double axpy_dot(double a, ConstVector x, Vector y, ConstVector z) {
  AYATORI_ASSERT(x.size() == y.size() && y.size() == z.size());
  return sum_over_elements(x.size(), [=](std::int64_t i) {
    const double value = y[i] + a * x[i];
    y[i] = value;
    return value * z[i];
  });
}

std::array<double, 2> axpy_dot_and_square(double a, ConstVector x, Vector y, ConstVector z) {
  AYATORI_ASSERT(x.size() == y.size() && y.size() == z.size());
  return two_sums_over_elements(x.size(), [=](std::int64_t i) {
    const double value = y[i] + a * x[i];
    y[i] = value;
    return Terms{z[i] * value, value * value};
  });
}

double axpby_square(double a, ConstVector x, double b, Vector y) {
  AYATORI_ASSERT(x.size() == y.size());
  return sum_over_elements(x.size(), [=](std::int64_t i) {
    const double value = a * x[i] + b * y[i];
    y[i] = value;
    return value * value;
  });
}

double aypx_axpy_square(double a, ConstVector x, Vector y, double b, Vector z) {
  AYATORI_ASSERT(x.size() == y.size() && y.size() == z.size());
  return sum_over_elements(x.size(), [=](std::int64_t i) {
    const double direction = x[i] + a * y[i];
    const double value = z[i] + b * direction;
    y[i] = direction;
    z[i] = value;
    return value * value;
  });
}

void advance_minres(ConstVector z, double a, Vector w_old, double b, ConstVector w, double c, double d,
                    Vector x) {
  AYATORI_ASSERT(z.size() == x.size() && w_old.size() == x.size() && w.size() == x.size());
  for_each_element(x.size(), [=](std::int64_t i) {
    w_old[i] = (z[i] - a * w_old[i] - b * w[i]) * c;
    x[i] += d * w_old[i];
  });
}

namespace {

double square(Complex a) {
  return a.real() * a.real() + a.imag() * a.imag();
}

/// The sums of body(i), K complex numbers, over every element.
template <std::size_t K, class Body>
std::array<Complex, K> sums_over_complex(std::size_t n, Body body) {
  constexpr std::int64_t lanes = 4;
  const auto sums = parallel_sums<2 * K>(static_cast<std::int64_t>(n), [=](Range range) {
    double parts[2 * K][lanes] = {};
    const auto take = [&](std::int64_t i, std::int64_t lane) {
      const std::array<Complex, K> terms = body(i);
      for (std::size_t k = 0; k < K; ++k) {
        parts[2 * k][lane] += terms[k].real();
        parts[2 * k + 1][lane] += terms[k].imag();
      }
    };
    std::int64_t i = range.begin;
    for (; i + lanes <= range.end; i += lanes)
      for (std::int64_t lane = 0; lane < lanes; ++lane) take(i + lane, lane);
    for (; i < range.end; ++i) take(i, 0);
    std::array<double, 2 * K> total{};
    for (std::size_t k = 0; k < 2 * K; ++k)
      total[k] = (parts[k][0] + parts[k][1]) + (parts[k][2] + parts[k][3]);
    return total;
  });
  std::array<Complex, K> result;
  for (std::size_t k = 0; k < K; ++k) result[k] = {sums[2 * k], sums[2 * k + 1]};
  return result;
}

template <std::size_t K>
void complex_products(const ComplexPair* pairs, std::span<Complex> products) {
  std::array<const Complex*, K> x{};
  std::array<const Complex*, K> y{};
  for (std::size_t k = 0; k < K; ++k) {
    x[k] = pairs[k].x.data();
    y[k] = pairs[k].y.data();
  }
  const auto sums = sums_over_complex<K>(pairs[0].x.size(), [=](std::int64_t i) {
    std::array<Complex, K> terms;
    for (std::size_t k = 0; k < K; ++k) terms[k] = times(std::conj(x[k][i]), y[k][i]);
    return terms;
  });
  std::ranges::copy(sums, products.begin());
}

}  // namespace

void scale(Complex a, ComplexVector x) {
  for_each_element(x.size(), [=](std::int64_t i) { x[i] = times(a, x[i]); });
}

void axpy(Complex a, ConstComplexVector x, ComplexVector y) {
  AYATORI_ASSERT(x.size() == y.size());
  for_each_element(x.size(), [=](std::int64_t i) { y[i] += times(a, x[i]); });
}

void aypx(Complex a, ConstComplexVector x, ComplexVector y) {
  AYATORI_ASSERT(x.size() == y.size());
  for_each_element(x.size(), [=](std::int64_t i) { y[i] = x[i] + times(a, y[i]); });
}

void axpbypz(Complex a, ConstComplexVector x, Complex b, ConstComplexVector y, ComplexVector z) {
  AYATORI_ASSERT(x.size() == y.size() && y.size() == z.size());
  for_each_element(x.size(), [=](std::int64_t i) { z[i] += times(a, x[i]) + times(b, y[i]); });
}

void aypx_minus(Complex a, ConstComplexVector x, Complex b, ConstComplexVector z, ComplexVector y) {
  AYATORI_ASSERT(x.size() == y.size() && y.size() == z.size());
  for_each_element(x.size(), [=](std::int64_t i) { y[i] = x[i] + times(a, y[i] - times(b, z[i])); });
}

double axpy_square(Complex a, ConstComplexVector x, ComplexVector y) {
  AYATORI_ASSERT(x.size() == y.size());
  return sum_over_elements(x.size(), [=](std::int64_t i) {
    const Complex value = y[i] + times(a, x[i]);
    y[i] = value;
    return square(value);
  });
}

std::array<Complex, 2> local_dot_and_square(ConstComplexVector x, ConstComplexVector y) {
  AYATORI_ASSERT(x.size() == y.size());
  return sums_over_complex<2>(x.size(), [=](std::int64_t i) {
    return std::array<Complex, 2>{times(std::conj(x[i]), y[i]), square(y[i])};
  });
}

std::array<Complex, 2> local_transposed_dot_and_square(ConstComplexVector x, ConstComplexVector y) {
  AYATORI_ASSERT(x.size() == y.size());
  return sums_over_complex<2>(x.size(), [=](std::int64_t i) {
    return std::array<Complex, 2>{times(x[i], y[i]), square(y[i])};
  });
}

std::array<Complex, 2> axpy_dot_and_square(Complex a, ConstComplexVector x, ComplexVector y,
                                           ConstComplexVector z) {
  AYATORI_ASSERT(x.size() == y.size() && y.size() == z.size());
  return sums_over_complex<2>(x.size(), [=](std::int64_t i) {
    const Complex value = y[i] + times(a, x[i]);
    y[i] = value;
    return std::array<Complex, 2>{times(std::conj(z[i]), value), square(value)};
  });
}

void local_products(std::initializer_list<ComplexPair> pairs, std::span<Complex> products) {
  AYATORI_ASSERT(pairs.size() == 4 && products.size() >= pairs.size());
  complex_products<4>(pairs.begin(), products);
}

double dot(const GlobalSum& sum, ConstVector x, ConstVector y) {
  return sum(local_dot(x, y));
}

double norm(const GlobalSum& sum, ConstVector x) {
  const double square = sum(local_dot(x, x));
  // Below `least` the square of some element that matters may have lost digits to underflow.
  constexpr double least = 1e-280;
  if (square >= least && std::isfinite(square)) return std::sqrt(square);
  return scaled_norm(sum, x);
}

}  // namespace ayatori::solvers
