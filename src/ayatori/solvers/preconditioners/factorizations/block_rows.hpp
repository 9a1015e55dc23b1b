#pragma once

#include <algorithm>
#include <cstdint>

#include "ayatori/base/array.hpp"
#include "ayatori/base/parallel.hpp"
#include "ayatori/sparse/csr.hpp"

namespace ayatori::solvers {

/// Whether two rows have entries in the same columns.
bool same_columns(const sparse::Csr& matrix, std::int32_t i, std::int32_t j);

/// Where the rows of a matrix are cut into small blocks: block b is rows [start[b], start[b + 1]).
using BlockStarts = Array<std::int32_t>;

/// Blocks of `size` rows, cut at multiples of `size` in global numbering (`first_row` is the global number of
/// row 0), so that the unknowns of a node stay together wherever the ranks are cut.
BlockStarts fixed_blocks(std::int32_t rows, std::int64_t first_row, int size);

/// Blocks of consecutive rows with the same columns, up to `largest` rows each: the unknowns of a node of the
/// mesh, where the matrix comes from one with several per node. O(nonzeros).
BlockStarts natural_blocks(const sparse::Csr& matrix, int largest);

/// f(b) for every block, by as many threads as there are blocks and as `rows` rows are worth. f does not
/// throw.
template <class F>
void block_for(int blocks, std::int64_t rows, const F& f) {
  const int threads = std::min(blocks, threads_for(rows));
  if (threads == 1) {
    for (int b = 0; b < blocks; ++b) f(b);
    return;
  }
#pragma omp parallel for schedule(static) num_threads(threads)
  for (int b = 0; b < blocks; ++b) f(b);
}

}  // namespace ayatori::solvers
