#pragma once

#include <cstdint>
#include <functional>

#include "ayatori/base/array.hpp"
#include "ayatori/sparse/csr.hpp"

namespace ayatori::solvers {

/// One entry of every row and column of a square matrix, such that the product of their magnitudes is the
/// largest there is, and scalings that make them 1 and all others at most 1.
struct Matching {
  Array<std::int32_t> column_of;  ///< column of each row's entry
  Array<double> row_scale;        ///< powers of 2, so that "1" and "at most 1" hold within a factor of 2
  Array<double> column_scale;
  std::int32_t unmatched =
      0;  ///< rows paired with a column where they have no nonzero: the matrix is singular
};

/// Maximum-product matching (Duff & Koster 2001): with costs log max_k |a_kj| - log |a_ij| the assignment of
/// least cost, by shortest augmenting paths; the dual variables are the logarithms of the scalings. Zeros are
/// no entries. Time: a shortest-path search for every row that the first, greedy pairing leaves over. Entries
/// must be finite. `give_up_if` is asked before every search and may throw.
Matching maximum_product_matching(
    const sparse::Csr& matrix, const std::function<void()>& give_up_if = [] {});

}  // namespace ayatori::solvers
