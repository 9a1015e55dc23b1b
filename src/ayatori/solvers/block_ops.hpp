#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ayatori/base/parallel.hpp"

// Operations on the rows of interleaved blocks: `Width` elements of a row stand beside each other. Small
// matrices are Width x Width, by rows. Rows are taken in chunks that stay in the first-level cache, so that a
// pass of several operations reads every block from memory once.

namespace ayatori::solvers {

template <int Width>
using Small = std::array<double, static_cast<std::size_t>(Width* Width)>;

/// Rows of a chunk: 4 KiB of each block.
template <int Width>
inline constexpr std::int64_t chunk_rows = 512 / Width;

/// Calls body(chunk) for the chunks of a thread's share of rows.
template <int Width, class Body>
void for_each_chunk(Range share, Body&& body) {
  for (std::int64_t begin = share.begin; begin < share.end; begin += chunk_rows<Width>)
    body(Range{begin, std::min(begin + chunk_rows<Width>, share.end)});
}

/// Adds up what the threads find: body(Range, Sums&) adds to sums that are zero at first. The shares are
/// those of parallel_ranges, added in thread order: the same bits for the same number of threads.
template <class Sums, class Body>
Sums parallel_totals(std::int64_t rows, Body&& body) {
  std::vector<Sums> partial(threads_for(rows));
  parallel_ranges(rows, [&](Range share) {
    Sums sums{};
    body(share, sums);
    partial[omp_get_thread_num()] = sums;
  });
  Sums total = partial.front();
  for (std::size_t t = 1; t < partial.size(); ++t)
    for (std::size_t k = 0; k < total.size(); ++k) total[k] += partial[t][k];
  return total;
}

/// g += X^T Y over the rows of a chunk.
template <int Width>
void add_gram(const double* x, const double* y, Range chunk, double* g) {
  double sums[Width][Width] = {};
  for (std::int64_t i = chunk.begin; i < chunk.end; ++i) {
    const double* xi = x + i * Width;
    const double* yi = y + i * Width;
#pragma GCC unroll 8
    for (int r = 0; r < Width; ++r) {
#pragma omp simd
      for (int c = 0; c < Width; ++c) sums[r][c] += xi[r] * yi[c];
    }
  }
  for (int r = 0; r < Width; ++r)
    for (int c = 0; c < Width; ++c) g[r * Width + c] += sums[r][c];
}

/// squares[c] += (x_c, y_c) over the rows of a chunk.
template <int Width>
void add_column_dots(const double* x, const double* y, Range chunk, double* dots) {
  double sums[Width] = {};
  for (std::int64_t i = chunk.begin; i < chunk.end; ++i) {
#pragma omp simd
    for (int c = 0; c < Width; ++c) sums[c] += x[i * Width + c] * y[i * Width + c];
  }
  for (int c = 0; c < Width; ++c) dots[c] += sums[c];
}

/// Y += X C over the rows of a chunk.
template <int Width>
void add_product(const double* x, const Small<Width>& c, double* y, Range chunk) {
  for (std::int64_t i = chunk.begin; i < chunk.end; ++i) {
    const double* xi = x + i * Width;
    double sums[Width];
    for (int k = 0; k < Width; ++k) sums[k] = y[i * Width + k];
#pragma GCC unroll 8
    for (int r = 0; r < Width; ++r) {
#pragma omp simd
      for (int k = 0; k < Width; ++k) sums[k] += xi[r] * c[r * Width + k];
    }
    for (int k = 0; k < Width; ++k) y[i * Width + k] = sums[k];
  }
}

/// Y = X C + Y D over the rows of a chunk.
template <int Width>
void combine_products(const double* x, const Small<Width>& c, double* y, const Small<Width>& d, Range chunk) {
  for (std::int64_t i = chunk.begin; i < chunk.end; ++i) {
    const double* xi = x + i * Width;
    double* yi = y + i * Width;
    double sums[Width] = {};
#pragma GCC unroll 8
    for (int r = 0; r < Width; ++r) {
#pragma omp simd
      for (int k = 0; k < Width; ++k) sums[k] += xi[r] * c[r * Width + k] + yi[r] * d[r * Width + k];
    }
    for (int k = 0; k < Width; ++k) yi[k] = sums[k];
  }
}

}  // namespace ayatori::solvers
