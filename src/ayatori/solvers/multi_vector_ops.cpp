#include <algorithm>

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

/// (v_j, w) for the at most `pass` vectors of the basis, and (w, w) in the last place.
template <class Real>
std::array<double, pass + 1> dots_of_pass(const BasisOf<Real>& basis, std::span<const Real> w) {
  return parallel_sums<pass + 1>(static_cast<std::int64_t>(w.size()), [&](Range share) {
    std::array<double, pass + 1> sums{};
    for_each_block(share, [&](Range block) {
      int j = 0;
      for (; j + group <= basis.size; j += group) {
        add_four_dots(basis.data + j * basis.stride, basis.stride, w.data(), block, &sums[j]);
      }
      for (; j < basis.size; ++j) sums[j] += dot_over(basis.data + j * basis.stride, w.data(), block);
      sums[pass] += dot_over(w.data(), w.data(), block);
    });
    return sums;
  });
}

template <class Real>
double dots_of(const BasisOf<Real>& basis, std::span<const Real> w, std::span<double> h) {
  AYATORI_ASSERT(static_cast<int>(h.size()) >= basis.size);
  if (basis.size == 0) return dots_of_pass(basis, w)[pass];
  double square = 0;
  for (int first = 0; first < basis.size; first += pass) {
    const int count = std::min(pass, basis.size - first);
    const auto sums = dots_of_pass<Real>({basis.data + first * basis.stride, basis.stride, count}, w);
    std::copy_n(sums.begin(), count, h.begin() + first);
    square = sums[pass];
  }
  return square;
}

template <class Real>
double subtract_from(const BasisOf<Real>& basis, std::span<const double> h, std::span<Real> w) {
  AYATORI_ASSERT(static_cast<int>(h.size()) >= basis.size);
  return parallel_sum(static_cast<std::int64_t>(w.size()), [&](Range share) {
    double square = 0;
    for_each_block(share, [&](Range block) {
      add_combination(basis, h.data(), -1, w.data(), block);
      square += dot_over<Real>(w.data(), w.data(), block);
    });
    return square;
  });
}

template <class Real>
void combination_of(const BasisOf<Real>& basis, std::span<const double> h, std::span<Real> w) {
  AYATORI_ASSERT(static_cast<int>(h.size()) >= basis.size);
  parallel_ranges(static_cast<std::int64_t>(w.size()), [&](Range share) {
    for_each_block(share, [&](Range block) {
      std::fill(w.begin() + block.begin, w.begin() + block.end, Real(0));
      add_combination(basis, h.data(), 1, w.data(), block);
    });
  });
}

}  // namespace

double local_dots(const Basis& basis, ConstVector w, std::span<double> h) {
  return dots_of(basis, w, h);
}

double local_dots(const FloatBasis& basis, ConstFloatVector w, std::span<double> h) {
  return dots_of(basis, w, h);
}

double subtract_combination(const Basis& basis, std::span<const double> h, Vector w) {
  return subtract_from(basis, h, w);
}

double subtract_combination(const FloatBasis& basis, std::span<const double> h, FloatVector w) {
  return subtract_from(basis, h, w);
}

void combine(const Basis& basis, std::span<const double> h, Vector w) {
  combination_of(basis, h, w);
}

void combine(const FloatBasis& basis, std::span<const double> h, FloatVector w) {
  combination_of(basis, h, w);
}

}  // namespace ayatori::solvers
