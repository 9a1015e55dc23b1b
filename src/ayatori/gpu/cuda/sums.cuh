#pragma once

#include <cstdint>

#include "ayatori/gpu/cuda/launch.cuh"

namespace ayatori::gpu::cuda {

inline constexpr int block_threads = 256;
inline constexpr unsigned all_lanes = 0xffffffffU;

/// Starts a kernel, which may come to its begin_after_previous() while the one before it still works.
template <class... Parameters, class... Arguments>
void start(cudaStream_t stream, void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
           const Arguments&... arguments) {
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t how{};
  how.gridDim = blocks;
  how.blockDim = threads;
  how.stream = stream;
  how.attrs = &early;
  how.numAttrs = 1;
  check(cudaLaunchKernelEx(&how, kernel, Parameters(arguments)...), "start a kernel");
}

/// What a kernel calls first: waits for what came before it in the stream, and lets the next one be started.
__device__ __forceinline__ void begin_after_previous() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

template <class R>
__device__ __forceinline__ R warp_sum(R value, int lanes = 32) {
  for (int d = lanes / 2; d > 0; d /= 2) value += __shfl_xor_sync(all_lanes, value, d);
  return value;
}

/// Sums over a block, in thread 0.
template <int K>
__device__ __forceinline__ void block_sums(double* sums) {
  __shared__ double of_warp[K][block_threads / 32];
  const int lane = threadIdx.x % 32;
  const int warp = threadIdx.x / 32;
  __syncthreads();
#pragma unroll
  for (int k = 0; k < K; ++k) {
    const double sum = warp_sum(sums[k]);
    if (lane == 0) of_warp[k][warp] = sum;
  }
  __syncthreads();
  if (warp != 0) return;
#pragma unroll
  for (int k = 0; k < K; ++k)
    sums[k] = warp_sum(lane < block_threads / 32 ? of_warp[k][lane] : 0.0, block_threads / 32);
}

/// Sums of blocks of an earlier kernel, which are to be added.
struct EarlierSums {
  const double* sums = nullptr;
  unsigned blocks = 0;
};

/// The end of a kernel with sums: the block that comes last adds those of all blocks, in their order, so that
/// the bits do not depend on which that is.
template <class Step>
__device__ __forceinline__ void conclude(const Step& step, double* sums, double* partial, unsigned* arrived,
                                         bool finishes, EarlierSums earlier = {}) {
  constexpr int K = Step::sum_count;
  if constexpr (K > 0) {
    __shared__ bool is_last;
    block_sums<K>(sums);
    if (threadIdx.x == 0) {
      for (int k = 0; k < K; ++k) partial[blockIdx.x * K + k] = sums[k];
      __threadfence();
      is_last = atomicInc(arrived, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last) return;
    __threadfence();
    double total[K] = {};
    for (unsigned b = threadIdx.x; b < earlier.blocks; b += block_threads)
#pragma unroll
      for (int k = 0; k < K; ++k) total[k] += earlier.sums[b * K + k];
    for (unsigned b = threadIdx.x; b < gridDim.x; b += block_threads)
#pragma unroll
      for (int k = 0; k < K; ++k) total[k] += __ldcg(&partial[b * K + k]);
    block_sums<K>(total);
    if (threadIdx.x != 0) return;
    if (finishes) {
      step.finish(total);
    } else {
      for (int k = 0; k < K; ++k) partial[k] = total[k];
    }
  }
}

template <class Step>
__global__ void finish_kernel(const Step step, const double* sums) {
  begin_after_previous();
  if constexpr (Step::sum_count > 0) step.finish(sums);
}

template <class Step>
void start_finish(const Launch& launch, const Step& step) {
  start(launch.stream, finish_kernel<Step>, 1, 1, step, launch.partial);
}

/// Blocks for this many threads: where there are sums, no more than fit on the device at the same time.
template <class Step>
unsigned blocks_for(const Launch& launch, std::int64_t threads) {
  const std::int64_t needed = (threads + block_threads - 1) / block_threads;
  const std::int64_t most = Step::sum_count > 0 ? launch.multiprocessors * blocks_each : INT32_MAX;
  return static_cast<unsigned>(needed < 1 ? 1 : needed < most ? needed : most);
}

}  // namespace ayatori::gpu::cuda
