#pragma once

#include "ayatori/sparse/kernel.hpp"

// Each file of this folder defines one KernelType; list.cpp names them all.

namespace ayatori::sparse {

extern const KernelType csr_reference_kernel;
extern const KernelType csr_kernel;

}  // namespace ayatori::sparse
