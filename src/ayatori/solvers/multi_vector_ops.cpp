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
void add_four_dots(const double* v, std::int64_t stride, const double* w, Range block, double* out) {
  const double* v1 = v + stride;
  const double* v2 = v1 + stride;
  const double* v3 = v2 + stride;
  double s0 = 0;
  double s1 = 0;
  double s2 = 0;
  double s3 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3)
  for (std::int64_t i = block.begin; i < block.end; ++i) {
    s0 += v[i] * w[i];
    s1 += v1[i] * w[i];
    s2 += v2[i] * w[i];
    s3 += v3[i] * w[i];
  }
  out[0] += s0;
  out[1] += s1;
  out[2] += s2;
  out[3] += s3;
}

double dot_over(const double* v, const double* w, Range block) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::int64_t i = block.begin; i < block.end; ++i) sum += v[i] * w[i];
  return sum;
}

/// w += sum over j of h_j v_j over a block, four vectors at a time.
void add_combination(const Basis& basis, const double* h, double sign, double* w, Range block) {
  int j = 0;
  for (; j + group <= basis.size; j += group) {
    const double* v0 = basis.data + j * basis.stride;
    const double* v1 = v0 + basis.stride;
    const double* v2 = v1 + basis.stride;
    const double* v3 = v2 + basis.stride;
    const double h0 = sign * h[j];
    const double h1 = sign * h[j + 1];
    const double h2 = sign * h[j + 2];
    const double h3 = sign * h[j + 3];
#pragma omp simd
    for (std::int64_t i = block.begin; i < block.end; ++i) {
      w[i] += (h0 * v0[i] + h1 * v1[i]) + (h2 * v2[i] + h3 * v3[i]);
    }
  }
  for (; j < basis.size; ++j) {
    const double* v = basis.data + j * basis.stride;
    const double hj = sign * h[j];
#pragma omp simd
    for (std::int64_t i = block.begin; i < block.end; ++i) w[i] += hj * v[i];
  }
}

/// (v_j, w) for the at most `pass` vectors of the basis, and (w, w) in the last place.
std::array<double, pass + 1> dots_of_pass(const Basis& basis, ConstVector w) {
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

}  // namespace

double local_dots(const Basis& basis, ConstVector w, std::span<double> h) {
  AYATORI_ASSERT(static_cast<int>(h.size()) >= basis.size);
  if (basis.size == 0) return local_dot(w, w);
  double square = 0;
  for (int first = 0; first < basis.size; first += pass) {
    const int count = std::min(pass, basis.size - first);
    const auto sums = dots_of_pass({basis.data + first * basis.stride, basis.stride, count}, w);
    std::copy_n(sums.begin(), count, h.begin() + first);
    square = sums[pass];
  }
  return square;
}

double subtract_combination(const Basis& basis, std::span<const double> h, Vector w) {
  AYATORI_ASSERT(static_cast<int>(h.size()) >= basis.size);
  return parallel_sum(static_cast<std::int64_t>(w.size()), [&](Range share) {
    double square = 0;
    for_each_block(share, [&](Range block) {
      add_combination(basis, h.data(), -1, w.data(), block);
      square += dot_over(w.data(), w.data(), block);
    });
    return square;
  });
}

void combine(const Basis& basis, std::span<const double> h, Vector w) {
  AYATORI_ASSERT(static_cast<int>(h.size()) >= basis.size);
  parallel_ranges(static_cast<std::int64_t>(w.size()), [&](Range share) {
    for_each_block(share, [&](Range block) {
      std::fill(w.begin() + block.begin, w.begin() + block.end, 0.0);
      add_combination(basis, h.data(), 1, w.data(), block);
    });
  });
}

}  // namespace ayatori::solvers
