#pragma once

#include "ayatori/sparse/kernel.hpp"
#include "ayatori/sparse/kernels/simd.hpp"

namespace ayatori::sparse {

/// The kernel sell-8 for an instruction set that this processor has.
std::unique_ptr<Kernel> make_sell(const Csr& matrix, Simd simd);
/// Likewise of scale A in single precision.
std::unique_ptr<FloatKernel> make_float_sell(const Csr& matrix, double scale, Simd simd);

}  // namespace ayatori::sparse
