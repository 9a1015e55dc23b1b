#pragma once

#include "ayatori/sparse/kernels/simd.hpp"
#include "bench/kernels/local_matmul.hpp"

namespace ayatori::bench {

/// The project's own product (Tanaka's "blocked and register-tiled"), after Goto and van de Geijn (2008):
/// a tile of C stays in registers while a strip of A and a strip of B, both packed in the order of use,
/// stream by; a block of A stays in a core's second cache, all strips of B in the last. Tiles of
/// 8 x 24 (AVX-512), 4 x 12 (AVX2), 4 x 6 (otherwise). Every thread takes blocks of rows.
void tiled_product(const LocalProduct& product);

/// The same for this instruction set, which the processor must have.
void tiled_product(const LocalProduct& product, sparse::Simd simd);

}  // namespace ayatori::bench
