#include "ayatori/gpu/cuda/products.cuh"

namespace ayatori::gpu::cuda {

template void multiply<float>(const Launch&, const MatrixView<float>&, const float*,
                              const ProductStep<float>&);
template void finish_product<float>(const Launch&, const ProductStep<float>&);

}  // namespace ayatori::gpu::cuda
