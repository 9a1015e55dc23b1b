#pragma once

#include "ayatori/sparse/kernel.hpp"
#include "ayatori/sparse/kernels/simd.hpp"

namespace ayatori::sparse {

/// The kernel sell-tiles for an instruction set that this processor has.
std::unique_ptr<Kernel> make_sell_tiles(const Csr& matrix, Simd simd);

}  // namespace ayatori::sparse
