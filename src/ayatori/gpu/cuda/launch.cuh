#pragma once

#include <cuda_runtime.h>

#include "ayatori/gpu/device.hpp"

namespace ayatori::gpu::cuda {

/// Throws EnvironmentError, with what was to be done, unless CUDA says success.
void check(cudaError_t status, const char* what);

/// Blocks of a kernel that sums, at most: for one multiprocessor.
inline constexpr int blocks_each = 8;

/// Where and how kernels are launched.
struct Launch {
  cudaStream_t stream;
  int multiprocessors;
  double* partial;    ///< sums of blocks; of the whole in the first place, where the step does not finish
  unsigned* arrived;  ///< blocks that have put their sums there
  bool finishes;      ///< the last block calls the step's finish()
};

void run(const Launch& launch, const VectorStep& step, std::int32_t n);
/// Calls finish() with the sums in launch.partial.
void finish(const Launch& launch, const VectorStep& step);
template <class R>
void multiply(const Launch& launch, const MatrixView<R>& a, const R* x, const ProductStep<R>& step);
template <class R>
void finish_product(const Launch& launch, const ProductStep<R>& step);

}  // namespace ayatori::gpu::cuda
