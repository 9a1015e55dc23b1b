#pragma once

#include <type_traits>

#include "ayatori/gpu/cuda/sums.cuh"

// Products of all formats, with what follows them, for one type of vectors.

namespace ayatori::gpu::cuda {

namespace detail {

// One thread makes a row: how many threads there are, and whose row each makes.

template <class View>
__host__ __device__ __forceinline__ std::int64_t threads_of(const View& a) {
  return a.rows;
}
template <class View>
__device__ __forceinline__ std::int64_t row_of(const View&, std::int64_t thread) {
  return thread;
}
/// The rows of 32 blocks with the same place in these are a warp's.
template <class V, class R, int B>
__host__ __device__ __forceinline__ std::int64_t threads_of(const BlockSellView<V, R, B>& a) {
  constexpr int slice = slice_rows * B;
  return (std::int64_t{a.rows} + slice - 1) / slice * slice;
}
template <class V, class R, int B>
__device__ __forceinline__ std::int64_t row_of(const BlockSellView<V, R, B>&, std::int64_t thread) {
  const std::int64_t warp = thread / slice_rows;
  return (warp / B * slice_rows + thread % slice_rows) * B + warp % B;
}

template <class View, class Step, class R>
__global__ void __launch_bounds__(block_threads)
    row_kernel(const View a, const R* __restrict__ x, const Step step, double* partial, unsigned* arrived,
               bool finishes) {
  begin_after_previous();
  double sums[Step::sum_count > 0 ? Step::sum_count : 1] = {};
  const std::int64_t stride = std::int64_t{gridDim.x} * block_threads;
  for (std::int64_t t = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; t < threads_of(a);
       t += stride) {
    const std::int64_t i = row_of(a, t);
    if (i >= a.rows) continue;
    const auto row = static_cast<std::int32_t>(i);
    step.row(row, a.row(row, x), sums);
  }
  conclude(step, sums, partial, arrived, finishes);
}

/// A group of `Threads` neighbouring threads makes a row.
template <int Threads, class View, class Step, class R>
__global__ void __launch_bounds__(block_threads)
    group_kernel(const View a, const R* __restrict__ x, const Step step, double* partial, unsigned* arrived,
                 bool finishes) {
  begin_after_previous();
  double sums[Step::sum_count > 0 ? Step::sum_count : 1] = {};
  const int lane = threadIdx.x % Threads;
  const std::int64_t stride = std::int64_t{gridDim.x} * (block_threads / Threads);
  const std::int64_t first = (std::int64_t{blockIdx.x} * block_threads + threadIdx.x) / Threads;
  // All threads of a warp stay, as they add up together.
  const std::int64_t rounds = (a.rows + stride - 1) / stride;
  for (std::int64_t round = 0; round < rounds; ++round) {
    const std::int64_t i = first + round * stride;
    R sum = 0;
    if (i < a.rows) {
      const std::int64_t end = a.row_start[i + 1];
      for (std::int64_t k = a.row_start[i] + lane; k < end; k += Threads)
        sum += to_real(a.value[k]) * x[a.column[k]];
    }
    sum = warp_sum(sum, Threads);
    if (i < a.rows && lane == 0) step.row(static_cast<std::int32_t>(i), sum, sums);
  }
  conclude(step, sums, partial, arrived, finishes);
}

/// Products of a chunk's entries; rows that begin in it and end in it; and what it has of others.
template <class View, class Step, class R>
__global__ void __launch_bounds__(block_threads)
    chunk_kernel(const View a, const R* __restrict__ x, const Step step) {
  begin_after_previous();
  __shared__ R product[View::chunk];
  double sums[Step::sum_count > 0 ? Step::sum_count : 1] = {};
  const std::int32_t c = blockIdx.x;
  const std::int32_t entries = a.row_start[a.rows];
  const std::int32_t begin = c * View::chunk;
  const std::int32_t end = entries - begin > View::chunk ? begin + View::chunk : entries;
#pragma unroll
  for (int j = 0; j < View::chunk / block_threads; ++j) {
    const std::int32_t k = begin + j * block_threads + threadIdx.x;
    if (k < end) product[k - begin] = to_real(a.value[k]) * x[a.column[k]];
  }
  __syncthreads();
  const std::int32_t first = a.first_row[c];
  const std::int32_t last = a.first_row[c + 1];
  const bool is_last_chunk = c + 1 == a.chunks;
  const auto put = [&](std::int32_t i, std::int32_t row_begin, std::int32_t row_end, R sum) {
    if (row_begin < begin) {
      a.head[c] = sum;
    } else if (row_end > end) {
      a.tail[c] = sum;
    } else if (i < last || row_begin < end || is_last_chunk) {
      step.row(i, sum, sums);
    }
  };
  if (last - first < block_threads / 4) {  // long rows: a warp for each
    for (std::int32_t i = first + static_cast<std::int32_t>(threadIdx.x / 32); i <= last && i < a.rows;
         i += block_threads / 32) {
      const std::int32_t row_begin = a.row_start[i];
      const std::int32_t row_end = a.row_start[i + 1];
      R sum = 0;
      for (std::int32_t k = max(row_begin, begin) + threadIdx.x % 32; k < min(row_end, end); k += 32)
        sum += product[k - begin];
      sum = warp_sum(sum);
      if (threadIdx.x % 32 == 0) put(i, row_begin, row_end, sum);
    }
  } else {
    for (std::int32_t i = first + static_cast<std::int32_t>(threadIdx.x); i <= last && i < a.rows;
         i += block_threads) {
      const std::int32_t row_begin = a.row_start[i];
      const std::int32_t row_end = a.row_start[i + 1];
      R sum = 0;
      for (std::int32_t k = max(row_begin, begin); k < min(row_end, end); ++k) sum += product[k - begin];
      put(i, row_begin, row_end, sum);
    }
  }
  if constexpr (Step::sum_count > 0) {
    block_sums<Step::sum_count>(sums);
    if (threadIdx.x == 0)
      for (int k = 0; k < Step::sum_count; ++k) a.sums[std::int64_t{c} * Step::sum_count + k] = sums[k];
  }
}

/// Rows that go on behind the chunk in which they begin: one at most for each chunk.
template <class View, class Step>
__global__ void __launch_bounds__(block_threads)
    join_kernel(const View a, const Step step, double* partial, unsigned* arrived, bool finishes) {
  begin_after_previous();
  double sums[Step::sum_count > 0 ? Step::sum_count : 1] = {};
  const std::int64_t stride = std::int64_t{gridDim.x} * block_threads;
  for (std::int64_t c = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; c + 1 < a.chunks;
       c += stride) {
    const std::int32_t i = a.first_row[c + 1];
    const std::int64_t row_begin = a.row_start[i];
    const std::int64_t row_end = a.row_start[i + 1];
    if (row_begin < c * View::chunk || row_begin >= (c + 1) * View::chunk || row_end <= (c + 1) * View::chunk)
      continue;
    typename View::Real sum = a.tail[c];
    for (std::int64_t later = c + 1; later <= (row_end - 1) / View::chunk; ++later) sum += a.head[later];
    step.row(i, sum, sums);
  }
  conclude(step, sums, partial, arrived, finishes, {a.sums, static_cast<unsigned>(a.chunks)});
}

template <class View, class Step, class R>
void launch_product(const Launch& l, const View& a, const R* x, const Step& step) {
  start(l.stream, row_kernel<View, Step, R>, blocks_for<Step>(l, threads_of(a)), block_threads, a, x, step,
        l.partial, l.arrived, l.finishes);
}

template <class V, class R, class Step>
void launch_product(const Launch& l, const CsrView<V, R>& a, const R* x, const Step& step) {
  const unsigned blocks = blocks_for<Step>(l, std::int64_t{a.rows} * a.threads);
  const auto launch = [&](auto threads) {
    start(l.stream, group_kernel<decltype(threads)::value, CsrView<V, R>, Step, R>, blocks, block_threads, a,
          x, step, l.partial, l.arrived, l.finishes);
  };
  if (a.threads == 2) {
    launch(std::integral_constant<int, 2>());
  } else if (a.threads == 8) {
    launch(std::integral_constant<int, 8>());
  } else {
    launch(std::integral_constant<int, 32>());
  }
}

template <class V, class R, class Step>
void launch_product(const Launch& l, const ChunkedView<V, R>& a, const R* x, const Step& step) {
  start(l.stream, chunk_kernel<ChunkedView<V, R>, Step, R>, a.chunks, block_threads, a, x, step);
  start(l.stream, join_kernel<ChunkedView<V, R>, Step>, blocks_for<Step>(l, a.chunks), block_threads, a, step,
        l.partial, l.arrived, l.finishes);
}

}  // namespace detail

template <class R>
void multiply(const Launch& launch, const MatrixView<R>& a, const R* x, const ProductStep<R>& step) {
  std::visit(
      [&](const auto& view, const auto& s) {
        if (view.rows > 0 || std::decay_t<decltype(s)>::sum_count > 0)
          detail::launch_product(launch, view, x, s);
      },
      a, step);
}

template <class R>
void finish_product(const Launch& launch, const ProductStep<R>& step) {
  std::visit([&](const auto& s) { start_finish(launch, s); }, step);
}

}  // namespace ayatori::gpu::cuda
