#include "ayatori/gpu/cuda/sums.cuh"

namespace ayatori::gpu::cuda {

namespace {

template <class Step>
__global__ void __launch_bounds__(block_threads)
    vector_kernel(const Step step, std::int32_t n, double* partial, unsigned* arrived, bool finishes) {
  begin_after_previous();
  double sums[Step::sum_count > 0 ? Step::sum_count : 1] = {};
  const std::int64_t stride = std::int64_t{gridDim.x} * block_threads;
  for (std::int64_t i = std::int64_t{blockIdx.x} * block_threads + threadIdx.x; i < n; i += stride)
    step.row(static_cast<std::int32_t>(i), sums);
  conclude(step, sums, partial, arrived, finishes);
}

}  // namespace

void run(const Launch& launch, const VectorStep& step, std::int32_t n) {
  std::visit(
      [&](const auto& s) {
        using Step = std::decay_t<decltype(s)>;
        if (n == 0 && Step::sum_count == 0) return;
        start(launch.stream, vector_kernel<Step>, blocks_for<Step>(launch, n), block_threads, s, n,
              launch.partial, launch.arrived, launch.finishes);
      },
      step);
}

void finish(const Launch& launch, const VectorStep& step) {
  std::visit([&](const auto& s) { start_finish(launch, s); }, step);
}

}  // namespace ayatori::gpu::cuda
