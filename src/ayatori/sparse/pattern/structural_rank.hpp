#pragma once

#include <cstdint>
#include <span>

#include "ayatori/sparse/csr.hpp"

namespace ayatori::sparse {

/// What the pattern alone says of the rank of a square matrix: the largest number of rows that can be given
/// each a column of its own in which it has a nonzero. No values there can make the rank larger.
struct StructuralRank {
  std::int64_t rank = 0;
  bool is_known = true;  ///< false: the search was given up, and rank is a lower bound
  // Rows with nonzeros that have too few columns: those of which one or another is left over, whatever the
  // pairs (Dulmage & Mendelsohn). The same for every search.
  std::int64_t crowded_rows = 0;
  std::int64_t crowded_columns = 0;     ///< in which they have nonzeros: fewer
  std::int64_t first_crowded_row = -1;  ///< in the numbering asked for
};

/// By augmenting paths, depth first with look-ahead (Pothen & Fan, ACM Trans. Math. Softw. 16, 1990), from
/// the nonzero diagonal on. Stored zeros are no entries. Given up after `most_visits` to entries.
/// `row_number`: of each row, for first_crowded_row; empty: as they are.
StructuralRank structural_rank(const Csr& matrix, std::int64_t most_visits,
                               std::span<const std::int64_t> row_number = {});

}  // namespace ayatori::sparse
