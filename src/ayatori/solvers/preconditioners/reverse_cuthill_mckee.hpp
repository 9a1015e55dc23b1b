#pragma once

#include <cstdint>
#include <span>

#include "ayatori/base/array.hpp"
#include "ayatori/sparse/csr.hpp"

namespace ayatori::solvers {

/// The reverse Cuthill-McKee order (1969, reversed by George) of a square matrix' pattern and its mirror
/// image: element k is the row that comes k-th. Each connected part is numbered by breadth-first search,
/// neighbours by ascending degree, from a row at its periphery (George & Liu 1979). O(nonzeros log degree).
Array<std::int32_t> reverse_cuthill_mckee(const sparse::Csr& matrix);

/// The sum over rows of the distance from the diagonal to the farthest entry before it, of the matrix and its
/// mirror image, where row order[k] comes k-th; an empty order is the natural one. What complete factors of
/// the matrix may fill.
std::int64_t profile(const sparse::Csr& matrix, std::span<const std::int32_t> order);

}  // namespace ayatori::solvers
