#include "ayatori/gpu/cuda/products.cuh"

namespace ayatori::gpu::cuda {

template void multiply<double>(const Launch&, const MatrixView<double>&, const double*,
                               const ProductStep<double>&);
template void finish_product<double>(const Launch&, const ProductStep<double>&);

}  // namespace ayatori::gpu::cuda
