#pragma once

#include <string>

namespace ayatori {

/// The kernels by which OpenBLAS computes, such as "SkylakeX". Empty with another BLAS.
std::string blas_kernels();

/// OpenBLAS computes by its oldest kernels, far slower, on processors that are newer than it is. Then this
/// is the value of OPENBLAS_CORETYPE by which it would compute as fast as this processor does. Empty where
/// nothing is to gain, or where the variable is set already.
std::string better_blas_kernels();

}  // namespace ayatori
